"""Packages, deals and drafts in words: dates, prices, fees, references; alike wherever they are shown."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from lib.deals import fields, moments
from lib.deals.currencies import currency_counts
from lib.deals.fields import BY_NAME, FIELDS, SUPPLY, TERMS
from lib.deals.models import (
    CPM,
    FEE_TYPES,
    FLAT,
    NO_FEE,
    PERCENT,
    DemandDeal,
    Seat,
    SupplyPackage,
    Targeting,
    has_amount,
)
from lib.deals.validation import FEE, FEE_TYPE
from lib.ui.deals.forms import inputs
from lib.ui.deals.forms.draft import Draft, NewDeals, Terms, seat_name
from lib.ui.deals.forms.inputs import EMAIL, FormValues, capital
from lib.ui.deals.targeting import targeting_text
from lib.ui.deals.targeting.targeting_text import EVERYTHING, Descriptions, Marks
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain

BY_CPM = "CPM"
TITLES = {
    **{field.name: field.title for field in FIELDS},
    "app_list_targetings": "App lists",
    "browser_targetings": "Browsers",
    "device_targetings": "Devices",
    "domain_list_targetings": "Domain lists",
    "geo_targetings": "Places",
    "operating_system_targetings": "Operating systems",
    "size_targetings": "Sizes",
    "demand_deals": "Deals",
    "supply_deals": "Packages",
    "seat": "Seat",
}
FIGURE_TITLES = frozenset(
    title for field in FIELDS if field.kind.limits is not None for title in (field.title, field.column)
)
NOTHING, NO_END = "–", "no end"
_ODD_OFFSETS = (-570, -210, 210, 270, 330, 345, 390, 525, 570, 630, 765)
OFFSETS = tuple(sorted({*range(-720, 841, 60), *_ODD_OFFSETS}))


@dataclass(frozen=True)
class Prices:
    """The currency of prices and fees, and what a price is for."""

    currency: str = "USD"
    unit: str = "CPM"

    def of(self, currency: str | None) -> "Prices":
        """Those of a deal that has this currency; None: the usual one."""
        return replace(self, currency=currency) if currency else self

    def price(self, price: Decimal, currency: str | None) -> str:
        """`2.50` under a title with the usual currency: a price in another is `2.50 EUR`."""
        is_usual = currency in (None, "", self.currency)
        return amount(price) if is_usual else f"{amount(price)} {currency}"

    def currency_counts(self, currencies: Iterable[str | None]) -> str:
        """Why amounts of deals in these currencies have no sum; empty where all are alike."""
        return currency_counts(currency or self.currency for currency in currencies)

    @property
    def terms(self) -> str:
        """`USD CPM`."""
        return f"{self.currency} {self.unit}".strip()

    @property
    def title(self) -> str:
        """`Price, USD CPM`: the header of a column, the label of a field."""
        return f"Price, {self.terms}" if self.terms else "Price"

    def fee(self, size: Decimal | None, fee_type: int) -> str:
        """`12.5 % of spend`, `5.00 USD CPM`, `undisclosed`."""
        kind = FEE_TYPES.get(fee_type, f"type {fee_type}")
        if size is None or fee_type == NO_FEE:
            return kind
        if fee_type == PERCENT:
            return f"{shortest(size)} % of spend"
        return f"{amount(size)} {self.currency} {kind}".replace("  ", " ")

    def fee_title(self, fee_type: int | None) -> str:
        """The label of a fee's size: `Fee, %`, `Fee, USD CPM`."""
        units = {PERCENT: "%", FLAT: self.currency, CPM: f"{self.currency} CPM".strip()}
        unit = units.get(fee_type or 0, "")
        return f"Fee, {unit}" if unit else "Fee"


USUAL = Prices()


def prices_of(context: PageContext) -> Prices:
    """As the settings have them: those of the report, and of deals without a currency of their own."""
    return Prices(context.clients.currency, context.clients.price_unit)


