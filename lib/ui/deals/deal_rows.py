"""Packages and deals as rows of the list, and its columns, a row each: cells, file, orders and filters."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from lib.deals import fields, moments
from lib.deals.delivery import FIGURES, DeliveryFigure, DeliveryKind, GoalKind
from lib.deals.fields import BOTH, DEALS, FIELDS, SUPPLY
from lib.deals.models import DemandDeal, PackageOrDeal, SupplyPackage
from lib.figures.deals import field_text, targeting_text
from lib.figures.deals.deal_names import ATTRIBUTES, KINDS, dsp_of, seat_of, title_of
from lib.figures.deals.field_text import Prices, amount
from lib.figures.numbers import Numbers
from lib.slicers.models import Direction
from lib.ui.kit import listing
from lib.ui.kit.listing import ListCell, ListColumn, PhonePlace
from lib.wire.text import and_more, csv_text, write_day

MORE_FIELDS = [field for field in FIELDS if field.width is not None and field.name not in ATTRIBUTES]
Key = tuple[str, int]
PRICE = "Price"
Tone = Literal["green", "blue", "orange", "gray"]
TONES: dict[str, Tone] = {"active": "green", "pending": "blue", "paused": "orange", "complete": "gray"}
MOST_NAMES = 2
WRITERS: Mapping[DeliveryKind | GoalKind, Callable[[Numbers, float], str]] = {
    **dict.fromkeys(("impressions", "units_to_date", "units_expected", "units_projected"), Numbers.number),
    "spend": lambda numbers, value: numbers.number(value, 2),
    "win_rate": Numbers.percent,
    "pacing": lambda numbers, value: numbers.percent(value, 0),
}
COLUMNS: Mapping[str, tuple[str, ...]] = {
    SUPPLY: (
        "name", "status", "targeting", "seat", "price", "deals", "media_type", "start_date", "end_date",
    ),
    DEALS: (
        "name", "status", "health", "deal_id", "seat", "price", "end_date", "impressions_7_days",
        "spend_7_days", "win_rate_7_days", "pace",
    ),
}  # fmt: skip
"""The columns that are shown until somebody chooses others, in their order."""
MAIN = "name"
Needs = Literal["nothing", "links", "report"]
OWN: Mapping[str, Needs] = {SUPPLY: "nothing", DEALS: "nothing"}
OF_PACKAGES: Mapping[str, Needs] = {SUPPLY: "nothing", DEALS: "links"}
OF_DEALS: Mapping[str, Needs] = {SUPPLY: "links", DEALS: "nothing"}
BRIEF = {"supply_deals": ("name", "status", "targeting"), "demand_deals": ("name", "status", "seat", "price")}


@dataclass(frozen=True)
class DealRow:
    """One of the list.

    `prices` are those of the deals with their currencies, empty for the usual one, by currency and
    ascending; dates and targeting those of a package, for a deal those of its first one. `more` are the plain
    fields that have a column and no attribute here; `package` is the package whose targeting it is, `health`
    and `pace` the words and the tone of a deal's health and pacing, `delivery` its figures as texts by name.
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
    pace: tuple[str, str] = ("", "")

    @property
    def key(self) -> Key:
        return self.entity, self.id


def of_package(package: SupplyPackage, deals: Sequence[DemandDeal]) -> DealRow:
    """A package's row; `deals` are its own."""
    return DealRow(
        entity="supply_deals", id=package.id or 0, name=title_of(package), status=package.status or "",
        is_active=package.is_active, media_type=package.media_type or "", start=package.start_date,
        end=package.end_date, targeting=targeting_text.sentence(package),
        seats=tuple(dict.fromkeys(seat_of(deal) or "?" for deal in deals)),
        dsps=tuple(dict.fromkeys(filter(None, map(dsp_of, deals)))), prices=_prices(deals),
        others=tuple(deal.name or "" for deal in package.demand_deals), more=_more(package), package=package,
    )  # fmt: skip


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
        entity="demand_deals", id=deal.id or 0, name=title_of(deal), status=deal.status or "",
        is_active=deal.is_active, media_type=(first and first.media_type) or "",
        start=first.start_date if first is not None else None,
        end=first.end_date if first is not None else None,
        targeting=sentence(packages[first.id]) if first is not None and first.id in packages else "",
        seats=(seat_of(deal) or "?",), dsps=tuple(filter(None, [dsp_of(deal)])), prices=_prices([deal]),
        others=tuple(package.name or "" for package in deal.supply_deals), deal_id=deal.deal_id or "",
        more=_more(deal), package=first if first is not None and first.id in packages else None,
    )  # fmt: skip


