"""Packages and deals as rows of the list: what each shows, its columns and cells, and rows as CSV."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from lib.deals import fields, moments
from lib.deals.delivery import FIGURES, DeliveryKind
from lib.deals.fields import FIELDS
from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.slicers.models import Direction
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import field_text
from lib.ui.deals.field_text import Prices, amount
from lib.ui.deals.forms.draft import seat_name
from lib.ui.deals.targeting import targeting_text
from lib.ui.kit import listing
from lib.ui.kit.listing import ListCell, ListColumn, PhonePlace
from lib.wire.text import csv_text

KINDS = {"supply_deals": "Package", "demand_deals": "Deal"}
ATTRIBUTES = ("name", "status", "deal_id", "media_type", "start_date", "end_date", "price", "currency")
Key = tuple[str, int]
PRICE = "Price"
Tone = Literal["green", "blue", "orange", "gray"]
TONES: dict[str, Tone] = {"active": "green", "pending": "blue", "paused": "orange", "complete": "gray"}
MOST_NAMES = 2
WRITERS: Mapping[DeliveryKind, Callable[[Numbers, float], str]] = {
    "impressions": Numbers.number,
    "spend": lambda numbers, value: numbers.number(value, 2),
    "win_rate": Numbers.percent,
    "pacing": lambda numbers, value: numbers.percent(value, 0),
}
FIGURE_WIDTHS: Mapping[DeliveryKind, float] = {
    "impressions": 9.8,
    "spend": 7.8,
    "win_rate": 8.4,
    "pacing": 8.2,
}
LINK_COLUMNS = {
    "seat": ("Seats", 9.0),
    "deals": ("Deals", 3.7),
    "targeting": ("Targeting", 8.0),
    "id": ("Id", 4.0),
    "health": ("Health", 8.5),
    "owner": ("Owner", 8.0),
    **{name: (figure.title, FIGURE_WIDTHS[figure.kind]) for name, figure in FIGURES.items()},
}
WIDTHS = {name: width for name, (_, width) in LINK_COLUMNS.items()} | {
    field.name: field.width for field in FIELDS if field.width is not None
}
OWN_WIDTHS: Mapping[str, Mapping[str, float]] = {
    fields.SUPPLY: {"name": 13.0, "targeting": 13.0, "seat": 11.0},
    fields.DEALS: {"name": 14.0, "seat": 8.0, "price": 7.2},
}
"""Widths of one of the lists: among packages names give way to targeting and seats."""
EXTRAS = {
    entity: tuple(field.name for field in fields.of(entity) if field.is_extra)
    for entity in (fields.SUPPLY, fields.DEALS)
}
COLUMNS: Mapping[str, tuple[str, ...]] = {
    fields.SUPPLY: (
        "name", "status", "targeting", "seat", "price", "deals", "media_type", "start_date", "end_date",
    ),
    fields.DEALS: (
        "name", "status", "health", "seat", "price", "impressions_7_days", "spend_7_days", "win_rate_7_days",
        "pacing_7_days",
    ),
}  # fmt: skip
"""The columns that are shown until somebody chooses others."""
MAIN = "name"
BRIEF = {
    "supply_deals": ("name", "status", "targeting"),
    "demand_deals": ("name", "status", "seat", "price"),
}
ON_PHONE: Mapping[str, PhonePlace] = {
    "status": "top", "seat": "left", "price": "right", **dict.fromkeys(FIGURES, "below"),
    "start_date": "below", "health": "end",
}  # fmt: skip
RIGHT = ("price", "deals", "id", *FIGURES, *(field.name for field in FIELDS if field.kind.limits is not None))
FALLING: frozenset[str] = frozenset({"id", "price", "start_date", "end_date", *FIGURES})


def seat_of(deal: DemandDeal) -> str:
    """The seat that may buy it, by name or id; empty where the service does not tell it."""
    return "" if deal.seat is None or deal.seat.id is None else seat_name(deal.seat, deal.seat.id)


def dsp_of(deal: DemandDeal) -> str:
    """The name of its DSP; empty where it is not known."""
    dsp = deal.dsp or (deal.seat.dsp if deal.seat else None)
    return (dsp and dsp.name) or ""


def deal_label(deal: DemandDeal) -> str:
    """`Morning News - Bluebird · Alder Bidder · 17`: to be found by name, seat, DSP or id."""
    seat, name = seat_of(deal), title_of(deal)
    return " · ".join(filter(None, (name, "" if seat in name else seat, dsp_of(deal), str(deal.id))))


def title_of(entity: PackageOrDeal) -> str:
    """What a package or a deal is called: `Deal 17` without a name."""
    return entity.name or f"{KINDS[entity.entity]} {entity.id}"


@dataclass(frozen=True)
class DealRow:
    """One of the list.

    `prices` are those of the deals with their currencies, empty for the usual one, by currency and
    ascending; dates and targeting those of a package, for a deal those of its first one. `more` are the plain
    fields that have a column and no attribute here; `package` is the package whose targeting it is, `health`
    the words and the tone of a deal's health, and `delivery` its figures of the last days, as texts by name.
    """

    entity: str
    id: int
    name: str
    status: str = ""
    is_active: bool | None = None
    media_type: str = ""
    start: datetime | None = None
    end: datetime | None = None
    targeting: str = ""
    seats: tuple[str, ...] = ()
    dsps: tuple[str, ...] = ()
    prices: tuple[tuple[str, Decimal], ...] = ()
    others: tuple[str, ...] = ()
    deal_id: str = ""
    more: tuple[tuple[str, Any], ...] = ()
    package: SupplyPackage | None = field(default=None, compare=False, repr=False)
    health: tuple[str, str] = ("", "")
    delivery: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def key(self) -> Key:
        return self.entity, self.id


def more(entity: str) -> tuple[str, ...]:
    """The plain fields with a column of which a row has no attribute."""
    return tuple(
        field.name for field in fields.of(entity) if field.width is not None and field.name not in ATTRIBUTES
    )


def of_package(package: SupplyPackage, deals: Sequence[DemandDeal]) -> DealRow:
    """A package's row; `deals` are its own."""
    return DealRow(
        entity="supply_deals",
        id=package.id or 0,
        name=title_of(package),
        status=package.status or "",
        is_active=package.is_active,
        media_type=package.media_type or "",
        start=package.start_date,
        end=package.end_date,
        targeting=targeting_text.sentence(package),
        seats=tuple(dict.fromkeys(seat_of(deal) or "?" for deal in deals)),
        dsps=tuple(dict.fromkeys(filter(None, map(dsp_of, deals)))),
        prices=_prices(deals),
        others=tuple(deal.name or "" for deal in package.demand_deals),
        more=_more(package),
        package=package,
    )


