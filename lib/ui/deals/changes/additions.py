"""More of what is there: clones of packages and deals, and deals that are added to a package.

A copy of a package is a draft of the form New package; deals are created by a plan (creation.py), which asks,
sends, and can be undone.
"""

import uuid
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.client import LARGEST_PAGE, Abilities, Deals
from lib.deals.models import (
    LONGEST_NAME,
    DemandDeal,
    PackageOrDeal,
    Seat,
    SupplyPackage,
    generated_name,
    shorten,
)
from lib.ui.deals import catalog, facts
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.creation import CreationPlan, FormSource, PlannedCreation, deal_creations
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import NEW, Draft, NewDeals, Terms, common_terms, fault_labels, seat_name
from lib.ui.deals.forms.id_picker import seat_label
from lib.ui.deals.forms.seat_rows import SeatRows
from lib.ui.deals.list.list_state import NOTE, OPEN
from lib.ui.deals.new_package import state
from lib.ui.deals.new_package.review import advice
from lib.ui.deals.targeting import words
from lib.ui.kit import address, amounts, notes, screens
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import BadRequest, Invalid, TrancheError

COPY = " (copy)"
ADVICE = "Create it in the system in which the package was created."
CLONE, SEAT, PRICE, PROBLEMS = "clone_", "clone_seat", "clone_price", "clone_problems"
PER_SEAT = ("name", "price", "deal_sync", "contact_email")
KEY, ADD_PROBLEMS, ATTEMPT = "key", "problems", "tried"


def copy_of(package: SupplyPackage, deals: Sequence[DemandDeal]) -> Draft:
    """The draft. What most deals share is the form's; the others keep what they have of their own."""
    first = max(package.start_date or datetime.now(UTC), datetime.now(UTC)).replace(microsecond=0, second=0)
    zone = package.start_date.tzinfo if package.start_date else UTC
    name = f"{shorten(package.name or '', LONGEST_NAME - len(COPY))}{COPY}"
    deal_of = {deal.seat.id: deal for deal in deals if deal.seat is not None and deal.seat.id is not None}
    terms, own = common_terms(deal_of)
    return Draft.of_package(
        package.model_copy(update={"name": name, "start_date": first.astimezone(zone)}),
        deals="new" if deal_of else "none",
        seats={
            seat: Terms(amounts.money_to_text(deal.price), bool(deal.deal_sync), own[seat])
            for seat, deal in deal_of.items()
        },
        terms=terms,
    )


def note(deals: Sequence[DemandDeal]) -> str:
    """Parts of these deals that a copy lacks, in sentences; empty if none."""
    seats = Counter(deal.seat.id for deal in deals if deal.seat is not None and deal.seat.id is not None)
    sentences = []
    if several := [seat for seat, count in seats.items() if count > 1]:
        names = [
            next(d.seat.name or f"Seat {s}" for d in deals if d.seat and d.seat.id == s) for s in several
        ]
        sentences.append(
            f"Several deals are for the same seat ({', '.join(names)}): the copy has the last of each."
        )
    if odd := [deal.name or f"Deal {deal.id}" for deal in deals if "agency_curation_fee_type" in deal.unread]:
        sentences.append(f"A fee that Tranche can't read is not copied: {', '.join(odd)}.")
    if names := [
        deal.name or f"Deal {deal.id}" for deal in deals if deal.seat is None or deal.seat.id is None
    ]:
        sentences.append(f"Without a known seat, and not copied: {', '.join(names)}.")
    return " ".join(sentences)


def draw_clone(context: PageContext, entity: PackageOrDeal) -> None:
    """Draw the button and its form."""
    if isinstance(entity, DemandDeal):
        popover = st.popover("Clone", icon=":material/content_copy:", key="action_clone", on_change="rerun")
        if popover.open:
            with popover:
                _deal(context, entity)
    elif odd := words.unread(entity):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown(
                f"A copy would lose fields that Tranche can't read ({plain(', '.join(odd))}). {ADVICE}"
            )
    elif state.is_held(context):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown("New package holds an unfinished draft. The copy will replace it.")
            if st.button("Replace draft", type="primary", key="action_clone_sure"):
                _package(context, entity)
    elif st.button("Clone", icon=":material/content_copy:", key="action_clone"):
        _package(context, entity)


def _package(context: PageContext, package: SupplyPackage) -> None:
    """Fill the form New package with a copy, and open it."""
    try:
        deals = _deals_of(context.deals, package)
    except TrancheError as error:
        st.error(f"{plain(error.reason.rstrip('.'))}. Nothing was copied.", icon=":material/error:")
        return
    state.fill(copy_of(package, deals), note(deals))
    st.switch_page(screens.NEW_PACKAGE, query_params={})


