"""Own metrics: formulas over a slicer's data fields, of one person or shared by managers.

Formulas are stored as text. Whoever reads them checks them against the slicer, whose fields may change.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy import Row, Table

from lib.views.entries import NamedEntries
from lib.views.models import LONGEST_NAME, OwnMetric, check_name
from lib.views.tables import own_metrics
from lib.wire.errors import AccessError, BadRequest

LONGEST_FORMULA, LONGEST_UNIT, MOST_DIGITS = 2_000, 20, 6
NO_SHARING = "Only managers and administrators can share a metric, or change a shared one"
MANAGERS = ("manager", "admin")


@dataclass(frozen=True)
class OwnMetrics(NamedEntries[OwnMetric]):
    """The own metrics that one person may see. `note` gets each change in words, for the audit log."""

    note: Callable[[str, str], None] = lambda event, detail: None
    table: ClassVar[Table] = own_metrics
    label: ClassVar[str] = "metric"
    labels: ClassVar[str] = "metrics of this slicer"

    def of(self, project: str, slicer: str) -> list[OwnMetric]:
        """A slicer's metrics, by name; AccessError if the person may not see the slicer."""
        return self._of(self.scope.about(own_metrics, project, slicer))

    def save(
        self,
        project: str,
        slicer: str,
        name: str,
        formula: str,
        unit: str = "",
        digits: int = 2,
        is_shared: bool = False,
    ) -> OwnMetric:
        """Store a new metric; BadRequest and AccessError as for a view, and where a viewer shares one."""
        about = self.scope.about(own_metrics, project, slicer)
        values = _values(name, formula, unit, digits, is_shared)
        self._check_sharing(is_shared)
        metric = self._save({"project": project, "slicer": slicer, **values}, about)
        self.note("metric added", _words(metric))
        return metric

    def change(
        self, number: int, name: str, formula: str, unit: str, digits: int, is_shared: bool
    ) -> OwnMetric:
        """Change a metric; BadRequest and AccessError as for a new one, and as `changeable`."""
        values = _values(name, formula, unit, digits, is_shared)
        before = self.get(number)
        self._check_sharing(is_shared)
        metric = self._change(number, values)
        self.note("metric changed", f"{_words(before)} → {_words(metric)}" if before else _words(metric))
        return metric

    def delete(self, number: int) -> None:
        """Delete a metric; BadRequest and AccessError as for a change."""
        before = self.get(number)
        super().delete(number)
        if before is not None:
            self.note("metric removed", _words(before))

    def changeable(self, row: Row[Any] | None) -> Row[Any]:
        """A metric of one's own; a shared one for managers who may see the slicer."""
        if row is not None and self.scope.sees(row) and row.is_shared:
            self._check_sharing(True)
            return row
        return super().changeable(row)

    def entry(self, row: Row[Any]) -> OwnMetric:
        """A metric as this person sees it."""
        values = {name: value for name, value in row._mapping.items() if name != "service"}
        return OwnMetric(**values, is_mine=self.scope.owns(row.owner, row.created))

    def name_scope(self, row: Row[Any]) -> tuple[Any, ...]:
        """The metrics of the same slicer."""
        return self.scope.about(own_metrics, row.project, row.slicer)

    def _check_sharing(self, is_shared: bool) -> None:
        if is_shared and self.scope.person.role not in MANAGERS:
            raise AccessError(NO_SHARING)


def _values(name: str, formula: str, unit: str, digits: int, is_shared: bool) -> dict[str, Any]:
    """The values to store; BadRequest for what is missing, too long or out of range."""
    if not 0 <= digits <= MOST_DIGITS:
        raise BadRequest(f"A metric has 0 to {MOST_DIGITS} digits")
    if len(unit.strip()) > LONGEST_UNIT:
        raise BadRequest(f"The unit is too long: {LONGEST_UNIT} characters at most")
    return {
        "name": check_name(name, LONGEST_NAME, "The name"),
        "formula": check_name(formula, LONGEST_FORMULA, "The formula"),
        "unit": unit.strip(),
        "digits": digits,
        "is_shared": is_shared,
    }


def _words(metric: OwnMetric) -> str:
    whose = "shared" if metric.is_shared else "personal"
    return f"{metric.project}/{metric.slicer}: {metric.name} = {metric.formula} ({whose})"