def amount(value: Decimal | None) -> str:
    """A price or a fee: at least two decimals, and as many as it has."""
    if value is None:
        return "–"
    whole, _, decimals = shortest(value).partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}"


def shortest(value: Decimal) -> str:
    """A number with marks between thousands and all of its decimals: `1,234.5`."""
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def title(field: str, money: Prices | None = None) -> str:
    """The label of a field; with `money`, a price's currency and unit too."""
    if field == "price" and money is not None:
        return money.title
    return TITLES.get(field) or field.replace("_", " ").capitalize()


def is_figure(title: str) -> bool:
    """Whether a column of this title has figures, which stand to the right: `Price, USD CPM`, `Budget`."""
    return title.partition(",")[0] in FIGURE_TITLES


def moment(at: datetime | None) -> str:
    """`22 Nov 2026, 09:00 UTC+1`."""
    if at is None:
        return NOTHING
    shift = at.utcoffset()
    return f"{at.day} {at:%b %Y, %H:%M} {offset(int(shift.total_seconds() // 60) if shift else 0)}"


def span(package: SupplyPackage) -> str:
    """From when to when."""
    end = NO_END if package.end_date is None else moments.end_words(package.end_date)
    return f"{moment(package.start_date)} – {end}"


def fee(deal: DemandDeal, money: Prices = USUAL) -> str:
    """`12.5 % of spend`, `5.00 USD CPM`."""
    money = money.of(deal.currency)
    theirs = deal.unread.get("agency_curation_fee_type")
    if deal.agency_curation_fee_type is None and theirs is None:
        return NOTHING
    if theirs is None:
        return money.fee(deal.agency_curation_fee, deal.agency_curation_fee_type or 0)
    kind = f"type {theirs} of the service"
    return kind if deal.agency_curation_fee is None else f"{amount(deal.agency_curation_fee)} {kind}"


def value(field: str, content: Any) -> str:
    """A field's value as people read it, from what the API sends or from a model."""
    if (word := _choice(field, content)) is not None:
        return word
    match content:
        case None | "" | [] | ():
            return NO_END if field == "end_date" else NOTHING
        case bool():
            return "yes" if content else "no"
        case datetime():
            return moments.end_words(content) if field == "end_date" else moment(content)
        case str() if field.endswith("_date"):
            return _read(field, content)
        case int() | float() | Decimal():
            number = Decimal(str(content))
            return shortest(number) if is_whole(field) else amount(number)
        case list() | tuple() if field.endswith("_targetings"):
            return _targeting(field, content)
        case list() | tuple():
            return ", ".join(_name_of(link) for link in content)
        case Mapping():
            return _name_of(content)
        case _:
            return str(content)


def is_whole(field: str) -> bool:
    """Whether the field is a number without decimals."""
    limits = BY_NAME[field].kind.limits if field in BY_NAME else None
    return limits is not None and not limits.decimals


def _choice(field: str, content: Any) -> str | None:
    """One of a few values by its word, an unknown one as it is; None of another kind of field, or nothing."""
    choices = BY_NAME[field].kind.choices if field in BY_NAME else None
    if choices is None or not isinstance(content, str | int) or content == "":
        return None
    return choices.get(content, str(content))


def _read(field: str, text: str) -> str:
    try:
        return value(field, moments.read(text))
    except ValueError:
        return text


def _targeting(field: str, content: Any) -> str:
    try:
        return targeting_text.sentence(Targeting.model_validate({field: content}), None)
    except ValidationError:
        return str(content)


def _name_of(link: Any) -> str:
    """Another entity by its name, else by its id."""
    content = link if isinstance(link, Mapping) else getattr(link, "__dict__", {})
    return str(content.get("name") or content.get("id") or link)


def sentences(
    draft: Draft,
    seats: Mapping[int, Seat],
    deals: Mapping[int, str],
    descriptions: Descriptions | None = None,
    marks: Marks | None = None,
    prices: Prices = USUAL,
) -> list[str]:
    """Short paragraphs in Markdown. `seats` and `deals` name ids, `described` gives words for values.

    `marks` are those of values that the report does not have.
    """
    what = [_what(draft, descriptions, marks), _when(draft)]
    return [*what, *_deals_words(draft, seats, deals, prices), *_fee_words(draft, prices)]


