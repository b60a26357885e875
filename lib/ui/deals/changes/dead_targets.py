"""The dialog of dead targets: the search and its list, and the removal of those that are chosen."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial

import streamlit as st

from lib.deals.fields import SUPPLY
from lib.insight.dead_search import MOST, DeadResult, DeadScope, DeadSearch
from lib.insight.estimate import BIDS, IMPRESSIONS, field_of
from lib.insight.filters import entries
from lib.reporting.dates import Days
from lib.reporting.models import ROWS_LIMITS, AudienceQuery, DataField
from lib.ui.charts import numbers
from lib.ui.deals import catalog
from lib.ui.deals.changes import dead_target_rows
from lib.ui.deals.changes.dead_target_rows import DeadTargetSource
from lib.ui.deals.changes.plan import ChangePlan
from lib.ui.deals.changes.plan_steps import count_label, number
from lib.ui.deals.insight import report
from lib.ui.deals.list.list_state import ListSearch
from lib.ui.deals.targeting import picker
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.query.periods import DAY
from lib.wire.errors import TrancheError

OPEN, PERIOD, PERIODS, USUAL = "dead_targets", "dead_days", (7, 14, 30), 30
MOMENT_SECONDS, LOOK_BACK = 0.2, 365


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
        dialog = st.dialog("Dead targets", width="large", icon=":material/heart_broken:", on_dismiss=close)
        dialog(_content)(context, view)


def _ask() -> None:
    """Open the dialog. A callback."""
    dead_target_rows.choose_none()
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
    with st.empty().container():
        if view.removal is not None:
            dead_target_rows.draw_removal(
                context, view.removal, _descriptions(context), partial(setattr, view, "removal", None), close
            )
            return
        days = st.segmented_control(
            "Days without a bid", PERIODS, format_func=lambda days: plain(f"{days} days"), key=PERIOD,
            default=USUAL, required=True, persist_state="session", on_change=dead_target_rows.choose_none,
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
    rows, what = dead_target_rows.rows(result), plain(numbers.title(field).lower())
    if not result.bids.has_data:
        st.info(f"The report has no data for {numbers.days(*span)}: nothing can be said.")
    elif not rows and result.unproven:
        st.info("No target is known to be dead.", icon=":material/info:")
    elif not rows:
        st.success(f"Every target that was checked had {what}.", icon=":material/check_circle:")
    if not rows:
        return
    packages = len({row.package.id for row in rows})
    more = f"; the first {dead_target_rows.MOST} are listed" if len(rows) > dead_target_rows.MOST else ""
    st.markdown(
        f"**{count_label('target', len(rows))}** of {count_label('package', packages)} had no {what}{more}."
    )
    why_not = catalog.abilities(context).why_not(SUPPLY, "change")
    descriptions = _descriptions(context)(dead_target_rows.targeting(dead.target for dead in result.dead))
    dead_target_rows.draw_list(rows, descriptions, ticks=not why_not)
    if why_not:
        st.caption(f":material/lock: {plain(why_not)}.")
        return
    keys = dead_target_rows.current_choice().keys
    selection = [row for row in rows if row.key in keys]
    st.button(
        f"Preview removal of {number(len(selection))}" if selection else "Preview removal", type="primary",
        key="dead_preview", disabled=not selection, on_click=_preview, args=(context, view, selection),
        help=None if selection else "Choose what to remove",
    )  # fmt: skip


def _preview(context: PageContext, view: DeadView, selection: list[dead_target_rows.DeadRow]) -> None:
    """Read the packages for the preview. A callback."""
    record = context.clients.bulk_actions.record("Removed dead targets of")
    view.removal = dead_target_rows.removal_plan(record, selection)


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


def _descriptions(context: PageContext) -> dead_target_rows.Describe:
    """Words for the values of a targeting."""
    return partial(picker.describe, context, catalog.usual_days(context))


def _day(text: str) -> str:
    at = date.fromisoformat(text)
    return numbers.days(at, at)
