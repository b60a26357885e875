"""The form that adds deals to a package: a row per seat, one fee and contact, one request per click."""

import uuid
from collections.abc import Iterator
from decimal import Decimal

import streamlit as st

from lib.deals import fields
from lib.deals.abilities import Abilities
from lib.deals.models import (
    CreateDemandDeals,
    DemandDealOption,
    PackageOrDeal,
    Reference,
    Seat,
    SupplyPackage,
    has_amount,
)
from lib.ui.deals import catalogue, pages, permission, price_doubts, prices
from lib.ui.deals.new_package.review import advice
from lib.ui.deals.new_package.seats import seat_label
from lib.ui.deals.words import NO_FEES, fee_title, seat_name
from lib.ui.kit import amounts, notes
from lib.ui.kit.field_problems import FieldProblems, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import Invalid, TrancheError

SEATS, KEY, PROBLEMS = "seats", "key", "problems"
PRICE, SYNC, MEANT = "price_{}", "sync_{}", "meant"
FEE_TYPE, FEE, EMAIL = "fee_type", "fee", "email"
OPTIONS = ("create_demand_deals", "demand_deals_options")
TERMS = "create_demand_deals"


def is_offered(entity: PackageOrDeal, does: Abilities) -> bool:
    """Whether deals can be added to this package."""
    may_create = not does.why_not("demand_deals", "create") and not does.why_not("supply_deals", "change")
    return isinstance(entity, SupplyPackage) and may_create and does.finds and does.repeats


def draw(context: PageContext, package: PackageOrDeal) -> None:
    """Draw the form. The input is kept until the deals are created."""
    if not isinstance(package, SupplyPackage):
        return
    prefix, seats = _prefix(package), catalogue.seats(context)
    problems: FieldProblems = st.session_state.get(prefix + PROBLEMS) or FieldProblems()
    st.multiselect(
        "Seats", list(seats), format_func=lambda seat: seat_label(seats.get(seat), seat), key=prefix + SEATS,
        persist_state="session", filter_mode="contains", select_all=False, placeholder="Type a name or a DSP",
    )  # fmt: skip
    chosen: list[int] = st.session_state[prefix + SEATS]
    _warn_of_known(context, package, chosen, seats)
    for place, seat in enumerate(chosen):
        _row(context, prefix, seat, seats.get(seat), problems.inside(*OPTIONS, place))
    _terms(context, prefix, problems)
    _meant(context, prefix, chosen)
    faults = list(_faults(context, prefix, chosen, seats))
    shown = [
        OPTIONS,
        *((TERMS, name) for name in fields.TERMS),
    ]
    beside(problems.elsewhere(shown))
    label = f"Add {len(chosen):d} deal{'' if len(chosen) == 1 else 's'}" if chosen else "Add deals"
    st.button(
        label, type="primary", key=f"{prefix}add", disabled=not chosen, on_click=add,
        args=(context, package, tuple(chosen)),
    )  # fmt: skip
    if faults and st.session_state.get(f"{prefix}tried"):
        beside([f"Not added. To fix: {', '.join(faults)}."])


def add(context: PageContext, package: SupplyPackage, chosen: tuple[int, ...]) -> None:
    """Create the deals, only once for the same input. A callback."""
    prefix, state = _prefix(package), st.session_state
    if any(_faults(context, prefix, list(chosen), {})):
        state[f"{prefix}tried"] = True
        return
    create_demand_deals = _deals(prefix, chosen)
    key = state.setdefault(prefix + KEY, str(uuid.uuid4()))
    try:
        catalogue.client(context).add_deals(package.id or 0, create_demand_deals, key)
    except Invalid as error:
        state.pop(prefix + KEY, None)
        state[prefix + PROBLEMS] = FieldProblems.of(error, {TERMS: create_demand_deals.sent()})
    except TrancheError as error:
        sentence = f"{error.reason.rstrip('.')}. {advice(error, True)}"
        state[prefix + PROBLEMS] = FieldProblems({(): (sentence,)})
    else:
        for name in [name for name in state if str(name).startswith(prefix)]:
            del state[name]
        catalogue.forget()
        notes.say(f"{len(chosen)} deal{'' if len(chosen) == 1 else 's'} added")


def _prefix(package: SupplyPackage) -> str:
    return f"add-{package.id or 0}-"


