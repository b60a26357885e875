"""Investigates the broken deals of one report: the step that fell and the day, and all that may say why.

The days of the funnels are asked for in batches, those of packages, seats and DSPs once. Only for broken
deals more is asked: losses by reason, sites, what changes took away, prices of bids and wins (see
diagnosis.py).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from itertools import pairwise

import numpy as np

from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.delivery import PERIODS
from lib.deals.models import DemandDeal, SupplyPackage, price_type_of
from lib.insight import change_point, changes, deal_checks, diagnosis, seat_prices, win_prices
from lib.insight.change_point import DAYS as HISTORY
from lib.insight.change_point import LARGEST_REST, Numbers
from lib.insight.changes import SALES, FieldChange
from lib.insight.deal_report import Entity
from lib.insight.diagnosis import PRICE_DAYS, Break, Losses, Witnesses
from lib.insight.fall_witnesses import FallWitnesses
from lib.insight.funnel_days import DAY, FunnelDays, Series, Steps
from lib.insight.win_prices import WinFields, WinPrices
from lib.slicers.roles import BID_PRICE, BIDS, CREATIVE, DEAL, LOSSES, LOST_REASON, field_of, key_field_of
from lib.wire.filters import Filter
from lib.wire.text import write_day

MOST_LOOKED_INTO = 250  # broken deals of a batch whose sites, changes and prices are asked for
Groups = dict[str, tuple[Sequence[Entity], list[Steps]]]
"""A deal's packages, seat and DSP with the figures of each, as far as the report tells them apart."""


def investigate(
    days: FunnelDays, deals: Sequence[DemandDeal], context: DealContext, healths: Mapping[int, DealHealth]
) -> dict[int, DealHealth]:
    """The health of the deals that are broken, were repaired, or ended without having won anything, with what
    is known of the cause. `healths` are those of all deals by themselves and their funnels."""
    running = [deal for deal in deals if deal_checks.may_deliver(deal, context)]
    past_deals = [deal for deal in deals if healths[deal.id or 0].words == deal_checks.ENDED]
    entities = [*running, *past_deals]
    series: Series = days.series(DEAL, days.report.only(entities)) if entities else {}
    running = [deal for deal in running if str(deal.id) in series]
    breaks = _breaks(days, running, series)
    broken = [
        (deal, healths[deal.id or 0])
        for deal in running
        if deal.id in breaks or healths[deal.id or 0].state == "attention"
    ]
    for deal in past_deals:
        sums = {step: float(np.nansum(counts)) for step, counts in series.get(str(deal.id), {}).items()}
        missing = next((step for step in SALES[1:] if sums.get(step) == 0), "")
        if missing and sums.get("bids"):
            finding = f"It had {sums['bids']:,.0f} bids in its last days of the report, and no {missing}."
            broken.append((deal, DealHealth("idle", f"{deal_checks.ENDED}, never won", findings=(finding,))))
    losses = _losses(days, [deal for deal, _ in broken])
    members: dict[int, dict[str, Sequence[Entity]]] = {}
    for deal, _ in broken:
        if deal.id in breaks:
            seat, dsp = context.buyer(deal)
            members[deal.id] = {
                "package": context.packages_of(deal),
                "seat": [] if seat is None else [seat],
                "dsp": [] if dsp is None else [dsp],
            }
    everyone = {
        name: [*{entity.id: entity for groups in members.values() for entity in groups[name]}.values()]
        for name in ("package", "seat", "dsp")
    }
    group_series = days.groups(everyone)
    result: dict[int, DealHealth] = {}
    for index, (deal, its_health) in enumerate(broken):
        number = deal.id or 0
        groups: Groups = {}
        for name, of_group in group_series.items() if number in members else ():
            own = members[number][name]
            groups[name] = own, [of_group[str(entity.id)] for entity in own if str(entity.id) in of_group]
        case = _Case(
            days, context, deal, its_health, breaks.get(number), series[str(deal.id)],
            losses.get(str(deal.id), {}), groups, index < MOST_LOOKED_INTO,
        )  # fmt: skip
        result[number] = case.health()
    return result


MOST_LEFT = 0.85  # of a step per day, as a part of the days before, that counts as less


def _breaks(days: FunnelDays, deals: Sequence[DemandDeal], series: Series) -> dict[int, Break]:
    """The deepest fall of each deal that has one, by id."""
    breaks: dict[int, Break] = {}
    for base, step in pairwise(("", *days.fields)) if deals and days.whole else ():
        own = np.array([series[str(deal.id)][step] for deal in deals])
        bases = np.array([_base(days, series[str(deal.id)], base, step) for deal in deals])
        claims = change_point.falls(own, bases, len(days.fields))
        for deal, counts, fall in zip(deals, own, claims, strict=True):
            earlier = breaks.get(deal.id or 0)
            if fall is None:
                continue
            # A rate can fall because more is offered: there must be less per day than before too.
            before, after = (
                np.nansum(part) / max(int(np.isfinite(part).sum()), 1)
                for part in (counts[change_point.weeks_before(fall.start)], counts[fall.start :])
            )
            if not after <= MOST_LEFT * before:
                continue
            if earlier is None or fall.rest < earlier.fall.rest:
                day = days.first_day + timedelta(days=fall.start)
                breaks[deal.id or 0] = Break(step, base, day, fall)
    return breaks


