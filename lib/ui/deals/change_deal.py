"""The fields of a demand deal that can be changed, as widgets."""

from typing import Any

import streamlit as st

from lib.ui.deals import abilities, catalogue, facts, links
from lib.ui.deals.edits import FEE_TYPE, Fields, number
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.package.seats import seat_label
from lib.ui.package.words import NO_FEES, fee_title

NAMES = ("name", "price", "deal_sync", "is_active", "agency_curation_fee", "agency_curation_fee_type",
         "contact_email", "seat", "supply_deals")  # fmt: skip
SWITCHES = ("deal_sync", "is_active")
FEE = "agency_curation_fee"


def fill(prefix: str, fields: Fields) -> None:
    """Let the widgets show these fields; those that are missing have none."""
    for name, value in fields.items():
        st.session_state[prefix + name] = _shown(name, value)


def read(here: Here, prefix: str) -> Fields:
    """The fields that the widgets show."""
    state = st.session_state
    return {name: _sent(name, state[prefix + name]) for name in NAMES if prefix + name in state}


def draw(here: Here, prefix: str, problems: FieldProblems) -> None:
    """The widgets, each with what is wrong with it."""
    state = st.session_state
    if f"{prefix}name" in state:
        st.text_input("Name", key=f"{prefix}name", persist_state="session", max_chars=200)
        beside(problems.at("name"))
    if f"{prefix}seat" in state:
        _seat(here, prefix, problems)
    price, sync = st.columns(2, vertical_alignment="bottom")
    with price:
        if f"{prefix}price" in state:
            _amount("Price", f"{prefix}price")
            beside(problems.at("price"))
    with sync, st.container(horizontal=True):
        for name in SWITCHES:
            if prefix + name in state:
                st.toggle(facts.title(name), key=prefix + name, persist_state="session")
    beside([*problems.at("deal_sync"), *problems.at("is_active")])
    _terms(here, prefix, problems)
    if f"{prefix}supply_deals" in state:
        _packages(here, prefix, problems)


def _amount(title: str, key: str) -> None:
    st.number_input(title, min_value=0.0, key=key, value=None, format="%.2f", persist_state="session")


def _seat(here: Here, prefix: str, problems: FieldProblems) -> None:
    seats, chosen = catalogue.seats(here), st.session_state[f"{prefix}seat"]
    st.selectbox(
        "Seat",
        list(dict.fromkeys([*seats, *([] if chosen is None else [chosen])])),
        index=None,
        format_func=lambda seat: seat_label(seats.get(seat), seat),
        key=f"{prefix}seat",
        persist_state="session",
        filter_mode="contains",
    )
    beside(problems.at("seat"))


def _packages(here: Here, prefix: str, problems: FieldProblems) -> None:
    packages = {p.id: p.name or f"Package {p.id}" for p in catalogue.packages(here) if p.id is not None}
    links.choose("Packages", f"{prefix}supply_deals", packages, "Package")
    beside(problems.at("supply_deals"))


def _terms(here: Here, prefix: str, problems: FieldProblems) -> None:
    """The fee, as far as it can be said to the service, and the contact."""
    fees, state = abilities.of(here).fees, st.session_state
    has_fee = bool(fees) and f"{prefix}{FEE_TYPE}" in state and f"{prefix}{FEE}" in state
    if not has_fee:
        st.caption(
            "Its fee is of a type that the settings don't name: it is changed at the service."
            if fees
            else NO_FEES
        )
    kind, size, contact = st.columns([3, 2, 4], vertical_alignment="top")
    with kind:
        if has_fee:
            st.selectbox(
                "Agency fee", list(fees), index=None, format_func=fee_title, key=f"{prefix}{FEE_TYPE}",
                persist_state="session", placeholder="Not said",
            )  # fmt: skip
            beside(problems.at(FEE_TYPE))
    with size:
        if has_fee:
            _amount("Fee", f"{prefix}{FEE}")
            beside(problems.at(FEE))
    with contact if has_fee else st.container():
        if f"{prefix}contact_email" in state:
            st.text_input(
                "Contact e-mail", type="email", validate="", key=f"{prefix}contact_email",
                persist_state="session",
            )  # fmt: skip
            beside(problems.at("contact_email"))


def _shown(name: str, value: Any) -> Any:
    """A field as its widget holds it."""
    match name:
        case "price" | "agency_curation_fee":
            return None if value is None else float(value)
        case "seat":
            return value["id"]
        case "supply_deals":
            return [one["id"] for one in value]
        case "name" | "contact_email":
            return value or ""
        case _:
            return value


def _sent(name: str, held: Any) -> Any:
    """What a widget holds, as a PUT carries it."""
    match name:
        case "price" | "agency_curation_fee":
            return number(held)
        case "seat":
            return {"id": held}
        case "supply_deals":
            return [{"id": one} for one in sorted(held)]
        case "contact_email":
            return held or None
        case _:
            return held
