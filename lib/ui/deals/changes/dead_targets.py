"""The dialog of dead targets: the search and its list, and the removal of those that are chosen."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.bulk_actions import ActionRecord
from lib.deals.fields import SUPPLY
from lib.deals.models import PackageOrDeal, SupplyPackage, Targeting
from lib.insight.dead_search import MOST, DeadResult, DeadScope, DeadSearch
from lib.insight.dead_targets import DeadTarget, IncludedTarget, identity
from lib.insight.estimate import BIDS, IMPRESSIONS, field_of
from lib.insight.filters import entries
from lib.insight.kinds import KINDS, Target, elements
from lib.reporting.dates import Days
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, DataField
from lib.ui.charts import numbers
from lib.ui.deals import catalog
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource, PlannedChange
from lib.ui.deals.changes.plan_steps import Action, PlanSteps, step_container
from lib.ui.deals.changes.targeting_edit import TargetingEdit
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.insight import report
from lib.ui.deals.list.deal_rows import Key
from lib.ui.deals.list.list_state import ListSearch
from lib.ui.deals.targeting import picker, words
from lib.ui.deals.targeting.words import Descriptions
from lib.ui.kit import listing
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, Listing, ListRow, OpenRow, SelectRows, new_acts
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.kit.rows import NO_RECEIPT, ActReceipt
from lib.ui.query.periods import DAY
from lib.wire.errors import TrancheError

OPEN, PERIOD, PERIODS, USUAL = "dead_targets", "dead_days", (7, 14, 30), 30
MOMENT_SECONDS, LOOK_BACK = 0.2, 365
LIST, SELECTION, MOST_SHOWN = "dead_list", "dead_chosen", 300
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


@dataclass
class DeadView:
    """The dialog's contents: the search for `scope_key`, and the removal, if there is one."""

    scope_key: object = None
    search: DeadSearch | None = None
    removal: ChangePlan[DeadTargetSource] | None = None

    def forget(self) -> None:
        """Search again next time; give up what is still being searched."""
        if self.search is not None:
            self.search.cancel()
        self.scope_key, self.search = None, None


def draw(search: ListSearch) -> None:
    """Draw the button beside the list of packages."""
    if search.entity == SUPPLY:
        st.button(
            "Dead targets", icon=":material/heart_broken:", type="tertiary", key="deals_dead",
            help="Targeted values without a bid, over all packages", on_click=_ask,
        )  # fmt: skip


def draw_dialog(context: PageContext) -> None:
    """Draw the dialog, if it is open."""
    if (view := st.session_state.get(OPEN)) is not None:
        # A dialog is open only as long as each run of the page opens it.
        dialog = st.dialog("Dead targets", width="large", icon=":material/heart_broken:", on_dismiss=close)
        dialog(_content)(context, view)


def _ask() -> None:
    """Open the dialog. A callback."""
    choose_none()
    st.session_state[OPEN] = DeadView()


def close() -> None:
    """Close it, if it is open; what is not sent yet is not sent. A callback."""
    view: DeadView | None = st.session_state.pop(OPEN, None)
    if view is None:
        return
    view.forget()
    if view.removal is not None and view.removal.outcomes:
        catalog.forget()


def _content(context: PageContext, view: DeadView) -> None:
    with step_container():
        if view.removal is not None:
            draw_removal(
                context, view.removal, _descriptions(context), partial(setattr, view, "removal", None), close
            )
            return
        days = st.segmented_control(
            "Days without a bid", PERIODS, format_func=lambda days: plain(f"{days} days"), key=PERIOD,
            default=USUAL, required=True, persist_state="session", on_change=choose_none,
        )  # fmt: skip
        field = field_of(context.slicer, (*BIDS, *IMPRESSIONS))
        if field is None:
            st.caption("This slicer has no data field for bids or impressions.")
            return
        with report_errors("The dead targets", effect="Nothing was changed."):
            _draw_search(context, view, days or USUAL, field)


def _draw_search(context: PageContext, view: DeadView, days: int, field: DataField) -> None:
    """Draw what is found; how far the search is until then."""
    period = _exactly(context, days, field)
    span = report.period(context, period)
    before = _before(context, period, span[0])
    scope_key = (context.viewer, period, before)
    if view.search is None or view.scope_key != scope_key:
        view.forget()
        lists, now = entries(catalog.lists(context)), datetime.now(UTC)
        scope = DeadScope(context.slicer, lists, period, before, field.name, now)
        ask = partial(context.reporting.audience, slicer=context.slicer)
        view.scope_key, view.search = scope_key, DeadSearch(context.deals, ask, scope)
    if not view.search.wait(MOMENT_SECONDS):
        st.caption(f":material/hourglass_top: Looking for dead targets: {plain(view.search.progress)}.")
        report.look_again(view.search)
        return
    try:
        result = view.search.result()
    except TrancheError:
        view.forget()
        raise
    _draw_list(context, view, result, span, field)
    _notes(context, result, span, before, field)


