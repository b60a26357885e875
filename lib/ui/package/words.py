"""A draft in words: what will be created, before it is."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from lib.deals.models import FEE_TYPES, Seat
from lib.ui.markdown import plain
from lib.ui.package.draft import NO_FEE, Draft, Terms
from lib.ui.targeting import words
from lib.ui.targeting.words import EVERYTHING, Described

NO_FEES = (
    "No fee is offered: the settings don't say which numbers this service has for types of fees (fee_types)."
)
_ODD_OFFSETS = (-570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765)
OFFSETS = tuple(sorted({*range(-720, 841, 60), *_ODD_OFFSETS}))


def sentences(
    draft: Draft, seats: Mapping[int, Seat], deals: Mapping[int, str], described: Described | None = None
) -> list[str]:
    """Short paragraphs in Markdown. `seats` and `deals` name ids, `described` gives words for values."""
    return [_what(draft, described), _when(draft), *_deals(draft, seats, deals), *_fee(draft)]


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


def fee_title(fee_type: int) -> str:
    """A kind of agency fee, as a choice: `Percent of spend`, `CPM`."""
    return FEE_TYPES[fee_type][0].upper() + FEE_TYPES[fee_type][1:]


def amount(value: Decimal | None) -> str:
    """A price or a fee: at least two decimals, and as many as it needs."""
    if value is None:
        return "–"
    whole = f"{value:,.6f}".rstrip("0")
    point = whole.index(".")
    return whole.ljust(point + 3, "0")


def _what(draft: Draft, described: Described | None) -> str:
    name = f"**{plain(draft.name.strip())}**" if draft.name.strip() else "A package *without a name yet*"
    sold = words.sentence(draft.targeting, None, described)
    supply = f"{draft.media_type or ''} supply".strip()
    return f"{name} sells {supply}: {'all of it' if sold == EVERYTHING else plain(sold)}."


def _when(draft: Draft) -> str:
    start = "a day *not chosen yet*" if draft.start is None else moment(draft.start)
    end = "with no end" if draft.end is None else f"to {moment(draft.end)}"
    ways = {"dynamic bidding": draft.is_dynamic_bidding, "true price": draft.is_true_price_opt_enable}
    used = [name for name, is_on in ways.items() if is_on]
    also = f" It uses {' and '.join(used)}." if used else ""
    state = "" if draft.is_active else " It stays paused until somebody resumes it."
    return f"From {start} {end} ({offset(draft.offset)}).{state}{also}"


def _deals(draft: Draft, seats: Mapping[int, Seat], deals: Mapping[int, str]) -> list[str]:
    if draft.deals == "none" or (draft.deals == "existing" and not draft.links):
        return ["No demand deals: nobody can buy it yet."]
    if draft.deals == "existing":
        names = [plain(deals.get(deal) or f"deal {deal}") for deal in draft.links]
        return [f"{_counted(len(names), 'existing deal')} linked: {', '.join(names)}."]
    if not draft.seats:
        return ["New deals, for seats *not chosen yet*."]
    lines = [f"- {_seat(seats.get(seat), seat)} {_terms(terms)}" for seat, terms in draft.seats.items()]
    return [f"{_counted(len(lines), 'new deal')}:\n" + "\n".join(lines)]


def _seat(seat: Seat | None, seat_id: int) -> str:
    name = (seat and seat.name) or f"seat {seat_id}"
    dsp = f" ({plain(seat.dsp.name)})" if seat and seat.dsp and seat.dsp.name else ""
    return f"**{plain(name)}**{dsp}"


def _terms(terms: Terms) -> str:
    price = "*without a price yet*" if terms.price is None else f"at {amount(terms.price)}"
    return f"{price}, with deal sync" if terms.deal_sync else price


def _fee(draft: Draft) -> list[str]:
    if draft.deals != "new":
        return []
    parts = []
    if draft.fee_type == NO_FEE:
        parts.append("No agency fee.")
    elif draft.fee_type is not None:
        size = "" if draft.fee is None else f" {amount(draft.fee)}"
        parts.append(f"Agency fee:{size} {FEE_TYPES[draft.fee_type]}.")
    if draft.contact_email.strip():
        parts.append(f"Contact: {plain(draft.contact_email.strip())}.")
    return [" ".join(parts)] if parts else []


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
