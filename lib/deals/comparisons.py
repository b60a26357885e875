"""What a write makes, and what it may be compared with: the entity before, deals beside it, and a report.

A price is compared with the first scale that there is: the price before, else what was won, else the list
prices of the same package. Scales are in the currency of the price: there is none of prices in another.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import cache, cached_property, partial
from typing import Any, Literal, Protocol

from pydantic import ValidationError

from lib.deals.models import Seat, SupplyPackage, Targeting
from lib.deals.targeting.filters import Lists
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
NEW_DEALS, OPTIONS, NEW = "create_demand_deals", "demand_deals_options", 0
"""Where a request has the deals that a package is written with; NEW stands for its id, if it has none yet."""
Kind = Literal["deal", "package", "offer"]
Reader = Literal["house", "buyer"]
Values = Mapping[str, Any]
PRICE_FIELDS = frozenset({"price", "currency"})


@dataclass(frozen=True)
class PriceScale:
    """What a price is compared with: the prices from `low` to `high`, each with what it is in words."""

    low: Decimal
    high: Decimal
    low_title: str
    high_title: str

    @classmethod
    def at(cls, price: Any, title: str) -> "PriceScale | None":
        """One price alone; None without one above 0."""
        return cls(Decimal(str(price)), Decimal(str(price)), title, title) if price else None

    @classmethod
    def of_package(cls, prices: Iterable[Decimal | None]) -> "PriceScale | None":
        """The list prices of the other deals of a package; None without one above 0."""
        positive = [price for price in prices if price]
        if not positive:
            return None
        titles = ("the lowest other price in the package", "the highest other price in the package")
        return cls(min(positive), max(positive), *titles)


@dataclass(frozen=True)
class WinScales:
    """The quartiles of the daily win CPM of the last 30 days, by seat and medium; "" stands for every one."""

    scales: Mapping[tuple[str, str], PriceScale]

    def find(self, seat: int | None, media_types: Iterable[str | None]) -> PriceScale | None:
        """That of a seat in a medium, else that of all seats there; None where nothing was won.

        Of several media, or none, it is that of all.
        """
        media = {medium for medium in media_types if medium}
        medium = media.pop() if len(media) == 1 else ""
        own = None if seat is None else self.scales.get((str(seat), medium))
        return own or self.scales.get(("", medium))


@dataclass(frozen=True)
class Promise:
    """The guaranteed impressions of a package in all, and who buys them at which price by CPM.

    A price that can't be compared with the report's is None. `lists` are those of the package's targeting.
    """

    units: Decimal
    package: SupplyPackage
    buyers: tuple[tuple[Seat, Decimal | None], ...] = ()
    lists: Lists = field(default_factory=dict)

    def days(self, now: datetime) -> float:
        """The days that are left of it; endless without an end."""
        end, start = self.package.end_date, self.package.start_date
        return float("inf") if end is None else (end - max(start or now, now)) / timedelta(days=1)


@dataclass(frozen=True)
class Supply:
    """The impressions that there are for a promise in the days that are left of it, and whose they are."""

    units: float
    whose: str = "all buyers together may have"


class Availability(Protocol):
    """What a report tells one caller, with their own grants, in a second at most; it raises why it can't.

    None, or nothing, where it has no such field or no data.
    """

    def supply(self, promise: Promise, now: datetime) -> Supply | None:
        """The impressions for a targeting, its buyers' prices and its period."""

    def win_scales(self, seats: Callable[[], Sequence[Seat]]) -> WinScales:
        """What these seats won at, which are all that the caller may see."""

    def lacks(self, targeting: Targeting) -> Mapping[str, Mapping[str, bool]]:
        """Whether the report lacks values, by the name of their kind, as far as it can tell."""


