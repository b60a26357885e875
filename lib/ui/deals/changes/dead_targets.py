"""The removal of dead targets from their packages, as a source of the plan of changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from lib.deals.bulk_actions import BulkActions
from lib.deals.fields import SUPPLY
from lib.deals.models import PackageOrDeal, SupplyPackage, Targeting
from lib.deals.targeting.kinds import KINDS, Target, TargetingKind, elements
from lib.figures.deals.deal_names import title_of
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource, PlannedChange
from lib.ui.deals.changes.shared_change import TargetingEdit
from lib.ui.deals.deal_rows import Key


@dataclass(frozen=True)
class DeadRow:
    """A dead target of one package, and its last day with a bid; unless `is_exact` there may be a later."""

    package: SupplyPackage
    kind: TargetingKind
    target: Target
    last: date | None
    is_exact: bool

    @property
    def key(self) -> str:
        """`17-country-AQ`, as in acts."""
        return f"{self.package.id}-{self.kind.name}-{self.kind.identity(self.target)}"

    @property
    def name(self) -> str:
        return title_of(self.package)


@dataclass(kw_only=True)
class DeadTargetSource(ChangeSource):
    """The removal of dead targets, the chosen `rows`, from their packages.

    `after` are the packages as they would be, `removals` what they lose, by key.
    """

    rows: Sequence[DeadRow]
    after: dict[Key, SupplyPackage] = field(default_factory=dict)
    removals: dict[Key, str] = field(default_factory=dict)

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        """What becomes of a package. The last included ones of a field stay: without any it matches all."""
        if not isinstance(entity, SupplyPackage):
            return
        dead = [row for row in self.rows if (SUPPLY, row.package.id) == key]
        after: dict[str, Any] = {}
        refusals: list[str] = []
        for name in dict.fromkeys(target.kind.field for target in dead):
            targets = targeting_of(target for target in dead if target.kind.field == name)
            part, refusal = TargetingEdit("remove", targets).apply(entity)
            after |= part
            refusals += [refusal] if refusal else []
        removals = [target for target in dead if target.kind.field in after]
        self.removals[key] = ", ".join(target.kind.value(target.target) for target in removals)
        # With the names of its lists, for words about it.
        identities = {(target.kind.name, target.kind.identity(target.target)) for target in removals}
        remains: dict[str, tuple[Target, ...]] = {target.kind.field: () for target in removals}
        for kind in KINDS:
            if kind.field in remains:
                remains[kind.field] += tuple(
                    target
                    for target in kind.of(entity)
                    if target.is_excluded or (kind.name, kind.identity(target)) not in identities
                )
        self.after[key] = entity.model_copy(update=remains)
        before = {name: part for name, part in elements(entity).items() if name in after}
        note = " ".join(refusals) or ("" if after else "It does not target this any more.")
        yield PlannedChange(
            key, self.name(key), before, after, entity.etag, "" if after else " ".join(refusals), note, rows
        )


def removal_plan(actions: BulkActions, rows: Sequence[DeadRow]) -> ChangePlan[DeadTargetSource]:
    """The removal of these rows, whose packages are read next."""
    names = {(SUPPLY, row.package.id or 0): row.name for row in rows}
    source = DeadTargetSource(rows=rows, names=names)
    source.ask(names)
    return ChangePlan(source=source, record=actions.record("Removed dead targets of")).begin()


def targeting_of(targets: Iterable[DeadRow]) -> Targeting:
    """A targeting of these targets alone."""
    fields: dict[str, tuple[object, ...]] = {}
    for target in targets:
        fields[target.kind.field] = (*fields.get(target.kind.field, ()), target.target)
    return Targeting().model_copy(update=fields)
