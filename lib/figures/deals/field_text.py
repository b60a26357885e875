"""The fields of packages and deals in words: dates, prices, fees, links; alike wherever they are shown."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from lib.deals import moments
from lib.deals.fields import BY_NAME, FIELDS
from lib.deals.models import CPM, FEE_TYPES, FLAT, NO_FEE, PERCENT, DemandDeal, SupplyPackage, Targeting
from lib.figures.context import RequestContext
from lib.figures.deals import targeting_text
from lib.wire.currencies import currency_counts
from lib.wire.text import write_day

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


def prices_of(context: RequestContext) -> Prices:
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


def by(person: str, token: str | None) -> str:
    """Who did something: `manager`, `manager, by token nightly sync`."""
    return f"{person}, by token {token}" if token else person


def moment(at: datetime | None) -> str:
    """`22 Nov 2026, 09:00 UTC+1`."""
    if at is None:
        return NOTHING
    shift = at.utcoffset()
    return f"{write_day(at)}, {at:%H:%M} {offset(int(shift.total_seconds() // 60) if shift else 0)}"


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
    choices = BY_NAME[field].kind.choices if field in BY_NAME else None
    if choices is not None and isinstance(content, str | int) and content != "":
        return choices.get(content, str(content))  # an unknown one as it is
    match content:
        case None | "" | [] | ():
            return NO_END if field == "end_date" else NOTHING
        case bool():
            return "yes" if content else "no"
        case datetime():
            return moments.end_words(content) if field == "end_date" else moment(content)
        case str() if field.endswith("_date"):
            try:
                return value(field, moments.read(content))
            except ValueError:
                return content
        case int() | float() | Decimal():
            number = Decimal(str(content))
            return shortest(number) if is_whole(field) else amount(number)
        case list() | tuple() if field.endswith("_targetings"):
            try:
                return targeting_text.sentence(Targeting.model_validate({field: content}), None)
            except ValidationError:
                return str(content)
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


def _name_of(link: Any) -> str:
    """Another entity by its name, else by its id."""
    content = link if isinstance(link, Mapping) else getattr(link, "__dict__", {})
    return str(content.get("name") or content.get("id") or link)


def zone_title(zone: moments.Zone) -> str:
    """`Europe/Berlin`, `UTC+1`."""
    return zone if isinstance(zone, str) else offset(zone)


def offset(minutes: int) -> str:
    """`UTC`, `UTC+1`, `UTC+5:30`."""
    if not minutes:
        return "UTC"
    hours, rest = divmod(abs(minutes), 60)
    return f"UTC{'+' if minutes > 0 else '-'}{hours}" + (f":{rest:02}" if rest else "")
