"""Another one like it: a package by way of the form New package, a deal for further seats at once."""

import uuid
from decimal import Decimal
from typing import Any

import streamlit as st

from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.ui import screens
from lib.ui.deals import catalogue
from lib.ui.deals.edits import number
from lib.ui.deals.places import SAID
from lib.ui.deals.rows import Key
from lib.ui.field_problems import FieldProblems, beside
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.package import state
from lib.ui.package.review import advice
from lib.ui.package.seats import seat_label
from lib.ui.targeting import words
from lib.wire.errors import Invalid, TrancheError

ELSEWHERE = "Make it where the package was made."
SEAT, PRICE, KEY, PROBLEMS = "clone_seat", "clone_price", "clone_key", "clone_problems"


def draw(here: Here, key: Key, entity: SupplyPackage | DemandDeal) -> None:
    """The button, and what it asks first."""
    if isinstance(entity, DemandDeal):
        popover = st.popover("Clone", icon=":material/content_copy:", key="action_clone", on_change="rerun")
        if popover.open:
            with popover:
                _deal(here, entity)
    elif odd := words.unread(entity):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown(f"A copy would lack what this desk can't read ({plain(', '.join(odd))}). {ELSEWHERE}")
    elif _has_draft(here):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown(
                "The form New package holds something that was not created yet. The copy takes its place."
            )
            if st.button("Replace it", type="primary", key="action_clone_sure"):
                _package(here, entity)
    elif st.button("Clone", icon=":material/content_copy:", key="action_clone"):
        _package(here, entity)


def _has_draft(here: Here) -> bool:
    draft = state.read(catalogue.named_lists(here))
    return state.KEY in st.session_state and state.CREATED not in st.session_state and not draft.is_untouched


def _package(here: Here, package: SupplyPackage) -> None:
    """Fill the form with a copy, and go there."""
    mine = {one.id for one in package.demand_deals}
    deals = [deal for deal in catalogue.deals(here) if deal.id in mine]
    state.fill(state.copy_of(package, deals))
    st.switch_page(screens.NEW_PACKAGE, query_params={})


def _deal(here: Here, deal: DemandDeal) -> None:
    """The same terms for another seat."""
    seats = catalogue.seats(here)
    problems: FieldProblems = st.session_state.get(PROBLEMS) or FieldProblems()
    st.markdown("The same packages and terms, for another seat.")
    st.selectbox(
        "Seat", list(seats), index=None, key=SEAT, filter_mode="contains", placeholder="Who may buy it",
        format_func=lambda seat: seat_label(seats.get(seat), seat),
    )  # fmt: skip
    beside(problems.at("seat"))
    st.number_input("Price", min_value=0.0, value=float(deal.price or 0), key=PRICE, format="%.2f")
    beside(problems.at("price"))
    st.session_state.setdefault(KEY, str(uuid.uuid4()))
    st.button(
        "Create the deal", type="primary", key="clone_create", on_click=create, args=(here, deal, seats)
    )
    beside(problems.elsewhere([("seat",), ("price",)]))


def create(here: Here, deal: DemandDeal, seats: dict[int, Seat]) -> None:
    """Ask for the deal. A callback."""
    seat, price = seats.get(st.session_state[SEAT] or 0), number(st.session_state[PRICE])
    wanted = like(deal, seat, price)
    is_once = True
    try:
        client = catalogue.client(here)
        is_once = client.abilities.repeats
        made = client.create(DemandDeal, wanted, st.session_state[KEY])
    except Invalid as error:
        st.session_state[PROBLEMS] = FieldProblems.of(error, wanted.sent())
    except TrancheError as error:
        said = f"{error.reason.rstrip('.')}. {advice(error, is_once)}"
        st.session_state[PROBLEMS] = FieldProblems({(): (said,)})
    else:
        for name in (KEY, PROBLEMS):
            st.session_state.pop(name, None)
        catalogue.forget()
        st.session_state[SAID] = f"{plain(made.name or '')} is created as deal {made.id}"
        st.query_params["open"] = f"demand_deals-{made.id}"
        st.rerun()


def like(deal: DemandDeal, seat: Seat | None, price: Decimal | None) -> DemandDeal:
    """The deal to ask for: named as generated ones are, with the packages and terms of the other."""
    package = deal.supply_deals[0].name if deal.supply_deals else deal.name
    fields = {
        "name": f"{package} - {seat.name}" if seat else deal.name,
        "seat": None if seat is None else Seat(id=seat.id),
        "price": price,
        "supply_deals": tuple(SupplyPackage(id=one.id) for one in deal.supply_deals),
        "is_active": deal.is_active,
        "agency_curation_fee": deal.agency_curation_fee,
        "agency_curation_fee_type": deal.agency_curation_fee_type,
        "contact_email": deal.contact_email,
    }
    given: dict[str, Any] = {name: value for name, value in fields.items() if value is not None}
    return DemandDeal.model_construct(**given)
