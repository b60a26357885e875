"""Clones: a package as the draft of a new one, a deal with its packages and terms for another seat."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.client import LARGEST_PAGE
from lib.deals.models import (
    LONGEST_NAME,
    DemandDeal,
    PackageOrDeal,
    Seat,
    SupplyPackage,
    generated_name,
    shorten,
)
from lib.deals.validation import FEE_TYPE
from lib.figures import amounts
from lib.figures.deals import field_text, targeting_text
from lib.figures.deals.deal_names import seat_name, title_of
from lib.ui.deals import catalog
from lib.ui.deals.catalog import draw_seat
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.creation import PlannedCreation
from lib.ui.deals.changes.creation_form import CreationForm
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import Draft
from lib.ui.deals.list_state import NOTE, OPEN
from lib.ui.deals.new_package import state as new_package
from lib.ui.kit import address, amount_field, screens
from lib.ui.kit.field_problems import beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import BadRequest, Invalid, TrancheError

COPY = " (copy)"
ADVICE = "Create it in the system in which the package was created."
OWN_FIELDS = ("name", "price", "deal_sync", "contact_email")
"""What a cloned deal does not have from its original."""


def draw(context: PageContext, entity: PackageOrDeal) -> None:
    """Draw the button and its form."""
    if isinstance(entity, DemandDeal):
        popover = st.popover("Clone", icon=":material/content_copy:", key="action_clone", on_change="rerun")
        if popover.open:
            with popover:
                seats, state, form = catalog.seats(context), st.session_state, _form(entity)
                seat_key, price_key = f"{form.prefix}seat", f"{form.prefix}price"
                form.begin()
                st.markdown("The same packages and terms, for another seat. The contact is not copied.")
                draw_seat(seats, seat_key)
                is_missing = form.is_tried and state[seat_key] is None
                beside(["Choose the seat."] if is_missing else form.problems.at("seat"))
                # Not as the widget's `value`: once the deal's price changes, that would be an empty one.
                state.setdefault(price_key, amounts.money_to_text(entity.price))
                amount_field.field(field_text.prices_of(context).of(entity.currency).title, price_key)
                wrong = amounts.fault(state[price_key], "Type a price.")
                beside([wrong] if wrong else form.problems.at("price"))
                form.confirm(
                    confirmations.of_creations(context, [_creation(context, entity, seats)]), "created"
                )
                may_retry = form.may_retry()
                st.button(
                    "Create deal", type="primary", key="clone_create", disabled=not may_retry,
                    on_click=create, args=(context, entity, seats),
                )  # fmt: skip
                beside(form.problems.others([("seat",), ("price",)]))
    elif unread := targeting_text.unread(entity):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown(
                f"A copy would lose fields that Tranche can't read ({plain(', '.join(unread))}). {ADVICE}"
            )
    elif new_package.is_held(context):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown("New package holds an unfinished draft. The copy will replace it.")
            if st.button("Replace draft", type="primary", key="action_clone_sure"):
                _copy(context, entity)
    elif st.button("Clone", icon=":material/content_copy:", key="action_clone"):
        _copy(context, entity)


def _copy(context: PageContext, package: SupplyPackage) -> None:
    try:
        deals_by_id: dict[int | None, DemandDeal] = {}
        if context.deals.abilities.lists and package.demand_deals:
            try:
                page = context.deals.list(DemandDeal, supply_deals=package.id, limit=LARGEST_PAGE)
                deals_by_id = {deal.id: deal for deal in page.results}
            except (BadRequest, Invalid):
                deals_by_id = {}
        deals = [
            deals_by_id.get(link.id) or context.deals.get(DemandDeal, link.id)
            for link in package.demand_deals
        ]
    except TrancheError as error:
        st.error(f"{plain(error.sentence)} Nothing was copied.", icon=":material/error:")
        return
    new_package.fill(copy_of(package, deals), note(deals))
    st.switch_page(screens.NEW_PACKAGE, query_params={})


def copy_of(package: SupplyPackage, deals: Sequence[DemandDeal]) -> Draft:
    """The draft. What most deals share is the form's; the others keep what they have of their own."""
    first = max(package.start_date or datetime.now(UTC), datetime.now(UTC)).replace(microsecond=0, second=0)
    zone = package.start_date.tzinfo if package.start_date else UTC
    name = f"{shorten(package.name or '', LONGEST_NAME - len(COPY))}{COPY}"
    deal_of = {deal.seat.id: deal for deal in deals if deal.seat is not None and deal.seat.id is not None}
    return Draft.of_package(
        package.model_copy(update={"name": name, "start_date": first.astimezone(zone)}),
        deal_of,
        deals="new" if deal_of else "none",
    )


