"""The health of deals on screen: a column, the number and filter of those that need attention, a funnel."""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from lib.deals.deal_health import DealHealth
from lib.deals.delivery import PERIODS, PacingStatus, pacing_status
from lib.deals.fields import DEALS
from lib.deals.health_store import NO_REPORT
from lib.deals.models import DemandDeal
from lib.figures.numbers import Numbers
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals import catalog, counts
from lib.ui.deals.deal_rows import BY_NAME, DealRow, delivery_texts
from lib.ui.deals.insight.health_source import ATTENTION, source
from lib.ui.deals.list_state import Filters
from lib.ui.kit import redraw, session_cache, times
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.tables import with_figures
from lib.wire.errors import TrancheError

COUNT = "deals_attention_count"
TONES = {ATTENTION: "orange", "unknown": "gray", "healthy": "green", "idle": ""}
PACES: Mapping[PacingStatus | None, tuple[str, str]] = {
    "behind": ("Behind", "orange"), "on_track": ("On track", "green"), "ahead": ("Ahead", "blue"),
    None: ("", ""),
}  # fmt: skip


def add_health(context: PageContext, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows with their health and delivery, as far as these are known by now; packages have none."""
    if not rows or rows[0].entity != DEALS:
        return [*rows]
    healths, numbers = source(context).of([row.id for row in rows]), Numbers.of(context.locale)
    return [
        replace(
            row,
            health=(deal_health.words, TONES[deal_health.state]),
            delivery=delivery_texts(deal_health.delivery, deal_health.is_estimate, numbers),
            pace=PACES[pacing_status(deal_health.delivery)],
        )
        if (deal_health := healths.get(row.id))
        else row
        for row in rows
    ]


COUNTED = "deals_attention_counted"
COUNT_SECONDS = 30.0


def number(person: Person) -> int:
    """How many deals need attention by the chosen slicer, for the navigation: counted every half
    minute; of what is not stored for this person, as the list counted it last."""
    state, now = st.session_state, datetime.now(UTC).timestamp()
    choice = state.get("project"), state.get("slicer")
    if now - state.get(COUNTED, (0.0, None))[0] > COUNT_SECONDS or state[COUNTED][1] != choice:
        clients = connect.connect(person, Settings.current())
        if clients.healths is not None and person.deals.reads and person.deals.seats is None:
            with suppress(TrancheError):
                reports = clients.healths.reports()
                pairs = sorted(clients.slicers, key=lambda pair: (pair != choice, pair[0] != choice[0]))
                pair = next((pair for pair in pairs if pair in reports), NO_REPORT)
                if not person.row_filters(*pair):
                    by = {"health": [ATTENTION]} | ({"report": ["/".join(pair)]} if any(pair) else {})
                    state[COUNT] = clients.deals.list(DemandDeal, limit=1, **by).count
        state[COUNTED] = now, choice
    return int(state.get(COUNT, 0))


def note_number(context: PageContext) -> bool:
    """Note how many deals need attention; whether the navigation shows another number."""
    before, st.session_state[COUNT] = st.session_state.get(COUNT, 0), source(context).count()
    return bool(st.session_state[COUNT] != before)


def filters(context: PageContext, is_on: bool, order: str) -> tuple[Filters, str]:
    """The part of the list's filters that is about health, or why it can't be applied."""
    if not is_on and BY_NAME[order].orders.get(DEALS) != "report":
        return (), ""
    healths = source(context)
    if not is_on:
        return healths.report_filter(), ""
    with st.spinner("Checking the deals", show_time=True):
        return healths.selection()


def follow(context: PageContext, entity: str, ids: Collection[int] = ()) -> None:
    """How old the health is, or how far; drawn again when it arrives, also that of the listed deals `ids`."""
    if entity != DEALS:
        return
    healths = source(context)
    if healths.is_coming():
        _reload_once(
            lambda: not source(context).is_coming(), "health_is_there", lambda: source(context).note()
        )
    elif note_number(context):
        st.rerun()
    elif healths.is_changed(ids):
        wait = "The last changes are not counted in yet: being computed."
        _reload_once(lambda: not source(context).is_changed(ids), "health_is_current", lambda: wait)
    elif note := healths.note():
        st.caption(f":material/info: {plain(note)}" if healths.why_not() else plain(note))


def _reload_once(is_there: Callable[[], bool], key: str, wait: Callable[[], str]) -> None:
    """Read the list again, which health filters and orders, once something is there; say so until then."""

    def may_reload() -> bool:
        if is_due := is_there():
            session_cache.clear(catalog.PAGES)
        return is_due

    redraw.when(may_reload, key, lambda: st.caption(f":material/hourglass_top: {plain(wait())}"))


def draw_reasons(context: PageContext, key: tuple[str, int]) -> DealHealth | None:
    """Draw a deal's health in words: what is wrong with it, and what to do; its health, if it is known."""
    if key[0] != DEALS:
        return None
    healths = source(context)
    deal_health = healths.of([key[1]]).get(key[1])
    if deal_health is None:
        if healths.is_coming():
            st.caption(f":material/hourglass_top: {plain(healths.note())}")
            redraw.draw_again("health_of_deal")
        return None
    if healths.is_changed([key[1]]):
        st.caption(":material/hourglass_top: Its last change is not counted in yet: being computed.")
        redraw.draw_again("health_of_deal")
    repair = deal_health.repair_sentence(datetime.now(times.zone()))
    st.markdown(f"Health: **{plain(repair or deal_health.words)}**")
    if deal_health.findings:
        st.markdown("\n".join(f"- {plain(finding)}" for finding in deal_health.findings))
    if deal_health.advice:
        st.info(plain(deal_health.advice), icon=":material/lightbulb:")
    return deal_health


def draw_funnel(context: PageContext, key: tuple[str, int]) -> None:
    """Draw a deal's health, and its funnel with the share of each step in the one before."""
    deal_health, numbers = draw_reasons(context, key), counts.numbers()
    if deal_health is not None and deal_health.steps:
        steps = deal_health.rates
        columns = {
            f"Last {PERIODS[0]} days": [numbers.number(value) for _, value, _ in steps],
            "Of the step before": [numbers.percent(share) for _, _, share in steps],
        }
        index = [name.capitalize() for name, _, _ in steps]
        st.table(
            with_figures(pd.DataFrame(columns, index=pd.Index(index, name="Step")), columns),
            border="horizontal", alt="Funnel of this deal",
        )  # fmt: skip