def of_deal(
    deal: DemandDeal,
    packages: Mapping[int | None, SupplyPackage],
    sentence: Callable[[SupplyPackage], str] = targeting_text.sentence,
) -> DealRow:
    """A deal's row; `packages` are those that are known whole, by id, `sentence` says their targeting."""
    first = None
    if deal.supply_deals:
        first = packages.get(deal.supply_deals[0].id) or deal.supply_deals[0]
    return DealRow(
        entity="demand_deals",
        id=deal.id or 0,
        name=title_of(deal),
        status=deal.status or "",
        is_active=deal.is_active,
        media_type=(first and first.media_type) or "",
        start=first.start_date if first is not None else None,
        end=first.end_date if first is not None else None,
        targeting=sentence(packages[first.id]) if first is not None and first.id in packages else "",
        seats=(seat_of(deal) or "?",),
        dsps=tuple(filter(None, [dsp_of(deal)])),
        prices=_prices([deal]),
        others=tuple(package.name or "" for package in deal.supply_deals),
        deal_id=deal.deal_id or "",
        more=_more(deal),
        package=first if first is not None and first.id in packages else None,
    )


def csv(deal_rows: Iterable[DealRow], money: Prices = field_text.USUAL) -> Iterator[bytes]:
    """The rows as a file, row by row: whole values, times with their offset, nothing that a spreadsheet
    would run or add to prices in another currency; the first has the header too. Without rows it is empty."""
    header: list[Sequence[object]] = []
    for index, row in enumerate(deal_rows):
        values = _values(row, money)
        if index == 0:
            header = [[*values]]
        yield csv_text([*header, [*values.values()]]).encode()
        header = []


