"""A package that is being set up in sentences: what will be created, before it is."""

from collections.abc import Collection, Mapping
from datetime import datetime

from lib.deals import fields, moments
from lib.deals.fields import SUPPLY, TERMS
from lib.deals.models import NO_FEE, Seat, has_amount
from lib.deals.validation import FEE, FEE_TYPE
from lib.figures.deals import field_text, targeting_text
from lib.figures.deals.deal_names import seat_name
from lib.figures.deals.field_text import USUAL, Prices
from lib.figures.deals.targeting_text import EVERYTHING, Descriptions, Marks
from lib.ui.deals.counts import count_label
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import Draft, NewDeals
from lib.ui.deals.forms.inputs import EMAIL, FormValues, capital
from lib.ui.kit.markdown import plain


def sentences(
    draft: Draft,
    seats: Mapping[int, Seat],
    deals: Mapping[int, str],
    descriptions: Descriptions | None = None,
    marks: Marks | None = None,
    prices: Prices = USUAL,
) -> list[str]:
    """Short paragraphs in Markdown. `seats` and `deals` name ids, `descriptions` gives words for values.

    `marks` are those of values that the report does not have.
    """
    name = (
        f"**{plain(draft['name'].strip())}**" if draft["name"].strip() else "A package *without a name yet*"
    )
    sentence = targeting_text.sentence(draft.targeting, None, descriptions, marks)
    supply = f"{plain(draft['media_type'] or '')} supply".strip()
    from_, to = draft.moment("start_date"), draft.moment("end_date")
    start = "a day *not chosen yet*" if from_ is None else long_moment(from_)
    unread = "until *a time that can't be read*" if draft["end_date"].strip() else "with no end"
    last_day = to and moments.last_day(to)
    through = f"through {last_day.day} {last_day:%B %Y}" if last_day else ""
    end = through or ("until " + long_moment(to) if to else unread)
    ways = (name for name in fields.writable(SUPPLY, fields.SWITCH) if name != "is_active")
    names = [fields.BY_NAME[name].title.lower() for name in ways if draft[name]]
    also = f" It uses {' and '.join(names)}." if names else ""
    state = "" if draft["is_active"] else " It stays paused until somebody resumes it."
    what = [
        f"{name} sells {supply}: {'all of it' if sentence == EVERYTHING else plain(sentence)}.",
        f"From {start} {end} ({field_text.zone_title(draft.zone)}).{state}{also}",
    ]
    return [*what, *_deals_words(draft, seats, deals, prices), *_fee_words(draft, prices)]


def long_moment(local: datetime) -> str:
    """`22 November 2026, 09:00`; without the hour at midnight."""
    day = f"{local.day} {local:%B %Y}"
    return f"{day}, {local:%H:%M}" if (local.hour, local.minute) != (0, 0) else day


def _deals_words(
    draft: Draft, seats: Mapping[int, Seat], deals: Mapping[int, str], prices: Prices
) -> list[str]:
    if draft.deals == "none" or (draft.deals == "existing" and not draft.links):
        return ["No demand deals: nobody can buy it yet."]
    if draft.deals == "existing":
        names = [plain(deals.get(deal) or f"deal {deal}") for deal in draft.links]
        return [f"{count_label('existing deal', len(names))} linked: {', '.join(names)}."]
    if not draft.seats:
        return ["New deals, for seats *not chosen yet*."]
    prices = prices.of(draft["currency"])
    lines = []
    for seat_id, terms in draft.seats.items():
        seat, currency = seats.get(seat_id), terms.own.get("currency")
        dsp = f" ({plain(seat.dsp.name)})" if seat and seat.dsp and seat.dsp.name else ""
        price = "*without a price yet*"
        if terms.amount is not None:
            price = f"at {prices.price(terms.amount, currency)}"
        sync = ", with deal sync" if terms.deal_sync else ""
        own = own_terms(terms.own, prices)
        more = f" – {plain(own)}" if own else ""
        lines.append(f"- **{plain(seat_name(seat, seat_id))}**{dsp} {price}{sync}{more}")
    head = f"{count_label('new deal', len(lines))}, prices in {plain(prices.terms)}"
    return [f"{head}:\n" + "\n".join(lines)]