def csv(deal_rows: Iterable[DealRow], money: Prices = field_text.USUAL) -> Iterator[bytes]:
    """The rows as a file, row by row: whole values, times with their offset, nothing that a spreadsheet
    would run or add to prices in another currency; the first has the header too. Without rows it is empty."""
    price = money.title[:1].lower() + money.title[1:]
    columns: list[DealColumn] = []
    for row in deal_rows:
        header: list[Sequence[object]] = []
        if not columns:
            columns = [column for column in DEAL_COLUMNS if column.value and row.entity in column.files]
            header = [[(column.file_title or column.title).format(price=price) for column in columns]]
        values = [column.value(row, money) for column in columns if column.value]
        yield csv_text([*header, values]).encode()


def _currencies(row: DealRow, money: Prices) -> Iterator[str]:
    return (currency for currency, _ in prices_by_currency(row.prices, money))


def _price_at(end: int, row: DealRow, money: Prices) -> Decimal | str:
    """The lowest (0) or highest (-1) price: a number, or of several currencies a text with each.

    Under a title with the usual currency one in another is no number.
    """
    prices = [
        own[end] if currency == money.currency else f"{own[end]} {currency}"
        for currency, own in prices_by_currency(row.prices, money)
    ]
    return prices[0] if len(prices) == 1 else "; ".join(map(str, prices))


def _more(entity: PackageOrDeal) -> tuple[tuple[str, Any], ...]:
    own = (plain for plain in MORE_FIELDS if entity.entity in plain.entities)
    return tuple((plain.name, getattr(entity, plain.name, None)) for plain in own)


def _prices(deals: Iterable[DemandDeal]) -> tuple[tuple[str, Decimal], ...]:
    return tuple(sorted((deal.currency or "", deal.price) for deal in deals if deal.price is not None))


Text = Callable[[DealRow, Prices], str]
Value = Callable[[DealRow, Prices], object]


@dataclass(frozen=True)
class DealColumn:
    """A column of these `lists`, `width` rem wide unless `widths` has another, and of these CSV `files`.

    `text` is its cell, a badge where it has a `tone`; `value` is that in the file, under `file_title` or its
    title, in which `{price}` is the price's. The list of an entity in `orders` or `filters` has it as order
    or filter where the service does what that needs: nothing more, follow links, or store health. The first
    click on its header `is_falling`. For the rest see ListColumn.
    """

    name: str
    title: str
    width: float = 0
    lists: tuple[str, ...] = ()
    text: Text = lambda row, money: ""
    value: Value | None = None
    files: tuple[str, ...] = BOTH
    file_title: str = ""
    widths: Mapping[str, float] = field(default_factory=dict)
    orders: Mapping[str, Needs] = field(default_factory=dict)
    filters: Mapping[str, Needs] = field(default_factory=dict)
    tone: Callable[[DealRow], str] = lambda row: ""
    is_falling: bool = False
    is_right: bool = False
    on_phone: PhonePlace = ""


def _field(name: str, *parts: Any, **more: Any) -> DealColumn:
    """The column of a plain field, with its title and width."""
    return DealColumn(name, fields.BY_NAME[name].title, fields.BY_NAME[name].width or 0, *parts, **more)


def _more_field(plain: fields.DealField) -> DealColumn:
    """The column of a plain field of which a row has no attribute."""
    words = plain.kind.choices or {}
    return DealColumn(
        plain.name, plain.title, plain.width or 0, plain.entities,
        lambda row, _: field_text.value(plain.name, dict(row.more).get(plain.name)),
        lambda row, _: words.get(content := dict(row.more).get(plain.name), content),
        plain.entities, plain.column, is_right=plain.kind.limits is not None,
    )  # fmt: skip


def _figure(figure: DeliveryFigure) -> DealColumn:
    return DealColumn(
        figure.name, figure.title, 6.4 if figure.kind == "impressions" else 5.5, (DEALS,),
        lambda row, _: row.delivery.get(figure.name, ""), orders={DEALS: "report"}, is_falling=True,
        is_right=True, on_phone="below",
    )  # fmt: skip


