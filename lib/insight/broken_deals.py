"""Broken deals of one report: the step that fell and the day, and all that may say why.

The days of the funnels are asked for in batches, those of packages, seats and DSPs once. Only for broken
deals more is asked: losses by reason, prices of bids and wins, and the history (see diagnosis.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from itertools import pairwise

import numpy as np

from lib.deals.models import DemandDeal
from lib.insight import change_point, diagnosis, health, seat_prices, win_prices
from lib.insight.change_point import DAYS as HISTORY
from lib.insight.change_point import Numbers
from lib.insight.deal_report import DEAL, KEY_FIELDS, DealReport, Entity
from lib.insight.diagnosis import PRICE_DAYS, Break, Event, Losses, Witnesses
from lib.insight.estimate import (
    BID_PRICE,
    BIDS,
    CREATIVE,
    LOSSES,
    LOST_REASON,
    field_of,
    is_sampled,
    key_field_of,
)
from lib.insight.evidence import day_of
from lib.insight.health import DealHealth, Surroundings
from lib.insight.win_prices import WinFields, WinPrices
from lib.reporting.answers import Audience
from lib.reporting.models import Filter, time_key_field

PATIENCE, DAY = 10_000, time_key_field("day")
"""Milliseconds for an exact answer, and a key field."""
MOST_WITH_PRICES, STEADY, MOST_CREATIVES = 100, 0.85, 3
Series = dict[str, dict[str, Numbers]]
"""Figures per day, by what they are of (a deal's id, say) and the step."""


@dataclass
class FunnelDays:
    """The days of a report's funnels: its data fields by step; `price_type` is that of deals without one."""

    report: DealReport
    fields: dict[str, str]
    price_type: str

    @cached_property
    def whole(self) -> dict[str, Numbers]:
        """The report's own figures per day and step; NaN on days without data."""
        return self.series(None).get("", {})

    def groups(self, members: Mapping[str, Sequence[Entity]]) -> dict[str, Series]:
        """The figures of these packages, seats and DSPs, as far as the report tells them apart."""
        field_names = {field.name for field in self.report.slicer.key_fields}
        return {
            name: self.series(field, self.report.only(some))
            for name, some in members.items()
            if some and (field := KEY_FIELDS[type(some[0])]) in field_names
        }

    def series(self, by: str | None, filters: tuple[Filter, ...] = ()) -> Series:
        """The figures per day of each value of a key field, or of all; none where they are of a sample."""
        first = self.report.period(HISTORY)[0]
        answer = self.ask(HISTORY, tuple(self.fields.values()), (*((by,) if by else ()), DAY), filters)
        counts_by_name: Series = {}
        if is_sampled(answer):
            return counts_by_name
        empty = np.full(HISTORY, np.nan)
        empty[[(date.fromisoformat(day) - first).days for day in answer.total.dates]] = 0.0
        names = answer.names[by].astype(str) if by else [""] * len(answer.names)
        places = [(date.fromisoformat(str(day)[:10]) - first).days for day in answer.names[DAY]]
        for step, field in self.fields.items():
            for name, place, value in zip(names, places, answer.values[field], strict=True):
                of = counts_by_name.setdefault(name, {}).setdefault(step, empty.copy())
                of[place] = value if value == value else 0.0
        return counts_by_name

    def ask(
        self, days: int, fields: tuple[str, ...], split: tuple[str, ...], filters: tuple[Filter, ...]
    ) -> Audience:
        """The answer about the last days, exact where that takes no more than PATIENCE."""
        changes = {"data_fields": fields, "split_by": split, "filters": filters, "exact_within": PATIENCE}
        return self.report.ask(self.report.query(days).model_copy(update=changes))


class BrokenDeals:
    """Some deals that may deliver, and the figures of their days."""

    def __init__(self, days: FunnelDays, deals: Sequence[DemandDeal], around: Surroundings) -> None:
        self._days, self._deals, self._around = days, deals, around
        self._report = days.report
        self._series = days.series(DEAL, days.report.only(deals)) if deals else {}
        self._first = self._report.period(HISTORY)[0]
        self._groups_of: dict[str, Series] = {}

    def diagnose(self, healths: dict[int, DealHealth]) -> Iterator[tuple[int, DealHealth]]:
        """The health of those that are broken, with what is known of the cause."""
        breaks = self._breaks()
        is_broken = {number for number, one in healths.items() if one.state == "attention"} | breaks.keys()
        with_data = [deal for deal in self._deals if str(deal.id) in self._series]
        broken = [deal for deal in with_data if deal.id in is_broken]
        losses = self._losses(broken)
        members = [self._members(deal) for deal in broken if deal.id in breaks]
        self._groups_of = self._days.groups(
            {
                name: [*{one.id: one for of in members for one in of[name]}.values()]
                for name in ("package", "seat", "dsp")
            }
        )
        for place, deal in enumerate(broken):
            number, key = deal.id or 0, str(deal.id)
            before, its_break = healths[number], breaks.get(number)
            step = its_break.step if its_break else _missing_step(before)
            witnesses = self._witnesses(deal, its_break, step, losses.get(key))
            is_fixed = (deal.price_type or self._days.price_type) == "fixed"
            cause = diagnosis.cause(its_break, step, witnesses, is_fixed)
            if place < MOST_WITH_PRICES:
                witnesses = self._prices(deal, witnesses, cause)
            result = diagnosis.diagnosis(its_break, step, witnesses, deal.price, is_fixed)
            is_named = bool(result.cause) or before.state != "attention"
            words = result.words if is_named and result.words else before.words
            yield (
                number,
                replace(
                    before, state="attention", words=words, findings=result.findings, advice=result.advice
                ),
            )

    def _breaks(self) -> dict[int, Break]:
        """The deepest fall of each deal that has one, by id."""
        deals = [deal for deal in self._deals if str(deal.id) in self._series and self._days.whole]
        breaks: dict[int, Break] = {}
        for of, step in pairwise(("", *self._days.fields)):
            if not deals:
                break
            own = np.array([self._series[str(deal.id)][step] for deal in deals])
            base = np.array([self._base(str(deal.id), of, step) for deal in deals])
            for deal, counts, fall in zip(deals, own, change_point.falls(own, base), strict=True):
                earlier = breaks.get(deal.id or 0)
                if fall is None or not _has_less(counts, fall.place):
                    continue
                if earlier is None or fall.rest < earlier.fall.rest:
                    day = date.fromordinal(self._first.toordinal() + fall.place)
                    breaks[deal.id or 0] = Break(step, of, day, fall)
        return breaks

    def _base(self, key: str, of: str, step: str) -> Numbers:
        """What a step is a part of: the step before, or for the first one what all other deals had."""
        if of:
            return self._series[key][of]
        return self._days.whole[step] - self._series[key][step]

    def _witnesses(
        self, deal: DemandDeal, its_break: Break | None, step: str, losses: Series | None
    ) -> Witnesses:
        """What is known without asking for prices."""
        of = its_break.of if its_break else _step_before(step, list(self._days.fields))
        own_losses: tuple[Losses, ...] = ()
        if losses is not None and of:
            place = its_break.fall.place if its_break else 0
            base = self._series[str(deal.id)][of]
            parts = {reason: _parts(steps["lost"], base, place) for reason, steps in losses.items() if reason}
            own_losses = tuple(Losses(reason, *part) for reason, part in parts.items())
        others = {} if its_break is None else self._others(deal, its_break)
        return Witnesses(self._events(deal, its_break), own_losses, others)

    def _events(self, deal: DemandDeal, its_break: Break | None) -> tuple[Event, ...] | None:
        """What was changed in the deal, its packages and their lists around the day; None if not known."""
        if its_break is None or self._around.history is None:
            return None
        packages = health.packages_of(deal, self._around)
        keys = [("demand_deals", deal.id or 0, "the deal", "")]
        keys += [("supply_deals", one.id or 0, "package", one.name or "") for one in packages]
        for one in packages:
            keys += [("domain_lists", of.id, "domain list", "") for of in one.domain_list_targetings or ()]
            keys += [("app_lists", of.id, "app list", "") for of in one.app_list_targetings or ()]
        hours = self._report.slicer.timezone
        changes = [
            (kind, name, day_of(change.at, hours), change.before or {}, change.after or {})
            for entity, number, kind, name in dict.fromkeys(keys)
            for change in self._around.history(entity, number)
            if change.action == "changed"
        ]
        return diagnosis.events(changes, its_break.day)

    def _others(self, deal: DemandDeal, its_break: Break) -> dict[str, float]:
        """What other deals of its packages, seat and DSP have left of the same rate, where there are any."""
        own = self._series[str(deal.id)]
        members_of, shares = self._members(deal), {}
        for name, series in self._groups_of.items():
            members = [series[str(one.id)] for one in members_of[name] if str(one.id) in series]
            if not members:
                continue
            step, of = its_break.step, its_break.of
            counts = sum((one[step] for one in members), np.zeros(HISTORY)) - own[step]
            rest = self._days.whole[step] - own[step]
            base = sum((one[of] for one in members), np.zeros(HISTORY)) - own[of] if of else rest
            before, after = change_point.around(counts, base, its_break.fall.place)
            if before > 0 and np.isfinite(after) and np.nansum(counts) >= change_point.FEWEST_COUNTS:
                shares[name] = after / before
        return shares

    def _members(self, deal: DemandDeal) -> dict[str, Sequence[Entity]]:
        """Its packages, seat and DSP, as far as they are known."""
        seat, dsp = health.buyer(deal, self._around)
        return {
            "package": health.packages_of(deal, self._around),
            "seat": [] if seat is None else [seat],
            "dsp": [] if dsp is None else [dsp],
        }

    def _losses(self, broken: Sequence[DemandDeal]) -> dict[str, Series]:
        """The losses of these deals by reason, per day; none where the report has no reasons."""
        slicer = self._report.slicer
        reason, field = key_field_of(slicer, LOST_REASON), field_of(slicer, LOSSES) or field_of(slicer, BIDS)
        if reason is None or field is None or not broken:
            return {}
        only = self._report.only(broken)
        answer = self._days.ask(HISTORY, (field.name,), (DEAL, reason, DAY), only)
        losses: dict[str, Series] = {}
        rows = zip(
            answer.names[DEAL].astype(str),
            answer.names[reason].fillna("").astype(str),
            answer.names[DAY],
            answer.values[field.name],
            strict=True,
        )
        for deal, why, day, value in rows:
            steps = losses.setdefault(deal, {}).setdefault(why, {"lost": np.zeros(HISTORY)})
            steps["lost"][(date.fromisoformat(str(day)[:10]) - self._first).days] = value
        return losses

    def _prices(self, deal: DemandDeal, witnesses: Witnesses, cause: str) -> Witnesses:
        """With the prices, or the creatives, that the cause is about."""
        slicer, own = self._report.slicer, self._report.only([deal])
        bid_price, bids = field_of(slicer, BID_PRICE), field_of(slicer, BIDS)
        if cause in ("floor", "floor raised") and bid_price is not None and bids is not None:
            return replace(witnesses, bids=self._groups(WinFields(bid_price.name, bids.name), own))
        fields = win_prices.win_fields(slicer)
        packages = health.packages_of(deal, self._around)
        if cause in ("price", "price lowered") and fields is not None and packages:
            others = (*self._report.only(packages), self._report.without(deal))
            return replace(witnesses, win_prices=self._groups(fields, others))
        creative, reason = key_field_of(slicer, CREATIVE), key_field_of(slicer, LOST_REASON)
        field = field_of(slicer, LOSSES)
        if cause == "creative" and creative is not None and reason is not None and field is not None:
            reasons = tuple(
                one.reason for one in witnesses.losses if diagnosis.reason_class(one.reason) == "creative"
            )
            why = Filter(name=reason, value=reasons, match="equals")
            answer = self._days.ask(PRICE_DAYS, (field.name,), (creative,), (*own, why))
            order = answer.values[field.name].to_numpy().argsort()[::-1][:MOST_CREATIVES]
            return replace(
                witnesses, creatives=tuple(str(answer.names[creative].iloc[place]) for place in order)
            )
        return witnesses

    def _groups(self, fields: WinFields, filters: tuple[Filter, ...]) -> WinPrices | None:
        """Quartiles of a price over groups of the last 30 days."""
        query = self._report.query(PRICE_DAYS).model_copy(
            update={"filters": filters, "split_by": seat_prices.price_groups(self._report.slicer)}
        )
        answer = self._report.ask(win_prices.win_question(query, self._report.slicer, fields))
        return win_prices.win_prices(answer, fields)


def _has_less(counts: Numbers, place: int) -> bool:
    """Whether there is less of it per day than before: a rate can fall because more is offered."""
    before, after = counts[max(0, place - change_point.BASELINE) : place], counts[place:]
    means = [np.nansum(part) / max(int(np.isfinite(part).sum()), 1) for part in (before, after)]
    return bool(means[1] <= STEADY * means[0])


def _missing_step(its_health: DealHealth) -> str:
    """The first step at zero, "" without one."""
    return next((step.name for step in its_health.steps if step.value == 0), "")


def _step_before(step: str, names: Sequence[str]) -> str:
    return names[names.index(step) - 1] if step in names and names.index(step) else ""


def _parts(losses: Numbers, base: Numbers, place: int) -> tuple[float, float]:
    """What was lost as a part of the step before, before and after; 0 where there is nothing of it."""
    before, after = change_point.around(losses, base, place)
    return (before if before == before else 0.0), (after if after == after else 0.0)
