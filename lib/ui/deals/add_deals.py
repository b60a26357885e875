"""The form that adds deals to a package: a row per seat, what they share, one request per click."""

import uuid

import streamlit as st

from lib.deals.abilities import Abilities
from lib.deals.models import PackageOrDeal, SupplyPackage
from lib.ui.deals import catalogue, pages, permission, questions, seats
from lib.ui.deals.draft import NEW, NewDeals, seat_name
from lib.ui.deals.new_package.review import advice
from lib.ui.kit import notes
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import Invalid, TrancheError

KEY, PROBLEMS, TRIED = "key", "problems", "tried"


def is_offered(entity: PackageOrDeal, does: Abilities) -> bool:
    """Whether deals can be added to this package."""
    may_create = not does.why_not("demand_deals", "create") and not does.why_not("supply_deals", "change")
    return isinstance(entity, SupplyPackage) and may_create and does.finds and does.repeats


def draw(context: PageContext, package: PackageOrDeal) -> None:
    """Draw the form. The input is kept until the deals are created."""
    if not isinstance(package, SupplyPackage):
        return
    prefix, state = _prefix(package), st.session_state
    deals, is_tried = seats.read(prefix), f"{prefix}{TRIED}" in state
    problems: FieldProblems = state.get(prefix + PROBLEMS) or FieldProblems()
    found = deals.faults(bool(permission.of(context).fees))
    places = {*found.all} if is_tried else {*found.wrong, *seats.emptied(prefix)}
    still = problems.still({NEW: deals.request().sent()}) if problems else problems
    still = still.with_({place: text for place, text in found.all.items() if place in places})
    seats.draw(context, prefix, still, after=lambda: _warn_of_second(context, package, deals))
    beside(still.elsewhere([(NEW,)]))
    doubt = questions.of_deals(context, deals)
    questions.confirm(doubt, prefix, "Not added: confirm this price first." if is_tried else "")
    st.button(
        f"Add {_counted(deals)}" if deals.seats else "Add deals", type="primary", key=f"{prefix}add",
        disabled=not deals.seats, on_click=add, args=(context, package),
    )  # fmt: skip
    if is_tried and found.all:
        beside([f"Not added. To fix: {', '.join(found.named(deals, catalogue.seats(context)))}."])


def add(context: PageContext, package: SupplyPackage) -> None:
    """Create the deals, only once for the same input. A callback."""
    prefix, state = _prefix(package), st.session_state
    deals = seats.read(prefix)
    if not deals.seats:
        return  # the second click of a double click: the first one has created them
    doubt = questions.of_deals(context, deals)
    is_wrong = deals.faults(bool(permission.of(context).fees)).all
    if is_wrong or not questions.is_confirmed(doubt, prefix):
        state[prefix + TRIED] = True
        return
    request = deals.request()
    key = state.setdefault(prefix + KEY, str(uuid.uuid4()))
    try:
        catalogue.client(context).add_deals(package.id or 0, request, key)
    except Invalid as error:
        state.pop(prefix + KEY, None)
        state[prefix + PROBLEMS] = FieldProblems.of(error, {NEW: request.sent()})
    except TrancheError as error:
        sentence = f"{error.reason.rstrip('.')}. {advice(error, True)}"
        state[prefix + PROBLEMS] = FieldProblems({(): (sentence,)})
    else:
        for name in [name for name in state if str(name).startswith(prefix)]:
            del state[name]
        catalogue.forget()
        notes.say(f"{_counted(deals)} added")


def _prefix(package: SupplyPackage) -> str:
    return f"add-{package.id or 0}-"


def _counted(deals: NewDeals) -> str:
    return f"{len(deals.seats)} deal{'' if len(deals.seats) == 1 else 's'}"


def _warn_of_second(context: PageContext, package: SupplyPackage, deals: NewDeals) -> None:
    """Draw a warning for seats that have a deal of this package already: a second one is rarely intended."""
    if not deals.seats or not package.demand_deals:
        return
    there = pages.deals_of(catalogue.client(context), [package])[package.id or 0]
    has = {deal.seat.id for deal in there if deal.seat is not None}
    buyers = catalogue.seats(context)
    if twice := [seat_name(buyers.get(seat), seat) for seat in deals.seats if seat in has]:
        st.caption(f":orange[:material/warning:] There is a deal already for {plain(', '.join(twice))}.")
