"""The health of deals in the list: a column, and a switch that shows those that need attention."""

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from lib.insight import health
from lib.ui.charts.numbers import Numbers
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.supply import deal_health
from lib.ui.supply.rows import DealRow

ONLY, NOBODY = "attention", "0"
DEALS = "demand_deals"


def filter_of(
    here: Here, entity: str, start_over: Callable[[], None]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Draw the switch; the filter of the list where it is on: the ids of the deals that need attention.

    No entity has the id 0, so that it stands for none of them.
    """
    if entity != DEALS:
        return ()
    is_on = st.toggle(
        "Needs attention", key=ONLY, bind="query-params", on_change=start_over,
        help="Deals whose settings or funnel of the last 7 days have a fault",
    )  # fmt: skip
    if not is_on:
        return ()
    with st.spinner("Checking the deals", show_time=True):
        healths = deal_health.found(here, None)
    if healths is None:
        return ()
    return (("id", tuple(map(str, deal_health.attention(healths))) or (NOBODY,)),)


def marked(here: Here, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows with their health, as far as it is known by now."""
    if not rows or rows[0].entity != DEALS:
        return [*rows]
    healths = deal_health.found(here)
    return [*rows] if healths is None else deal_health.marked(rows, healths)


def follow(here: Here, entity: str) -> None:
    """The health in words, drawn when it arrives."""
    if entity != DEALS:
        return
    if deal_health.is_coming(here):
        st.caption(":material/hourglass_top: Checking the health of the deals.")
        deal_health.look_again(here)
    elif not deal_health.is_drawn():
        st.rerun()
    elif why_not := deal_health.why_not(here):
        st.caption(f":material/info: {plain(why_not)}")


def funnel(here: Here, key: tuple[str, int]) -> None:
    """A deal's health, and its funnel with the share of each step in the one before."""
    one = deal_health.of(key, deal_health.found(here))
    if one is None:
        if key[0] == DEALS and deal_health.is_coming(here):
            st.caption(":material/hourglass_top: Checking the health of the deals.")
            deal_health.look_again(here)
        return
    st.markdown(f"Health: **{plain(one.words)}**")
    shown = Numbers.of(st.context.locale)
    if one.steps:
        steps = health.rated(one.steps)
        columns = {
            f"Last {deal_health.DAYS} days": [shown.number(value) for _, value, _ in steps],
            "Of the step before": [shown.percent(share.value) for _, _, share in steps],
        }
        index = [name.capitalize() for name, _, _ in steps]
        st.table(
            pd.DataFrame(columns, index=pd.Index(index, name="Step")),
            border="horizontal",
            alt="Funnel of this deal",
        )
