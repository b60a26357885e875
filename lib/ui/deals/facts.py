"""Values of packages and deals in words: dates, prices, fees, references; alike wherever they are shown."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from pydantic import ValidationError

from lib.deals import moments
from lib.deals.fields import BY_NAME, FIELDS
from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.ui.deals.prices import USUAL, Prices, amount
from lib.ui.deals.targeting import words
from lib.ui.deals.words import offset

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
    "buyer_status": "Status at the DSP",
}
NOTHING, NO_END = "–", "no end"


def title(field: str, money: Prices | None = None) -> str:
    """The label of a field; with `money`, a price's currency and unit too."""
    if field == "price" and money is not None:
        return money.title
    return TITLES.get(field) or field.replace("_", " ").capitalize()


def moment(at: datetime | None) -> str:
    """`22 Nov 2026, 09:00 UTC+1`."""
    if at is None:
        return NOTHING
    shift = at.utcoffset()
    return f"{at.day} {at:%b %Y, %H:%M} {offset(int(shift.total_seconds() // 60) if shift else 0)}"


def span(package: SupplyPackage) -> str:
    """From when to when."""
    end = NO_END if package.end_date is None else moment(package.end_date)
    return f"{moment(package.start_date)} – {end}"


def fee(deal: DemandDeal, money: Prices = USUAL) -> str:
    """`12.5 % of spend`, `5.00 USD CPM`."""
    theirs = deal.unread.get("agency_curation_fee_type")
    if deal.agency_curation_fee_type is None and theirs is None:
        return NOTHING
    if theirs is None:
        return money.fee(deal.agency_curation_fee, deal.agency_curation_fee_type or 0)
    kind = f"type {theirs} of the service"
    return kind if deal.agency_curation_fee is None else f"{amount(deal.agency_curation_fee)} {kind}"


def value(field: str, given: Any) -> str:
    """A field's value as people read it, from what the API sends or from a model."""
    if (words := _choice(field, given)) is not None:
        return words
    match given:
        case None | "" | [] | ():
            return NO_END if field == "end_date" else NOTHING
        case bool():
            return "yes" if given else "no"
        case datetime():
            return moment(given)
        case str() if field.endswith("_date"):
            return _read(given)
        case int() | float() | Decimal():
            return amount(Decimal(str(given)))
        case list() | tuple() if field.endswith("_targetings"):
            return _targeting(field, given)
        case list() | tuple():
            return ", ".join(_name_of(one) for one in given)
        case Mapping():
            return _name_of(given)
        case _:
            return str(given)


def _choice(field: str, given: Any) -> str | None:
    """One of a few values by its word, an unknown one as it is; None of another kind of field, or nothing."""
    choices = BY_NAME[field].kind.choices if field in BY_NAME else None
    if choices is None or not isinstance(given, str | int) or given == "":
        return None
    return choices.get(given, str(given))


def _read(text: str) -> str:
    try:
        return moment(moments.read(text))
    except ValueError:
        return text


def _targeting(field: str, given: Any) -> str:
    try:
        return words.sentence(Targeting.model_validate({field: given}), None)
    except ValidationError:
        return str(given)


def _name_of(one: Any) -> str:
    """Another entity by its name, else by its id."""
    found = one if isinstance(one, Mapping) else getattr(one, "__dict__", {})
    return str(found.get("name") or found.get("id") or one)