def _deals_of(client: Deals, package: SupplyPackage) -> list[DemandDeal]:
    """The package's deals, in one call if the service lists them by package, else one by one."""
    deals_by_id: dict[int | None, DemandDeal] = {}
    if client.abilities.lists and package.demand_deals:
        try:
            page = client.list(DemandDeal, supply_deals=package.id, limit=LARGEST_PAGE)
            deals_by_id = {deal.id: deal for deal in page.results}
        except (BadRequest, Invalid):
            deals_by_id = {}
    return [deals_by_id.get(link.id) or client.get(DemandDeal, link.id) for link in package.demand_deals]


def _deal(context: PageContext, deal: DemandDeal) -> None:
    """Draw the form for a deal with the same terms for another seat."""
    seats, state = catalog.seats(context), st.session_state
    problems: FieldProblems = state.get(PROBLEMS) or FieldProblems()
    st.markdown("The same packages and terms, for another seat. The contact is not copied.")
    st.selectbox(
        "Seat", list(seats), index=None, key=SEAT, filter_mode="contains", placeholder="Who may buy it",
        format_func=lambda seat: seat_label(seats.get(seat), seat),
    )  # fmt: skip
    beside(problems.at("seat"))
    state.setdefault(PRICE, amounts.money_to_text(deal.price))
    amounts.field(facts.prices_of(context).of(deal.currency).title, PRICE)
    wrong = amounts.fault(state[PRICE], "Type a price.")
    beside([wrong] if wrong else problems.at("price"))
    confirmations.confirm(confirmations.of_creations(context, [_clone(context, deal, seats)]), CLONE)
    state.setdefault(CLONE + KEY, str(uuid.uuid4()))
    st.button("Create deal", type="primary", key="clone_create", on_click=create, args=(context, deal, seats))
    beside(problems.others([("seat",), ("price",)]))


def create(context: PageContext, deal: DemandDeal, seats: Mapping[int, Seat]) -> None:
    """Create the deal. A callback."""
    state = st.session_state
    if CLONE + KEY not in state:
        return  # the second click of a double click: the first one has created it
    creation = _clone(context, deal, seats)
    questions = confirmations.of_creations(context, [creation])
    faults = [*([] if creation.seat else ["Seat"]), *([] if creation.deal.price is not None else ["Price"])]
    if not confirmations.is_confirmed(questions, CLONE):
        faults += [f"confirm {question}" for question in questions]
    if faults:
        state[PROBLEMS] = FieldProblems({(): (f"Not created. To fix: {', '.join(faults)}.",)})
        return
    plan = _create(context, CLONE, "Cloned", [creation])
    if plan.error is not None:
        state[PROBLEMS] = _problems(context, plan, creation.deal.body())
        return
    for name in (CLONE + KEY, PROBLEMS, PRICE):
        state.pop(name, None)
    [entity] = plan.entities
    state[NOTE] = f"{entity.name or ''} is created as deal {entity.id}"
    address.write(OPEN, f"demand_deals-{entity.id}")
    st.rerun()


def _clone(context: PageContext, deal: DemandDeal, seats: Mapping[int, Seat]) -> PlannedCreation:
    """The deal to create, as far as it is typed."""
    seat, price = seats.get(st.session_state[SEAT] or 0), inputs.value("price", st.session_state[PRICE])
    packages = catalog.by_id(context, SupplyPackage, [link.id for link in deal.supply_deals if link.id])
    package = next(iter(packages), None)
    return PlannedCreation.of(1, like(deal, seat, price), seat=seat, package=package)


def _create(
    context: PageContext, prefix: str, title: str, creations: Sequence[PlannedCreation]
) -> CreationPlan:
    """Create these by a plan with the form's key: once, however often it is clicked."""
    state, record = st.session_state, context.clients.bulk_actions.record(title)
    key = state.setdefault(prefix + KEY, str(uuid.uuid4()))
    plan = CreationPlan(source=FormSource(creations=creations), record=record, idempotency_key=key, few=1)
    try:
        plan.finish(context.deals)
    except TrancheError as error:  # the service can't be asked at all
        plan.error = error
    state[prefix + KEY] = plan.idempotency_key
    catalog.forget()
    return plan


def _problems(context: PageContext, plan: CreationPlan, request: Any) -> FieldProblems:
    """Why nothing was created, or what could not be deleted again."""
    if reasons := [outcome.reason for outcome in plan.outcomes if outcome.reason]:
        return FieldProblems({(): (reasons[-1],)})
    if isinstance(plan.error, Invalid):
        return FieldProblems.of(plan.error, request)
    error = plan.error or TrancheError("Nothing was created")
    is_once = catalog.abilities(context).repeats
    return FieldProblems({(): (f"{error.reason.rstrip('.')}. {advice(error, is_once)}",)})


def like(deal: DemandDeal, seat: Seat | None, price: Decimal | None) -> DemandDeal:
    """The deal to create: named like generated deals, with the packages and terms of the original."""
    package = deal.supply_deals[0].name if deal.supply_deals else deal.name
    same = {name: getattr(deal, name) for name in fields.writable(fields.DEALS) if name not in PER_SEAT}
    own = {
        "name": generated_name(package or "", seat.name or f"Seat {seat.id}") if seat else deal.name,
        "seat": None if seat is None else Seat(id=seat.id),
        "price": price,
        "supply_deals": tuple(SupplyPackage(id=package.id) for package in deal.supply_deals),
    }
    values: dict[str, Any] = {name: value for name, value in (same | own).items() if value is not None}
    return DemandDeal.model_construct(**values)


