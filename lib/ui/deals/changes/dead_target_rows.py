"""Dead targets as rows to choose from, and their removal: a preview, and one change for each package."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.bulk_actions import ActionRecord
from lib.deals.fields import SUPPLY
from lib.deals.models import PackageOrDeal, SupplyPackage, Targeting
from lib.insight.dead_search import DeadResult
from lib.insight.dead_targets import DeadTarget, IncludedTarget, identity
from lib.insight.kinds import KINDS, Target, elements
from lib.ui.charts import numbers
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource, PlannedChange
from lib.ui.deals.changes.plan_steps import Action, PlanSteps
from lib.ui.deals.changes.targeting_edit import TargetingEdit
from lib.ui.deals.list.deal_rows import Key
from lib.ui.deals.targeting import words
from lib.ui.deals.targeting.words import Descriptions
from lib.ui.kit import listing
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, Listing, ListRow, OpenRow, SelectRows, new_acts
from lib.ui.kit.rows import NO_RECEIPT, ActReceipt

LIST, SELECTION, MOST = "dead_list", "dead_chosen", 300
COLUMNS = (
    ListColumn("package", "Package", 14.0),
    ListColumn("element", "Element", 7.0, on_phone="top"),
    ListColumn("value", "Value", 10.0, on_phone="left"),
    ListColumn("last", "Last bid", 9.0, on_phone="below", is_titled=True),
)
Describe = Callable[[Targeting], Descriptions]


@dataclass(frozen=True)
class DeadRow:
    """A dead target of one package."""

    package: SupplyPackage
    dead: DeadTarget

    @property
    def key(self) -> str:
        """`17-country-AQ`, as in acts."""
        target = self.dead.target
        return f"{self.package.id}-{target.kind.name}-{identity(target.kind, target.target)}"

    @property
    def name(self) -> str:
        """The package's name, or its id without one."""
        return self.package.name or f"Package {self.package.id}"


@dataclass(frozen=True)
class DeadSelection:
    """The keys of the chosen rows, and the last act taken."""

    keys: frozenset[str] = field(default_factory=frozenset)
    receipt: ActReceipt = NO_RECEIPT


def rows(result: DeadResult) -> list[DeadRow]:
    """The rows, by package name."""
    dead_rows = [
        DeadRow(result.packages[package], dead) for dead in result.dead for package in dead.target.packages
    ]
    return sorted(dead_rows, key=lambda row: (row.name.casefold(), row.package.id or 0, row.key))


def current_choice() -> DeadSelection:
    """What is chosen, with clicks applied that no callback has taken yet. A callback itself."""
    before: DeadSelection = st.session_state.get(SELECTION) or DeadSelection()
    acts, receipt = new_acts(st.session_state.get(LIST) or {}, before.receipt)
    keys = before.keys
    for act in acts:
        match act:
            case SelectRows(ticked, is_ticked):
                keys = keys | {*ticked} if is_ticked else keys - {*ticked}
            case OpenRow(key):
                keys = keys ^ {key}
    st.session_state[SELECTION] = DeadSelection(keys, receipt)
    return st.session_state[SELECTION]  # type: ignore[no-any-return]


def choose_none() -> None:
    """Choose nothing."""
    st.session_state[SELECTION] = DeadSelection(receipt=current_choice().receipt)


def draw_list(dead_rows: list[DeadRow], descriptions: Descriptions, ticks: bool) -> None:
    """Draw the first rows, with boxes where something may be changed."""
    now = current_choice()
    lines = tuple(
        ListRow(row.key, _cells(row, descriptions), row.key in now.keys) for row in dead_rows[:MOST]
    )
    page = Listing("Dead targets", COLUMNS, lines, len(dead_rows), ticks)
    with st.container(key="dead_table"):
        listing.draw(LIST, page, now.receipt, _take)