def note(deals: Sequence[DemandDeal]) -> str:
    """Parts of these deals that a copy lacks, in sentences; empty if none."""
    seats = Counter(deal.seat.id for deal in deals if deal.seat is not None and deal.seat.id is not None)
    sentences = []
    if seats_of_several := [seat for seat, count in seats.items() if count > 1]:
        names = [
            next(seat_name(deal.seat, seat) for deal in deals if deal.seat and deal.seat.id == seat)
            for seat in seats_of_several
        ]
        sentences.append(
            f"Several deals are for the same seat ({', '.join(names)}): the copy has the last of each."
        )
    if unread := [deal.name or f"Deal {deal.id}" for deal in deals if FEE_TYPE in deal.unread]:
        sentences.append(f"A fee that Tranche can't read is not copied: {', '.join(unread)}.")
    if names := [
        deal.name or f"Deal {deal.id}" for deal in deals if deal.seat is None or deal.seat.id is None
    ]:
        sentences.append(f"Without a known seat, and not copied: {', '.join(names)}.")
    return " ".join(sentences)


def create(context: PageContext, deal: DemandDeal, seats: Mapping[int, Seat]) -> None:
    """Create the deal. A callback."""
    form, state = _form(deal), st.session_state
    if not form.may_create():
        return
    creation = _creation(context, deal, seats)
    questions = confirmations.of_creations(context, [creation])
    has_all = creation.seat is not None and creation.deal.price is not None
    if not has_all or not confirmations.is_confirmed(questions, form.prefix):
        return
    plan = form.create(context, f"Cloned {title_of(deal)}", [creation], creation.deal.body())
    if plan is None:
        return
    form.clear()
    [entity] = plan.entities
    state[NOTE] = f"{entity.name or ''} is created as deal {entity.id}"
    address.write(OPEN, f"demand_deals-{entity.id}")
    st.rerun()  # the whole page: a dialog has the title and the entity that it was opened with


def _form(deal: DemandDeal) -> CreationForm:
    return CreationForm(f"clone-{deal.id or 0}-")


def _creation(context: PageContext, deal: DemandDeal, seats: Mapping[int, Seat]) -> PlannedCreation:
    state, prefix = st.session_state, _form(deal).prefix
    seat, price = seats.get(state[f"{prefix}seat"] or 0), inputs.value("price", state[f"{prefix}price"])
    packages = catalog.by_id(context, SupplyPackage, [link.id for link in deal.supply_deals if link.id])
    package = next(iter(packages), None)
    return PlannedCreation.of(1, like(deal, seat, price), seat=seat, package=package, title="The deal")


def like(deal: DemandDeal, seat: Seat | None, price: Decimal | None) -> DemandDeal:
    """The deal to create: named like generated deals, with the packages and terms of the original."""
    package = deal.supply_deals[0].name if deal.supply_deals else deal.name
    same = {name: getattr(deal, name) for name in fields.writable(fields.DEALS) if name not in OWN_FIELDS}
    own = {
        "name": generated_name(package or "", seat_name(seat, seat.id or 0)) if seat else deal.name,
        "seat": None if seat is None else Seat(id=seat.id),
        "price": price,
        "supply_deals": tuple(SupplyPackage(id=package.id) for package in deal.supply_deals),
    }
    values: dict[str, Any] = {name: value for name, value in (same | own).items() if value is not None}
    return DemandDeal.model_construct(**values)
