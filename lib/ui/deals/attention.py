"""The health of deals in the list: a column, and a switch that shows those that need attention."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from lib.insight import health
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import deal_health
from lib.ui.deals.deal_health import DEALS
from lib.ui.deals.list_search import HEALTH
from lib.ui.deals.rows import DealRow
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

ONLY = "attention"
Filters = tuple[tuple[str, tuple[str, ...]], ...]


def switch(entity: str, start_over: Callable[[], None]) -> bool:
    """Draw the switch; whether it is on."""
    return entity == DEALS and st.toggle(
        "Needs attention", key=ONLY, bind="query-params", on_change=start_over,
        help=f"Deals whose settings or funnel of the last {deal_health.DAYS} days have a fault",
    )  # fmt: skip


def filters(context: PageContext, is_on: bool, order: str) -> tuple[Filters, str]:
    """The part of the list's filters that is about health, or why it can't be applied."""
    if not is_on and order != HEALTH:
        return (), ""
    healths = deal_health.of(context)
    if not is_on:
        return healths.reported(), ""
    with st.spinner("Checking the deals", show_time=True):
        return healths.selection()


def refuse(why: str) -> None:
    """Draw why the list is not filtered, in place of a list that would have all deals."""
    st.warning(
        f"Deals that need attention can't be listed now. {plain(why)}", icon=":material/filter_alt_off:"
    )
    st.button("Show all deals", icon=":material/filter_list_off:", key="attention_off", on_click=_turn_off)


def _turn_off() -> None:
    """Show all deals. A callback."""
    st.session_state[ONLY] = False


def add_health(context: PageContext, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows with their health, as far as it is known by now."""
    return [*rows] if not rows or rows[0].entity != DEALS else deal_health.add_health(context, rows)


def follow(context: PageContext, entity: str) -> None:
    """How old the health is, or how far; drawn again when it arrives."""
    if entity != DEALS:
        return
    healths = deal_health.of(context)
    if healths.is_coming():
        deal_health.look_again(context)
    elif deal_health.note_number(context):
        st.rerun()
    elif note := healths.note():
        st.caption(f":material/info: {plain(note)}" if healths.why_not() else plain(note))


def funnel(context: PageContext, key: tuple[str, int]) -> None:
    """A deal's health, and its funnel with the share of each step in the one before."""
    if key[0] != DEALS:
        return
    healths = deal_health.of(context)
    one = healths.of([key[1]]).get(key[1])
    if one is None:
        if healths.is_coming():
            deal_health.look_again(context)
        return
    st.markdown(f"Health: **{plain(one.words)}**")
    if one.findings:
        st.markdown("\n".join(f"- {plain(finding)}" for finding in one.findings))
    if one.advice:
        st.info(plain(one.advice), icon=":material/lightbulb:")
    numbers = Numbers.of(st.context.locale)
    if one.steps:
        steps = health.rates(one.steps)
        columns = {
            f"Last {deal_health.DAYS} days": [numbers.number(value) for _, value, _ in steps],
            "Of the step before": [numbers.percent(share.value) for _, _, share in steps],
        }
        index = [name.capitalize() for name, _, _ in steps]
        st.table(
            pd.DataFrame(columns, index=pd.Index(index, name="Step")),
            border="horizontal",
            alt="Funnel of this deal",
        )
