"""Prices that are probably a slip, by the factor between them and a price that is positive.

The rule is written once: screens ask before such a price is saved, and the API warns of it. A price is
compared with the first scale that there is: the price before, else what was won, else the list prices of the
same package. Scales are in the currency of the price: there is none of prices in another.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

FACTOR, UNUSUAL = 3, 1_000


@dataclass(frozen=True)
class PriceScale:
    """What a price is compared with: the prices from `low` to `high`, each with what it is in words."""

    low: Decimal
    high: Decimal
    low_title: str
    high_title: str

    @classmethod
    def before(cls, price: Decimal | None) -> "PriceScale | None":
        """The price that a change replaces; None without one above 0."""
        title = "the price before"
        return cls(price, price, title, title) if price else None

    @classmethod
    def of_package(cls, prices: Iterable[Decimal | None]) -> "PriceScale | None":
        """The list prices of the other deals of a package; None without one above 0."""
        positive = [price for price in prices if price]
        if not positive:
            return None
        titles = ("the lowest other price in the package", "the highest other price in the package")
        return cls(min(positive), max(positive), *titles)


def price_slip(price: Decimal | None, scales: Iterable[PriceScale | None] = ()) -> str:
    """Why a price has to be confirmed, with both figures; empty for a usual one.

    `a price of 19.00, 8.8 times the price before (2.16)`. Usual is a price above 0 and below
    1,000, at most three times as high and as low as the first scale that there is.
    """
    if price is None:
        return ""
    if price == 0:
        return "a price of 0"
    scale = next(filter(None, scales), None)
    sentence = f"a price of {money_text(price)}"
    if scale is not None and price > FACTOR * scale.high:
        return f"{sentence}, {factor(price, scale.high)} times {scale.high_title} ({money_text(scale.high)})"
    if scale is not None and price * FACTOR < scale.low:
        return (
            f"{sentence}, {factor(scale.low, price)} times below {scale.low_title} ({money_text(scale.low)})"
        )
    return sentence if price >= UNUSUAL else ""


def currency_slip(before: str, after: str) -> str:
    """Why another currency of a deal whose price stays has to be confirmed; empty where both stay."""
    return f"the same price in {after} as before in {before}" if before != after else ""


def factor(larger: Decimal, smaller: Decimal) -> str:
    """How many times as large, to two decimals: `8.8`, `10`."""
    times = f"{(larger / smaller).quantize(Decimal('0.01'), ROUND_HALF_UP):,f}"
    return times.rstrip("0").rstrip(".")


def money_text(price: Decimal) -> str:
    """At least two decimals, and as many as it has."""
    text = f"{price:,f}"
    whole, _, decimals = text.partition(".")
    return f"{whole}.{decimals.rstrip('0').ljust(2, '0')}"