def _row(context: PageContext, prefix: str, seat_id: int, seat: Seat | None, wrong: FieldProblems) -> None:
    name, price = seat_name(seat, seat_id), prefix + PRICE.format(seat_id)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        amounts.field(f"{prices.of(context).title} for {name}", price, placeholder="0.00")
        st.toggle("Deal sync", key=prefix + SYNC.format(seat_id), persist_state="session", width=110)
    typed = st.session_state.get(price) or ""
    fault = amounts.fault(typed) if typed else ""
    beside([fault] if fault else wrong.named())


def _terms(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    fees, money = permission.of(context).fees, prices.of(context)
    kind, size, contact = st.columns([3, 2, 4], vertical_alignment="top")
    fee_type = st.session_state.get(prefix + FEE_TYPE)
    with kind:
        if not fees:
            st.caption(NO_FEES)
        else:
            st.selectbox(
                "Agency fee", list(fees), index=None, format_func=fee_title, key=prefix + FEE_TYPE,
                persist_state="session", placeholder="Not set",
            )  # fmt: skip
            beside(problems.at(TERMS, "agency_curation_fee_type"))
    with size:
        if fees:
            closed = not has_amount(fee_type)
            amounts.field(money.fee_title(fee_type), prefix + FEE, disabled=closed)
            typed = "" if closed else st.session_state.get(prefix + FEE) or ""
            fault = amounts.fault(typed) if typed else ""
            beside([fault] if fault else problems.at(TERMS, "agency_curation_fee"))
    with contact:
        st.text_input(
            "Contact e-mail", type="email", validate="", key=prefix + EMAIL, persist_state="session",
            help="Needed where a deal is synced",
        )  # fmt: skip
        beside(problems.at(TERMS, "contact_email"))


def _meant(context: PageContext, prefix: str, chosen: list[int]) -> None:
    """Draw the confirmation of unusual prices."""
    doubts = sorted({doubt for seat in chosen if (doubt := _doubt(context, prefix, seat))})
    if doubts:
        sentence = ", ".join(doubts)
        st.checkbox(
            f"Confirm {plain(sentence)} ({plain(prices.of(context).terms)})", key=f"{prefix}{MEANT}{sentence}"
        )


def _doubt(context: PageContext, prefix: str, seat: int) -> str:
    return price_doubts.doubt(context, seat, _amount(prefix + PRICE.format(seat)))


def _faults(context: PageContext, prefix: str, chosen: list[int], seats: dict[int, Seat]) -> Iterator[str]:
    """The fields with errors."""
    state = st.session_state
    doubts = []
    for seat in chosen:
        text = state.get(prefix + PRICE.format(seat)) or ""
        if amounts.fault(text, "Type a price."):
            yield f"the price for {seat_name(seats.get(seat), seat)}"
        elif doubt := _doubt(context, prefix, seat):
            doubts.append(doubt)
    if doubts and not state.get(f"{prefix}{MEANT}{', '.join(sorted(set(doubts)))}"):
        yield "the prices to confirm"
    if has_amount(state.get(prefix + FEE_TYPE)) and amounts.fault(state.get(prefix + FEE) or ""):
        yield "the fee"


def _amount(key: str) -> Decimal | None:
    """The price typed; None while it is not valid."""
    text = st.session_state.get(key) or ""
    return None if amounts.fault(text) else amounts.read(text)


def _deals(prefix: str, chosen: tuple[int, ...]) -> CreateDemandDeals:
    state = st.session_state
    options = tuple(
        DemandDealOption(
            seat=Reference(id=seat),
            price=_amount(prefix + PRICE.format(seat)) or Decimal(0),
            deal_sync=bool(state.get(prefix + SYNC.format(seat))),
        )
        for seat in chosen
    )
    fee_type = state.get(prefix + FEE_TYPE)
    terms = {
        "agency_curation_fee_type": fee_type,
        "agency_curation_fee": _amount(prefix + FEE) if has_amount(fee_type) else None,
        "contact_email": (state.get(prefix + EMAIL) or "").strip() or None,
    }
    given = {name: value for name, value in terms.items() if value is not None}
    return CreateDemandDeals.model_validate({"demand_deals_options": options, **given})


def _warn_of_known(
    context: PageContext, package: SupplyPackage, chosen: list[int], seats: dict[int, Seat]
) -> None:
    """Draw a warning for seats that have a deal of this package already: a second one is rarely intended."""
    if not chosen or not package.demand_deals:
        return
    deals = pages.deals_of(catalogue.client(context), [package])[package.id or 0]
    has = {deal.seat.id for deal in deals if deal.seat is not None}
    twice = [seat_name(seats.get(seat), seat) for seat in chosen if seat in has]
    if twice:
        st.caption(f":orange[:material/warning:] There is a deal already for {plain(', '.join(twice))}.")
