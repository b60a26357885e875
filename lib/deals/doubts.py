"""What is valid in a request and probably a slip: prices, unknown targets, past dates, terms at odds.

Nothing is refused for it. The API returns it as `warnings`, and screens ask. The service has no report to
check values against, so it compares them with public lists; a value of one's own inventory may be right.

A price is compared with the first scale that there is: the price before, else what was won, else the list
prices of the same package. Scales are in the currency of the price: there is none of prices in another.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from lib.deals import moments
from lib.deals.models import shorten
from lib.deals.sync.documents import ALPHA_3, EVERY

_DEVICES = (
    "smartphone phone mobile tablet desktop pc computer laptop tv ctv ott television connected_tv smart_tv"
    " set_top_box settopbox console game_console games_console media_player wearable e_reader feature_phone"
    " mobile_phone connected_device personal_computer other unknown"
)
# The fixed sizes of the IAB's Display Advertising Guidelines, and those that video and interstitials have.
_SIZES = (
    "88x31 120x20 120x60 120x90 120x240 120x600 125x125 160x600 168x28 168x42 180x150 200x200 200x446 216x36"
    " 216x54 220x90 234x60 240x133 240x400 250x250 250x360 292x30 300x50 300x75 300x100 300x150 300x168"
    " 300x200 300x250 300x300 300x431 300x600 300x1050 320x50 320x100 320x160 320x240 320x250 320x320 320x400"
    " 320x480 336x280 360x640 375x667 375x812 414x736 468x60 480x320 480x360 550x480 580x400 600x500 640x100"
    " 640x320 640x360 640x480 667x375 720x300 728x90 736x414 768x1024 800x250 812x375 854x480 900x250 930x180"
    " 950x90 960x90 960x540 970x66 970x90 970x250 970x310 980x90 980x120 980x300 1000x250 1024x768 1080x1080"
    " 1080x1920 1200x627 1200x628 1280x720 1440x1080 1600x900 1920x1080 2048x1536 3840x2160"
)
DEVICES, SIZES = frozenset(_DEVICES.split()), frozenset(_SIZES.split())
LONGEST, MOST = 100, 20
FACTOR, UNUSUAL = 3, 1_000


def of_package(fields: Mapping[str, Any], now: datetime | None = None) -> list[str]:
    """Sentences, without a full stop, about these fields of a valid request as it is sent."""
    warnings = list(dict.fromkeys(_targets(fields)))
    end = fields.get("end_date")
    end = moments.parse(end) if isinstance(end, str) else None
    if over := dates(end, now):
        warnings.append(f"D{over[1:]}")
    new_deals = fields.get("create_demand_deals") or {}
    for option in new_deals.get("demand_deals_options") or ():
        own = {name: value for name, value in option.items() if value is not None}
        units = own.get("units", new_deals.get("units"))
        guarantee = of_guarantee(units, end, now=now) if "start_date" in fields else []
        sentences = [*of_terms({**new_deals, **own}), *guarantee]
        warnings += [sentence for sentence in sentences if sentence not in warnings]
    return [*warnings[:MOST], *([f"{len(warnings) - MOST} more warnings"] if len(warnings) > MOST else [])]


def dates(end: datetime | None, now: datetime | None = None) -> str:
    """That a package with this end never delivers; empty if it may."""
    if end is None or end > (now or datetime.now(UTC)):
        return ""
    day = moments.end_words(end).removeprefix("until ")
    return f"dates wholly in the past: it ends on {day} and never delivers"


def of_terms(terms: Mapping[str, Any]) -> list[str]:
    """What a deal's terms contradict each other in, as values; a price is per 1,000 impressions."""
    price, units, budget = (terms.get(name) for name in ("price", "units", "budget"))
    if price is None or units is None or budget is None or units * price <= 1000 * budget:
        return []
    cost, price_text = Decimal(units) * Decimal(price) / 1000, money_text(Decimal(price))
    return [
        f"{units:,.0f} guaranteed impressions at {price_text} come to {cost:,.2f}, more than the budget of"
        f" {budget:,.2f}"
    ]


def of_guarantee(
    units: Decimal | int | None,
    end: datetime | None,
    start: datetime | None = None,
    daily: float | None = None,
    now: datetime | None = None,
    source: str = "the targeting",
) -> list[str]:
    """Why this many guaranteed impressions, in all, can hardly be delivered until this end.

    `daily` is how many impressions a day the `source` had; None where that is not known.
    """
    if units is None:
        return []
    if end is None:
        return [f"{units:,.0f} guaranteed impressions without an end, and so without a pace"]
    now = now or datetime.now(UTC)
    days = (end - max(start or now, now)) / timedelta(days=1)
    if days <= 0 or daily is None or float(units) <= daily * days:
        return []
    return [
        f"{units:,.0f} guaranteed impressions in {days:,.0f} days, in which {source} had about"
        f" {daily * days:,.0f}"
    ]


def is_known(kind: str, value: str) -> bool:
    """Whether public lists have this value of a kind of targeting; true for kinds that have no such list."""
    match kind:
        case "country":
            return (code := value.strip().upper()) in ALPHA_3 or code in EVERY
        case "device":
            return value.strip().casefold().replace(" ", "_").replace("-", "_") in DEVICES or value.isdigit()
        case "size":
            return value in SIZES
    return True


def _targets(fields: Mapping[str, Any]) -> Iterator[str]:
    for target in fields.get("geo_targetings") or ():
        if target.get("type") == "country" and not is_known("country", str(target["value"])):
            yield f"'{shorten(str(target['value']).strip(), LONGEST)}' is no country code of ISO 3166-1"
    for target in fields.get("device_targetings") or ():
        if not is_known("device", str(target["value"])):
            yield f"'{shorten(str(target['value']).strip(), LONGEST)}' is no usual type of device"
    for target in fields.get("size_targetings") or ():
        if not is_known("size", size := f"{target['width']:.0f}x{target['height']:.0f}"):
            yield f"{size} is no usual size of an ad"


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


@dataclass(frozen=True)
class WinScales:
    """The quartiles of the daily win CPM of the last 30 days, by seat and medium; "" stands for every one."""

    scales: Mapping[tuple[str, str], PriceScale]

    def find(self, seat: int | None, media_types: Sequence[str]) -> PriceScale | None:
        """That of a seat in a medium, else that of all seats there; None where nothing was won.

        Of several media, or none, it is that of all.
        """
        medium = media_types[0] if len({*media_types}) == 1 else ""
        own = None if seat is None else self.scales.get((str(seat), medium))
        return own or self.scales.get(("", medium))


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
