"""The columns of the list, and a row's cells."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Literal

from lib.deals import fields
from lib.deals.fields import FIELDS
from lib.reporting.models import Direction
from lib.ui.deals import facts
from lib.ui.deals.prices import amount
from lib.ui.deals.rows import DealRow, Key, more
from lib.ui.kit import listing
from lib.ui.kit.listing import ListCell, ListColumn

Tone = Literal["green", "blue", "orange", "gray"]
TONES: dict[str, Tone] = {"active": "green", "pending": "blue", "paused": "orange", "complete": "gray"}
LISTED = 2
LINKED = {
    "seat": ("Seats", 9.0),
    "deals": ("Deals", 3.7),
    "targeting": ("Targeting", 8.0),
    "id": ("Id", 4.0),
    "health": ("Health", 8.5),
    "owner": ("Owner", 8.0),
}
WIDTHS = {name: width for name, (_, width) in LINKED.items()} | {
    field.name: field.width for field in FIELDS if field.width is not None
}
FIRST, LAST = ("name", "status", "seat", "price"), ("media_type", "start_date", "end_date", "targeting", "id")
OPTIONAL = {
    entity: own | {one.name: f"Show {one.title.lower()}" for one in fields.of(entity) if one.is_extra}
    for entity, own in ((fields.SUPPLY, {"owner": "Show owner"}), (fields.DEALS, dict[str, str]()))
}
USUAL = {
    entity: tuple(name for name in more(entity) if name not in names) for entity, names in OPTIONAL.items()
}
OF = {
    fields.SUPPLY: (*FIRST, "deals", *USUAL[fields.SUPPLY], *LAST),
    fields.DEALS: ("name", "status", "health", "seat", "price", "deal_id", *USUAL[fields.DEALS], *LAST),
}
BRIEF = {
    "supply_deals": ("name", "status", "targeting"),
    "demand_deals": ("name", "status", "seat", "price"),
}
ON_PHONE, RIGHT = ("status", "health", "seat", "price", "start_date"), ("price", "deals", "id")
FALLING: frozenset[str] = frozenset({"id", "price", "start_date", "end_date"})


def columns(
    names: Sequence[str],
    price: str,
    orders: frozenset[str] = frozenset(),
    order: tuple[str, Direction] | None = None,
) -> tuple[ListColumn, ...]:
    """These columns; `orders` are those that the service orders by, `order` is the order."""
    titles = _titles(price)
    return tuple(
        ListColumn(
            id=name,
            title=titles[name],
            width=WIDTHS[name],
            order=None if name not in orders else "desc" if name in FALLING else "asc",
            sorted=order[1] if order is not None and order[0] == name else None,
            is_right=name in RIGHT,
            on_phone=name in ON_PHONE,
        )
        for name in names
    )


def rows(
    deal_rows: Sequence[DealRow], names: Sequence[str], ticked: frozenset[Key], opened: Key | None
) -> tuple[listing.ListRow, ...]:
    """The rows with these cells."""
    return tuple(
        listing.ListRow(as_text(row.key), cells(row, names), row.key in ticked, row.key == opened)
        for row in deal_rows
    )


def as_text(key: Key) -> str:
    """`demand_deals-17`, as in acts and in the URL."""
    return f"{key[0]}-{key[1]}"


def cells(row: DealRow, names: Sequence[str]) -> tuple[ListCell, ...]:
    """The cells of a row."""
    texts = {
        "name": row.name,
        "status": row.status.capitalize(),
        "seat": list_text(row.seats),
        "health": row.health[0],
        "price": span(row.prices),
        "deals": str(len(row.others)),
        "deal_id": row.deal_id,
        "media_type": row.media_type.capitalize(),
        "start_date": day(row.start),
        "end_date": day(row.end),
        "targeting": row.targeting,
        "id": str(row.id),
        **{name: facts.value(name, value) for name, value in row.more},
    }
    tones = {"status": TONES.get(row.status, "gray") if row.status else "", "health": row.health[1]}
    return tuple(ListCell(texts[name], tones.get(name, "")) for name in names)


def list_text(names: Sequence[str]) -> str:
    """`Ada, Bob and 3 more`."""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def span(prices: Sequence[Decimal]) -> str:
    """`2.50`, or `2.50 – 7.00` if they differ."""
    if not prices:
        return ""
    low = amount(prices[0])
    return low if prices[0] == prices[-1] else f"{low} – {amount(prices[-1])}"


def day(at: datetime | None) -> str:
    """`14 Nov 2026`, in the time's own zone: the day that was typed."""
    return "" if at is None else f"{at.day} {at:%b %Y}"


def _titles(price: str) -> dict[str, str]:
    titles = {field.name: field.title for field in FIELDS}
    return titles | {name: title for name, (title, _) in LINKED.items()} | {"price": price}
