"""The widgets for the fields of a demand deal that can be changed.

Beside a deal's price in the form Change: what wins cost in each of its packages, and where the price is.

It is computed in the background, over the same days as the deal's health, so that the two agree.
"""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import streamlit as st

from lib.deals import fields
from lib.deals.models import SupplyPackage, has_amount
from lib.insight.filters import Translation, entries, report_filters
from lib.ui.deals import (
    catalogue,
    edits,
    facts,
    links,
    pages,
    permission,
    price_doubts,
    prices,
    report,
    seat_guide,
)
from lib.ui.deals.edits import FEE_TYPE, Fields
from lib.ui.deals.new_package import faults
from lib.ui.deals.new_package.seats import seat_label
from lib.ui.deals.seat_guide import GuidePlace
from lib.ui.deals.words import NO_FEES, fee_title
from lib.ui.kit import amounts
from lib.ui.kit.field_problems import FieldProblems, Path, beside
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import reported

PLACE, MOST, NO_SEAT = "change_prices_{}", 3, 0


def draw_price_in_change(
    context: PageContext, deal: int | None, seat: int | None, price: object, packages: Sequence[int]
) -> None:
    """Draw a sentence per package, with what it is computed from; nothing without packages.

    `price` is what is typed, if it can be read; wins of the deal itself are left out.
    """
    if not packages:
        return
    with reported("What wins cost", kept="What you typed is kept."):
        seen = report.of_deals(context) or context
        known = pages.by_id(context, SupplyPackage, packages[:MOST])
        lists = entries(catalogue.lists(context))
        for place, package in enumerate(known):
            translation = report_filters(package, seen.slicer, lists, package.media_type)
            title = f"{package.name or f'Package {package.id}'}: " if len(packages) > 1 else ""
            _one(
                seen,
                GuidePlace(PLACE.format(place), deal),
                translation,
                {seat or NO_SEAT: price if isinstance(price, Decimal) else None},
                title,
            )
        if len(packages) > MOST:
            st.caption(
                f":material/info: What wins cost is shown for the first {MOST} of {len(packages)} packages."
            )


def _one(
    context: PageContext,
    place: GuidePlace,
    translation: Translation,
    typed: dict[int, Decimal | None],
    title: str,
) -> None:
    """Draw the guide of one package."""
    guide = seat_guide.of(context, place, translation, typed, prices.of(context))
    for sentence in guide.by_seat.values():
        st.caption(plain(f"{title}{sentence}"))
    left_out = f"Not counted in: {' '.join(translation.left_out)}" if translation.left_out else ""
    seat_guide.draw_note(guide, left_out)


NAMES = (*fields.writable(fields.DEALS), "seat", "supply_deals")
SWITCHES = fields.writable(fields.DEALS, fields.SWITCH)
FEE = "agency_curation_fee"


def fill(prefix: str, edited: Fields) -> None:
    """Fill the widgets with these fields; missing fields have no widget."""
    for name, value in edited.items():
        st.session_state[prefix + name] = _shown(name, value)


def read(context: PageContext, prefix: str) -> Fields:
    """The fields in the widgets."""
    state = st.session_state
    return {name: _sent(name, state[prefix + name]) for name in NAMES if prefix + name in state}


def wrong(context: PageContext, prefix: str, base: Fields) -> dict[Path, str]:
    """The errors by field. Fields that were empty before may stay empty."""
    held = {name: st.session_state[prefix + name] for name in NAMES if prefix + name in st.session_state}
    name = held.get("name") or ""
    is_renamed = name != base.get("name")  # an older name may have what a new one may not
    found = {
        ("name",): _needed(held, "name", "Type a name.", base) or (faults.name(name) if is_renamed else "")
    }
    if "price" in held:
        missing = "Type a price." if base.get("price") is not None else ""
        found["price",] = amounts.fault(held["price"], missing)
    if FEE in held and has_amount(held.get(FEE_TYPE)) and permission.of(context).fees:
        found[FEE,] = faults.fee(held[FEE], held[FEE_TYPE])
    found["contact_email",] = faults.email(held.get("contact_email") or "")
    return {place: text for place, text in found.items() if text}