def own_terms(own: FormValues, prices: Prices) -> str:
    """The own terms of a deal, as typed: `fee 5.00 USD CPM · b@agency.example · paused`."""
    parts = [*_others(own), "" if own.get("is_active", True) else "paused"]
    if EMAIL in own:
        parts.insert(0, (own[EMAIL] or "").strip() or "no contact")
    if FEE_TYPE in own:
        fee = prices.of(own.get("currency")).fee(inputs.value(FEE, own[FEE]), own[FEE_TYPE] or 0)
        parts.insert(0, f"fee {fee}" if has_amount(own[FEE_TYPE]) else "no fee")
    return " · ".join(filter(None, parts))


def _fee_words(draft: Draft, prices: Prices) -> list[str]:
    """What the new deals share."""
    if draft.deals != "new":
        return []
    prices = prices.of(draft["currency"])
    columns = {name for terms in draft.seats.values() for name in terms.own}
    parts = []
    if FEE_TYPE in columns:
        pass
    elif draft[FEE_TYPE] == NO_FEE:
        parts.append("No agency fee.")
    elif draft[FEE_TYPE] is not None:
        fee = prices.fee(inputs.value(FEE, draft[FEE]), draft[FEE_TYPE])
        parts.append(f"Agency fee: {plain(fee)}.")
    if EMAIL not in columns and draft[EMAIL].strip():
        parts.append(f"Contact: {plain(draft[EMAIL].strip())}.")
    common = {name: content for name, content in draft.terms.items() if name not in columns}
    counts = prices.currency_counts(draft.new_deals.currencies)
    parts += [f"{plain(capital(term))}." for term in _others(common, len(draft.seats), counts)]
    parts += [f"{plain(capital(total))} in all." for total in sums(draft.new_deals, prices, columns)]
    return [" ".join(parts)] if parts else []


def sums(deals: NewDeals, prices: Prices, columns: Collection[str] = TERMS) -> list[str]:
    """What the terms that add up come to over new deals: `5,000,000 guaranteed impressions`, `250.00
    EUR budget`; of money in several currencies, why it has no sum."""
    sentences = []
    for row in fields.FIELDS:
        if row.name not in columns or not row.is_summed or (total := deals.total(row.name)) is None:
            continue
        if row.kind is not fields.AMOUNT:
            sentences.append(f"{field_text.value(row.name, total)} {row.title.lower()}")
        elif counts := prices.currency_counts(deals.currencies):
            sentences.append(f"no sum of {row.title.lower()}s ({counts})")
        else:
            currency = next(iter(deals.currencies), None)
            sentences.append(f"{prices.price(total, currency)} {row.title.lower()}")
    return sentences


def _others(terms: FormValues, seats: int = 1, counts: str = "") -> list[str]:
    """The terms beside fee, contact and currency that are set: `price type: fixed price`.

    For several seats, what one that adds up comes to: `budget: 5,000.00 each, 25,000.00 in all`; `counts` is
    why money has no sum.
    """
    sentences = []
    for name in TERMS:
        if name in (FEE, FEE_TYPE, EMAIL, "currency") or terms.get(name) in (None, ""):
            continue
        row, content = fields.BY_NAME[name], inputs.value(name, terms[name])
        text = field_text.value(name, terms[name] if content is None else content)
        if row.is_summed and seats > 1 and content is not None:
            has_sum = not counts or row.kind is not fields.AMOUNT
            total = f"{field_text.value(name, content * seats)} in all" if has_sum else f"no sum ({counts})"
            text = f"{text} each, {total}"
        sentences.append(f"{row.title.lower()}: {text}")
    return sentences
