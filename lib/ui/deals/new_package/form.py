"""The form of a new package, in the order in which an account manager thinks."""

from collections.abc import Mapping

import streamlit as st

from lib.deals.abilities import Abilities
from lib.deals.models import MEDIA_TYPES, DemandDeal
from lib.insight.filters import Translation
from lib.insight.kinds import KINDS
from lib.ui.deals import catalogue, links, permission, prices, seat_guide
from lib.ui.deals.draft import Draft
from lib.ui.deals.new_package import names, seats, state
from lib.ui.deals.targeting import picker
from lib.ui.deals.words import NO_FEES, OFFSETS, fee_title, offset
from lib.ui.kit import amounts, times
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

SWITCHES = (
    ("Active", state.ACTIVE, "Off: it is created paused"),
    ("Dynamic bidding", state.DYNAMIC, None),
    ("True price", state.TRUE_PRICE, "True price optimisation"),
)
GUIDES = seat_guide.GuidePlace("form_prices")
SEE_THERE = "Parts of the targeting are not counted in, see there."
DEALS = {"new": "New deals for seats", "existing": "Existing deals", "none": "None yet"}
SHOWN = (
    ("name",), ("media_type",), ("start_date",), ("end_date",), ("create_demand_deals",), ("demand_deals",),
    *((kind.field,) for kind in KINDS),
)  # fmt: skip


def draw(context: PageContext, draft: Draft, problems: FieldProblems, translation: Translation) -> None:
    """All fields; each says under it what is wrong with it. Closed, with the reason, where none is made.

    `translation` is the targeting as report filters.
    """
    does = permission.of(context)
    reason = does.why_not("supply_deals", "create")
    closed = bool(reason)
    if reason:
        st.info(f"{plain(reason)}.", icon=":material/lock:")
    st.header("Name and dates", anchor=False)
    _name(context, draft, problems, closed)
    _dates(problems, closed)
    st.header("Targeting", anchor=False)
    st.caption("Only: one of these. Never: none of these. A kind that is left empty allows everything.")
    query = catalogue.usual_days(context)
    offer = picker.PickerOffer(takes_ids=not does.lists, disabled=closed)
    picker.draw(context, query, state.TARGETING, catalogue.named_lists(context), problems, offer)
    st.header("Demand deals", anchor=False)
    st.segmented_control(
        "Demand deals", list(DEALS), format_func=DEALS.__getitem__, key=state.DEALS, required=True,
        persist_state="session", label_visibility="collapsed", disabled=closed,
    )  # fmt: skip
    if draft.deals == "new":
        money = prices.of(context)
        typed = {seat: terms.amount for seat, terms in draft.seats.items()}
        guide = seat_guide.of(context, GUIDES, translation, typed, money)
        offer_of_seats = seats.TypedIds(not does.lists, closed)
        seats.draw(catalogue.seats(context), problems, offer_of_seats, money, guide.by_seat)
        seat_guide.draw_note(guide, SEE_THERE if translation.left_out else "")
        _terms(draft, problems, does.fees, closed, money)
    elif draft.deals == "existing":
        _links(context, problems, does, closed)


def _name(context: PageContext, draft: Draft, problems: FieldProblems, closed: bool) -> None:
    name, media = st.columns([3, 2], vertical_alignment="top")
    with name:
        st.text_input(
            "Name", key=state.NAME, persist_state="session", max_chars=200, disabled=closed,
            placeholder="Morning news, autumn",
        )  # fmt: skip
        beside(problems.at("name"))
        if same := names.same(context, draft.name):
            st.caption(f":orange[:material/warning: {plain(same)}]")
    with media:
        st.segmented_control(
            "Media type", MEDIA_TYPES, format_func=str.capitalize, key=state.MEDIA, required=True,
            persist_state="session", disabled=closed,
        )  # fmt: skip
        beside(problems.at("media_type"))


def _dates(problems: FieldProblems, closed: bool) -> None:
    start, end, zone = st.columns([2, 2, 1], vertical_alignment="top")
    with start:
        times.draw("Start", state.START, problems.at("start_date"), disabled=closed)
    with end:
        times.draw("End", state.END, problems.at("end_date"), disabled=closed, empty="no end")
    with zone:
        offsets = sorted({*OFFSETS, st.session_state.get(state.ZONE, 0)})
        st.selectbox(
            "Time zone", offsets, format_func=offset, key=state.ZONE, persist_state="session", disabled=closed
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        for title, key, words in SWITCHES:
            st.toggle(title, key=key, persist_state="session", help=words, disabled=closed)
        times.calendar({"Start": state.START, "End": state.END}, "np_calendar", disabled=closed)


def _terms(
    draft: Draft, problems: FieldProblems, fees: Mapping[int, str], closed: bool, money: prices.Prices
) -> None:
    """The fee, where the service's types of fees are known, and the contact: once, for all new deals."""
    if not fees:
        st.caption(NO_FEES)
        _contact(problems, closed)
        return
    kind, size, contact = st.columns([3, 2, 4], vertical_alignment="top")
    with kind:
        st.selectbox(
            "Agency fee", list(fees), index=None, format_func=fee_title, key=state.FEE_TYPE,
            persist_state="session", placeholder="Not set", disabled=closed,
        )  # fmt: skip
        beside(problems.at("create_demand_deals", "agency_curation_fee_type"))
    with size:
        amounts.field(money.fee_title(draft.fee_type), state.FEE, disabled=closed or not draft.has_fee)
        beside(problems.at("create_demand_deals", "agency_curation_fee"))
    with contact:
        _contact(problems, closed)


def _contact(problems: FieldProblems, closed: bool) -> None:
    st.text_input(
        "Contact e-mail", type="email", validate="", key=state.EMAIL, persist_state="session",
        placeholder="Needed for deal sync", disabled=closed,
    )  # fmt: skip
    beside(problems.at("create_demand_deals", "contact_email"))


def _links(context: PageContext, problems: FieldProblems, does: Abilities, closed: bool) -> None:
    chosen = st.session_state.get(state.LINKS, ())
    seats.draw_numbers(
        "Deals to link",
        links.offered(context, "deals to link", "np_links_search", DemandDeal, chosen, closed),
        state.LINKS,
        seats.TypedIds(takes_ids=not does.lists, disabled=closed),
        "Type a name, a seat or an id",
    )
    beside(problems.at("demand_deals"))