def targeting(targets: Iterable[IncludedTarget]) -> Targeting:
    """A targeting of these targets, from which words for their values are found."""
    fields: dict[str, tuple[object, ...]] = {}
    for target in targets:
        fields[target.kind.field] = (*fields.get(target.kind.field, ()), target.target)
    return Targeting().model_copy(update=fields)


def _take() -> None:
    current_choice()


def _cells(row: DeadRow, descriptions: Descriptions) -> tuple[ListCell, ...]:
    kind, target = row.dead.target.kind, row.dead.target.target
    value = words.value_label(kind.value(target), descriptions.get(kind.name, {}), {})
    return tuple(map(ListCell, (row.name, kind.title, value, _last(row.dead))))


def _last(dead: DeadTarget) -> str:
    """`14 Oct 2026`; `or later` where it is of a sample."""
    if dead.last is None:
        return "none" if dead.is_exact else "none in a sample"
    return numbers.days(dead.last, dead.last) + ("" if dead.is_exact else " or later")


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
        dead = [row.dead.target for row in self.rows if (SUPPLY, row.package.id) == key]
        after: dict[str, Any] = {}
        refusals: list[str] = []
        for name in dict.fromkeys(target.kind.field for target in dead):
            targets = targeting(target for target in dead if target.kind.field == name)
            part, refusal = TargetingEdit("remove", targets).apply(entity)
            after |= part
            refusals += [refusal] if refusal else []
        removals = [target for target in dead if target.kind.field in after]
        self.after[key] = _without(entity, removals)
        self.removals[key] = ", ".join(target.kind.value(target.target) for target in removals)
        before = {name: part for name, part in elements(entity).items() if name in after}
        note = " ".join(refusals) or ("" if after else "It does not target this any more.")
        yield PlannedChange(
            key, self.name(key), before, after, entity.etag, "" if after else " ".join(refusals), note, rows
        )

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return next((row.name for row in self.rows if (SUPPLY, row.package.id) == key), super().name(key))


def _without(package: SupplyPackage, targets: Sequence[IncludedTarget]) -> SupplyPackage:
    """The package without these included targets, names of lists and all, for words about it."""
    identities = {(target.kind.name, identity(target.kind, target.target)) for target in targets}
    parts: dict[str, tuple[Target, ...]] = {}
    for kind in KINDS:
        parts[kind.field] = parts.get(kind.field, ()) + tuple(
            target
            for target in kind.of(package)
            if target.is_excluded or (kind.name, identity(kind, target)) not in identities
        )
    return package.model_copy(update=parts)


def removal_plan(record: ActionRecord, rows: Sequence[DeadRow]) -> ChangePlan[DeadTargetSource]:
    """The removal of these rows, whose packages are read next."""
    source = DeadTargetSource(rows=rows)
    source.ask((SUPPLY, row.package.id or 0) for row in rows)
    plan = ChangePlan(source=source, record=record)
    plan.begin()
    return plan


def draw_removal(
    context: PageContext,
    plan: ChangePlan[DeadTargetSource],
    describe: Describe,
    back: Action,
    close: Action,
) -> None:
    """Draw the step that it is in, with the ways back to the list and out of the dialog, both callbacks."""

    def columns(changes: Sequence[PlannedChange]) -> dict[str, list[str]]:
        packages = [plan.source.after.get(change.key) for change in changes]
        return {
            "Removed": [plan.source.removals.get(change.key, "") for change in changes],
            "Targets afterwards": [
                "" if package is None else words.sentence(package, None, describe(package))
                for package in packages
            ],
        }

    has_rest = plan.to_send or any(outcome.reason for outcome in plan.outcomes)
    retry = partial(_read_again, plan) if has_rest else None
    PlanSteps("dead_", columns, close, back, retry).draw(context, plan)


def _read_again(plan: ChangePlan[DeadTargetSource]) -> None:
    """Read those again that were not saved. A callback."""
    plan.source.ask(sorted(plan.unsaved_rows))
    plan.begin()
