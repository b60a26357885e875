"""One change for several: fields of deals and packages, a percentage of prices, dates, targeting, pause.

What is a package's is changed for the packages of chosen deals, what is a deal's for the deals of chosen
packages.
"""

import re
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, ClassVar, Literal

from lib.deals import fields, moments
from lib.deals.fields import DEALS, SUPPLY
from lib.deals.models import NO_FEE, DemandDeal, PackageOrDeal, SupplyPackage, Targeting
from lib.deals.targeting.kinds import KINDS, elements
from lib.deals.validation import FEE, FEE_TYPE, broken_rules
from lib.deals.values import DECIMALS, LARGEST_AMOUNT
from lib.figures.deals import field_text
from lib.figures.deals.deal_names import title_of
from lib.ui.deals.changes import merge
from lib.ui.deals.changes.confirmations import COMPARED, PRICE
from lib.ui.deals.changes.plan import ChangeSource, PlannedChange
from lib.ui.deals.deal_rows import DealRow, Key

SHIFT = re.compile(r"([+-])\s*([0-9]{1,4})\s*(day|week|month|year)s?", re.IGNORECASE)
MONTHS, DAYS = {"month": 1, "year": 12}, {"day": 1, "week": 7}
START = "start_date"
END = "end_date"
ACTIVE = "is_active"
NO_PACKAGE = "It belongs to no package, and dates and targeting are those of a package."
Mode = Literal["add", "remove", "replace"]
Element = dict[str, Any]
MATCH_NOUNS = {"app_list_targetings": "apps", "domain_list_targetings": "domains"}


@dataclass(frozen=True)
class DateShift:
    """By how much each package's own date moves: `+1 month`, `-2 weeks`."""

    months: int
    days: int

    @classmethod
    def read(cls, text: str) -> "DateShift | None":
        """The shift that is typed; None for what is none."""
        shape = SHIFT.fullmatch(text.strip())
        if shape is None:
            return None
        count, unit = int(f"{shape[1]}{shape[2]}"), shape[3].lower()
        return cls(count * MONTHS.get(unit, 0), count * DAYS.get(unit, 0))

    def apply(self, at: datetime | None, is_end: bool) -> datetime:
        """The moved time. Of an end at midnight the last day moves; where a month has no such day, to its
        last: through 31 January + 1 month is through 28 February. ValueError, with a sentence, without a
        date, and for one that no calendar has."""
        if at is None:
            raise ValueError("It has no date to move.")
        day = timedelta(days=1 if is_end and moments.last_day(at) else 0)
        try:
            moved = at - day + timedelta(days=self.days)
            year, month = divmod(moved.year * 12 + moved.month - 1 + self.months, 12)
            last = monthrange(year, month + 1)[1]
            return moved.replace(year=year, month=month + 1, day=min(moved.day, last)) + day
        except (ValueError, OverflowError):
            raise ValueError("There is no such day.") from None


@dataclass(frozen=True)
class TargetingEdit:
    """What is to become of the targeting of several packages.

    `add` takes the place of the same value on the other side (only, never); `replace` that of all values of
    the kinds that it has.
    """

    mode: Mode
    targeting: Targeting

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, part in elements(self.targeting).items() if part)

    def apply(self, package: SupplyPackage) -> tuple[dict[str, list[Element]], str]:
        """The fields of a package that change, and why it is refused; empty if it is not."""
        readable = merge.of_package(package)
        if unread := [field_text.title(name) for name in self.names if name not in readable]:
            return {}, f"{', '.join(unread)} can't be read. It stays."
        before, parts = elements(package), elements(self.targeting)
        after: dict[str, list[Element]] = {}
        for name in self.names:
            if self.mode == "remove":
                rest = [element for element in before[name] if element not in parts[name]]
                had_inclusion, has_inclusion = (
                    any(not element["is_excluded"] for element in side) for side in (before[name], rest)
                )
                if had_inclusion and not has_inclusion:
                    # The last included targets of a field stay: without any it matches everything.
                    kinds = (kind for kind in KINDS if kind.field == name)
                    values = [kind.value(target) for kind in kinds for target in kind.of(self.targeting)]
                    noun = MATCH_NOUNS.get(name, field_text.title(name).lower())
                    verb, them = ("stays", "it") if len(values) == 1 else ("stay", "them")
                    sentence = f"{field_text.title(name)}: {', '.join(values)} {verb}"
                    return {}, f"{sentence}, because without {them} the package would match all {noun}."
            else:
                if self.mode == "add":  # the same value on the other side goes
                    sides = [
                        {**element, "is_excluded": side} for element in parts[name] for side in (True, False)
                    ]
                    others = [element for element in before[name] if element not in sides]
                else:
                    types = {element.get("type") for element in parts[name]}
                    others = [element for element in before[name] if element.get("type") not in types]
                # In the order in which they are compared.
                rest = elements(Targeting.model_validate({name: [*others, *parts[name]]}))[name]
            if rest != before[name]:
                after[name] = rest
        return after, ""


