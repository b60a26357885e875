"""The store of saved views of slicers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Row, Table

from lib.views.models import LONGEST_NAME, SavedView, check_name, fitting
from lib.views.named import NamedEntries
from lib.views.tables import saved_views


@dataclass(frozen=True)
class SavedViews(NamedEntries[SavedView]):
    """The saved views that one person may see."""

    table: ClassVar[Table] = saved_views
    entity_store: ClassVar[str] = "view"
    nouns: ClassVar[str] = "views of this slicer"

    def of(self, project: str, slicer: str) -> list[SavedView]:
        """A slicer's views, by name; AccessError if the person may not see the slicer."""
        return self._of(self.scope.about(saved_views, project, slicer))

    def save(
        self, project: str, slicer: str, name: str, params: Mapping[str, str], is_shared: bool = False
    ) -> SavedView:
        """Store a question under a new name.

        BadRequest for a name that is empty, long or taken by another view of the person, and beyond 200 views
        of a slicer; AccessError if the person may not see the slicer.
        """
        about = self.scope.about(saved_views, project, slicer)
        values = {"project": project, "slicer": slicer, "name": name, "params": fitting(params)}
        return self._save({**values, "is_shared": is_shared}, about)

    def change(
        self,
        number: int,
        name: str | None = None,
        params: Mapping[str, str] | None = None,
        is_shared: bool | None = None,
    ) -> SavedView:
        """Partial update; BadRequest and AccessError as for a new view, and for another person's."""
        fields: dict[str, Any] = {
            "name": None if name is None else check_name(name, LONGEST_NAME, "The name"),
            "params": None if params is None else fitting(params),
            "is_shared": is_shared,
        }
        return self._change(number, {column: value for column, value in fields.items() if value is not None})

    def entry(self, row: Row[Any]) -> SavedView:
        """A view as this person sees it."""
        values = {name: value for name, value in row._mapping.items() if name != "service"}
        return SavedView(**values, is_mine=self.scope.owns(row.owner, row.created))

    def beside(self, row: Row[Any]) -> tuple[Any, ...]:
        """The views of the same slicer."""
        return self.scope.about(saved_views, row.project, row.slicer)