DEAL_COLUMNS = (
    *map(_figure, FIGURES.values()),
    DealColumn("health", "Health", 8.5, (DEALS,), lambda row, _: row.health[0], orders={DEALS: "report"},
        tone=lambda row: row.health[1], on_phone="end"),
    DealColumn("pace", "Pacing", 5.8, (DEALS,), lambda row, _: row.pace[0], tone=lambda row: row.pace[1]),
    DealColumn("id", "Id", 4.0, BOTH, lambda row, _: str(row.id), lambda row, _: row.id, orders=OWN,
        is_falling=True, is_right=True),
    DealColumn("kind", "Kind", value=lambda row, _: KINDS[row.entity]),
    _field("name", BOTH, lambda row, _: row.name, lambda row, _: row.name, orders=OWN,
        widths={SUPPLY: 15.0}),
    _field("deal_id", (DEALS,), lambda row, _: row.deal_id, lambda row, _: row.deal_id,
        orders={DEALS: "nothing"}),
    _field("status", BOTH, lambda row, _: row.status.capitalize(), lambda row, _: row.status, orders=OWN,
        filters=OWN, tone=lambda row: TONES.get(row.status, "gray") if row.status else "", on_phone="top"),
    _field("media_type", BOTH, lambda row, _: row.media_type.capitalize(), lambda row, _: row.media_type,
        orders=OF_PACKAGES, filters=OF_PACKAGES),
    _field("start_date", BOTH, lambda row, _: day(row.start),
        lambda row, _: "" if row.start is None else row.start.isoformat(sep=" "), orders=OF_PACKAGES,
        is_falling=True, on_phone="below"),
    _field("end_date", BOTH, lambda row, _: "" if row.end is None else moments.end_words(row.end),
        lambda row, _: moments.end_text(row.end), orders=OF_PACKAGES, is_falling=True),
    DealColumn("seat", "Seats", 9.0, BOTH, lambda row, _: and_more(row.seats, MOST_NAMES),
        lambda row, _: "; ".join(row.seats), widths={SUPPLY: 11.0, DEALS: 8.0}, orders={DEALS: "links"},
        filters=OF_DEALS, on_phone="left"),
    DealColumn("dsp", "DSPs", value=lambda row, _: "; ".join(row.dsps), filters=OF_DEALS),
    DealColumn("price", "{price}", 8.0, BOTH, lambda row, money: span(row.prices, money), orders=OF_DEALS,
        widths={DEALS: 5.8}, is_falling=True, is_right=True, on_phone="right"),
    DealColumn("lowest", "Lowest {price}", value=lambda row, money: _price_at(0, row, money)),
    DealColumn("highest", "Highest {price}", value=lambda row, money: _price_at(-1, row, money)),
    _field("currency", (DEALS,), lambda row, money: ", ".join(_currencies(row, money)),
        lambda row, money: "; ".join(_currencies(row, money))),
    DealColumn("deals", "Deals", 3.7, (SUPPLY,), lambda row, _: str(len(row.others)), is_right=True),
    *map(_more_field, MORE_FIELDS),
    DealColumn("owner", "Owner", 8.0, (SUPPLY,),
        lambda row, _: field_text.value("owner", dict(row.more).get("owner"))),
    DealColumn("targeting", "Targeting", 8.0, BOTH, lambda row, _: row.targeting,
        lambda row, _: row.targeting, widths={SUPPLY: 13.0}),
    DealColumn("others", "Linked with", value=lambda row, _: "; ".join(row.others)),
)  # fmt: skip
"""In the order of files; lists have the usual ones first."""
BY_NAME = {column.name: column for column in DEAL_COLUMNS}
ALL_COLUMNS: Mapping[str, tuple[str, ...]] = {
    entity: (
        *usual, *(row.name for row in DEAL_COLUMNS if entity in row.lists and row.name not in usual),
    )
    for entity, usual in COLUMNS.items()
}  # fmt: skip


def read_columns(entity: str, names: Iterable[str]) -> tuple[str, ...]:
    """The columns of a stored choice: those beside the usual ones, or with `name` all that are shown."""
    choice = {*names}
    if MAIN not in choice:
        choice |= {*COLUMNS[entity]}
    return tuple(name for name in ALL_COLUMNS[entity] if name in choice)


def stored_columns(entity: str, names: Sequence[str]) -> list[str]:
    """Columns, without `name`, as they are stored (see read_columns)."""
    is_usual = {*COLUMNS[entity]} <= {MAIN, *names}
    return [name for name in names if name not in COLUMNS[entity]] if is_usual else [MAIN, *names]


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
    columns = [BY_NAME[name] for name in names]
    places = {column.name: column.on_phone for column in columns}
    for name in [name for name, place in places.items() if place == "below"][1:]:
        places[name] = ""  # a card has room for one there
    return tuple(
        ListColumn(
            id=column.name,
            title=column.title.format(price=price),
            width=column.widths.get(entity, column.width),
            order=None if column.name not in orders else "desc" if column.is_falling else "asc",
            sorted=order[1] if order is not None and order[0] == column.name else None,
            is_right=column.is_right,
            on_phone=places[column.name],
            is_titled=column.name in FIGURES,
        )
        for column in columns
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
    columns = [BY_NAME[name] for name in names]
    return tuple(ListCell(column.text(row, money), column.tone(row)) for column in columns)


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
    return "" if at is None else write_day(at)


def column_titles(price: str) -> dict[str, str]:
    """The titles of the lists' columns by name; `price` is that of the price."""
    return {column.name: column.title.format(price=price) for column in DEAL_COLUMNS if column.lists}