@dataclass(frozen=True)
class SharedChange:
    """What is asked for all.

    `deal` and `package` are values by field, None empties one; `percent` is by how much prices change.
    `dates` are local times by field, or by how much each package's own moves, None for no end; `zone` is
    whose clocks they are on, None for the offset of each package's own start.
    """

    deal: Mapping[str, Any] = field(default_factory=dict)
    percent: Decimal | None = None
    package: Mapping[str, Any] = field(default_factory=dict)
    dates: Mapping[str, datetime | DateShift | None] = field(default_factory=dict)
    zone: moments.Zone | None = None
    targeting: TargetingEdit | None = None

    @property
    def deal_names(self) -> tuple[str, ...]:
        """The fields of deals that change, the price first."""
        has_price = PRICE in self.deal or self.percent is not None
        return tuple(dict.fromkeys([*([PRICE] if has_price else []), *self.deal]))

    @property
    def package_names(self) -> tuple[str, ...]:
        targeting = self.targeting.names if self.targeting is not None else ()
        return (*self.package, *self.dates, *targeting)

    def of_deal(self, deal: DemandDeal, rows: frozenset[Key]) -> PlannedChange:
        after, refusal = dict(self.deal), ""
        try:
            after |= {} if self.percent is None else {PRICE: price_after(deal.price, self.percent)}
        except ValueError as error:
            refusal = str(error)
        if after.get(FEE_TYPE) == NO_FEE:
            after[FEE] = None
        before = {name: getattr(deal, name) for name in (*after, *COMPARED)}
        after = {name: value for name, value in after.items() if value != before[name]}
        whole = {name: getattr(deal, name) for name in fields.writable(DEALS)} | after
        refusal = refusal or " ".join(terms_faults(whole, after))
        key = DEALS, deal.id or 0
        return PlannedChange(key, title_of(deal), before, after, deal.etag, refusal, rows=rows)

    def of_package(self, package: SupplyPackage, rows: frozenset[Key]) -> PlannedChange:
        """What becomes of a package, with dates in the zone that was chosen or its own."""
        zone = own_zone(package) if self.zone is None else moments.rules(self.zone)
        after, refusal = dict(self.package), ""
        for name, at in self.dates.items():
            try:
                own = at.apply(getattr(package, name), name == END) if isinstance(at, DateShift) else at
                after[name] = own if own is None or own.tzinfo else own.replace(tzinfo=zone)
            except ValueError as error:
                refusal = f"{field_text.title(name)}: {error}"
        before = {name: getattr(package, name) for name in after}
        if self.targeting is not None:
            targets, why_not = self.targeting.apply(package)
            refusal = refusal or why_not
            before |= {name: elements(package)[name] for name in self.targeting.names}
            after |= targets
        return of_package(package, rows, before, after, refusal)


CENTS = 2  # decimals


def price_after(price: Decimal | None, percent: Decimal) -> Decimal:
    """A price changed by a percentage, rounded to cents, or to the decimals that it has.

    ValueError, with a sentence, without a price and for one that is too large.
    """
    if price is None:
        raise ValueError("It has no price to apply a percentage to.")
    places = max(CENTS, min(DECIMALS, -int(price.normalize().as_tuple().exponent)))
    new_price = (price * (100 + percent) / 100).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    if new_price >= LARGEST_AMOUNT:
        raise ValueError(f"The price would not be less than {LARGEST_AMOUNT:,}.")
    return new_price


