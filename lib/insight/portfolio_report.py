"""The portfolio of deals read from a report: what is asked of it, and what it can't say."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from lib.deals.models import DemandDeal, SupplyPackage
from lib.insight.competition import MEASURES, InventoryCells, PortfolioDeal
from lib.insight.deal_report import DEAL, DealReport
from lib.insight.estimate import BIDS, IMPRESSIONS, REQUESTS, WIN_CPM, WINS, field_of
from lib.insight.filters import Lists, report_filters
from lib.insight.kinds import KINDS, elements, key_field
from lib.insight.pace import HISTORY, DealDays
from lib.insight.portfolio import DAYS, PlannedChange, Standing, evidence, planned_change, standings
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, Filter, Slicer, time_key_field
from lib.wire.errors import BadRequest

DAY, PATIENCE, MOST_FILTER_VALUES, WIDER = time_key_field("day"), 20_000, 500, 1.1
WORDS = {"requests": "bid requests", "bids": "bids", "wins": "wins or impressions", "cpm": "win CPM"}
Progress = Callable[[str], None]


@dataclass(frozen=True)
class DealBook:
    """Active deals with their packages by id, and the entries of lists.

    `has_cpm_prices`: prices are by CPM, in the currency of the report.
    """

    deals: Sequence[DemandDeal]
    packages: Mapping[int, SupplyPackage]
    lists: Lists
    has_cpm_prices: bool = True


@dataclass(frozen=True)
class Portfolio:
    """The deals with their verdicts, the days that these are of, and sentences on what is not known."""

    standings: list[Standing]
    first: date
    last: date
    scope: tuple[str, ...]
    names: Mapping[int, str]
    book: DealBook
    inventory: InventoryCells = field(repr=False)
    slicer: Slicer = field(repr=False)

    def name(self, number: int) -> str:
        """What a deal is called."""
        return self.names.get(number) or f"deal {number}"

    def evidence(self, one: Standing) -> list[str]:
        """What its verdict rests on."""
        return evidence(one, self.name)

    def change(self, one: Standing) -> PlannedChange | str:
        """The change that is known to help, or why there is none."""
        return planned_change(one, self.name, self.last, self._widening)

    def _widening(self, one: Standing) -> PlannedChange | None:
        """The package without the kind of target whose removal brings most; if all of its deals are so small.

        None where that brings less than a tenth more, or the deal has several packages.
        """
        deal = next(deal for deal in self.book.deals if deal.id == one.deal.id)
        package = self.book.packages.get(deal.supply_deals[0].id or 0) if deal.supply_deals else None
        if package is None or len(deal.supply_deals) > 1 or not self._is_small(package):
            return None
        filters = one.deal.targetings[0]
        of_field = {key.name: kind for kind in KINDS if (key := key_field(kind, self.slicer))}
        volumes = {
            target: self.inventory.volume(tuple(other for other in filters if other != target))
            for target in filters
            if target.match == "equals" and target.name in of_field
        }
        best, now = max(volumes, key=volumes.__getitem__, default=None), self.inventory.volume(filters)
        if best is None or volumes[best] < WIDER * now:
            return None
        kind = of_field[best.name]
        rest = [
            element for element in elements(package)[kind.field]
            if element["is_excluded"] or element.get("type", kind.name) != kind.name
        ]  # fmt: skip
        more = f"{volumes[best] / now:.1f} times" if now else f"{volumes[best]:,.0f}, instead of none, of"
        reason = (
            f"Never reached scale. {' '.join(self.evidence(one))} Without its targets of the kind "
            f"{kind.title.lower()} the package would reach {more} the bid requests, for all of its deals."
        )
        return PlannedChange("supply_deals", package.id or 0, {kind.field: rest}, reason)

    def _is_small(self, package: SupplyPackage) -> bool:
        small = {one.deal.id for one in self.standings if one.verdict == "Never reached scale"}
        return all(deal.id in small for deal in package.demand_deals)


def read(report: DealReport, book: DealBook, tell: Progress = lambda words: None) -> Portfolio:
    """The portfolio of these deals. Raises why the report can't be asked; `tell` gets how far it is."""
    slicer = report.slicer
    fields, missing = _fields(slicer)
    deals = [_of_deal(deal, book, slicer) for deal in book.deals]
    some = tuple(str(deal.id) for deal in deals)
    only = (Filter(name=DEAL, value=some, match="equals"),) if 0 < len(some) <= MOST_FILTER_VALUES else ()
    base = report.query(DAYS).model_copy(
        update={
            "filters": only,
            "data_fields": tuple(dict.fromkeys(fields.values())),
            "exact_within": PATIENCE,
        }
    )
    tell("reading the inventory")
    cells, keys, dropped_keys = _cells(report, base, _key_fields(deals, slicer))
    if dropped_keys:
        deals = [_narrow(deal, dropped_keys) for deal in deals]
    tell("reading the days")
    start = report.query(HISTORY).start_date
    daily = report.ask(base.model_copy(update={"start_date": start, "split_by": (DEAL, DAY)}))
    whole = {"start_date": slicer.first_date or start, "split_by": (DEAL,)}
    life = report.ask(base.model_copy(update=whole))
    tell("comparing the deals")
    inventory = InventoryCells(deals, _rows(cells, fields, keys), keys)
    first, last = report.period(DAYS)
    days = _days(_rows(daily, fields, (DAY,)), _rows(life, fields, ()), report, daily.total.dates)
    sampled = any(map(_is_sampled, (cells, daily, life)))
    scope = tuple(_scope(deals, missing, dropped_keys, sampled, book))
    names = {deal.id or 0: deal.name or f"Deal {deal.id}" for deal in book.deals}
    return Portfolio(
        standings(deals, inventory, days, last), first, last, scope, names, book, inventory, slicer
    )


