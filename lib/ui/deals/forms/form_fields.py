"""The fields that forms share: those of a package, new deals for seats, and the terms of deals.

`prefix` begins the keys of their widgets.
"""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.client import Deals
from lib.deals.fields import TERMS
from lib.deals.models import FEE_TYPES, Seat, SupplyPackage, has_amount
from lib.ui.deals import catalog, facts
from lib.ui.deals.facts import OFFSETS, offset, own_terms
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import NEW, NO_DEAL_YET, OPTIONS, FormValues, NewDeals, Terms, seat_name
from lib.ui.deals.forms.inputs import EMAIL, FEE, FEE_TYPE, Look
from lib.ui.kit import amounts, notes, times
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

START, END, ZONE = "start_date", "end_date", "zone"
SWITCHES = fields.writable(fields.SUPPLY, fields.SWITCH)
MAIN_FIELDS = ("name", "media_type", START, END, *SWITCHES)
OTHERS = tuple(name for name in fields.writable(fields.SUPPLY) if name not in MAIN_FIELDS)
SAME_NAME, MOST = "np_same_name", 100
WRONG = "An id is a number; others were left out"
NO_FEES = "Fees can't be set: the settings don't map the fee types of this service (fee_types)."
NO_FEE_TYPE = "The settings don't name the type of its fee (fee_types): change the fee at the service."
SEATS, OWN, PRICE, SYNC, FOR_ALL = "{}seats", "{}own", "{}price_{}", "{}sync_{}", "{}price_all"
PRICE_WIDTH, SYNC_WIDTH, TERM_WIDTH = 150, 110, 220
NO_GUIDES: Mapping[int, str] = {}


def draw_package_fields(
    context: PageContext,
    prefix: str,
    problems: FieldProblems,
    names: Collection[str],
    old_name: str | None = None,
    disabled: bool = False,
) -> None:
    """The fields among `names`, each with its errors; the name of another package is warned of, unless it
    is the `old_name`."""
    look = Look(disabled=disabled)
    name, media = st.columns([3, 2], vertical_alignment="top")
    with name:
        _draw_field(prefix, "name", problems, look)
        text = st.session_state.get(f"{prefix}name") or ""
        if text != old_name and (same := same_name(context, text)):
            st.caption(f":orange[:material/warning: {plain(same)}]")
    with media:
        if "media_type" in names:
            _draw_field(prefix, "media_type", problems, look)
    _draw_dates(prefix, problems, names, disabled)
    switches = [one for one in SWITCHES if one in names]
    with st.container(horizontal=True, vertical_alignment="center"):
        for one in switches:
            inputs.draw(one, prefix + one, look)
        dates = {fields.BY_NAME[one].title: prefix + one for one in (START, END) if one in names}
        times.calendar(dates, f"{prefix}calendar", disabled=disabled)
    beside(text for one in switches for text in problems.at(one))
    for one in OTHERS:
        if one in names:
            _draw_field(prefix, one, problems, look)


def same_name(context: PageContext, name: str) -> str:
    """A sentence that names packages of the same name; empty without any, and where that is not known."""
    text = name.strip()
    cached: tuple[str, str] | None = st.session_state.get(SAME_NAME)
    if cached is None or cached[0] != text:
        cached = st.session_state[SAME_NAME] = (text, _look_up(context, text) if text else "")
    return cached[1]


def of_name(client: Deals, name: str) -> list[str]:
    """The ids of packages of this name, whatever their case, width and spaces."""
    if not fold(name):
        return []
    results = list(client.list(SupplyPackage, search=name, limit=MOST).results)
    if len(results) == MOST and client.abilities.finds:
        results += client.list(SupplyPackage, name=name.strip(), limit=MOST).results
    return list(dict.fromkeys(str(one.id) for one in results if fold(one.name or "") == fold(name)))


def fold(name: str) -> str:
    """A name as names are compared."""
    return " ".join(unicodedata.normalize("NFKC", name).split()).casefold()


def _look_up(context: PageContext, name: str) -> str:
    try:
        ids = of_name(context.deals, name)
    except TrancheError:
        return ""
    if not ids:
        return ""
    which = f"package {ids[0]}" if len(ids) == 1 else f"packages {', '.join(ids)}"
    return f"This name is taken by {which}. You can still use it."


def _draw_dates(prefix: str, problems: FieldProblems, names: Collection[str], disabled: bool) -> None:
    start, end, zone = st.columns([2, 2, 1], vertical_alignment="top")
    with start:
        if START in names:
            _draw_field(prefix, START, problems, Look(disabled=disabled))
    with end:
        if END in names:
            _draw_field(prefix, END, problems, Look(disabled=disabled, placeholder="no end"))
    with zone:
        key = prefix + ZONE
        offsets = sorted({*OFFSETS, st.session_state.get(key) or 0})
        st.selectbox(
            "Time zone", offsets, format_func=offset, key=key, persist_state="session", disabled=disabled
        )