def of_package(
    package: SupplyPackage,
    rows: frozenset[Key],
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    refusal: str = "",
) -> PlannedChange:
    """A package with these fields, whose dates are those of the deals that are sold with it."""
    dates = {START: package.start_date, END: package.end_date}
    changes = {name: value for name, value in after.items() if value != {**dates, **before}[name]}
    start, end = (changes.get(name, dates[name]) for name in (START, END))
    has_dates = bool(changes.keys() & dates.keys())
    if has_dates and start and end and end <= start:
        refusal = "The end would not be after the start."
    chosen_deals = {number for entity, number in rows if entity == DEALS}
    others = {
        deal.id: deal.name or f"Deal {deal.id}"
        for deal in package.demand_deals
        if has_dates and deal.id not in chosen_deals
    }
    key = SUPPLY, package.id or 0
    return PlannedChange(
        key, title_of(package), {**before, **dates}, changes, package.etag, refusal, rows=rows, others=others
    )


def own_zone(package: SupplyPackage) -> tzinfo:
    """That of the package's own start."""
    shift = package.start_date.utcoffset() if package.start_date is not None else None
    return timezone(shift or timedelta(0))


def terms_faults(whole: Mapping[str, Any], after: Mapping[str, Any] | None = None) -> Iterator[str]:
    """What would be wrong with the terms of a deal; of a change, where it changes them. `whole` is the deal
    afterwards."""
    for name, rule in broken_rules(whole, after).items():
        yield f"{fields.BY_NAME[name].column}: {rule.sentence}"


@dataclass(kw_only=True)
class SharedSource(ChangeSource):
    """The change of these rows of the list, and of what belongs to them."""

    entity: str
    rows: list[DealRow]
    shared_change: SharedChange = field(default_factory=SharedChange)

    def ask_for(self, shared_change: SharedChange, rows: Iterable[DealRow]) -> None:
        """Ask for this change of these rows, which are read next."""
        self.shared_change, self.rows = shared_change, [*rows]
        self.names = {row.key: row.name for row in self.rows}
        self.ask(row.key for row in self.rows)

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        """What becomes of an entity; of what belongs to a chosen one, its packages or deals are read next."""
        if isinstance(entity, SupplyPackage):
            if self.shared_change.package_names:
                yield self.shared_change.of_package(entity, rows)
            if key in rows and self.shared_change.deal_names:
                self._read_next(DEALS, [deal.id for deal in entity.demand_deals], key)
            return
        if self.shared_change.deal_names:
            yield self.shared_change.of_deal(entity, rows)
        if key not in rows or not self.shared_change.package_names:
            return
        packages = [package.id for package in entity.supply_deals if package.id is not None]
        self._read_next(SUPPLY, packages, key)
        if not packages:
            # of the package that it does not have: the deal itself may have a change of its own
            yield PlannedChange((SUPPLY, -key[1]), self.name(key), refusal=NO_PACKAGE, rows=rows)

    def _read_next(self, entity: str, ids: Iterable[int], row: Key) -> None:
        for number in ids:
            self.to_read.setdefault((entity, number), set()).add(row)


@dataclass(kw_only=True)
class ActiveSource(ChangeSource):
    """The pause or resumption of these rows of the list."""

    is_renewed: ClassVar[bool] = True
    entity: str
    rows: Sequence[DealRow]
    is_active: bool

    def from_list(self) -> list[PlannedChange]:
        """What becomes of the rows as the list shows them, which is confirmed before they are read again."""
        before, after = {ACTIVE: not self.is_active}, {ACTIVE: self.is_active}
        return [PlannedChange(row.key, row.name, before, after) for row in self.rows]

    def changes(self, entity: PackageOrDeal, key: Key, rows: frozenset[Key]) -> Iterable[PlannedChange]:
        """What becomes of an entity, which may be so already."""
        before, after = {ACTIVE: entity.is_active}, {ACTIVE: self.is_active}
        yield PlannedChange(key, title_of(entity), before, {} if before == after else after)
