"""What may say why a step of a deal's funnel fell: changes that took something away, and other deals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from lib.deals.models import DemandDeal, SupplyPackage
from lib.deals.targeting.kinds import KINDS, key_field
from lib.insight import change_point, changes, diagnosis, seat_prices, supply_path, win_prices
from lib.insight.change_point import DAYS as HISTORY
from lib.insight.change_point import LARGEST_REST, Numbers
from lib.insight.changes import FieldChange
from lib.insight.deal_report import DealReport, Entity
from lib.insight.diagnosis import Break, CauseCandidate, OtherDeals
from lib.insight.funnel_days import FunnelDays, Steps
from lib.insight.win_prices import WinFields
from lib.slicers.roles import BID_PRICE, BIDS, field_of
from lib.wire.filters import Filter


@dataclass(frozen=True)
class FallWitnesses:
    """Asks for them. `own` are the deal's figures, `changes` all of its history."""

    days: FunnelDays
    deal: DemandDeal
    its_break: Break
    own: Steps
    packages: Sequence[SupplyPackage]
    changes: Sequence[FieldChange]
    is_fixed: bool

    @property
    def _step(self) -> str:
        return self.its_break.step

    @property
    def _base(self) -> str:
        return self.its_break.base

    @property
    def _report(self) -> DealReport:
        return self.days.report

    def candidates(self, is_looked_into: bool) -> tuple[CauseCandidate, ...]:
        """The changes that came before the break and can make this step fall; how much they took away is
        asked for if it is looked into."""
        return tuple(
            CauseCandidate(change, self._share(change) if is_looked_into else None)
            for change in changes.before_fall(self.changes, self.its_break.day)
            if change.can_lower(self._step, not self._base, self.is_fixed)
        )

    def _share(self, change: FieldChange) -> float | None:
        """The part of the step in the four weeks before the break that a change took away."""
        if change.field == "price":
            is_comparable = self._report.has_currency_of(self.deal)
            return self._share_by_price(change) if is_comparable else None
        before, slicer = change_point.weeks_before(self.its_break.fall.start), self._report.slicer
        taken_rows = np.zeros(HISTORY)
        for removal in change.removals():
            if removal.is_everything:
                return 1.0
            name = removal.kind
            if (kind := next((kind for kind in KINDS if kind.name == name), None)) is not None:
                field = key_field(kind, slicer) if removal.is_known else None
                name = "" if field is None else field.name
            if name not in slicer.key_names:
                return None
            match = "not equals" if removal.is_rest else "equals"
            only = Filter(name=name, value=removal.values, match=match)
            step_field = {self._step: self.days.fields[self._step]}
            rows = self.days.series(None, (*self._report.only([self.deal]), only), step_field).get("")
            taken_rows += np.zeros(HISTORY) if rows is None else np.nan_to_num(rows[self._step])
        had = np.nansum(self.own[self._step][before])
        return min(1.0, float(taken_rows[before].sum() / had)) if had else None

    def _share_by_price(self, change: FieldChange) -> float | None:
        """The part of the deal's bids (of a fixed price: of others' wins) between both prices, of those that
        the price before let through; by averages of sites and days in the four weeks before the break."""
        slicer, own = self._report.slicer, self._report.only([self.deal])
        fields, filters = win_prices.win_fields(slicer), own
        bid_price, bids = field_of(slicer, BID_PRICE), field_of(slicer, BIDS)
        if self.is_fixed:
            filters = (*self._report.only(self.packages), self._report.without(self.deal))
        elif bid_price is not None and bids is not None:
            fields = WinFields(bid_price.name, bids.name)
        if fields is None or (self.is_fixed and not self.packages):
            return None
        answer = self._report.ask(seat_prices.price_query(self._report, HISTORY, fields, filters))
        first = self.its_break.day - timedelta(days=change_point.BASELINE)
        prices = float(change.before), float(change.after)
        return win_prices.lost_between(answer, fields, prices, (first, change.day - timedelta(days=1)))

    def others(
        self,
        groups: Mapping[str, tuple[Sequence[Entity], Sequence[Steps]]],
        candidates: Sequence[CauseCandidate],
        is_looked_into: bool,
    ) -> dict[str, OtherDeals]:
        """What others have left: all of the report, those of the packages, seat and DSP by `groups` (the
        entities, and the figures of each), and those of a site that makes up the fall, if it is looked into.
        """
        whole, own, others = self.days.whole, self.own, dict[str, OtherDeals]()
        if self._base:
            others["report"] = self._other_deals({step: whole[step] - own[step] for step in whole})
        for name, (_, figures) in groups.items():
            sums = {step: sum((steps[step] for steps in figures), np.zeros(HISTORY)) for step in whole}
            outside = whole[self._step] - sums[self._step]
            others[name] = self._other_deals({step: sums[step] - own[step] for step in sums}, outside)
        if is_looked_into and (site := self._site()) is not None:
            others["site"] = site
        has_package_change = any(not candidate.change.is_of_deal for candidate in candidates)
        for name in ("seat", "dsp") if has_package_change else ():
            if name in others and others[name].fell and self.packages:
                filters = (*self._report.only(groups[name][0]), self._report.without(*self.packages))
                group = self.days.series(None, filters).get("")
                fell = group is not None and self._other_deals(group).fell
                others[name] = replace(others[name], outside=fell)
        return {name: group for name, group in others.items() if np.isfinite(group.rest)}

    def _other_deals(self, steps: Steps, outside: Numbers | None = None, name: str = "") -> OtherDeals:
        """What a group of other deals has left of the rate; NaN where it has too little.

        A first step is a part of that of all `outside` the group; of itself per day where there is nothing.
        """
        counts = steps[self._step]
        if outside is None:
            outside = self.days.whole[self._step] - counts
        per_day = np.where(np.isfinite(counts), 1.0, np.nan)
        bases = steps[self._base] if self._base else outside if np.nansum(outside) > 0 else per_day
        before, after = change_point.around(counts, bases, self.its_break.fall.start)
        if not before > 0 or np.nansum(counts) < change_point.FEWEST_COUNTS:
            return OtherDeals(np.nan, False)
        return OtherDeals(
            after / before, change_point.fell_near(counts, bases, self.its_break.fall), name=name
        )

    def _site(self) -> OtherDeals | None:
        """Other deals on the site (or app) that makes up the fall, if one does and the rest did not fall."""
        start, rest = self.its_break.fall.start, self.days.whole[self._step] - self.own[self._step]
        for field in supply_path.split_fields(self._report.slicer).values():
            sites = self.days.series(field, self._report.only([self.deal]))
            sites.pop("", None)
            # Of each site, what the step would have been since the break by the rate before, and what it was.
            rows = []
            for steps in sites.values():
                figures, bases = steps[self._step], steps[self._base] if self._base else rest
                before, _ = change_point.around(figures, bases, start)
                rate = before if np.isfinite(before) else 0.0
                rows.append((rate * np.nansum(bases[start:]), np.nansum(figures[start:])))
            expected, counts = np.array(rows).reshape(-1, 2).T
            missing = expected - counts
            if not len(missing) or missing.max() < diagnosis.MOST_OF * missing.sum():
                continue
            worst = int(missing.argmax())
            others = np.delete(expected, worst).sum()
            if others and np.delete(counts, worst).sum() <= LARGEST_REST * others:
                continue
            name = [*sites][worst]
            on_site = (Filter(name=field, value=(name,), match="equals"), self._report.without(self.deal))
            filters = (*on_site, self._report.without(*self.packages)) if self.packages else on_site
            group = self.days.series(None, filters).get("")
            return None if group is None else self._other_deals(group, name=name)
        return None
