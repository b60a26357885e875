"""A draft in words: what will be created, before it is."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lib.deals import fields
from lib.deals.fields import SUPPLY, TERMS
from lib.deals.models import NO_FEE, Seat, has_amount
from lib.ui.deals.draft import Draft, Terms, Typed, number, seat_name
from lib.ui.deals.inputs import EMAIL, FEE, FEE_TYPE, capital
from lib.ui.deals.prices import USUAL, Prices, amount
from lib.ui.deals.targeting import words
from lib.ui.deals.targeting.words import EVERYTHING, Described, Marks
from lib.ui.kit.markdown import plain

_ODD_OFFSETS = (-570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765)
OFFSETS = tuple(sorted({*range(-720, 841, 60), *_ODD_OFFSETS}))


def sentences(
    draft: Draft,
    seats: Mapping[int, Seat],
    deals: Mapping[int, str],
    descriptions: Described | None = None,
    marks: Marks | None = None,
    prices: Prices = USUAL,
) -> list[str]:
    """Short paragraphs in Markdown. `seats` and `deals` name ids, `described` gives words for values.

    `marks` are those of values that the report does not have.
    """
    what = [_what(draft, descriptions, marks), _when(draft)]
    return [*what, *_deals(draft, seats, deals, prices), *_fee(draft, prices)]


def offset(minutes: int) -> str:
    """`UTC`, `UTC+1`, `UTC+5:30`."""
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")


def moment(local: datetime) -> str:
    """`22 November 2026, 09:00`; without the hour at midnight."""
    day = f"{local.day} {local:%B %Y}"
    return f"{day}, {local:%H:%M}" if (local.hour, local.minute) != (0, 0) else day


def own_terms(own: Typed, prices: Prices) -> str:
    """The own terms of a copied deal: `fee 5.00 USD CPM · b@agency.example · paused`."""
    fee_type = own.get(FEE_TYPE)
    parts = (
        f"fee {prices.fee(number(own.get(FEE) or ''), fee_type or 0)}" if has_amount(fee_type) else "no fee",
        (own.get(EMAIL) or "").strip() or "no contact",
        *_others(own),
        "" if own.get("is_active", True) else "paused",
    )
    return " · ".join(filter(None, parts))


def _what(draft: Draft, descriptions: Described | None, marks: Marks | None) -> str:
    name = (
        f"**{plain(draft['name'].strip())}**" if draft["name"].strip() else "A package *without a name yet*"
    )
    sold = words.sentence(draft.targeting, None, descriptions, marks)
    supply = f"{plain(draft['media_type'] or '')} supply".strip()
    return f"{name} sells {supply}: {'all of it' if sold == EVERYTHING else plain(sold)}."


def _when(draft: Draft) -> str:
    from_, to = draft.moment("start_date"), draft.moment("end_date")
    start = "a day *not chosen yet*" if from_ is None else moment(from_)
    unread = "to *a time that can't be read*" if draft["end_date"].strip() else "with no end"
    end = "to " + moment(to) if to else unread
    ways = (name for name in fields.writable(SUPPLY, fields.SWITCH) if name != "is_active")
    used = [fields.BY_NAME[name].title.lower() for name in ways if draft[name]]
    also = f" It uses {' and '.join(used)}." if used else ""
    state = "" if draft["is_active"] else " It stays paused until somebody resumes it."
    return f"From {start} {end} ({offset(draft.offset)}).{state}{also}"


def _deals(draft: Draft, seats: Mapping[int, Seat], deals: Mapping[int, str], prices: Prices) -> list[str]:
    if draft.deals == "none" or (draft.deals == "existing" and not draft.links):
        return ["No demand deals: nobody can buy it yet."]
    if draft.deals == "existing":
        names = [plain(deals.get(deal) or f"deal {deal}") for deal in draft.links]
        return [f"{_count_label(len(names), 'existing deal')} linked: {', '.join(names)}."]
    if not draft.seats:
        return ["New deals, for seats *not chosen yet*."]
    lines = [f"- {_seat(seats.get(seat), seat)} {_terms(one, prices)}" for seat, one in draft.seats.items()]
    head = f"{_count_label(len(lines), 'new deal')}, prices in {plain(prices.terms)}"
    return [f"{head}:\n" + "\n".join(lines)]


def _seat(seat: Seat | None, seat_id: int) -> str:
    dsp = f" ({plain(seat.dsp.name)})" if seat and seat.dsp and seat.dsp.name else ""
    return f"**{plain(seat_name(seat, seat_id))}**{dsp}"


def _terms(terms: Terms, prices: Prices) -> str:
    price = "*without a price yet*" if terms.amount is None else f"at {amount(terms.amount)}"
    parts = [price, "with deal sync" if terms.deal_sync else ""]
    own = f" – {plain(own_terms(terms.own, prices))}" if terms.own else ""
    return ", ".join(filter(None, parts)) + own


def _fee(draft: Draft, prices: Prices) -> list[str]:
    """What the new deals share."""
    if draft.deals != "new":
        return []
    of_others = " of the other deals" if any(terms.own for terms in draft.seats.values()) else ""
    parts = []
    if draft[FEE_TYPE] == NO_FEE:
        parts.append(f"No agency fee{of_others}.")
    elif draft[FEE_TYPE] is not None:
        parts.append(f"Agency fee{of_others}: {plain(prices.fee(number(draft[FEE]), draft[FEE_TYPE]))}.")
    if draft[EMAIL].strip():
        parts.append(f"Contact{of_others}: {plain(draft[EMAIL].strip())}.")
    parts += [f"{plain(capital(one))}{of_others}." for one in _others(draft.terms)]
    return [" ".join(parts)] if parts else []


def _others(terms: Typed) -> list[str]:
    """The terms beside fee and contact that are set: `price type: fixed price`."""
    found: dict[str, Any] = {
        fields.BY_NAME[name].title: (fields.BY_NAME[name].kind.choices or {}).get(terms[name], terms[name])
        for name in TERMS
        if name not in (FEE, FEE_TYPE, EMAIL) and terms.get(name) not in (None, "")
    }
    return [f"{title.lower()}: {words}" for title, words in found.items()]


def _count_label(number: int, entity_store: str) -> str:
    return f"{number} {entity_store}{'' if number == 1 else 's'}"