def _values(row: DealRow, money: Prices) -> dict[str, object]:
    """A row of the file by title."""
    ranges = prices_by_currency(row.prices, money)
    lowest, highest = (
        [_number(prices[end], currency, money) for currency, prices in ranges] for end in (0, -1)
    )
    price = money.title[:1].lower() + money.title[1:]
    return {
        "Id": row.id,
        "Kind": KINDS[row.entity],
        "Name": row.name,
        "Deal id": row.deal_id,
        "Status": row.status,
        "Media type": row.media_type,
        "Start": "" if row.start is None else row.start.isoformat(sep=" "),
        "End": moments.end_text(row.end),
        "Seats": "; ".join(row.seats),
        "DSPs": "; ".join(row.dsps),
        f"Lowest {price}": lowest[0] if len(lowest) == 1 else "; ".join(map(str, lowest)),
        f"Highest {price}": highest[0] if len(highest) == 1 else "; ".join(map(str, highest)),
        "Currency": "; ".join(currency for currency, _ in ranges),
        **{
            fields.BY_NAME[name].column: (fields.BY_NAME[name].kind.choices or {}).get(value, value)
            for name, value in row.more
        },
        "Targeting": row.targeting,
        "Linked with": "; ".join(row.others),
    }


def _number(price: Decimal, currency: str, money: Prices) -> Decimal | str:
    """A price under a title with the usual currency; one in another is no number."""
    return price if currency == money.currency else f"{price} {currency}"


def _more(entity: PackageOrDeal) -> tuple[tuple[str, Any], ...]:
    return tuple((name, getattr(entity, name, None)) for name in more(entity.entity))


def _prices(deals: Iterable[DemandDeal]) -> tuple[tuple[str, Decimal], ...]:
    return tuple(sorted((deal.currency or "", deal.price) for deal in deals if deal.price is not None))


OTHERS = {
    entity: tuple(name for name in more(entity) if name not in names) for entity, names in EXTRAS.items()
}
ALL_COLUMNS: Mapping[str, tuple[str, ...]] = {
    fields.SUPPLY: (
        "name", "status", "targeting", "seat", "price", "deals", *OTHERS[fields.SUPPLY], "media_type",
        "start_date", "end_date", "id", "owner", *EXTRAS[fields.SUPPLY],
    ),
    fields.DEALS: (
        "name", "status", "health", "seat", "price", *FIGURES, "deal_id", *OTHERS[fields.DEALS], "media_type",
        "start_date", "end_date", "id", "targeting", *EXTRAS[fields.DEALS],
    ),
}  # fmt: skip
OPTIONAL = {entity: frozenset(names) - {*COLUMNS[entity]} for entity, names in ALL_COLUMNS.items()}
"""Columns that are shown by choice alone."""


def read_columns(entity: str, names: Iterable[str]) -> tuple[str, ...]:
    """The columns of a stored choice: those beside the usual ones, or with `name` all that are shown."""
    choice = {*names}
    if MAIN not in choice:
        choice |= {*COLUMNS[entity]}
    return tuple(name for name in ALL_COLUMNS[entity] if name in choice)


def stored_columns(entity: str, names: Sequence[str]) -> list[str]:
    """Columns, without `name`, as they are stored (see read_columns)."""
    is_usual = {*COLUMNS[entity]} <= {MAIN, *names}
    return [name for name in names if name in OPTIONAL[entity]] if is_usual else [MAIN, *names]


