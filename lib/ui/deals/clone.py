"""Clones: a package through the form New package, a deal directly for another seat."""

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.client import LARGEST_PAGE, Deals
from lib.deals.fields import TERMS
from lib.deals.models import (
    LONGEST_NAME,
    DemandDeal,
    PackageOrDeal,
    Seat,
    SupplyPackage,
    generated_name,
    shorten,
)
from lib.ui.deals import catalogue, inputs, prices, questions
from lib.ui.deals.draft import PLAIN, Draft, Terms, Typed, number
from lib.ui.deals.new_package import state
from lib.ui.deals.new_package.review import advice
from lib.ui.deals.seats import seat_label
from lib.ui.deals.targeting import words
from lib.ui.deals.view import SAID
from lib.ui.kit import amounts, screens
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import BadRequest, Invalid, TrancheError

COPY = " (copy)"


def copy_of(package: SupplyPackage, deals: Sequence[DemandDeal]) -> Draft:
    """The draft. What most deals share is the form's; the others keep what they have of their own."""
    start = package.start_date or datetime.now(UTC)
    offset = start.utcoffset() or timedelta(0)
    zone = timezone(offset)
    first = max(start, datetime.now(UTC)).astimezone(zone).replace(microsecond=0, second=0)
    bought = {deal.seat.id: deal for deal in deals if deal.seat is not None and deal.seat.id is not None}
    shared = _common_terms(bought.values())
    name = f"{shorten(package.name or '', LONGEST_NAME - len(COPY))}{COPY}"
    end = package.end_date and package.end_date.astimezone(zone)
    own = {"name": name, "start_date": first, "end_date": end}
    return Draft(
        values={one: inputs.typed(one, own.get(one, getattr(package, one))) for one in PLAIN},
        offset=int(offset.total_seconds() // 60),
        targeting=package,
        deals="new" if bought else "none",
        seats={seat: _terms(deal, shared) for seat, deal in bought.items()},
        terms={one: shared[one] for one in TERMS},
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
    if lost := [
        deal.name or f"Deal {deal.id}" for deal in deals if deal.seat is None or deal.seat.id is None
    ]:
        sentences.append(f"Without a known seat, and not copied: {', '.join(lost)}.")
    return " ".join(sentences)


def _common_terms(deals: Iterable[DemandDeal]) -> Typed:
    """The terms that most of the active deals have: only active ones are created with a package."""
    counted = Counter(tuple(_own(deal).items()) for deal in deals if deal.is_active is not False)
    return dict(counted.most_common(1)[0][0]) if counted else _own(DemandDeal())


def _terms(deal: DemandDeal, shared: Typed) -> Terms:
    own = _own(deal)
    return Terms(amounts.typed(deal.price), bool(deal.deal_sync), None if own == shared else own)


def _own(deal: DemandDeal) -> Typed:
    terms = {name: inputs.typed(name, getattr(deal, name)) for name in TERMS}
    return {"is_active": deal.is_active is not False, **terms}


ELSEWHERE = "Create it in the system in which the package was created."
SEAT, PRICE, KEY, PROBLEMS = "clone_seat", "clone_price", "clone_key", "clone_problems"
PREFIX = "clone_"
PER_SEAT = ("name", "price", "deal_sync", "contact_email")


def draw(context: PageContext, entity: PackageOrDeal) -> None:
    """Draw the button and its form."""
    if isinstance(entity, DemandDeal):
        popover = st.popover("Clone", icon=":material/content_copy:", key="action_clone", on_change="rerun")
        if popover.open:
            with popover:
                _deal(context, entity)
    elif odd := words.unread(entity):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown(
                f"A copy would lose fields that Tranche can't read ({plain(', '.join(odd))}). {ELSEWHERE}"
            )
    elif _has_draft(context):
        with st.popover("Clone", icon=":material/content_copy:", key="action_clone"):
            st.markdown("New package holds an unfinished draft. The copy will replace it.")
            if st.button("Replace draft", type="primary", key="action_clone_sure"):
                _package(context, entity)
    elif st.button("Clone", icon=":material/content_copy:", key="action_clone"):
        _package(context, entity)


def _has_draft(context: PageContext) -> bool:
    return state.is_held(context.clients.drafts, catalogue.named_lists(context))


def _package(context: PageContext, package: SupplyPackage) -> None:
    """Fill the form New package with a copy, and open it."""
    try:
        deals = _deals_of(catalogue.client(context), package)
    except TrancheError as error:
        st.error(f"{plain(error.reason.rstrip('.'))}. Nothing was copied.", icon=":material/error:")
        return
    state.fill(copy_of(package, deals), note(deals))
    st.switch_page(screens.NEW_PACKAGE, query_params={})


def _deals_of(client: Deals, package: SupplyPackage) -> list[DemandDeal]:
    """The package's deals, in one call if the service lists them by package, else one by one."""
    listed: dict[int | None, DemandDeal] = {}
    if client.abilities.lists and package.demand_deals:
        try:
            found = client.list(DemandDeal, supply_deals=package.id, limit=LARGEST_PAGE)
            listed = {deal.id: deal for deal in found.results}
        except (BadRequest, Invalid):
            listed = {}
    return [listed.get(one.id) or client.get(DemandDeal, one.id) for one in package.demand_deals]


def _deal(context: PageContext, deal: DemandDeal) -> None:
    """Draw the form for a deal with the same terms for another seat."""
    seats = catalogue.seats(context)
    problems: FieldProblems = st.session_state.get(PROBLEMS) or FieldProblems()
    st.markdown("The same packages and terms, for another seat. The contact is not copied.")
    st.selectbox(
        "Seat", list(seats), index=None, key=SEAT, filter_mode="contains", placeholder="Who may buy it",
        format_func=lambda seat: seat_label(seats.get(seat), seat),
    )  # fmt: skip
    beside(problems.at("seat"))
    st.session_state.setdefault(PRICE, amounts.typed(deal.price))
    amounts.field(prices.of(context).title, PRICE)
    wrong = amounts.fault(st.session_state[PRICE], "Type a price.")
    beside([wrong] if wrong else problems.at("price"))
    questions.confirm(_doubt(context, st.session_state[SEAT], number(st.session_state[PRICE])), PREFIX)
    st.session_state.setdefault(KEY, str(uuid.uuid4()))
    st.button("Create deal", type="primary", key="clone_create", on_click=create, args=(context, deal, seats))
    beside(problems.elsewhere([("seat",), ("price",)]))


def create(context: PageContext, deal: DemandDeal, seats: dict[int, Seat]) -> None:
    """Create the deal. A callback."""
    if KEY not in st.session_state:
        return  # the second click of a double click: the first one has created it
    seat, price = seats.get(st.session_state[SEAT] or 0), number(st.session_state[PRICE])
    if faults := _wrong(context, seat, price):
        st.session_state[PROBLEMS] = FieldProblems({(): (f"Not created. To fix: {', '.join(faults)}.",)})
        return
    wanted = like(deal, seat, price)
    is_once = True
    try:
        client = catalogue.client(context)
        is_once = client.abilities.repeats
        made = client.create(DemandDeal, wanted, st.session_state[KEY])
    except Invalid as error:
        st.session_state[PROBLEMS] = FieldProblems.of(error, wanted.sent())
    except TrancheError as error:
        sentence = f"{error.reason.rstrip('.')}. {advice(error, is_once)}"
        st.session_state[PROBLEMS] = FieldProblems({(): (sentence,)})
    else:
        for name in (KEY, PROBLEMS, PRICE):
            st.session_state.pop(name, None)
        catalogue.forget()
        st.session_state[SAID] = f"{made.name or ''} is created as deal {made.id}"
        st.query_params["open"] = f"demand_deals-{made.id}"
        st.rerun()


def _wrong(context: PageContext, seat: Seat | None, price: Decimal | None) -> list[str]:
    """The fields with errors."""
    doubt = _doubt(context, None if seat is None else seat.id, price)
    is_confirmed = questions.is_confirmed(doubt, PREFIX)
    faults = {"Seat": seat is None, "Price": price is None, f"confirm {doubt}": not is_confirmed}
    return [name for name, is_wrong in faults.items() if is_wrong]


def _doubt(context: PageContext, seat: int | None, price: Decimal | None) -> str:
    """Why the price has to be confirmed; empty for a usual one."""
    return questions.with_unit(context, questions.of_price(context, seat, price))


def like(deal: DemandDeal, seat: Seat | None, price: Decimal | None) -> DemandDeal:
    """The deal to create: named like generated deals, with the packages and terms of the original."""
    package = deal.supply_deals[0].name if deal.supply_deals else deal.name
    same = {name: getattr(deal, name) for name in fields.writable(fields.DEALS) if name not in PER_SEAT}
    own = {
        "name": generated_name(package or "", seat.name or f"Seat {seat.id}") if seat else deal.name,
        "seat": None if seat is None else Seat(id=seat.id),
        "price": price,
        "supply_deals": tuple(SupplyPackage(id=one.id) for one in deal.supply_deals),
    }
    given: dict[str, Any] = {name: value for name, value in (same | own).items() if value is not None}
    return DemandDeal.model_construct(**given)
