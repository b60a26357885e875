"""The fields of a demand deal that can be changed, as widgets."""

import streamlit as st

from lib.deals.models import FEE_TYPES
from lib.ui.deals import catalogue
from lib.ui.deals.edits import Fields, number
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.package.seats import seat_label
from lib.ui.package.words import fee_title

NAMES = ("name", "price", "deal_sync", "is_active", "agency_curation_fee", "agency_curation_fee_type",
         "contact_email")  # fmt: skip
AMOUNTS = ("price", "agency_curation_fee")


def fill(prefix: str, fields: Fields) -> None:
    """Let the widgets show these fields."""
    for name in NAMES:
        value = fields[name]
        st.session_state[prefix + name] = float(value) if name in AMOUNTS and value is not None else value
    st.session_state[prefix + "contact_email"] = fields["contact_email"] or ""
    st.session_state[prefix + "seat"] = fields["seat"]["id"]
    st.session_state[prefix + "supply_deals"] = [one["id"] for one in fields["supply_deals"]]


def read(here: Here, prefix: str) -> Fields:
    """The fields that the widgets show."""
    state = st.session_state
    fields = {name: state[prefix + name] for name in NAMES}
    return {
        **fields,
        **{name: number(fields[name]) for name in AMOUNTS},
        "contact_email": fields["contact_email"] or None,
        "seat": {"id": state[prefix + "seat"]},
        "supply_deals": [{"id": one} for one in sorted(state[prefix + "supply_deals"])],
    }


def draw(here: Here, prefix: str, problems: FieldProblems) -> None:
    """The widgets, each with what is wrong with it."""
    st.text_input("Name", key=f"{prefix}name", persist_state="session", max_chars=200)
    beside(problems.at("name"))
    _seat(here, prefix, problems)
    price, sync = st.columns(2, vertical_alignment="bottom")
    with price:
        st.number_input(
            "Price", min_value=0.0, key=f"{prefix}price", value=None, format="%.2f", persist_state="session"
        )
        beside(problems.at("price"))
    with sync:
        with st.container(horizontal=True):
            st.toggle("Deal sync", key=f"{prefix}deal_sync", persist_state="session")
            st.toggle("Active", key=f"{prefix}is_active", persist_state="session")
        beside([*problems.at("deal_sync"), *problems.at("is_active")])
    _fee(prefix, problems)
    packages = {p.id: p.name or f"Package {p.id}" for p in catalogue.packages(here) if p.id is not None}
    st.multiselect(
        "Packages",
        list(packages),
        format_func=lambda one: packages.get(one, f"Package {one}"),
        key=f"{prefix}supply_deals",
        persist_state="session",
        filter_mode="contains",
        select_all=False,
    )
    beside(problems.at("supply_deals"))


def _seat(here: Here, prefix: str, problems: FieldProblems) -> None:
    seats = catalogue.seats(here)
    st.selectbox(
        "Seat",
        list(seats),
        index=None,
        format_func=lambda seat: seat_label(seats.get(seat), seat),
        key=f"{prefix}seat",
        persist_state="session",
        filter_mode="contains",
    )
    beside(problems.at("seat"))


def _fee(prefix: str, problems: FieldProblems) -> None:
    kind, size, contact = st.columns([3, 2, 4], vertical_alignment="top")
    with kind:
        st.selectbox(
            "Agency fee", list(FEE_TYPES), index=None, format_func=fee_title,
            key=f"{prefix}agency_curation_fee_type", persist_state="session", placeholder="Not said",
        )  # fmt: skip
        beside(problems.at("agency_curation_fee_type"))
    with size:
        st.number_input(
            "Fee", min_value=0.0, value=None, key=f"{prefix}agency_curation_fee", format="%.2f",
            persist_state="session",
        )  # fmt: skip
        beside(problems.at("agency_curation_fee"))
    with contact:
        st.text_input(
            "Contact e-mail", type="email", validate="", key=f"{prefix}contact_email",
            persist_state="session",
        )  # fmt: skip
        beside(problems.at("contact_email"))