def _fields(slicer: Slicer) -> tuple[dict[str, str], list[str]]:
    """The slicer's data fields by measure, and what it has none for."""
    roles = {"requests": REQUESTS, "bids": BIDS, "wins": (*WINS, *IMPRESSIONS), "cpm": WIN_CPM}
    by_role = {name: field_of(slicer, names) for name, names in roles.items()}
    fields = {name: one.name for name, one in by_role.items() if one is not None}
    missing = [WORDS[name] for name in roles if name not in fields]
    for name in ("bids", "wins"):
        if name in fields:
            fields.setdefault("requests", fields[name])
    if not fields:
        raise BadRequest("This slicer has no data field for bids or impressions")
    return fields, missing


def _of_deal(deal: DemandDeal, book: DealBook, slicer: Slicer) -> PortfolioDeal:
    own_packages = [book.packages.get(one.id or 0) or one for one in deal.supply_deals]
    parts = [report_filters(one, slicer, book.lists, one.media_type) for one in own_packages]
    segmented = {one.name for one in slicer.key_fields if one.is_segmented}
    targetings = tuple(tuple(f for f in part.filters if f.name not in segmented) for part in parts) or ((),)
    is_whole = bool(parts) and not any(part.left_out for part in parts)
    is_whole = is_whole and all(
        len(f) == len(part.filters) for f, part in zip(targetings, parts, strict=False)
    )
    starts = [one.start_date.date() for one in own_packages if one.start_date is not None]
    ends = [one.end_date.date() if one.end_date else None for one in own_packages]
    return PortfolioDeal(
        deal.id or 0,
        deal.seat.id if deal.seat is not None else None,
        float(deal.price) if deal.price is not None and book.has_cpm_prices else None,
        targetings,
        is_whole,
        next((one.media_type for one in own_packages if one.media_type), ""),
        min(starts, default=None),
        None if None in ends else max((end for end in ends if end is not None), default=None),
        None if deal.budget is None else float(deal.budget),
        None if deal.units is None else float(deal.units),
    )


def _key_fields(deals: Iterable[PortfolioDeal], slicer: Slicer) -> list[str]:
    """The key fields that targetings name, those of the most deals first."""
    count: dict[str, int] = defaultdict(int)
    for deal in deals:
        for name in {one.name for targeting in deal.targetings for one in targeting}:
            count[name] += 1
    return sorted(count, key=lambda name: (-count[name], name))