def _base(days: FunnelDays, own: Steps, base: str, step: str) -> Numbers:
    """What a deal's step is a part of: the step before, or for the first one what all other deals had."""
    return own[base] if base else days.whole[step] - own[step]


def _losses(days: FunnelDays, broken: Sequence[DemandDeal]) -> dict[str, dict[str, Numbers]]:
    """The losses per day of these deals by reason; none where the report has no reasons."""
    slicer = days.report.slicer
    reason, field = key_field_of(slicer, LOST_REASON), field_of(slicer, LOSSES) or field_of(slicer, BIDS)
    if reason is None or field is None or not broken:
        return {}
    answer = days.ask(HISTORY, (field.name,), (DEAL, reason, DAY), days.report.only(broken))
    losses: dict[str, dict[str, Numbers]] = {}
    rows = zip(
        answer.names[DEAL].astype(str),
        answer.names[reason].fillna("").astype(str),
        answer.names[DAY],
        answer.values[field.name],
        strict=True,
    )
    for deal, why, day, value in rows:
        index = (date.fromisoformat(str(day)[:10]) - days.first_day).days
        losses.setdefault(deal, {}).setdefault(why, np.zeros(HISTORY))[index] = value
    return losses


PRICE_CAUSES = ("", "floor raised", "floor", "price lowered", "price")
SUPPLY_CAUSES = ("", "targeting", "list", "links")
"""The causes that a change of a price, or of what is offered, can repair."""
JUDGED_AFTER = 4  # complete days, from which on a repair is judged
MOST_CREATIVES = 3  # rejected ones that are named, those with the most losses


