"""The stores of saved lists of deals and templates of packages, which no deals API has."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Row, Table

from lib.views.entries import NamedEntries, Scope
from lib.views.models import DealEntry, DealEntryKind
from lib.views.tables import deal_entries
from lib.wire import exact
from lib.wire.errors import BadRequest

LONGEST_BODY = 200_000


@dataclass(frozen=True)
class EntriesScope(Scope):
    """A person and the deals service at `service`; they see what is kept of it if they may see deals."""

    def reaches(self, row: Row[Any]) -> bool:
        """Whether the row is about this service, and the person may see deals."""
        return bool(row.service == self.service and self.person.deals.reads)


@dataclass(frozen=True)
class DealEntries(NamedEntries[DealEntry]):
    """The entries of one kind that a person may see."""

    kind: ClassVar[DealEntryKind]
    model: ClassVar[type[DealEntry]] = DealEntry
    table: ClassVar[Table] = deal_entries

    def all(self) -> list[DealEntry]:
        return self._of(self._about())

    def save(self, name: str, body: Mapping[str, Any], is_shared: bool = False) -> DealEntry:
        """Store it under a new name; BadRequest for a name that is empty, long or taken, and beyond 200."""
        values = {"kind": self.kind, "name": name, "body": _fit(body), "is_shared": is_shared}
        return self._save(values, self._about())

    def update(self, number: int, body: Mapping[str, Any]) -> DealEntry:
        """Store this instead; BadRequest if it is gone, AccessError for another person's."""
        return self._change(number, {"body": _fit(body)})

    def name_scope(self, row: Row[Any]) -> tuple[Any, ...]:
        return self._about()

    def _about(self) -> tuple[Any, ...]:
        return deal_entries.c.service == self.scope.service, deal_entries.c.kind == self.kind


@dataclass(frozen=True)
class DealLists(DealEntries):
    """The saved lists of packages and deals."""

    kind: ClassVar[DealEntryKind] = "list"
    label: ClassVar[str] = "view"
    labels: ClassVar[str] = "views of lists"


@dataclass(frozen=True)
class PackageTemplates(DealEntries):
    """The templates of packages: what New package can start from."""

    kind: ClassVar[DealEntryKind] = "template"
    label: ClassVar[str] = "template"
    labels: ClassVar[str] = "templates"


def _fit(body: Mapping[str, Any]) -> dict[str, Any]:
    length = len(exact.dumps(body))
    if length > LONGEST_BODY:
        raise BadRequest(f"This is too long to save: {length:,} characters, {LONGEST_BODY:,} at most")
    return dict(body)
