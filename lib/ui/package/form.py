"""The form of a new package, in the order in which an account manager thinks."""

from collections.abc import Mapping

import streamlit as st

from lib.deals.models import FEE_TYPES, MEDIA_TYPES
from lib.ui.deals import catalogue
from lib.ui.deals.names import deal_label
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.package import seats, state
from lib.ui.package.draft import NO_FEE, Draft
from lib.ui.package.words import OFFSETS, fee_title, offset
from lib.ui.targeting import picker
from lib.ui.targeting.kinds import KINDS

DEALS = {"new": "New deals for seats", "existing": "Existing deals", "none": "None yet"}
SHOWN = (
    ("name",), ("media_type",), ("start_date",), ("end_date",), ("create_demand_deals",), ("demand_deals",),
    *((kind.field,) for kind in KINDS),
)  # fmt: skip


def draw(here: Here, draft: Draft, problems: FieldProblems) -> None:
    """All fields; each says under it what is wrong with it."""
    st.subheader("Name and dates", anchor=False)
    _name(problems)
    _dates(problems)
    st.subheader("Targeting", anchor=False)
    st.caption("Only: one of these. Never: none of these. A kind that is left empty allows everything.")
    query = catalogue.usual_days(here)
    picker.draw(here, query, state.TARGETING, catalogue.named_lists(here), problems)
    st.subheader("Demand deals", anchor=False)
    st.segmented_control(
        "Demand deals", list(DEALS), format_func=DEALS.__getitem__, key=state.DEALS, required=True,
        persist_state="session", label_visibility="collapsed",
    )  # fmt: skip
    if draft.deals == "new":
        seats.draw(catalogue.seats(here), problems)
        _terms(draft, problems)
    elif draft.deals == "existing":
        _links(here, problems)


def _name(problems: FieldProblems) -> None:
    name, media = st.columns([3, 2], vertical_alignment="top")
    with name:
        st.text_input(
            "Name", key=state.NAME, persist_state="session", max_chars=200, placeholder="Morning news, autumn"
        )
        beside(problems.at("name"))
    with media:
        st.segmented_control(
            "Media type", MEDIA_TYPES, format_func=str.capitalize, key=state.MEDIA, required=True,
            persist_state="session",
        )  # fmt: skip
        beside(problems.at("media_type"))


def _dates(problems: FieldProblems) -> None:
    start, end, zone = st.columns([2, 2, 1], vertical_alignment="top")
    with start:
        st.datetime_input("Start", value=None, key=state.START, format="YYYY-MM-DD", persist_state="session")
        beside(problems.at("start_date"))
    with end:
        st.datetime_input(
            "End", value=None, key=state.END, format="YYYY-MM-DD", persist_state="session",
            help="Empty: it has no end",
        )  # fmt: skip
        beside(problems.at("end_date"))
    with zone:
        offsets = sorted({*OFFSETS, st.session_state.get(state.ZONE, 0)})
        st.selectbox("Time zone", offsets, format_func=offset, key=state.ZONE, persist_state="session")
    with st.container(horizontal=True):
        st.toggle("Active", key=state.ACTIVE, persist_state="session", help="Off: it is created paused")
        st.toggle("Dynamic bidding", key=state.DYNAMIC, persist_state="session")
        st.toggle("True price", key=state.TRUE_PRICE, persist_state="session", help="True price optimisation")


def _terms(draft: Draft, problems: FieldProblems) -> None:
    """The fee and the contact: once, for all of the new deals."""
    kind, size, contact = st.columns([2, 1, 3], vertical_alignment="top")
    with kind:
        st.selectbox(
            "Agency fee", list(FEE_TYPES), index=None, format_func=fee_title, key=state.FEE_TYPE,
            persist_state="session", placeholder="Not said",
        )  # fmt: skip
        beside(problems.at("create_demand_deals", "agency_curation_fee_type"))
    with size:
        st.number_input(
            "Fee", value=None, min_value=0.0, key=state.FEE, persist_state="session", format="%.2f",
            disabled=draft.fee_type in (None, NO_FEE),
        )  # fmt: skip
        beside(problems.at("create_demand_deals", "agency_curation_fee"))
    with contact:
        st.text_input(
            "Contact e-mail", type="email", validate="", key=state.EMAIL, persist_state="session",
            help="Needed where a deal is synced",
        )  # fmt: skip
        beside(problems.at("create_demand_deals", "contact_email"))


def _links(here: Here, problems: FieldProblems) -> None:
    labels: Mapping[int, str] = {
        deal.id: deal_label(deal) for deal in catalogue.deals(here) if deal.id is not None
    }
    st.multiselect(
        "Deals to link",
        list(labels),
        format_func=lambda deal: labels.get(deal, f"Deal {deal}"),
        key=state.LINKS,
        persist_state="session",
        filter_mode="contains",
        select_all=False,
        placeholder="Type a name, a seat or an id",
    )
    beside(problems.at("demand_deals"))