def read_seats(prefix: str) -> NewDeals:
    """The deals as typed: the seats in the order of choosing."""
    state = st.session_state
    own: Mapping[int, FormValues] = state.get(OWN.format(prefix)) or {}
    for_all = state.get(FOR_ALL.format(prefix)) or ""
    seats = {
        seat: Terms(
            state.get(PRICE.format(prefix, seat), for_all) or "",
            bool(state.get(SYNC.format(prefix, seat))),
            own.get(seat),
        )
        for seat in state.get(SEATS.format(prefix)) or ()
    }
    empty = {name: state.get(prefix + name, NO_DEAL_YET[name]) for name in TERMS}
    return NewDeals(seats, {name: content for name, content in empty.items() if content != NO_DEAL_YET[name]})


def fill_seats(prefix: str, deals: NewDeals) -> dict[str, Any]:
    """The widgets' values for these deals."""
    widgets: dict[str, Any] = {
        SEATS.format(prefix): list(deals.seats),
        OWN.format(prefix): {seat: one.own for seat, one in deals.seats.items() if one.own is not None},
        **{prefix + name: deals.terms.get(name, NO_DEAL_YET[name]) for name in TERMS},
    }
    for seat, one in deals.seats.items():
        widgets |= {PRICE.format(prefix, seat): one.price, SYNC.format(prefix, seat): one.deal_sync}
    return widgets


def cleared_places(prefix: str) -> set[tuple[str | int, ...]]:
    """The places of amounts that were typed, and taken out again."""
    state = st.session_state
    places: set[tuple[str | int, ...]] = {
        (*OPTIONS, place, "price")
        for place, (seat, one) in enumerate(read_seats(prefix).seats.items())
        if not one.price and amounts.was_typed(PRICE.format(prefix, seat), state)
    }
    return places | ({(NEW, FEE)} if amounts.was_typed(prefix + FEE, state) else set())


def draw_seats(
    context: PageContext,
    prefix: str,
    problems: FieldProblems,
    guides: Mapping[int, str] = NO_GUIDES,
    after: Callable[[], None] = lambda: None,
    disabled: bool = False,
) -> None:
    """The seats with a row each, what `after` draws, and what the deals share.

    `guides` say of a seat what its price is to be compared with.
    """
    seats, takes_ids = catalog.seats(context), not catalog.abilities(context).lists
    key = SEATS.format(prefix)
    options = dict.fromkeys([*seats, *(st.session_state.get(key) or ())])
    with st.container():
        draw_numbers(
            "Seats",
            {seat: seat_label(seats.get(seat), seat) for seat in options},
            key,
            f"Who may buy it; type a name{', a DSP or an id' if takes_ids else ' or a DSP'}",
            takes_ids=takes_ids,
            disabled=disabled,
        )
        beside(text for text in problems.at(*OPTIONS) if not _is_in_a_row(problems, text))
    if terms := read_seats(prefix).seats:
        with st.container(key=f"{prefix}rows", gap="xxsmall"):
            _draw_head(context, prefix, [*terms], disabled)
            for place, (seat, one) in enumerate(terms.items()):
                with st.container(gap="xxsmall"):  # its errors move no other row
                    _draw_row(context, prefix, (seat, seats.get(seat)), one, disabled)
                    beside(problems.inside(*OPTIONS, place).with_names())
                    if guide := guides.get(seat):
                        st.caption(plain(guide))
    with st.container():
        after()
    is_own = catalog.abilities(context).is_own
    offered_terms = [name for name in TERMS if is_own or not fields.BY_NAME[name].is_extension]
    draw_terms(context, prefix, problems.inside(NEW), offered_terms, disabled)


def draw_terms(
    context: PageContext,
    prefix: str,
    problems: FieldProblems,
    names: Collection[str],
    disabled: bool = False,
) -> None:
    """The terms of deals among `names`, each with its errors: the fee, as far as the service has fees, the
    contact, then the others, folded."""
    fees = catalog.abilities(context).fees
    has_fee = bool(fees) and FEE in names and FEE_TYPE in names
    if not has_fee:
        st.caption(NO_FEE_TYPE if fees else NO_FEES)
    kind, size, contact = (
        st.columns([3, 2, 4], vertical_alignment="top")
        if has_fee
        else (st.empty(), st.empty(), st.container())
    )
    if has_fee:
        fee_type = st.session_state.get(prefix + FEE_TYPE)
        options = {one: FEE_TYPES[one] for one in fees}
        label = facts.prices_of(context).fee_title(fee_type)
        is_closed = disabled or not has_amount(fee_type)
        with kind:
            _draw_field(prefix, FEE_TYPE, problems, Look(options=options, disabled=disabled))
        with size:
            _draw_field(prefix, FEE, problems, Look(label, disabled=is_closed))
    if EMAIL in names:
        with contact:
            _draw_field(prefix, EMAIL, problems, Look(disabled=disabled))
    others = [name for name in names if name not in (FEE_TYPE, FEE, EMAIL)]
    if others:
        wrong = any(problems.at(name) for name in others)
        with (
            st.expander("More terms", expanded=wrong, icon=":material/tune:"),
            st.grid(2, min_column_width=TERM_WIDTH),
        ):
            for name in others:
                usual = context.clients.usual_terms.get(name)
                words = (fields.BY_NAME[name].kind.choices or {}).get(usual, "")
                empty = f"{inputs.capital(words)} (default)" if words else ""
                _draw_field(prefix, name, problems, Look(disabled=disabled, placeholder=empty))


