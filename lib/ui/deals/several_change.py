"""A change of price and dates of several entities: what it makes of each, before anything is sent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.values import DECIMALS, LARGEST_AMOUNT
from lib.ui.deals.rows import Key
from lib.ui.kit import amounts

CENTS = 2
START, END, PRICE = "start_date", "end_date", "price"


@dataclass(frozen=True)
class SeveralWanted:
    """The change requested for all: a price, or a percentage by which prices change, and dates.

    `dates` are local times by field, None for no end; `offset` is their zone in minutes east of UTC, None for
    the zone of each package's own start.
    """

    price: Decimal | None = None
    percent: Decimal | None = None
    dates: Mapping[str, datetime | None] = field(default_factory=dict)
    offset: int | None = None

    @property
    def is_price(self) -> bool:
        """Whether prices change."""
        return self.price is not None or self.percent is not None

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that change."""
        return ((PRICE,) if self.is_price else ()) + tuple(self.dates)


@dataclass(frozen=True)
class Effect:
    """The effect of the change on one entity: its fields before and after, or why it is refused.

    `rows` are the chosen rows that it is about: a package's dates change for each of its chosen deals.
    `others` are the deals that change with it and were not chosen, by id; `also` is a note.
    """

    key: Key
    name: str
    rows: frozenset[Key]
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    etag: str | None = None
    refused: str = ""
    also: str = ""
    others: Mapping[int, str] = field(default_factory=dict)

    @property
    def is_change(self) -> bool:
        """Whether there is anything to send."""
        return not self.refused and bool(self.after)

    @property
    def doubt(self) -> str:
        """Why its price has to be confirmed; empty for a usual one."""
        return amounts.doubt(self.after[PRICE]) if self.is_change and PRICE in self.after else ""


def of_deal(deal: DemandDeal, rows: frozenset[Key], wanted: SeveralWanted) -> Effect:
    """The new price of a deal."""
    key, name = ("demand_deals", deal.id or 0), deal.name or f"Deal {deal.id}"
    before = {PRICE: deal.price}
    try:
        price = _price(deal.price, wanted)
    except ValueError as error:
        return Effect(key, name, rows, before, refused=str(error))
    after = {} if price == deal.price else {PRICE: price}
    return Effect(key, name, rows, before, after, deal.etag)


def of_package(package: SupplyPackage, rows: frozenset[Key], wanted: SeveralWanted) -> Effect:
    """The new dates of a package, in the zone that was chosen or its own."""
    zone = own_zone(package) if wanted.offset is None else timezone(timedelta(minutes=wanted.offset))
    dates = {name: at and at.replace(tzinfo=zone) for name, at in wanted.dates.items()}
    return with_dates(package, rows, dates)


def with_dates(package: SupplyPackage, rows: frozenset[Key], dates: Mapping[str, datetime | None]) -> Effect:
    """A package with these dates, which are those of the deals that are sold with it."""
    key, name = ("supply_deals", package.id or 0), package.name or f"Package {package.id}"
    before = {START: package.start_date, END: package.end_date}
    after = {one: at for one, at in dates.items() if at != before[one]}
    start, end = (after.get(one, before[one]) for one in (START, END))
    chosen = {entity_id for entity, entity_id in rows if entity == "demand_deals"}
    others = {one.id: one.name or f"Deal {one.id}" for one in package.demand_deals if one.id not in chosen}
    wrong = "The end would not be after the start." if start and end and end <= start else ""
    return Effect(key, name, rows, before, after, package.etag, wrong if after else "", others=others)


def own_zone(package: SupplyPackage) -> tzinfo:
    """That of the package's own start."""
    shift = package.start_date.utcoffset() if package.start_date is not None else None
    return timezone(shift or timedelta(0))


def _price(price: Decimal | None, wanted: SeveralWanted) -> Decimal | None:
    """The price afterwards, a percentage rounded to cents or to the decimals that the price has already."""
    if wanted.percent is None:
        return wanted.price
    if price is None:
        raise ValueError("It has no price, so that there is nothing to take a percentage of.")
    changed = price * (100 + wanted.percent) / 100
    places = max(CENTS, min(DECIMALS, -int(price.normalize().as_tuple().exponent)))
    rounded = changed.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    if rounded >= LARGEST_AMOUNT:
        raise ValueError(f"The price would not be less than {LARGEST_AMOUNT:,}.")
    return rounded