def list_columns(
    names: Sequence[str],
    price: str,
    orders: frozenset[str] = frozenset(),
    order: tuple[str, Direction] | None = None,
    entity: str = "",
) -> tuple[ListColumn, ...]:
    """These columns; `orders` are those that the service orders by, `order` is the order.

    They have the widths of the list of this entity.
    """
    widths = {**WIDTHS, **OWN_WIDTHS.get(entity, {})}
    titles = column_titles(price)
    places = {name: ON_PHONE.get(name, "") for name in names}
    for name in [name for name, place in places.items() if place == "below"][1:]:
        places[name] = ""  # a card has room for one there
    return tuple(
        ListColumn(
            id=name,
            title=titles[name],
            width=widths[name],
            order=None if name not in orders else "desc" if name in FALLING else "asc",
            sorted=order[1] if order is not None and order[0] == name else None,
            is_right=name in RIGHT,
            on_phone=places[name],
            is_titled=name in FIGURES,
        )
        for name in names
    )


def list_rows(
    deal_rows: Sequence[DealRow],
    names: Sequence[str],
    selection: frozenset[Key],
    open_key: Key | None,
    money: Prices,
) -> tuple[listing.ListRow, ...]:
    """The rows with these cells."""
    return tuple(
        listing.ListRow(as_text(row.key), cells(row, names, money), row.key in selection, row.key == open_key)
        for row in deal_rows
    )


def as_text(key: Key) -> str:
    """`demand_deals-17`, as in acts and in the URL."""
    return f"{key[0]}-{key[1]}"


def cells(row: DealRow, names: Sequence[str], money: Prices = field_text.USUAL) -> tuple[ListCell, ...]:
    """The cells of a row."""
    texts = {
        "name": row.name,
        "status": row.status.capitalize(),
        "seat": list_text(row.seats),
        "health": row.health[0],
        "price": span(row.prices, money),
        "currency": ", ".join(currency for currency, _ in prices_by_currency(row.prices, money)),
        "deals": str(len(row.others)),
        "deal_id": row.deal_id,
        "media_type": row.media_type.capitalize(),
        "start_date": day(row.start),
        "end_date": "" if row.end is None else moments.end_words(row.end),
        "targeting": row.targeting,
        "id": str(row.id),
        **{name: row.delivery.get(name, "") for name in FIGURES},
        **{name: field_text.value(name, value) for name, value in row.more},
    }
    tones = {"status": TONES.get(row.status, "gray") if row.status else "", "health": row.health[1]}
    return tuple(ListCell(texts[name], tones.get(name, "")) for name in names)


def delivery_texts(
    figures: Mapping[str, float | None], is_estimate: bool, numbers: Numbers
) -> dict[str, str]:
    """Figures of the last days as cells, by name: `1,204`, `≈ 1,200` of a sample; none without a value."""
    sign = "≈ " if is_estimate else ""
    return {
        name: sign + WRITERS[FIGURES[name].kind](numbers, value)
        for name, value in figures.items()
        if value is not None
    }


def list_text(names: Sequence[str]) -> str:
    """`Ada, Bob and 3 more`."""
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def span(prices: Iterable[tuple[str, Decimal]], money: Prices) -> str:
    """`2.50`, or `2.50 – 7.00` if they differ; of several currencies each: `2.50 – 7.00, 2.00 EUR`."""
    ranges = prices_by_currency(prices, money)
    return ", ".join(
        f"{f'{amount(own[0])} – ' if own[0] < own[-1] else ''}{money.price(own[-1], currency)}"
        for currency, own in ranges
    )


def prices_by_currency(
    prices: Iterable[tuple[str, Decimal]], money: Prices
) -> list[tuple[str, list[Decimal]]]:
    """The prices in each currency, ascending; the usual currency first."""
    by_currency: dict[str, list[Decimal]] = {}
    for currency, price in prices:
        by_currency.setdefault(currency or money.currency, []).append(price)
    return sorted(
        ((currency, sorted(own)) for currency, own in by_currency.items()),
        key=lambda pair: (pair[0] != money.currency, pair[0]),
    )


def day(at: datetime | None) -> str:
    """`14 Nov 2026`, in the time's own zone: the day that was typed."""
    return "" if at is None else f"{at.day} {at:%b %Y}"


def column_titles(price: str) -> dict[str, str]:
    """The titles of all columns by name; `price` is that of the price."""
    titles = {field.name: field.title for field in FIELDS}
    return titles | {name: title for name, (title, _) in LINK_COLUMNS.items()} | {"price": price}
