"""Dead targets as rows to choose from, and their removal: a preview, and one change for each package."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.bulk_actions import ActionRecord
from lib.deals.fields import SUPPLY
from lib.deals.models import PackageOrDeal, SupplyPackage, Targeting
from lib.insight.dead_search import DeadResult
from lib.insight.dead_targets import DeadTarget, IncludedTarget, identity
from lib.insight.kinds import elements
from lib.ui.charts import numbers
from lib.ui.deals import facts
from lib.ui.deals.changes.change_job import ChangeJob, Effect
from lib.ui.deals.changes.change_steps import Action, ChangeSteps
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
MATCH_NOUNS = {"app_list_targetings": "apps", "domain_list_targetings": "domains"}


@dataclass(frozen=True)
class DeadRow:
    """A dead target of one package."""

    package: SupplyPackage
    dead: DeadTarget

    @property
    def key(self) -> str:
        """`17-country-AQ`, as in acts."""
        one = self.dead.target
        return f"{self.package.id}-{one.kind.name}-{identity(one.kind, one.target)}"

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
    every = [DeadRow(result.packages[one], dead) for dead in result.dead for one in dead.target.packages]
    return sorted(every, key=lambda row: (row.name.casefold(), row.package.id or 0, row.key))


def current_choice() -> DeadSelection:
    """What is chosen, with clicks applied that no callback has taken yet. A callback itself."""
    before: DeadSelection = st.session_state.get(SELECTION) or DeadSelection()
    acts, receipt = new_acts(st.session_state.get(LIST) or {}, before.receipt)
    keys = before.keys
    for act in acts:
        match act:
            case SelectRows(some, is_ticked):
                keys = keys | {*some} if is_ticked else keys - {*some}
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
    for one in targets:
        fields[one.kind.field] = (*fields.get(one.kind.field, ()), one.target)
    return Targeting().model_copy(update=fields)


def _take() -> None:
    current_choice()


def _cells(row: DeadRow, descriptions: Descriptions) -> tuple[ListCell, ...]:
    one = row.dead.target
    value = words.value_label(one.kind.value(one.target), descriptions.get(one.kind.name, {}), {})
    return tuple(map(ListCell, (row.name, one.kind.title, value, _last(row.dead))))


def _last(dead: DeadTarget) -> str:
    """`14 Oct 2026`; `or later` where it is of a sample."""
    if dead.last is None:
        return "none" if dead.is_exact else "none in a sample"
    return numbers.days(dead.last, dead.last) + ("" if dead.is_exact else " or later")


@dataclass(kw_only=True)
class RepairJob(ChangeJob):
    """The removal of `dead` targets, by package id.

    `after` are the packages as they would be, `removals` what they lose, by key.
    """

    dead: Mapping[int, Sequence[IncludedTarget]]
    names: Mapping[int, str]
    after: dict[Key, SupplyPackage] = field(default_factory=dict)
    removals: dict[Key, str] = field(default_factory=dict)

    def plan(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> None:
        """Add what becomes of a package."""
        if not isinstance(entity, SupplyPackage):
            return
        fields, losses, last_targets = _without(entity, self.dead[key[1]])
        also = " ".join(_stays(name, some) for name, some in last_targets.items())
        refusal = "" if fields else also
        if not fields and not last_targets:
            also = "It does not target this any more."
        before = {name: elements(entity)[name] for name in fields}
        effect = Effect(key, self.name(key), before, fields, entity.etag, refusal, also, rows)
        targets = {name: tuple(one for one in getattr(entity, name) if one not in losses) for name in fields}
        self.after[key] = entity.model_copy(update=targets)
        dead = (one for one in self.dead[key[1]] if one.kind.field in fields)
        self.removals[key] = ", ".join(one.kind.value(one.target) for one in dead)
        self.add(entity, effect)

    def name(self, key: Key) -> str:
        """What the list calls it."""
        return self.names.get(key[1]) or f"Package {key[1]}"


def _without(
    package: SupplyPackage, dead: Sequence[IncludedTarget]
) -> tuple[dict[str, Any], list[Any], dict[str, list[str]]]:
    """The fields without these targets, the targets that go, and by field those that have to stay.

    An element without included targets matches everything: its last ones stay.
    """
    fields: dict[str, Any] = {}
    losses: list[Any] = []
    last_targets: dict[str, list[str]] = {}
    existing = elements(package)
    for name in dict.fromkeys(one.kind.field for one in dead):
        in_field = [one for one in dead if one.kind.field == name]
        dead_elements = [one.kind.element(identity(one.kind, one.target), False) for one in in_field]
        rest = [one for one in existing[name] if one not in dead_elements]
        if len(rest) == len(existing[name]):
            continue
        if all(one["is_excluded"] for one in rest):
            last_targets[name] = [one.kind.value(one.target) for one in in_field]
            continue
        fields[name] = rest
        ids = {(one.kind.name, identity(one.kind, one.target)) for one in in_field}
        losses += [
            target
            for kind in dict.fromkeys(one.kind for one in in_field)
            for target in kind.of(package)
            if not target.is_excluded and (kind.name, identity(kind, target)) in ids
        ]
    return fields, losses, last_targets


def _stays(name: str, values: list[str]) -> str:
    noun = MATCH_NOUNS.get(name, facts.title(name).lower())
    verb, them = ("stays", "it") if len(values) == 1 else ("stay", "them")
    sentence = f"{facts.title(name)}: {', '.join(values)} {verb}"
    return f"{sentence}, because without {them} the package would match all {noun}."


def begin_repair(record: ActionRecord, selection: Sequence[DeadRow]) -> RepairJob:
    """The repair of these rows, whose packages are read next."""
    targets: dict[int, list[IncludedTarget]] = {}
    for row in selection:
        targets.setdefault(row.package.id or 0, []).append(row.dead.target)
    job = RepairJob(dead=targets, names={row.package.id or 0: row.name for row in selection}, record=record)
    job.begin([(SUPPLY, one) for one in targets])
    return job


def draw_repair(
    context: PageContext, job: RepairJob, describe: Describe, back: Action, close: Action
) -> None:
    """Draw the step that it is in, with the ways back to the list and out of the dialog, both callbacks."""

    def columns(effects: Sequence[Effect]) -> dict[str, list[str]]:
        after = [job.after.get(one.key) for one in effects]
        return {
            "Removed": [job.removals.get(one.key, "") for one in effects],
            "Targets afterwards": [(one and words.sentence(one, None, describe(one))) or "" for one in after],
        }

    has_rest = job.to_send or any(one.reason for one in job.outcomes)
    retry = partial(_read_again, job) if has_rest else None
    ChangeSteps("dead_", columns, close, back, retry).draw(context, job)


def _read_again(job: RepairJob) -> None:
    """Read those again that were not saved. A callback."""
    job.begin(sorted(job.unsaved_rows))