@dataclass
class Case:
    """A deal, package or offer as a write makes it, and what it may be compared with.

    `names` are the fields that the write sets, `before` is empty for a new one. `prices` are those of the
    other deals of its packages, with their currencies; `packages` its own, `twins` how many other deals its
    seat has in them, and the name of one, `running` how many deals run in a package, `unlinked` the names of
    those that a write leaves without any. `same_price` says for which currencies one price is. `place` is
    where it stands in the request, `reader` who reads what is said of it.
    """

    of: Kind
    after: Values
    names: frozenset[str]
    now: datetime
    before: Values = field(default_factory=dict)
    usual_currency: str = ""
    prices: Sequence[tuple[Decimal, str]] = ()
    packages: Sequence[Values] = ()
    twins: tuple[int, str] = (0, "")
    running: int = 0
    unlinked: Sequence[str] = ()
    same_price: str = ""
    promise: Promise | None = None
    supply: Supply | None = None
    wins: PriceScale | None = None
    lacks: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    place: tuple[str | int, ...] = ()
    reader: Reader = "house"

    def currency(self, values: Values) -> str:
        return values.get("currency") or self.usual_currency

    @cached_property
    def has_new_price(self) -> bool:
        """Whether its price or its currency changes, or is the first."""
        return not self.before or any(self.after.get(name) != self.before.get(name) for name in PRICE_FIELDS)

    def amount_before(self, name: str) -> Any:
        """The amount that one of it replaces in the same currency, if any."""
        same = self.currency(self.before) == self.currency(self.after)
        return self.before.get(name) if same else None

    @cached_property
    def price_before(self) -> Any:
        """The price that it replaces in the same currency, if any."""
        return self.amount_before("price")

    @cached_property
    def scale(self) -> PriceScale | None:
        """What its price is compared with: the first that there is."""
        title, currency = "the price before", self.currency(self.after)
        if self.of == "offer":  # the house's is compared with the deal: what it offered last may be the slip
            title = "the offer" if self.reader == "buyer" else "the deal's price"
        own = (price for price, other in self.prices if other == currency)
        return PriceScale.at(self.price_before, title) or self.wins or PriceScale.of_package(own)

    @property
    def cost(self) -> Decimal | None:
        """What its guaranteed impressions cost, at a price by CPM; None without both."""
        units, price = self.after.get("units"), self.after.get("price")
        return None if units is None or price is None else Decimal(units) * Decimal(price) / 1000

    @property
    def new_deals(self) -> list["Case"]:
        """The deals that a package is written with, each with the terms of its own and those of all."""
        request = self.after.get(NEW_DEALS) or {}
        terms, *options = (
            {name: value for name, value in part.items() if value is not None and name != OPTIONS}
            for part in (request, *request.get(OPTIONS, ()))
        )
        links = {"supply_deals": [{"id": self.before.get("id", NEW)}]}
        deals = [terms | option | links for option in options]
        return [
            Case(
                "deal", deal, frozenset(deal), self.now, {}, self.usual_currency,
                packages=[self.after], place=(NEW_DEALS, OPTIONS, index),
            )
            for index, deal in enumerate(deals)
        ]  # fmt: skip

    @property
    def new_targets(self) -> Targeting:
        """The targeting that a write adds; an element before may have more fields, such as its name."""
        elements = {}
        for name in self.names & Targeting.model_fields.keys():
            old = self.before.get(name) or ()
            elements[name] = [
                element
                for element in self.after.get(name) or ()
                if not any(all(other.get(part) == value for part, value in element.items()) for other in old)
            ]
        try:
            return Targeting.model_validate(elements)
        except ValidationError:  # of a request that is refused anyway
            return Targeting()


def compare(cases: Iterable[Case], availability: Availability, seats: Callable[[], Sequence[Seat]]) -> None:
    """Set what a report tells about the cases, as far as it can be asked."""
    win_scales = cache(partial(availability.win_scales, seats))
    for case in cases:
        try:
            if (
                case.of == "deal"
                and bool(case.after.get("price"))
                and case.has_new_price
                and not case.price_before
                and case.currency(case.after) == case.usual_currency
            ):
                media = [package.get("media_type") for package in case.packages]
                case.wins = win_scales().find((case.after.get("seat") or {}).get("id"), media)
            if case.promise is not None and 0 < case.promise.days(case.now) < float("inf"):
                case.supply = availability.supply(case.promise, case.now)
            if case.of == "package" and (targeting := case.new_targets) != Targeting():
                case.lacks = availability.lacks(targeting)
        except TrancheError as error:  # a comparison less keeps nobody from saving
            log.warning("A write could not be compared with the report: %s", error.reason)