def _cells(report: DealReport, base: AudienceQuery, keys: list[str]) -> tuple[Audience, list[str], list[str]]:
    """The answer by deal and key field, its key fields, and those left out, which made it too long."""
    for count in range(len(keys), 0, -1):
        try:
            answer = report.ask(base.model_copy(update={"split_by": (DEAL, *keys[:count])}))
        except BadRequest:
            continue
        return answer, keys[:count], keys[count:]
    return report.ask(base.model_copy(update={"split_by": (DEAL,)})), [], keys


def _narrow(deal: PortfolioDeal, dropped_keys: Sequence[str]) -> PortfolioDeal:
    """A deal whose targeting names a field that is left out is not known as a whole."""
    names = {one.name for targeting in deal.targetings for one in targeting}
    return PortfolioDeal(**{**vars(deal), "is_whole": False}) if names & {*dropped_keys} else deal


def _rows(answer: Audience, fields: Mapping[str, str], keys: Sequence[str]) -> pd.DataFrame:
    """The rows with the deal, key fields and MEASURES."""
    empty = pd.Series(np.nan, index=answer.values.index)
    of: dict[str, Any] = {name: answer.values[one] for name, one in fields.items()}
    rows = {DEAL: answer.names[DEAL].astype(str), **{name: answer.names[name] for name in keys}}
    of["spend"] = of["wins"] * of["cpm"] / 1000 if {"wins", "cpm"} <= of.keys() else empty
    return pd.DataFrame(rows | {name: of.get(name, empty) for name in MEASURES})


def _days(
    daily: pd.DataFrame, life: pd.DataFrame, report: DealReport, with_data: Sequence[str]
) -> dict[int, DealDays]:
    """The days of each deal; a day without data in the report is none of a deal either."""
    first = report.period(HISTORY)[0]
    empty = np.full(HISTORY, np.nan)
    empty[[(date.fromisoformat(day[:10]) - first).days for day in with_data]] = 0.0
    places = {(first + timedelta(days=number)).isoformat(): number for number in range(HISTORY)}
    at = np.array([places[str(day)[:10]] for day in daily[DAY]], dtype=int)
    lives = {
        str(number): (wins, spend)
        for number, wins, spend in life[[DEAL, "wins", "spend"]].fillna(0.0).itertuples(index=False)
    }
    values = {name: np.nan_to_num(daily[name].to_numpy(float)) for name in ("requests", "wins", "spend")}
    days: dict[int, DealDays] = {}
    for number, rows in daily.groupby(DEAL).indices.items():
        series = {name: empty.copy() for name in values}
        for name, of in series.items():
            of[at[rows]] = values[name][rows]
        if (text := str(number)).isdecimal():
            days[int(text)] = DealDays(**series, life=lives.get(text, (0.0, 0.0)))
    return days


def _is_sampled(answer: Audience) -> bool:
    is_part = answer.precision is not None and answer.precision.is_sampled
    return is_part or answer.confidence_range is not None or answer.total.confidence_range is not None


def _scope(
    deals: Sequence[PortfolioDeal],
    missing: Sequence[str],
    dropped_keys: Sequence[str],
    sampled: bool,
    book: DealBook,
) -> Iterable[str]:
    """What is not known, a sentence each."""
    if missing:
        yield f"This slicer has no {', no '.join(missing)}: what is based on that is left open."
    if dropped_keys:
        yield f"Too many values to compare by {', '.join(dropped_keys)} as well: overlaps may be less."
    if count := sum(not deal.is_whole for deal in deals):
        yield f"The targeting of {count:,} deals is known in part: they are not counted on to replace others."
    if sampled:
        yield "The figures are of a sample: small overlaps may be missing."
    if not book.has_cpm_prices:
        yield "Prices are not by CPM: none is known to be low enough for what another deal paid."
    if any(deal.frequency_cap for deal in book.deals):
        yield "The report can't say what frequency caps hold back."
