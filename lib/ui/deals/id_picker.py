"""A picker of seats and deals by their ids, which may be typed where the service lists none."""

from collections.abc import Mapping

import streamlit as st

from lib.deals.models import Seat
from lib.figures.deals.deal_names import seat_name
from lib.ui.kit import notes

NOT_A_NUMBER = "An id is a number; others were left out"


def draw_picker(
    title: str,
    names: Mapping[int, str],
    key: str,
    placeholder: str,
    *,
    takes_ids: bool = False,
    disabled: bool = False,
) -> None:
    """Draw the picker. `names` are those of all that are offered or chosen; `takes_ids`: others may be
    typed."""
    st.multiselect(
        title,
        list(names),
        format_func=lambda number: names.get(number, str(number)),
        key=key,
        persist_state="session",
        filter_mode="contains",
        select_all=False,
        wrap=True,
        placeholder=placeholder,
        accept_new_options=takes_ids,
        disabled=disabled,
        on_change=_as_numbers if takes_ids else "rerun",
        args=(key,) if takes_ids else None,
    )
    if takes_ids:
        notes.draw()


def draw_seat(seats: Mapping[int, Seat], key: str) -> None:
    """Draw the choice of one seat; a chosen one that is not known stays an option."""
    selection: int | None = st.session_state.get(key)
    options = [*dict.fromkeys([*seats, *([] if selection is None else [selection])])]
    st.selectbox(
        "Seat", options, index=None, key=key,
        format_func=lambda seat: seat_label(seats.get(seat), seat), persist_state="session",
        filter_mode="contains", placeholder="Who may buy it",
    )  # fmt: skip


def read_number(value: object) -> int | None:
    """The id that was picked or typed; None for what is none."""
    if isinstance(value, int):
        return value
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text) < 2**53 else None


def seat_label(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, DSP and external id, to be found by each."""
    more = [] if seat is None else [dsp_name(seat), seat.external_id or ""]
    return " · ".join(filter(None, (seat_name(seat, seat_id), *more)))


def dsp_name(seat: Seat | None) -> str:
    """The name of its DSP; empty where it is not known."""
    return (seat and seat.dsp and seat.dsp.name) or ""


def _as_numbers(key: str) -> None:
    """Typed ids become numbers. A callback."""
    values = st.session_state[key]
    numbers = [number for value in values if (number := read_number(value)) is not None]
    if len(numbers) < len(values):
        notes.say(NOT_A_NUMBER)
    st.session_state[key] = list(dict.fromkeys(numbers))
