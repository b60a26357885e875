"""The dialog of dead targets: the search and its list, and the plan that removes those that are chosen."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from typing import Any

import streamlit as st

from lib.deals.bulk_actions import BulkActions
from lib.deals.fields import SUPPLY
from lib.deals.models import PackageOrDeal, SupplyPackage, Targeting
from lib.deals.targeting.kinds import KINDS, Target, TargetingKind, elements
from lib.figures import numbers
from lib.figures.deals import deal_report, targeting_text
from lib.figures.deals.deal_names import title_of
from lib.figures.deals.targeting_text import Descriptions
from lib.figures.rows import NO_RECEIPT, ActReceipt
from lib.insight import DeadSearch
from lib.slicers.models import DataField
from lib.ui.deals import catalog
from lib.ui.deals.changes.plan import ChangePlan, ChangeSource, PlannedChange
from lib.ui.deals.changes.plan_steps import Columns, PlanSteps, step_container
from lib.ui.deals.changes.shared_change import TargetingEdit
from lib.ui.deals.counts import count_label, number
from lib.ui.deals.deal_rows import Key
from lib.ui.deals.insight import report
from lib.ui.deals.list_state import ListSearch
from lib.ui.kit import listing
from lib.ui.kit.frame import PageContext
from lib.ui.kit.listing import ListCell, ListColumn, Listing, ListRow, OpenRow, SelectRows, new_acts
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.wire.errors import TrancheError
from lib.wire.text import write_day


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
    return ChangePlan(source=source, record=actions.record("Removed dead targets")).begin()


def targeting_of(targets: Iterable[DeadRow]) -> Targeting:
    """A targeting of these targets alone."""
    fields: dict[str, tuple[object, ...]] = {}
    for target in targets:
        fields[target.kind.field] = (*fields.get(target.kind.field, ()), target.target)
    return Targeting().model_copy(update=fields)


OPEN = "dead_targets"
MOMENT_SECONDS = 0.2
LIST = "dead_list"
SELECTION = "dead_chosen"
MOST_SHOWN = 300
COLUMNS = (
    ListColumn("package", "Package", 14.0),
    ListColumn("element", "Element", 7.0, on_phone="top"),
    ListColumn("value", "Value", 10.0, on_phone="left"),
    ListColumn("last", "Last bid", 9.0, on_phone="below", is_titled=True),
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


@dataclass(frozen=True)
class DeadSelection:
    """The keys of the chosen rows, and the last act taken."""

    keys: frozenset[str] = field(default_factory=frozenset)
    receipt: ActReceipt = NO_RECEIPT


def draw(search: ListSearch) -> None:
    """Draw the button beside the list of packages."""
    if search.entity == SUPPLY:
        st.button(
            "Dead targets", icon=":material/heart_broken:", type="tertiary", key="deals_dead",
            help="Targeted values without a bid, over all packages", on_click=_open,
        )  # fmt: skip


def draw_dialog(context: PageContext) -> None:
    """Draw the dialog, if it is open."""
    if (view := st.session_state.get(OPEN)) is not None:
        # A dialog is open only as long as each run of the page opens it.
        dialog = st.dialog("Dead targets", width="large", icon=":material/heart_broken:", on_dismiss=close)
        dialog(_content)(context, view)


def close() -> None:
    """Close it, if it is open; what is not sent yet is not sent. A callback."""
    view: DeadView | None = st.session_state.pop(OPEN, None)
    if view is None:
        return
    view.forget()
    if view.removal is not None and view.removal.outcomes:
        catalog.forget()


def _open() -> None:
    choose_none()
    st.session_state[OPEN] = DeadView()


PERIOD = "dead_days"
PERIODS = (7, 14, 30)
USUAL = 30


def _content(context: PageContext, view: DeadView) -> None:
    with step_container():
        if (plan := view.removal) is not None:
            query = deal_report.usual_days(context)

            def columns(changes: Sequence[PlannedChange]) -> Columns:
                packages = [plan.source.after.get(change.key) for change in changes]
                return {
                    "Removed": [plan.source.removals.get(change.key, "") for change in changes],
                    "Targets afterwards": [
                        ""
                        if package is None
                        else targeting_text.sentence(
                            package, None, targeting_text.describe(context, query, package)
                        )
                        for package in packages
                    ],
                }

            def read_again() -> None:
                plan.source.ask(sorted(plan.unsaved_rows))
                plan.begin()

            has_rest = plan.to_send or any(outcome.reason for outcome in plan.outcomes)
            back, retry = partial(setattr, view, "removal", None), read_again if has_rest else None
            PlanSteps("dead_", columns, close, back, retry).draw(context, plan)
            return
        days = st.segmented_control(
            "Days without a bid", PERIODS, format_func=lambda days: plain(f"{days} days"), key=PERIOD,
            default=USUAL, required=True, persist_state="session", on_change=choose_none,
        )  # fmt: skip
        if (field := report.volume_field(context)) is not None:
            with report_errors("The dead targets", effect="Nothing was changed."):
                _draw_search(context, view, days or USUAL, field)


def _draw_search(context: PageContext, view: DeadView, days: int, field: DataField) -> None:
    """Draw what is found; how far the search is until then."""
    asking = deal_report.insight(context)
    query, span = asking.query(days, data_fields=(field.name,)), asking.period(days)
    scope_key = (context.viewer, query, span, context.slicer.first_date)
    if view.search is None or view.scope_key != scope_key:
        view.forget()
        lists = catalog.list_entries(context)
        view.scope_key = scope_key
        view.search = asking.dead_targets(context.deals, lists, field.name, days)
    if not view.search.wait(MOMENT_SECONDS):
        st.caption(f":material/hourglass_top: Looking for dead targets: {plain(view.search.progress)}.")
        report.look_again(view.search)
        return
    try:
        view.search.result()
    except TrancheError:
        view.forget()
        raise
    _draw_result(context, view, view.search, numbers.days(*span), field)
    result = view.search.result()
    day_count = (span[1] - span[0]).days + 1
    had = (
        f" ({number(result.bids.days)} of {day_count} days have data)"
        if 0 < result.bids.days < day_count
        else ""
    )
    has = "has" if len(result.packages) == 1 else "have"
    package_count = f"{count_label('package', len(result.packages))} that {has} not ended"
    exact = "Exact" if result.bids.is_exact else "From a sample"
    last = f" Last days are looked for from {write_day(result.first)}." if result.first else ""
    st.caption(
        plain(
            f"{numbers.title(field)} of each value, whatever else the package targets. "
            f"{numbers.days(*span)}{had} · From {context.project}/{context.slicer_name} · "
            f"{exact} · {package_count}.{last}"
        )
    )
    sentences = [*result.gaps]
    if not result.is_whole:
        sentences.append(f"Packages after the first {len(result.packages):,}.")
    if result.unproven:
        names = ", ".join(target.kind.value(target.target) for target in result.unproven)
        sentences.append(f"{names}: none in a sample, which proves nothing. Fewer days may be exact.")
    for sentence in sentences:
        st.caption(f":material/info: Not checked: {plain(sentence)}")


def _draw_result(
    context: PageContext, view: DeadView, search: DeadSearch, days: str, field: DataField
) -> None:
    result = search.result()
    rows, what = rows_by_name(search), plain(numbers.title(field).lower())
    if not result.bids.has_data:
        st.info(f"The report has no data for {days}: nothing can be said.")
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
    targeting = targeting_of(rows)
    _draw_list(
        rows, targeting_text.describe(context, deal_report.usual_days(context), targeting), ticks=not why_not
    )
    if why_not:
        st.caption(f":material/lock: {plain(why_not)}.")
        return
    keys = current_choice().keys
    selection = [row for row in rows if row.key in keys]

    def preview() -> None:
        view.removal = removal_plan(context.clients.bulk_actions, selection)

    st.button(
        f"Preview removal of {number(len(selection))}" if selection else "Preview removal", type="primary",
        key="dead_preview", disabled=not selection, on_click=preview,
        help=None if selection else "Choose what to remove",
    )  # fmt: skip


def rows_by_name(search: DeadSearch) -> list[DeadRow]:
    """The rows of what was found, by package name."""
    result = search.result()
    dead_rows = [
        DeadRow(result.packages[package], dead.target.kind, dead.target.target, dead.last, dead.is_exact)
        for dead in result.dead
        for package in dead.target.packages
    ]
    return sorted(dead_rows, key=lambda row: (row.name.casefold(), row.package.id or 0, row.key))


def _draw_list(dead_rows: list[DeadRow], descriptions: Descriptions, ticks: bool) -> None:
    """Draw the first rows, with boxes where something may be changed."""
    now, rows = current_choice(), []
    for row in dead_rows[:MOST_SHOWN]:
        value = targeting_text.value_label(
            row.kind.value(row.target), descriptions.get(row.kind.name, {}), {}
        )
        if row.last is None:
            last = "none" if row.is_exact else "none in a sample"
        else:
            last = write_day(row.last) + ("" if row.is_exact else " or later")
        cells = tuple(map(ListCell, (row.name, row.kind.title, value, last)))
        rows.append(ListRow(row.key, cells, row.key in now.keys))
    page = Listing("Dead targets", COLUMNS, rows, len(dead_rows), ticks)
    with st.container(key="dead_table"):
        listing.draw(LIST, page, now.receipt, current_choice)  # type: ignore[arg-type]


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
    selection = st.session_state[SELECTION] = DeadSelection(keys, receipt)
    return selection


def choose_none() -> None:
    """Choose nothing. A callback."""
    st.session_state[SELECTION] = DeadSelection(receipt=current_choice().receipt)