@dataclass(frozen=True)
class _Case:
    """One broken deal: what is known of it, asked for as it is needed.

    `its_break` is None where a step was never reached; `own` are its figures, `losses` those by reason.
    """

    days: FunnelDays
    context: DealContext
    deal: DemandDeal
    funnel_health: DealHealth
    its_break: Break | None
    own: Steps
    losses: Mapping[str, Numbers]
    groups: Groups
    is_looked_into: bool

    @cached_property
    def packages(self) -> Sequence[SupplyPackage]:
        return self.context.packages_of(self.deal)

    @property
    def step(self) -> str:
        """The step that fell, or the first that was never reached."""
        missing = next((step.name for step in self.funnel_health.steps if step.value == 0), "")
        return missing if self.its_break is None else self.its_break.step

    @property
    def base(self) -> str:
        """The step before it; empty for the first."""
        return {step: base for base, step in pairwise(self.days.fields)}.get(self.step, "")

    @property
    def is_fixed(self) -> bool:
        return price_type_of(self.deal.deal_type, self.deal.price_type, self.days.price_type) == "fixed"

    @property
    def last_day(self) -> date:
        return self.days.report.period(1)[1]

    def health(self) -> DealHealth:
        """The deal's health: its break with the cause, or its repair."""
        before, witnesses = self.funnel_health, self._witnesses()
        cause = diagnosis.cause(self.its_break, witnesses, self.is_fixed)
        is_ended = before.state == "idle"
        repair = None if is_ended else self._repair(cause)
        if repair is not None:
            fall = () if self.its_break is None else (diagnosis.fall_sentence(self.its_break),)
            if (self.last_day - repair.day).days < JUDGED_AFTER:
                title = changes.repair_title(repair, self._history or ())
                return replace(before, state="unknown", words=title, findings=fall, repaired_at=repair.at)
            if self.its_break is not None and not self._rest_since(repair, self.its_break) <= LARGEST_REST:
                findings = (*fall, self._after_repair(repair))
                return replace(before, state="healthy", words="Delivers", findings=findings)
        if self.is_looked_into:
            witnesses = self._with_prices(witnesses, cause)
        price = self.deal.price if self.days.report.has_currency_of(self.deal) else None
        result = diagnosis.diagnosis(self.its_break, witnesses, price, self.is_fixed)
        if is_ended:
            return replace(before, findings=(*before.findings, *result.findings))
        change = diagnosis.carrying_change(self.its_break, witnesses, self.is_fixed)
        title, advice, findings = result.title, result.advice, result.findings
        if repair is not None:
            findings = (self._after_repair(repair), *findings)
            is_same = change is not None and (repair.entity, repair.field) == (change.entity, change.field)
            if change is not None and is_same:
                # Undone is a change of which the repair left nothing.
                remaining = replace(change, after=repair.after)
                if not remaining.can_lower(self.step, not self.base, self.is_fixed):
                    title, advice = "Repaired, still down", ""
        # A step that is missing is the title unless a cause is known.
        if not title or (not result.cause and before.state == "attention"):
            title = before.words
        return replace(before, state="attention", words=title, findings=findings, advice=advice)

    def _witnesses(self) -> Witnesses:
        """What is known without asking for prices."""
        start = self.its_break.fall.start if self.its_break else 0
        # As a part of the step before, before and after; 0 where there is nothing of it.
        losses = tuple(
            Losses(reason, *np.nan_to_num(change_point.around(counts, self.own[self.base], start)).tolist())
            for reason, counts in self.losses.items()
            if reason and self.base
        )
        if self.its_break is None:
            return Witnesses(losses=losses)
        history = self._history
        changes_around = None if history is None else tuple(changes.around_fall(history, self.its_break.day))
        fall = FallWitnesses(
            self.days, self.deal, self.its_break, self.own, self.packages, history or (), self.is_fixed
        )  # fmt: skip
        candidates = fall.candidates(self.is_looked_into)
        others = fall.others(self.groups, candidates, self.is_looked_into)
        return Witnesses(changes_around, candidates, losses, others)

    @cached_property
    def _history(self) -> list[FieldChange] | None:
        """All that was changed in the deal, its packages and their lists; None if that is not known."""
        history = self.context.history
        if history is None:
            return None
        entities = [changes.Entity("demand_deals", self.deal.id or 0)]
        for package in self.packages:
            entities.append(changes.Entity("supply_deals", package.id or 0, package.name or ""))
            for kind, targets in (
                ("domain_lists", package.domain_list_targetings),
                ("app_lists", package.app_list_targetings),
            ):
                entities += [
                    changes.Entity(kind, target.id, target.name or "", target.is_excluded)
                    for target in targets or ()
                ]
        histories = ((entity, history(entity.kind, entity.id)) for entity in dict.fromkeys(entities))
        return changes.changes(histories, self.days.report.slicer.timezone)

    def _repair(self, cause: str) -> FieldChange | None:
        """The last change that may have repaired a deal with such a cause."""
        since = self.last_day - timedelta(days=PERIODS[0]) if self.its_break is None else self.its_break.day
        repair = changes.repair(self._history or (), since, self.step, not self.base, self.is_fixed)
        if repair is None or repair.field == "is_active":
            return repair
        return repair if cause in (PRICE_CAUSES if repair.field == "price" else SUPPLY_CAUSES) else None

    def _rest_since(self, repair: FieldChange, its_break: Break) -> float:
        """What is left of the rate on the complete days since a repair."""
        start = (repair.day - self.days.first_day).days + 1
        bases = _base(self.days, self.own, self.base, self.step)
        _, after = change_point.around(self.own[self.step], bases, start)
        return after / its_break.fall.before

    def _after_repair(self, repair: FieldChange) -> str:
        """`Put back to 1.35 on 16 Nov 2026: 96 % of the rate before the fall since.`"""
        title = f"{changes.repair_title(repair, self._history or ())} on {write_day(repair.day)}"
        if self.its_break is None:
            return f"{title}, and still no {self.step}."
        rest = self._rest_since(repair, self.its_break)
        return f"{title}: since then the rate is {100 * rest:.0f} % of that before the fall."

    def _with_prices(self, witnesses: Witnesses, cause: str) -> Witnesses:
        """With the prices, or the creatives, that the cause is about."""
        report = self.days.report
        slicer, own = report.slicer, report.only([self.deal])
        bid_price, bids = field_of(slicer, BID_PRICE), field_of(slicer, BIDS)
        if cause in ("floor", "floor raised") and bid_price is not None and bids is not None:
            return replace(witnesses, bids=self._prices(WinFields(bid_price.name, bids.name), own))
        fields = win_prices.win_fields(slicer)
        if cause in ("price", "price lowered") and fields is not None and self.packages:
            others = (*report.only(self.packages), report.without(self.deal))
            return replace(witnesses, win_prices=self._prices(fields, others))
        creative, reason = key_field_of(slicer, CREATIVE), key_field_of(slicer, LOST_REASON)
        field = field_of(slicer, LOSSES)
        if cause == "creative" and creative is not None and reason is not None and field is not None:
            reasons = tuple(
                loss.reason for loss in witnesses.losses if diagnosis.reason_class(loss.reason) == "creative"
            )
            why = Filter(name=reason, value=reasons, match="equals")
            answer = self.days.ask(PRICE_DAYS, (field.name,), (creative,), (*own, why))
            order = answer.values[field.name].to_numpy().argsort()[::-1][:MOST_CREATIVES]
            return replace(witnesses, creatives=tuple(answer.names[creative].iloc[order].astype(str)))
        return witnesses

    def _prices(self, fields: WinFields, filters: tuple[Filter, ...]) -> WinPrices | None:
        """Quartiles of a price over groups of the last 30 days."""
        return win_prices.win_prices(
            self.days.report.ask(seat_prices.price_query(self.days.report, PRICE_DAYS, fields, filters)),
            fields,
        )