def doubt(context: PageContext, prefix: str, base: Fields) -> str:
    """Why a changed price has to be confirmed; empty for a usual one."""
    state = st.session_state
    price, seat = edits.sent("price", state.get(f"{prefix}price") or ""), state.get(f"{prefix}seat")
    if not isinstance(price, Decimal) or price == base.get("price"):
        return ""
    found = price_doubts.doubt(context, seat, price)
    return f"{found} ({prices.of(context).terms})" if found else ""


def draw(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    """Draw the widgets, each with its error."""
    state = st.session_state
    if f"{prefix}name" in state:
        st.text_input("Name", key=f"{prefix}name", persist_state="session", max_chars=200)
        beside(problems.at("name"))
    if f"{prefix}seat" in state:
        _seat(context, prefix, problems)
    price, sync = st.columns(2, vertical_alignment="bottom")
    with price:
        if f"{prefix}price" in state:
            amounts.field(prices.of(context).title, f"{prefix}price")
            beside(problems.at("price"))
    with sync, st.container(horizontal=True):
        for name in SWITCHES:
            if prefix + name in state:
                st.toggle(plain(facts.title(name)), key=prefix + name, persist_state="session")
    beside(text for name in SWITCHES for text in problems.at(name))
    _guide(context, prefix)
    _terms(context, prefix, problems)
    edits.draw(fields.DEALS, prefix, problems)
    if f"{prefix}supply_deals" in state:
        _packages(context, prefix, problems)


def _guide(context: PageContext, prefix: str) -> None:
    """Draw what wins cost, where the deal has a price."""
    state = st.session_state
    if f"{prefix}price" in state:
        price = edits.sent("price", state[f"{prefix}price"] or "")
        packages = state.get(f"{prefix}supply_deals", ())
        draw_price_in_change(context, _deal_of(prefix), state.get(f"{prefix}seat"), price, packages)


def _deal_of(prefix: str) -> int | None:
    """The id of the deal that a form is of: the last number of its prefix."""
    number = prefix.rstrip("-").rpartition("-")[2]
    return int(number) if number.isdecimal() else None


def _seat(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    seats, chosen = catalogue.seats(context), st.session_state[f"{prefix}seat"]
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


def _packages(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    links.choose(context, "Packages", f"{prefix}supply_deals", SupplyPackage)
    beside(problems.at("supply_deals"))


def _terms(context: PageContext, prefix: str, problems: FieldProblems) -> None:
    """Draw the fee, as far as the service supports it, and the contact."""
    fees, state = permission.of(context).fees, st.session_state
    has_fee = bool(fees) and f"{prefix}{FEE_TYPE}" in state and f"{prefix}{FEE}" in state
    if not has_fee:
        st.caption(
            "The settings don't name the type of its fee (fee_types): change the fee at the service."
            if fees
            else NO_FEES
        )
    kind, size, contact = st.columns([3, 2, 4], vertical_alignment="top")
    with kind:
        if has_fee:
            st.selectbox(
                "Agency fee", list(fees), index=None, format_func=fee_title, key=f"{prefix}{FEE_TYPE}",
                persist_state="session", placeholder="Not set",
            )  # fmt: skip
            beside(problems.at(FEE_TYPE))
    with size:
        if has_fee:
            kind_of_fee = state[f"{prefix}{FEE_TYPE}"]
            amounts.field(
                prices.of(context).fee_title(kind_of_fee),
                f"{prefix}{FEE}",
                disabled=not has_amount(kind_of_fee),
            )
            beside(problems.at(FEE))
    with contact if has_fee else st.container():
        if f"{prefix}contact_email" in state:
            st.text_input(
                "Contact e-mail", type="email", validate="", key=f"{prefix}contact_email",
                persist_state="session",
            )  # fmt: skip
            beside(problems.at("contact_email"))


def _shown(name: str, value: Any) -> Any:
    """A field as the value of its widget."""
    match name:
        case "seat":
            return value["id"]
        case "supply_deals":
            return [one["id"] for one in value]
        case _:
            return edits.held(name, value)


def _sent(name: str, held: Any) -> Any:
    """A widget's value as the field of a PUT request."""
    match name:
        case "seat":
            return {"id": held}
        case "supply_deals":
            return [{"id": one} for one in sorted(held)]
        case _:
            return edits.sent(name, held)


def _needed(held: Fields, name: str, says: str, base: Fields) -> str:
    return says if name in held and base.get(name) and not (held[name] or "").strip() else ""