def _draw_list(
    context: PageContext, view: DeadView, result: DeadResult, span: Days, field: DataField
) -> None:
    """Draw the list, and what can be done about it."""
    rows, what = rows_by_name(result), plain(numbers.title(field).lower())
    if not result.bids.has_data:
        st.info(f"The report has no data for {numbers.days(*span)}: nothing can be said.")
    elif not rows and result.unproven:
        st.info("No target is known to be dead.", icon=":material/info:")
    elif not rows:
        st.success(f"Every target that was checked had {what}.", icon=":material/check_circle:")
    if not rows:
        return
    packages = len({row.package.id for row in rows})
    more = f"; the first {MOST_SHOWN} are listed" if len(rows) > MOST_SHOWN else ""
    st.markdown(
        f"**{count_label('target', len(rows))}** of {count_label('package', packages)} had no {what}{more}."
    )
    why_not = catalog.abilities(context).why_not(SUPPLY, "change")
    descriptions = _descriptions(context)(targeting(dead.target for dead in result.dead))
    draw_list(rows, descriptions, ticks=not why_not)
    if why_not:
        st.caption(f":material/lock: {plain(why_not)}.")
        return
    keys = current_choice().keys
    selection = [row for row in rows if row.key in keys]
    st.button(
        f"Preview removal of {number(len(selection))}" if selection else "Preview removal", type="primary",
        key="dead_preview", disabled=not selection, on_click=_preview, args=(context, view, selection),
        help=None if selection else "Choose what to remove",
    )  # fmt: skip


def _preview(context: PageContext, view: DeadView, selection: list[DeadRow]) -> None:
    """Read the packages for the preview. A callback."""
    record = context.clients.bulk_actions.record("Removed dead targets of")
    view.removal = removal_plan(record, selection)


def _notes(
    context: PageContext, result: DeadResult, span: Days, before: AudienceQuery | None, field: DataField
) -> None:
    """Say what was asked, and what could not be checked."""
    days = (span[1] - span[0]).days + 1
    had = f" ({number(result.bids.days)} of {days} days have data)" if 0 < result.bids.days < days else ""
    has = "has" if len(result.packages) == 1 else "have"
    package_count = f"{count_label('package', len(result.packages))} that {has} not ended"
    exact = "Exact" if result.bids.is_exact else "From a sample"
    last = "" if before is None else f" Last days are looked for from {_day(before.start_date)}."
    st.caption(
        plain(
            f"{numbers.title(field)} of each value, whatever else the package targets. "
            f"{numbers.days(*span)}{had} · From {context.project}/{context.slicer_name} · "
            f"{exact} · {package_count}.{last}"
        )
    )
    sentences = [*result.gaps]
    if not result.is_whole:
        sentences.append(f"Packages after the first {MOST:,}.")
    if result.unproven:
        names = ", ".join(target.kind.value(target.target) for target in result.unproven)
        sentences.append(f"{names}: none in a sample, which proves nothing. Fewer days may be exact.")
    for sentence in sentences:
        st.caption(f":material/info: Not checked: {plain(sentence)}")


def _exactly(context: PageContext, days: int, field: DataField) -> AudienceQuery:
    """The question for the last days, from as many records as one question may read."""
    query = report.question(context, (), days, (field.name,))
    return query.model_copy(update={"audience_rows_limit": ROWS_LIMITS[1]})


def _before(context: PageContext, period: AudienceQuery, first: date) -> AudienceQuery | None:
    """The same for the data before the first day, a year at most; None where there are none."""
    first_date, start, end = context.slicer.first_date, first - LOOK_BACK * DAY, first - DAY
    start = max(start, date.fromisoformat(first_date)) if first_date else start
    if start > end:
        return None
    return period.model_copy(update={"start_date": start.isoformat(), "end_date": end.isoformat()})


def _descriptions(context: PageContext) -> Describe:
    """Words for the values of a targeting."""
    return partial(picker.describe, context, catalog.usual_days(context))


def _day(text: str) -> str:
    at = date.fromisoformat(text)
    return numbers.days(at, at)


@dataclass(frozen=True)
class DeadSelection:
    """The keys of the chosen rows, and the last act taken."""

    keys: frozenset[str] = field(default_factory=frozenset)
    receipt: ActReceipt = NO_RECEIPT


def rows_by_name(result: DeadResult) -> list[DeadRow]:
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
        ListRow(row.key, _cells(row, descriptions), row.key in now.keys) for row in dead_rows[:MOST_SHOWN]
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
    names = {(SUPPLY, row.package.id or 0): row.name for row in rows}
    source = DeadTargetSource(rows=rows, names=names)
    source.ask(names)
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
