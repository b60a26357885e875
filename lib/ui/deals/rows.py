"""Packages and deals as rows of one list: what each shows, what a search finds, and the list as CSV."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

import pandas as pd

from lib.deals.models import DemandDeal, Dsp, SupplyPackage
from lib.ui.deals.names import seat_name
from lib.ui.package.words import amount
from lib.ui.targeting import words

KINDS = {"supply_deals": "Package", "demand_deals": "Deal"}
LISTED, WIDEST_PRICE = 2, 9
COLUMNS = ("Name", "Kind", "Status", "Seats", "Price", "Media type", "Start", "End", "Targeting", "Id")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
Key = tuple[str, int]


@dataclass(frozen=True)
class Row:
    """One of the list. `prices` are those of the deals, ascending; dates and targeting those of a package,
    for a deal those of its first one."""

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
    prices: tuple[Decimal, ...] = ()
    others: tuple[str, ...] = ()
    deal_id: str = ""

    @property
    def key(self) -> Key:
        """The entity and the id."""
        return self.entity, self.id

    @property
    def searched(self) -> str:
        """What a search looks in."""
        parts = (str(self.id), self.name, self.deal_id, self.status, self.media_type, self.targeting)
        return "\n".join((*parts, *self.seats, *self.dsps, *self.others)).casefold()


@dataclass(frozen=True)
class Wanted:
    """What the list is narrowed to: every word of the text, and any of each of the others that says some."""

    text: str = ""
    kinds: Sequence[str] = ()
    statuses: Sequence[str] = ()
    media_types: Sequence[str] = ()
    dsps: Sequence[str] = ()
    seats: Sequence[str] = field(default=())

    def has(self, row: Row) -> bool:
        """Whether the row is among what is wanted."""
        return (
            all(word in row.searched for word in self.text.casefold().split())
            and (not self.kinds or row.entity in self.kinds)
            and (not self.statuses or row.status in self.statuses)
            and (not self.media_types or row.media_type in self.media_types)
            and (not self.dsps or not set(self.dsps).isdisjoint(row.dsps))
            and (not self.seats or not set(self.seats).isdisjoint(row.seats))
        )


def rows(packages: Iterable[SupplyPackage], deals: Iterable[DemandDeal]) -> list[Row]:
    """A row per package, the latest first, each followed by its deals; then the deals without a package."""
    buyers = {deal.id: deal for deal in deals if deal.id is not None}
    known = {package.id: package for package in packages if package.id is not None}
    found: dict[Key, Row] = {}
    parents: dict[int, Row] = {}
    for package in sorted(known.values(), key=lambda package: -(package.id or 0)):
        mine = [buyers[one.id] for one in package.demand_deals if one.id in buyers]
        row = parents[package.id or 0] = of_package(package, mine)
        for key in (row.key, *(("demand_deals", deal.id or 0) for deal in mine)):
            found.setdefault(key, row)
    for deal in buyers.values():
        found["demand_deals", deal.id or 0] = of_deal(deal, parents)
    return list(found.values())


def of_package(package: SupplyPackage, deals: Sequence[DemandDeal]) -> Row:
    """A package's row; `deals` are its own."""
    return Row(
        entity="supply_deals",
        id=package.id or 0,
        name=package.name or f"Package {package.id}",
        status=package.status or "",
        is_active=package.is_active,
        media_type=package.media_type or "",
        start=package.start_date,
        end=package.end_date,
        targeting=words.sentence(package),
        seats=tuple(dict.fromkeys(_seat(deal) for deal in deals)),
        dsps=tuple(dict.fromkeys(dsp for deal in deals if (dsp := _dsp(deal)))),
        prices=tuple(sorted(deal.price for deal in deals if deal.price is not None)),
        others=tuple(one.name or "" for one in package.demand_deals),
    )


def of_deal(deal: DemandDeal, packages: Mapping[int, Row]) -> Row:
    """A deal's row; `packages` are the rows of packages by id."""
    mine = [packages.get(one.id or 0) or of_package(one, ()) for one in deal.supply_deals]
    first = mine[0] if mine else Row("supply_deals", 0, "")
    return Row(
        entity="demand_deals",
        id=deal.id or 0,
        name=deal.name or f"Deal {deal.id}",
        status=deal.status or "",
        is_active=deal.is_active,
        media_type=first.media_type,
        start=first.start,
        end=first.end,
        targeting=first.targeting,
        seats=(_seat(deal),),
        dsps=tuple(filter(None, (_dsp(deal),))),
        prices=() if deal.price is None else (deal.price,),
        others=tuple(one.name for one in mine),
        deal_id=deal.deal_id or "",
    )


def table(shown: Iterable[Row]) -> pd.DataFrame:
    """The rows as they are looked at; a price is padded, so that the column sorts as numbers do."""
    data = [
        (
            row.name,
            KINDS[row.entity],
            [row.status.capitalize()] if row.status else [],
            _first(row.seats),
            _price(row.prices),
            row.media_type.capitalize(),
            _by_its_clock(row.start),
            _by_its_clock(row.end),
            row.targeting,
            row.id,
        )
        for row in shown
    ]
    frame = pd.DataFrame(data, columns=list(COLUMNS))
    return frame.assign(**{name: pd.to_datetime(frame[name]) for name in ("Start", "End")})


def csv(shown: Iterable[Row]) -> bytes:
    """The rows as a file: whole values, times with their offset, nothing that a spreadsheet would run."""
    data = [
        {
            "Id": row.id,
            "Kind": KINDS[row.entity],
            "Name": row.name,
            "Deal id": row.deal_id,
            "Status": row.status,
            "Media type": row.media_type,
            "Start": "" if row.start is None else row.start.isoformat(sep=" "),
            "End": "" if row.end is None else row.end.isoformat(sep=" "),
            "Seats": "; ".join(row.seats),
            "DSPs": "; ".join(row.dsps),
            "Lowest price": row.prices[0] if row.prices else "",
            "Highest price": row.prices[-1] if row.prices else "",
            "Targeting": row.targeting,
            "Linked with": "; ".join(row.others),
        }
        for row in shown
    ]
    frame = pd.DataFrame([{name: _safe(value) for name, value in row.items()} for row in data])
    return frame.to_csv(index=False, lineterminator="\r\n").encode()


def dsp_names(dsps: Iterable[Dsp]) -> list[str]:
    """The names of DSPs in order."""
    return sorted(dsp.name for dsp in dsps if dsp.name)


def _safe(value: object) -> object:
    """A text that a spreadsheet would run gets an apostrophe before it (OWASP, CSV injection)."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _by_its_clock(at: datetime | None) -> datetime | None:
    """The time that its own zone shows, so that a day here is the day that was typed."""
    return at and at.replace(tzinfo=None)


def _first(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _price(prices: Sequence[Decimal]) -> str:
    if not prices:
        return ""
    low = amount(prices[0]).rjust(WIDEST_PRICE)
    return low if prices[0] == prices[-1] else f"{low} – {amount(prices[-1])}"


def _seat(deal: DemandDeal) -> str:
    return seat_name(deal) or "?"


def _dsp(deal: DemandDeal) -> str | None:
    dsp = deal.dsp or (deal.seat.dsp if deal.seat else None)
    return dsp.name if dsp else None
