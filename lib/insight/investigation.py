"""Investigates the broken deals of one report: the step that fell and the day, and all that may say why.

The days of the funnels are asked for in batches, those of packages, seats and DSPs once. Only for broken
deals more is asked: losses by reason, sites, what changes took away, prices of bids and wins (see
diagnosis.py).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from functools import cached_property
from itertools import pairwise

import numpy as np

from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.delivery import PERIODS
from lib.deals.models import DemandDeal, price_type_of
from lib.insight import change_point, changes, diagnosis, health, seat_prices, win_prices
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

PRICE_CAUSES = ("", "floor raised", "floor", "price lowered", "price")
SUPPLY_CAUSES = ("", "targeting", "list", "links")
"""The causes that a change of a price, or of what is offered, can repair."""


MOST_LEFT = 0.85  # of a step per day, as a part of the days before, that counts as less
MOST_LOOKED_INTO = 250  # broken deals of a batch whose sites, changes and prices are asked for


class Investigation:
    """Some deals that may deliver, and the figures of their days."""

    def __init__(
        self,
        days: FunnelDays,
        deals: Sequence[DemandDeal],
        context: DealContext,
        healths: Mapping[int, DealHealth],
    ) -> None:
        """`healths` are those by the deals themselves and their funnels."""
        self.days, self.context, self._steps, self._healths = days, context, [*days.fields], dict(healths)
        self._running = [deal for deal in deals if health.may_deliver(deal, context)]
        self._ended = [deal for deal in deals if healths[deal.id or 0].words == health.ENDED]
        entities = [*self._running, *self._ended]
        self.series: Series = days.series(DEAL, days.report.only(entities)) if entities else {}
        self.groups: dict[str, Series] = {}

    def healths(self) -> Iterator[tuple[int, DealHealth]]:
        """The health of the deals that are broken, were repaired, or ended without having won anything, with
        what is known of the cause."""
        breaks = self._breaks()
        attention = [
            number for number, its_health in self._healths.items() if its_health.state == "attention"
        ]
        is_broken = {*attention, *breaks}
        broken = [deal for deal in self._running if deal.id in is_broken and str(deal.id) in self.series]
        broken += [deal for deal in self._ended if self._ended_unsold(deal)]
        losses = self._losses(broken)
        members = [self.members(deal) for deal in broken if deal.id in breaks]
        self.groups = self.days.groups(
            {
                name: [*{entity.id: entity for groups in members for entity in groups[name]}.values()]
                for name in ("package", "seat", "dsp")
            }
        )
        for index, deal in enumerate(broken):
            its_health, its_break = self._healths[deal.id or 0], breaks.get(deal.id or 0)
            is_looked_into = index < MOST_LOOKED_INTO
            case = _Case(self, deal, its_health, its_break, losses.get(str(deal.id), {}), is_looked_into)
            yield deal.id or 0, case.health()

    def _ended_unsold(self, deal: DemandDeal) -> bool:
        """Whether a deal that has ended had bids, and never won; notes that as its health."""
        sums = {step: float(np.nansum(days)) for step, days in self.series.get(str(deal.id), {}).items()}
        missing = next((step for step in SALES[1:] if sums.get(step) == 0), "")
        if not (missing and sums.get("bids")):
            return False
        finding = f"It had {sums['bids']:,.0f} bids in its last days of the report, and no {missing}."
        title = f"{health.ENDED}, never won"
        self._healths[deal.id or 0] = DealHealth("idle", title, findings=(finding,))
        return True

    def base(self, deal: DemandDeal, base: str, step: str) -> Numbers:
        """What a step is a part of: the step before, or for the first one what all other deals had."""
        own = self.series[str(deal.id)]
        return own[base] if base else self.days.whole[step] - own[step]

    def members(self, deal: DemandDeal) -> dict[str, Sequence[Entity]]:
        """Its packages, seat and DSP, as far as they are known."""
        seat, dsp = self.context.buyer(deal)
        return {
            "package": self.context.packages_of(deal),
            "seat": [] if seat is None else [seat],
            "dsp": [] if dsp is None else [dsp],
        }

    def groups_of(self, deal: DemandDeal) -> dict[str, tuple[Sequence[Entity], list[Steps]]]:
        """Its packages, seat and DSP with the figures of each, as far as the report tells them apart."""
        members = self.members(deal)
        return {
            name: (
                members[name],
                [series[str(member.id)] for member in members[name] if str(member.id) in series],
            )
            for name, series in self.groups.items()
        }

    def _breaks(self) -> dict[int, Break]:
        """The deepest fall of each deal that has one, by id."""
        deals = [deal for deal in self._running if str(deal.id) in self.series and self.days.whole]
        breaks: dict[int, Break] = {}
        for base, step in pairwise(("", *self._steps)):
            if not deals:
                break
            own = np.array([self.series[str(deal.id)][step] for deal in deals])
            bases = np.array([self.base(deal, base, step) for deal in deals])
            claims = change_point.falls(own, bases, len(self._steps))
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
                    day = self.days.first_day + timedelta(days=fall.start)
                    breaks[deal.id or 0] = Break(step, base, day, fall)
        return breaks

    def _losses(self, broken: Sequence[DemandDeal]) -> dict[str, dict[str, Numbers]]:
        """The losses per day of these deals by reason; none where the report has no reasons."""
        slicer = self.days.report.slicer
        reason, field = key_field_of(slicer, LOST_REASON), field_of(slicer, LOSSES) or field_of(slicer, BIDS)
        if reason is None or field is None or not broken:
            return {}
        answer = self.days.ask(HISTORY, (field.name,), (DEAL, reason, DAY), self.days.report.only(broken))
        losses: dict[str, dict[str, Numbers]] = {}
        rows = zip(
            answer.names[DEAL].astype(str),
            answer.names[reason].fillna("").astype(str),
            answer.names[DAY],
            answer.values[field.name],
            strict=True,
        )
        for deal, why, day, value in rows:
            index = (date.fromisoformat(str(day)[:10]) - self.days.first_day).days
            losses.setdefault(deal, {}).setdefault(why, np.zeros(HISTORY))[index] = value
        return losses


MOST_CREATIVES = 3  # rejected ones that are named, those with the most losses
JUDGED_AFTER = 4  # complete days, from which on a repair is judged


class _Case:
    """One broken deal: what is known of it, asked for as it is needed. `its_break` is None where a step was
    never reached."""

    def __init__(
        self,
        investigation: Investigation,
        deal: DemandDeal,
        its_health: DealHealth,
        its_break: Break | None,
        losses: Mapping[str, Numbers],
        is_looked_into: bool,
    ) -> None:
        self._investigation, self._deal = investigation, deal
        self._health, self._break = its_health, its_break
        self._days, self._report = investigation.days, investigation.days.report
        self._own, self._losses = investigation.series[str(deal.id)], losses
        self._packages = investigation.context.packages_of(deal)
        missing = next((step.name for step in its_health.steps if step.value == 0), "")
        self._step = missing if its_break is None else its_break.step
        self._base = {step: base for base, step in pairwise(self._days.fields)}.get(self._step, "")
        self._is_fixed = price_type_of(deal.deal_type, deal.price_type, self._days.price_type) == "fixed"
        self._is_looked_into = is_looked_into

    def health(self) -> DealHealth:
        """The deal's health: its break with the cause, or its repair."""
        witnesses = self._witnesses()
        cause = diagnosis.cause(self._break, witnesses, self._is_fixed)
        is_ended = self._health.state == "idle"
        repair = None if is_ended else self._repair(cause)
        if repair is not None:
            fall = () if self._break is None else (diagnosis.fall_sentence(self._break),)
            if (self._last_day - repair.day).days < JUDGED_AFTER:
                title = changes.repair_title(repair, self._changes or ())
                return replace(
                    self._health, state="unknown", words=title, findings=fall, repaired_at=repair.at
                )
            if self._break is not None and not self._rest_since(repair, self._break) <= LARGEST_REST:
                findings = (*fall, self._after_repair(repair))
                return replace(self._health, state="healthy", words="Delivers", findings=findings)
        if self._is_looked_into:
            witnesses = self._with_prices(witnesses, cause)
        price = self._deal.price if self._report.has_currency_of(self._deal) else None
        result = diagnosis.diagnosis(self._break, witnesses, price, self._is_fixed)
        if is_ended:
            return replace(self._health, findings=(*self._health.findings, *result.findings))
        change = diagnosis.carrying_change(self._break, witnesses, self._is_fixed)
        title, advice, findings = result.title, result.advice, result.findings
        if repair is not None:
            findings = (self._after_repair(repair), *findings)
            is_same = change is not None and (repair.entity, repair.field) == (change.entity, change.field)
            if change is not None and is_same:
                # Undone is a change of which the repair left nothing.
                remaining = replace(change, after=repair.after)
                if not remaining.can_lower(self._step, not self._base, self._is_fixed):
                    title, advice = "Repaired, still down", ""
        # A step that is missing is the title unless a cause is known.
        if not title or (not result.cause and self._health.state == "attention"):
            title = self._health.words
        return replace(self._health, state="attention", words=title, findings=findings, advice=advice)

    def _witnesses(self) -> Witnesses:
        """What is known without asking for prices."""
        start = self._break.fall.start if self._break else 0
        # As a part of the step before, before and after; 0 where there is nothing of it.
        losses = tuple(
            Losses(reason, *np.nan_to_num(change_point.around(counts, self._own[self._base], start)).tolist())
            for reason, counts in self._losses.items()
            if reason and self._base
        )
        if self._break is None:
            return Witnesses(losses=losses)
        history = self._changes
        changes_around = None if history is None else tuple(changes.around_fall(history, self._break.day))
        fall = FallWitnesses(
            self._days, self._deal, self._break, self._own, self._packages, history or (), self._is_fixed
        )  # fmt: skip
        groups = self._investigation.groups_of(self._deal)
        candidates = fall.candidates(self._is_looked_into)
        return Witnesses(
            changes_around, candidates, losses, fall.others(groups, candidates, self._is_looked_into)
        )

    @cached_property
    def _changes(self) -> list[FieldChange] | None:
        """All that was changed in the deal, its packages and their lists; None if that is not known."""
        history = self._investigation.context.history
        if history is None:
            return None
        entities = [changes.Entity("demand_deals", self._deal.id or 0)]
        for package in self._packages:
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
        return changes.changes(histories, self._report.slicer.timezone)

    def _repair(self, cause: str) -> FieldChange | None:
        """The last change that may have repaired a deal with such a cause."""
        since = self._last_day - timedelta(days=PERIODS[0]) if self._break is None else self._break.day
        repair = changes.repair(self._changes or (), since, self._step, not self._base, self._is_fixed)
        if repair is None or repair.field == "is_active":
            return repair
        return repair if cause in (PRICE_CAUSES if repair.field == "price" else SUPPLY_CAUSES) else None

    def _rest_since(self, repair: FieldChange, its_break: Break) -> float:
        """What is left of the rate on the complete days since a repair."""
        start = (repair.day - self._days.first_day).days + 1
        counts, bases = self._own[self._step], self._investigation.base(self._deal, self._base, self._step)
        _, after = change_point.around(counts, bases, start)
        return after / its_break.fall.before

    def _after_repair(self, repair: FieldChange) -> str:
        """`Put back to 1.35 on 16 Nov 2026: 96 % of the rate before the fall since.`"""
        title = f"{changes.repair_title(repair, self._changes or ())} on {write_day(repair.day)}"
        if self._break is None:
            return f"{title}, and still no {self._step}."
        rest = self._rest_since(repair, self._break)
        return f"{title}: since then the rate is {100 * rest:.0f} % of that before the fall."

    @cached_property
    def _last_day(self) -> date:
        return self._report.period(1)[1]

    def _with_prices(self, witnesses: Witnesses, cause: str) -> Witnesses:
        """With the prices, or the creatives, that the cause is about."""
        slicer, own = self._report.slicer, self._report.only([self._deal])
        bid_price, bids = field_of(slicer, BID_PRICE), field_of(slicer, BIDS)
        if cause in ("floor", "floor raised") and bid_price is not None and bids is not None:
            return replace(witnesses, bids=self._prices(WinFields(bid_price.name, bids.name), own))
        fields = win_prices.win_fields(slicer)
        if cause in ("price", "price lowered") and fields is not None and self._packages:
            others = (*self._report.only(self._packages), self._report.without(self._deal))
            return replace(witnesses, win_prices=self._prices(fields, others))
        creative, reason = key_field_of(slicer, CREATIVE), key_field_of(slicer, LOST_REASON)
        field = field_of(slicer, LOSSES)
        if cause == "creative" and creative is not None and reason is not None and field is not None:
            reasons = tuple(
                loss.reason for loss in witnesses.losses if diagnosis.reason_class(loss.reason) == "creative"
            )
            why = Filter(name=reason, value=reasons, match="equals")
            answer = self._days.ask(PRICE_DAYS, (field.name,), (creative,), (*own, why))
            order = answer.values[field.name].to_numpy().argsort()[::-1][:MOST_CREATIVES]
            return replace(witnesses, creatives=tuple(answer.names[creative].iloc[order].astype(str)))
        return witnesses

    def _prices(self, fields: WinFields, filters: tuple[Filter, ...]) -> WinPrices | None:
        """Quartiles of a price over groups of the last 30 days."""
        return win_prices.win_prices(
            self._report.ask(seat_prices.price_query(self._report, PRICE_DAYS, fields, filters)), fields
        )
