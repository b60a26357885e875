"""The seats of a new package: chosen by name, their terms in one grid, a row each."""

from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import pandas as pd
import streamlit as st

from lib.deals.models import Seat
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.package import numbers
from lib.ui.package.draft import Terms

CHOSEN, TERMS, GRID, BASE, SHAPE = "np_seats", "np_terms", "np_grid", "np_grid_base", "np_grid_shape"
OPTIONS = ("create_demand_deals", "demand_deals_options")


def chosen(state: Mapping[Any, Any]) -> dict[int, Terms]:
    """The seats that are chosen, with their terms, in the order of choosing."""
    terms: Mapping[int, Terms] = state.get(TERMS, {})
    return {seat: terms.get(seat, Terms()) for seat in state.get(CHOSEN, ())}


def edited(terms: Mapping[int, Terms], seats: Sequence[int], edits: Mapping[int, Any]) -> dict[int, Terms]:
    """The terms once the grid's edits, by row and column, are in them."""
    found = dict(terms)
    for row, cells in edits.items():
        if int(row) < len(seats):
            seat = seats[int(row)]
            found[seat] = _with(found.get(seat, Terms()), cells)
    return found


def frame(chosen: Mapping[int, Terms], seats: Mapping[int, Seat]) -> pd.DataFrame:
    """A row per seat: who, at which price, with deal sync or not, at which DSP."""
    rows = [
        {
            "Seat": _name(seats.get(seat), seat),
            "DSP": _dsp(seats.get(seat)),
            "Price": None if terms.price is None else float(terms.price),
            "Deal sync": terms.deal_sync,
        }
        for seat, terms in chosen.items()
    ]
    columns = ["Seat", "Price", "Deal sync", "DSP"]
    types = {"Price": "float64", "Deal sync": "bool"}
    return pd.DataFrame(rows, columns=columns, index=list(chosen)).astype(types)


def draw(seats: Mapping[int, Seat], problems: FieldProblems, offer: numbers.Offer) -> None:
    """The picker of seats, and the grid of those that are chosen."""
    known = dict.fromkeys([*seats, *st.session_state.get(CHOSEN, ())])
    numbers.draw(
        "Seats",
        {seat: seat_label(seats.get(seat), seat) for seat in known},
        CHOSEN,
        offer,
        f"Who may buy it; type a name{', a DSP or an id' if offer.takes_ids else ' or a DSP'}",
    )
    beside(text for text in problems.at(*OPTIONS) if not _is_in_a_row(problems, text))
    terms = chosen(st.session_state)
    if not terms:
        return
    rows = list(terms)
    st.data_editor(
        frame(_base(terms), seats),
        key=GRID,
        hide_index=True,
        disabled=offer.disabled or ["Seat", "DSP"],
        column_config={
            "Seat": st.column_config.TextColumn(width="medium"),
            "Price": st.column_config.NumberColumn(width=110, format="%.2f", min_value=0.0, required=False),
            "Deal sync": st.column_config.CheckboxColumn(help="Tell the DSP, where it takes that"),
        },
        on_change=_keep,
        args=(rows,),
        placeholder="type a price",
        alt="Seats, with price and deal sync",
    )
    beside(faults(terms, seats, problems))


def faults(terms: Mapping[int, Terms], seats: Mapping[int, Seat], problems: FieldProblems) -> Iterator[str]:
    """What is wrong in the grid, each after the name of its seat."""
    for place, seat in enumerate(terms):
        for text in problems.named(*OPTIONS, place):
            yield f"{_name(seats.get(seat), seat)} – {text}"


def _base(terms: dict[int, Terms]) -> dict[int, Terms]:
    """The terms that the grid is drawn with. While its rows stay, so do they: a grid that gets
    other data would close the cell in which somebody is typing."""
    state, shape = st.session_state, tuple(terms)
    if GRID not in state or state.get(SHAPE) != shape:
        state[BASE], state[SHAPE] = terms, shape
    base: dict[int, Terms] = state[BASE]
    return base


def _keep(rows: list[int]) -> None:
    """Put the grid's edits into the terms, which outlive the grid."""
    edits = st.session_state[GRID]["edited_rows"]
    st.session_state[TERMS] = st.session_state.get(TERMS, {}) | edited(st.session_state[BASE], rows, edits)


def _with(terms: Terms, cells: Mapping[str, Any]) -> Terms:
    price = terms.price
    if "Price" in cells:
        price = None if cells["Price"] is None else Decimal(str(cells["Price"]))
    return Terms(price, bool(cells.get("Deal sync", terms.deal_sync)))


def _is_in_a_row(problems: FieldProblems, text: str) -> bool:
    return any(
        text in said and where[: len(OPTIONS)] == OPTIONS and len(where) > len(OPTIONS)
        for where, said in problems.found.items()
    )


def seat_label(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, DSP and external id, to be found by each."""
    more = [] if seat is None else [_dsp(seat), seat.external_id or ""]
    return " · ".join(filter(None, (_name(seat, seat_id), *more)))


def _name(seat: Seat | None, seat_id: int) -> str:
    return (seat and seat.name) or f"Seat {seat_id}"


def _dsp(seat: Seat | None) -> str:
    return (seat and seat.dsp and seat.dsp.name) or ""
