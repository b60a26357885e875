"""A draft in words: what will be created, before it is."""

from collections.abc import Mapping
from datetime import datetime

from lib.deals.models import FEE_TYPES, NO_FEE, Seat, has_amount
from lib.ui.deals.draft import Draft, OwnTerms, Terms, number
from lib.ui.deals.prices import USUAL, Prices, amount
from lib.ui.deals.targeting import words
from lib.ui.deals.targeting.words import EVERYTHING, Described, Marks
from lib.ui.kit.markdown import plain

NO_FEES = "Fees can't be set: the settings don't map the fee types of this service (fee_types)."
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


def fee_title(fee_type: int) -> str:
    """A kind of agency fee, as a choice: `Percent of spend`, `CPM`."""
    return FEE_TYPES[fee_type][0].upper() + FEE_TYPES[fee_type][1:]


def seat_name(seat: Seat | None, seat_id: int) -> str:
    """A seat by name, or by its id where it is not known."""
    return (seat and seat.name) or f"Seat {seat_id}"


def own_terms(own: OwnTerms, prices: Prices) -> str:
    """The own terms of a copied deal: `5.00 USD CPM · b@agency.example · paused`."""
    fee = None if own.fee_type is None else prices.fee(number(own.fee), own.fee_type)
    parts = (
        f"fee {fee}" if has_amount(own.fee_type) else "no fee",
        own.contact_email.strip() or "no contact",
        "" if own.is_active else "paused",
    )
    return " · ".join(filter(None, parts))


def _what(draft: Draft, descriptions: Described | None, marks: Marks | None) -> str:
    name = f"**{plain(draft.name.strip())}**" if draft.name.strip() else "A package *without a name yet*"
    sold = words.sentence(draft.targeting, None, descriptions, marks)
    supply = f"{plain(draft.media_type or '')} supply".strip()
    return f"{name} sells {supply}: {'all of it' if sold == EVERYTHING else plain(sold)}."


def _when(draft: Draft) -> str:
    from_, to = draft.moment(draft.start), draft.moment(draft.end)
    start = "a day *not chosen yet*" if from_ is None else moment(from_)
    end = (
        "to " + moment(to) if to else "to *a time that can't be read*" if draft.end.strip() else "with no end"
    )
    ways = {"dynamic bidding": draft.is_dynamic_bidding, "true price": draft.is_true_price_opt_enable}
    used = [name for name, is_on in ways.items() if is_on]
    also = f" It uses {' and '.join(used)}." if used else ""
    state = "" if draft.is_active else " It stays paused until somebody resumes it."
    return f"From {start} {end} ({offset(draft.offset)}).{state}{also}"


def _deals(draft: Draft, seats: Mapping[int, Seat], deals: Mapping[int, str], prices: Prices) -> list[str]:
    if draft.deals == "none" or (draft.deals == "existing" and not draft.links):
        return ["No demand deals: nobody can buy it yet."]
    if draft.deals == "existing":
        names = [plain(deals.get(deal) or f"deal {deal}") for deal in draft.links]
        return [f"{_counted(len(names), 'existing deal')} linked: {', '.join(names)}."]
    if not draft.seats:
        return ["New deals, for seats *not chosen yet*."]
    lines = [f"- {_seat(seats.get(seat), seat)} {_terms(one, prices)}" for seat, one in draft.seats.items()]
    head = f"{_counted(len(lines), 'new deal')}, prices in {plain(prices.terms)}"
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
    if draft.deals != "new":
        return []
    of_others = " of the other deals" if any(terms.own for terms in draft.seats.values()) else ""
    parts = []
    if draft.fee_type == NO_FEE:
        parts.append(f"No agency fee{of_others}.")
    elif draft.fee_type is not None:
        parts.append(f"Agency fee{of_others}: {plain(prices.fee(number(draft.fee), draft.fee_type))}.")
    if draft.contact_email.strip():
        parts.append(f"Contact{of_others}: {plain(draft.contact_email.strip())}.")
    return [" ".join(parts)] if parts else []


def _counted(number: int, entity_store: str) -> str:
    return f"{number} {entity_store}{'' if number == 1 else 's'}"
