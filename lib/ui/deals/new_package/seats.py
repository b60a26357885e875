"""The seats of a new package: chosen by name, a row of plain fields for each."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.deals.models import Seat
from lib.ui.deals.draft import OwnTerms, Terms
from lib.ui.deals.prices import Prices
from lib.ui.deals.words import own_terms, seat_name
from lib.ui.kit import amounts, notes
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.markdown import plain

WRONG = "An id is a number; others were left out"


@dataclass(frozen=True)
class TypedIds:
    """Whether ids may be typed that nothing here knows, and whether anything may be picked at all."""

    takes_ids: bool = False
    disabled: bool = False


def draw_numbers(title: str, names: Mapping[int, str], key: str, offer: TypedIds, placeholder: str) -> None:
    """The picker. `names` are those of all ids that are known or chosen."""
    st.multiselect(
        title,
        list(names),
        format_func=lambda one: names.get(one, str(one)),
        key=key,
        persist_state="session",
        filter_mode="contains",
        select_all=False,
        wrap=True,
        placeholder=placeholder,
        accept_new_options=offer.takes_ids,
        disabled=offer.disabled,
        on_change=_as_numbers if offer.takes_ids else "rerun",
        args=(key,) if offer.takes_ids else None,
    )
    if offer.takes_ids:
        notes.draw()


def read(typed: object) -> int | None:
    """The id that was picked or typed; None for what is none."""
    if isinstance(typed, int):
        return typed
    text = str(typed).strip()
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text) < 2**53 else None


def _as_numbers(key: str) -> None:
    """Typed ids become numbers. A callback."""
    typed = st.session_state[key]
    found = [number for one in typed if (number := read(one)) is not None]
    if len(found) < len(typed):
        notes.say(WRONG)
    st.session_state[key] = list(dict.fromkeys(found))


CHOSEN, OWN = "np_seats", "np_own"
PRICE, SYNC = "np_price_{}", "np_sync_{}"
OPTIONS = ("create_demand_deals", "demand_deals_options")
PRICE_WIDTH, SYNC_WIDTH = 150, 110
NO_GUIDES: Mapping[int, str] = {}


def chosen(state: Mapping[Any, Any]) -> dict[int, Terms]:
    """The seats that are chosen, with their terms as typed, in the order of choosing."""
    own: Mapping[int, OwnTerms] = state.get(OWN, {})
    return {
        seat: Terms(state.get(PRICE.format(seat)) or "", bool(state.get(SYNC.format(seat))), own.get(seat))
        for seat in state.get(CHOSEN, ())
    }


def fill(terms: Mapping[int, Terms]) -> dict[str, Any]:
    """The widgets' values for these terms."""
    held: dict[str, Any] = {
        CHOSEN: list(terms),
        OWN: {seat: one.own for seat, one in terms.items() if one.own is not None},
    }
    for seat, one in terms.items():
        held |= {PRICE.format(seat): one.price, SYNC.format(seat): one.deal_sync}
    return held


def emptied(state: Mapping[Any, Any]) -> set[int]:
    """The places of the rows into which a price was typed, and taken out again."""
    rows = enumerate(chosen(state).items())
    return {
        place for place, (seat, one) in rows if not one.price and amounts.was_typed(PRICE.format(seat), state)
    }


def draw(
    seats: Mapping[int, Seat],
    problems: FieldProblems,
    offer: TypedIds,
    prices: Prices,
    guides: Mapping[int, str] = NO_GUIDES,
) -> None:
    """The picker of seats, and a row of fields for each that is chosen, with its guide to the price."""
    known = dict.fromkeys([*seats, *st.session_state.get(CHOSEN, ())])
    draw_numbers(
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
    with st.container(key="np_rows", gap="xxsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption("Seat", width="stretch")
            st.caption(plain(prices.title), width=PRICE_WIDTH)
            st.space(SYNC_WIDTH)
        for place, (seat, one) in enumerate(terms.items()):
            _row(seat, seats.get(seat), one, problems.inside(*OPTIONS, place), offer.disabled, prices)
            if guide := guides.get(seat):
                st.caption(plain(guide))


def seat_label(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, DSP and external id, to be found by each."""
    more = [] if seat is None else [_dsp(seat), seat.external_id or ""]
    return " · ".join(filter(None, (seat_name(seat, seat_id), *more)))


def _row(
    seat_id: int, seat: Seat | None, terms: Terms, wrong: FieldProblems, closed: bool, prices: Prices
) -> None:
    name = seat_name(seat, seat_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        dsp = f" :small[:gray[{plain(_dsp(seat))}]]" if seat and _dsp(seat) else ""
        st.markdown(f"{plain(name)}{dsp}", width="stretch")
        amounts.field(
            f"Price for {name}", PRICE.format(seat_id), disabled=closed, placeholder="0.00",
            is_labelled=False, width=PRICE_WIDTH,
        )  # fmt: skip
        st.toggle(
            "Deal sync", key=SYNC.format(seat_id), persist_state="session", disabled=closed, width=SYNC_WIDTH
        )
    if terms.own is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"As copied: {plain(own_terms(terms.own, prices))}", width="stretch")
            st.button(
                "Use the shared terms", type="tertiary", key=f"np_share_{seat_id}", on_click=_share,
                args=(seat_id,), help=f"{plain(name)}: the fee and contact below, active", disabled=closed,
            )  # fmt: skip
    beside(wrong.named())


def _share(seat_id: int) -> None:
    """Let a copied deal have the terms of the others. A callback."""
    own: dict[int, OwnTerms] = st.session_state.get(OWN, {})
    st.session_state[OWN] = {seat: one for seat, one in own.items() if seat != seat_id}


def _is_in_a_row(problems: FieldProblems, text: str) -> bool:
    return any(
        text in sentences and where[: len(OPTIONS)] == OPTIONS and len(where) > len(OPTIONS)
        for where, sentences in problems.found.items()
    )


def _dsp(seat: Seat | None) -> str:
    return (seat and seat.dsp and seat.dsp.name) or ""