def is_offered(entity: PackageOrDeal, does: Abilities) -> bool:
    """Whether deals can be added to this package."""
    may_create = not does.why_not("demand_deals", "create") and not does.why_not("supply_deals", "change")
    return isinstance(entity, SupplyPackage) and may_create and does.finds and does.repeats


def draw_add(context: PageContext, package: PackageOrDeal) -> None:
    """Draw the form. The input is kept until the deals are created."""
    if not isinstance(package, SupplyPackage):
        return
    prefix, state = _prefix(package), st.session_state
    rows, is_tried = SeatRows(context, prefix), f"{prefix}{ATTEMPT}" in state
    deals, seats = rows.read(), catalog.seats(context)
    problems: FieldProblems = state.get(prefix + ADD_PROBLEMS) or FieldProblems()
    draft_faults = deals.faults(bool(catalog.abilities(context).fees))
    paths = {*draft_faults.all} if is_tried else {*draft_faults.wrong, *rows.cleared_places()}
    remaining = problems.still({NEW: deals.request().body()}) if problems else problems
    remaining = remaining.with_({path: text for path, text in draft_faults.all.items() if path in paths})
    rows.draw(remaining, after=lambda: _warn_of_second(context, package, deals))
    beside(remaining.others([(NEW,)]))
    questions = confirmations.of_new_deals(context, package, deals)
    confirmations.confirm(questions, prefix, "Not added: confirm this first." if is_tried else "")
    st.button(
        f"Add {_count_label(deals)}" if deals.seats else "Add deals", type="primary", key=f"{prefix}add",
        disabled=not deals.seats, on_click=add, args=(context, package),
    )  # fmt: skip
    if is_tried and draft_faults.all:
        beside([f"Not added. To fix: {', '.join(fault_labels(draft_faults, deals, seats))}."])


def add(context: PageContext, package: SupplyPackage) -> None:
    """Create the deals, only once for the same input. A callback."""
    prefix, state = _prefix(package), st.session_state
    rows = SeatRows(context, prefix)
    deals = rows.read()
    if not deals.seats:
        return  # the second click of a double click: the first one has created them
    is_wrong = deals.faults(bool(catalog.abilities(context).fees)).all
    if is_wrong or not confirmations.is_confirmed(
        confirmations.of_new_deals(context, package, deals), prefix
    ):
        state[prefix + ATTEMPT] = True
        return
    request = deals.request()
    creations = deal_creations(package, request, catalog.seats(context))
    plan = _create(context, prefix, f"Added to {package.name or f'package {package.id}'}", creations)
    if plan.error is not None:
        if isinstance(plan.error, Invalid):
            common = {*fields.TERMS} - {*rows.columns}
            plan.error = _in_rows(plan, plan.error, len(creations), common)
        state[prefix + ADD_PROBLEMS] = _problems(context, plan, {NEW: request.body()})
        return
    for name in [name for name in state if str(name).startswith(prefix)]:
        del state[name]
    notes.say(f"{_count_label(deals)} added")


def _in_rows(plan: CreationPlan, error: Invalid, count: int, common: Collection[str]) -> Invalid:
    """What is wrong with some of the deals at its place in the form: a row, or one of the terms `common`."""
    line = plan.failed.line if plan.failed is not None else 1
    by_row = {str(line - 1): error.fields}
    if all(name.isdecimal() for name in error.fields):  # several were sent at once
        by_row = error.fields
    rows: list[dict[str, Any]] = [{} for _ in range(count)]
    for_all: dict[str, Any] = {}
    for row, fields_of_row in by_row.items():
        for name, part in fields_of_row.items():
            (for_all if name in common else rows[int(row)])[name] = part
    return Invalid({NEW: {"demand_deals_options": rows, **for_all}})


def _prefix(package: SupplyPackage) -> str:
    return f"add-{package.id or 0}-"


def _count_label(deals: NewDeals) -> str:
    return f"{len(deals.seats)} deal{'' if len(deals.seats) == 1 else 's'}"


def _warn_of_second(context: PageContext, package: SupplyPackage, deals: NewDeals) -> None:
    """Draw a warning for seats that have a deal of this package already: a second one is rarely intended."""
    if not deals.seats or not package.demand_deals:
        return
    own_deals = catalog.deals_of(context.deals, [package])[package.id or 0]
    has = {deal.seat.id for deal in own_deals if deal.seat is not None}
    buyers = catalog.seats(context)
    if names := [seat_name(buyers.get(seat), seat) for seat in deals.seats if seat in has]:
        st.caption(f":orange[:material/warning:] There is a deal already for {plain(', '.join(names))}.")