def draw_numbers(
    title: str,
    names: Mapping[int, str],
    key: str,
    placeholder: str,
    *,
    takes_ids: bool = False,
    disabled: bool = False,
) -> None:
    """The picker of ids. `names` are those of all that are offered or chosen; `takes_ids`: others may be
    typed."""
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
        accept_new_options=takes_ids,
        disabled=disabled,
        on_change=_as_numbers if takes_ids else "rerun",
        args=(key,) if takes_ids else None,
    )
    if takes_ids:
        notes.draw()


def read_number(value: object) -> int | None:
    """The id that was picked or typed; None for what is none."""
    if isinstance(value, int):
        return value
    text = str(value).strip()
    return int(text) if text.isascii() and text.isdecimal() and 0 < int(text) < 2**53 else None


def seat_label(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, DSP and external id, to be found by each."""
    more = [] if seat is None else [_dsp(seat), seat.external_id or ""]
    return " · ".join(filter(None, (seat_name(seat, seat_id), *more)))


def _as_numbers(key: str) -> None:
    """Typed ids become numbers. A callback."""
    values = st.session_state[key]
    read_numbers = [number for one in values if (number := read_number(one)) is not None]
    if len(read_numbers) < len(values):
        notes.say(WRONG)
    st.session_state[key] = list(dict.fromkeys(read_numbers))


def _draw_field(prefix: str, name: str, problems: FieldProblems, look: Look) -> None:
    inputs.draw_with_faults(name, prefix + name, problems.at(name), look)


def _draw_head(context: PageContext, prefix: str, seats: Sequence[int], is_closed: bool) -> None:
    """Draw the titles, and for several seats a field whose price is that of all that have no other."""
    title = plain(facts.prices_of(context).title)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Seat", width="stretch")
        if len(seats) > 1:
            st.text_input(
                title, key=FOR_ALL.format(prefix), persist_state="session", placeholder="for all",
                autocomplete="off", width=PRICE_WIDTH, disabled=is_closed, on_change=_price_all,
                args=(prefix, seats),
            )  # fmt: skip
        else:
            st.caption(title, width=PRICE_WIDTH)
        st.space(SYNC_WIDTH)


def _price_all(prefix: str, seats: Sequence[int]) -> None:
    """Give the price for all to the seats whose price is empty, or was the one for all before. A callback."""
    state, before = st.session_state, f"{prefix}price_all_before"
    price = state.get(FOR_ALL.format(prefix)) or ""
    for seat in seats:
        if (state.get(PRICE.format(prefix, seat)) or "") in ("", state.get(before)):
            state[PRICE.format(prefix, seat)] = price
    state[before] = price


def _draw_row(
    context: PageContext, prefix: str, of: tuple[int, Seat | None], terms: Terms, is_closed: bool
) -> None:
    seat_id, seat = of
    name = seat_name(seat, seat_id)
    if for_all := st.session_state.get(FOR_ALL.format(prefix)):
        st.session_state.setdefault(PRICE.format(prefix, seat_id), for_all)
    with st.container(horizontal=True, vertical_alignment="center"):
        dsp = f" :small[:gray[{plain(_dsp(seat))}]]" if seat and _dsp(seat) else ""
        st.markdown(f"{plain(name)}{dsp}", width="stretch")
        amounts.field(
            f"Price for {name}", PRICE.format(prefix, seat_id), disabled=is_closed, placeholder="0.00",
            is_labeled=False, width=PRICE_WIDTH,
        )  # fmt: skip
        st.toggle(
            "Deal sync", key=SYNC.format(prefix, seat_id), persist_state="session", disabled=is_closed,
            width=SYNC_WIDTH,
        )  # fmt: skip
    if terms.own is not None:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"As copied: {plain(own_terms(terms.own, facts.prices_of(context)))}", width="stretch")
            st.button(
                "Use the shared terms", type="tertiary", key=f"{prefix}share_{seat_id}", on_click=_share,
                args=(prefix, seat_id), help=f"{plain(name)}: the fee and contact below, active",
                disabled=is_closed,
            )  # fmt: skip


def _share(prefix: str, seat_id: int) -> None:
    """Let a copied deal have the terms of the others. A callback."""
    key = OWN.format(prefix)
    own: Mapping[int, FormValues] = st.session_state.get(key) or {}
    st.session_state[key] = {seat: one for seat, one in own.items() if seat != seat_id}


def _is_in_a_row(problems: FieldProblems, text: str) -> bool:
    places: Iterable[tuple[str | int, ...]] = (
        where for where, sentences in problems.messages.items() if text in sentences
    )
    return any(where[: len(OPTIONS)] == OPTIONS and len(where) > len(OPTIONS) for where in places)


def _dsp(seat: Seat | None) -> str:
    return (seat and seat.dsp and seat.dsp.name) or ""
