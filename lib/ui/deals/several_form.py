"""The form for changing several entities: a price or a percentage, and dates."""

from datetime import datetime
from decimal import Decimal

import streamlit as st

from lib.ui.deals.several_change import END, START, SeveralWanted
from lib.ui.frame.field_problems import beside
from lib.ui.frame.markdown import plain
from lib.ui.supply.prices import Prices
from lib.ui.supply.words import OFFSETS, offset
from lib.ui.typed import amounts, times

PREFIX = "several_"
HOW, AMOUNT, NO_END, ZONE = (f"{PREFIX}{name}" for name in ("how", "amount", "no_end", "zone"))
FIELDS = {START: f"{PREFIX}start", END: f"{PREFIX}end"}
KEEP, SET, PERCENT = "Keep", "Set to", "Change by %"
OWN_ZONE = "Each package's own"
PERCENTAGE = amounts.Limits(least=-100, below=10_001, decimals=4)


def draw(money: Prices, has_price: bool, no_dates: str, is_deals: bool) -> None:
    """Draw the fields. `no_dates` is why dates can't be changed; empty if they can."""
    if has_price:
        _price(money)
    if no_dates:
        st.caption(no_dates)
        return
    if is_deals:
        st.markdown("**Dates of their packages**")
        st.caption("A package's dates are those of all of its deals. Fields left empty keep the dates.")
    else:
        st.caption("Fields left empty keep the dates.")
    state = st.session_state
    start, end = st.columns(2, vertical_alignment="top")
    with start:
        times.draw("Start", FIELDS[START], [], empty="keep")
        beside(filter(None, [times.fault(state.get(FIELDS[START]) or "")]))
    with end:
        ends = bool(state.get(NO_END))
        times.draw("End", FIELDS[END], [], empty="keep", disabled=ends)
        beside(filter(None, ["" if ends else times.fault(state.get(FIELDS[END]) or "")]))
    zone, no_end = st.columns(2, vertical_alignment="bottom")
    with zone:
        st.selectbox(
            "Time zone", [OWN_ZONE, *OFFSETS], key=ZONE, persist_state="session",
            format_func=lambda one: offset(one) if isinstance(one, int) else one,
        )  # fmt: skip
    with no_end:
        st.checkbox("Remove the end", key=NO_END, persist_state="session")


def read() -> SeveralWanted:
    """The typed change. ValueError, with a sentence, if a field is wrong or nothing changes."""
    state = st.session_state
    price, percent = _amount(state.get(HOW) or KEEP, state.get(AMOUNT) or "")
    dates: dict[str, datetime | None] = {}
    for name, key in FIELDS.items():
        at = None if name == END and state.get(NO_END) else times.read(state.get(key) or "")
        if at is not None:
            dates[name] = at
    if state.get(NO_END):
        dates[END] = None
    zone = state.get(ZONE)
    wanted = SeveralWanted(price, percent, dates, zone if isinstance(zone, int) else None)
    if not wanted.names:
        raise ValueError("Type what to change: a price or a date.")
    return wanted


def forget() -> None:
    """Empty the fields."""
    for key in [one for one in st.session_state if str(one).startswith(PREFIX)]:
        del st.session_state[key]


def _price(money: Prices) -> None:
    state = st.session_state
    st.segmented_control(
        plain(money.title),
        [KEEP, SET, PERCENT],
        key=HOW,
        required=True,
        default=KEEP,
        persist_state="session",
    )
    how = state.get(HOW) or KEEP
    if how == KEEP:
        return
    label = money.title if how == SET else "Percent, like 5 or -7.5"
    amounts.field(label, AMOUNT)
    text = state.get(AMOUNT) or ""
    beside(filter(None, [amounts.fault(text, limits=PERCENTAGE if how == PERCENT else amounts.AMOUNT)]))
    if how == PERCENT:
        st.caption("Rounded to cents, or to the decimals that a price has already.")


def _amount(how: str, text: str) -> tuple[Decimal | None, Decimal | None]:
    """The price and the percentage, at most one of them."""
    if how == KEEP:
        return None, None
    number = amounts.read(text, PERCENTAGE if how == PERCENT else amounts.AMOUNT)
    if number is None:
        raise ValueError("Type a price." if how == SET else "Type a percentage.")
    return (number, None) if how == SET else (None, number)