def offset(minutes: int) -> str:
    """`UTC`, `UTC+1`, `UTC+5:30`."""
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")


def long_moment(local: datetime) -> str:
    """`22 November 2026, 09:00`; without the hour at midnight."""
    day = f"{local.day} {local:%B %Y}"
    return f"{day}, {local:%H:%M}" if (local.hour, local.minute) != (0, 0) else day


def own_terms(own: FormValues, prices: Prices) -> str:
    """The own terms of a deal, as typed: `fee 5.00 USD CPM · b@agency.example · paused`."""
    parts = [*_others(own), "" if own.get("is_active", True) else "paused"]
    if EMAIL in own:
        parts.insert(0, (own[EMAIL] or "").strip() or "no contact")
    if FEE_TYPE in own:
        fee = prices.of(own.get("currency")).fee(inputs.value(FEE, own[FEE]), own[FEE_TYPE] or 0)
        parts.insert(0, f"fee {fee}" if has_amount(own[FEE_TYPE]) else "no fee")
    return " · ".join(filter(None, parts))


def _what(draft: Draft, descriptions: Descriptions | None, marks: Marks | None) -> str:
    name = (
        f"**{plain(draft['name'].strip())}**" if draft["name"].strip() else "A package *without a name yet*"
    )
    sentence = targeting_text.sentence(draft.targeting, None, descriptions, marks)
    supply = f"{plain(draft['media_type'] or '')} supply".strip()
    return f"{name} sells {supply}: {'all of it' if sentence == EVERYTHING else plain(sentence)}."


def _when(draft: Draft) -> str:
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
    return f"From {start} {end} ({offset(draft.offset)}).{state}{also}"


def _deals_words(
    draft: Draft, seats: Mapping[int, Seat], deals: Mapping[int, str], prices: Prices
) -> list[str]:
    if draft.deals == "none" or (draft.deals == "existing" and not draft.links):
        return ["No demand deals: nobody can buy it yet."]
    if draft.deals == "existing":
        names = [plain(deals.get(deal) or f"deal {deal}") for deal in draft.links]
        return [f"{_count_label(len(names), 'existing deal')} linked: {', '.join(names)}."]
    if not draft.seats:
        return ["New deals, for seats *not chosen yet*."]
    prices = prices.of(draft["currency"])
    lines = [
        f"- {_seat_words(seats.get(seat), seat)} {_terms_words(terms, prices)}"
        for seat, terms in draft.seats.items()
    ]
    head = f"{_count_label(len(lines), 'new deal')}, prices in {plain(prices.terms)}"
    return [f"{head}:\n" + "\n".join(lines)]


def _seat_words(seat: Seat | None, seat_id: int) -> str:
    dsp = f" ({plain(seat.dsp.name)})" if seat and seat.dsp and seat.dsp.name else ""
    return f"**{plain(seat_name(seat, seat_id))}**{dsp}"


def _terms_words(terms: Terms, prices: Prices) -> str:
    currency = terms.own.get("currency")
    price = "*without a price yet*" if terms.amount is None else f"at {prices.price(terms.amount, currency)}"
    parts = [price, "with deal sync" if terms.deal_sync else ""]
    own = f" – {plain(own_terms(terms.own, prices))}" if own_terms(terms.own, prices) else ""
    return ", ".join(filter(None, parts)) + own


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
            sentences.append(f"{value(row.name, total)} {row.title.lower()}")
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
        text = value(name, terms[name] if content is None else content)
        if row.is_summed and seats > 1 and content is not None:
            has_sum = not counts or row.kind is not fields.AMOUNT
            total = f"{value(name, content * seats)} in all" if has_sum else f"no sum ({counts})"
            text = f"{text} each, {total}"
        sentences.append(f"{row.title.lower()}: {text}")
    return sentences


def _count_label(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
