"""The form of a new package, in the order in which an account manager thinks."""

from collections.abc import Mapping

import streamlit as st

from lib.deals.abilities import Abilities
from lib.deals.models import MEDIA_TYPES
from lib.ui.deals import abilities, catalogue
from lib.ui.deals.names import deal_label
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.package import numbers, seats, state
from lib.ui.package.draft import NO_FEE, Draft
from lib.ui.package.words import NO_FEES, OFFSETS, fee_title, offset
from lib.ui.targeting import picker
from lib.ui.targeting.kinds import KINDS

SWITCHES = (
    ("Active", state.ACTIVE, "Off: it is created paused"),
    ("Dynamic bidding", state.DYNAMIC, None),
    ("True price", state.TRUE_PRICE, "True price optimisation"),
)
DEALS = {"new": "New deals for seats", "existing": "Existing deals", "none": "None yet"}
SHOWN = (
    ("name",), ("media_type",), ("start_date",), ("end_date",), ("create_demand_deals",), ("demand_deals",),
    *((kind.field,) for kind in KINDS),
)  # fmt: skip


def draw(here: Here, draft: Draft, problems: FieldProblems) -> None:
    """All fields; each says under it what is wrong with it. Closed, with the reason, where none is made."""
    does = abilities.of(here)
    reason = does.why_not("supply_deals", "create")
    closed = bool(reason)
    if reason:
        st.info(f"{plain(reason)}.", icon=":material/lock:")
    st.subheader("Name and dates", anchor=False)
    _name(problems, closed)
    _dates(problems, closed)
    st.subheader("Targeting", anchor=False)
    st.caption("Only: one of these. Never: none of these. A kind that is left empty allows everything.")
    query = catalogue.usual_days(here)
    offer = picker.Offer(takes_ids=not does.lists, disabled=closed)
    picker.draw(here, query, state.TARGETING, catalogue.named_lists(here), problems, offer)
    st.subheader("Demand deals", anchor=False)
    st.segmented_control(
        "Demand deals", list(DEALS), format_func=DEALS.__getitem__, key=state.DEALS, required=True,
        persist_state="session", label_visibility="collapsed", disabled=closed,
    )  # fmt: skip
    if draft.deals == "new":
        seats.draw(catalogue.seats(here), problems, numbers.Offer(not does.lists, closed))
        _terms(draft, problems, does.fees, closed)
    elif draft.deals == "existing":
        _links(here, problems, does, closed)


def _name(problems: FieldProblems, closed: bool) -> None:
    name, media = st.columns([3, 2], vertical_alignment="top")
    with name:
        st.text_input(
            "Name", key=state.NAME, persist_state="session", max_chars=200, disabled=closed,
            placeholder="Morning news, autumn",
        )  # fmt: skip
        beside(problems.at("name"))
    with media:
        st.segmented_control(
            "Media type", MEDIA_TYPES, format_func=str.capitalize, key=state.MEDIA, required=True,
            persist_state="session", disabled=closed,
        )  # fmt: skip
        beside(problems.at("media_type"))


def _dates(problems: FieldProblems, closed: bool) -> None:
    start, end, zone = st.columns([2, 2, 1], vertical_alignment="top")
    with start:
        st.datetime_input(
            "Start", value=None, key=state.START, format="YYYY-MM-DD", persist_state="session",
            disabled=closed,
        )  # fmt: skip
        beside(problems.at("start_date"))
    with end:
        st.datetime_input(
            "End", value=None, key=state.END, format="YYYY-MM-DD", persist_state="session",
            help="Empty: it has no end", disabled=closed,
        )  # fmt: skip
        beside(problems.at("end_date"))
    with zone:
        offsets = sorted({*OFFSETS, st.session_state.get(state.ZONE, 0)})
        st.selectbox(
            "Time zone", offsets, format_func=offset, key=state.ZONE, persist_state="session", disabled=closed
        )
    with st.container(horizontal=True):
        for title, key, words in SWITCHES:
            st.toggle(title, key=key, persist_state="session", help=words, disabled=closed)


def _terms(draft: Draft, problems: FieldProblems, fees: Mapping[int, str], closed: bool) -> None:
    """The fee, where the service's types of fees are known, and the contact: once, for all new deals."""
    if not fees:
        st.caption(NO_FEES)
        _contact(problems, closed)
        return
    kind, size, contact = st.columns([2, 1, 3], vertical_alignment="top")
    with kind:
        st.selectbox(
            "Agency fee", list(fees), index=None, format_func=fee_title, key=state.FEE_TYPE,
            persist_state="session", placeholder="Not said", disabled=closed,
        )  # fmt: skip
        beside(problems.at("create_demand_deals", "agency_curation_fee_type"))
    with size:
        st.number_input(
            "Fee", value=None, min_value=0.0, key=state.FEE, persist_state="session", format="%.2f",
            disabled=closed or draft.fee_type in (None, NO_FEE),
        )  # fmt: skip
        beside(problems.at("create_demand_deals", "agency_curation_fee"))
    with contact:
        _contact(problems, closed)


def _contact(problems: FieldProblems, closed: bool) -> None:
    st.text_input(
        "Contact e-mail", type="email", validate="", key=state.EMAIL, persist_state="session",
        help="Needed where a deal is synced", disabled=closed,
    )  # fmt: skip
    beside(problems.at("create_demand_deals", "contact_email"))


def _links(here: Here, problems: FieldProblems, does: Abilities, closed: bool) -> None:
    labels: Mapping[int, str] = {
        deal.id: deal_label(deal) for deal in catalogue.deals(here) if deal.id is not None
    }
    numbers.draw(
        "Deals to link",
        {**{one: f"Deal {one}" for one in st.session_state.get(state.LINKS, ())}, **labels},
        state.LINKS,
        numbers.Offer(takes_ids=not does.lists, disabled=closed),
        "Type a name, a seat or an id",
    )
    beside(problems.at("demand_deals"))
