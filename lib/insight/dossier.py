"""A deal by day and step of its funnel, as the report counts it and as its buyer does."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta, timezone

import numpy as np

from lib.deals.buyer_counts import EnteredCounts
from lib.deals.models import DemandDeal
from lib.deals.negotiation import seat_number
from lib.insight import discrepancy
from lib.insight.change_point import DAYS
from lib.insight.deal_report import DealReport
from lib.insight.discrepancy import STEPS, CountComparison, Counts, Numbers
from lib.insight.discrepancy_sentences import Addressee, sentences
from lib.insight.funnel_days import FunnelDays
from lib.slicers.models import DataField, Slicer
from lib.slicers.roles import BIDS, IMPRESSIONS, REQUESTS, SPEND, WINS, field_of
from lib.wire.filters import Filter

SAMPLED = (
    "Our figures of these days can't be read exactly now, so they are not shown, and nothing is compared."
)


@dataclass(frozen=True)
class Dossier:
    """Both sides of a deal on the last nine weeks, from the first day that has a count, or without any from
    the deal's creation: figures per day, by step; `fields` are the report's.

    `ours` is empty where the report has no exact figures; `comparison` is None where the buyer entered
    nothing.
    """

    days: tuple[date, ...]
    fields: Mapping[str, DataField]
    ours: Counts
    theirs: Counts
    buyer_counts: EnteredCounts
    comparison: CountComparison | None
    tolerance: float

    @property
    def has_counts(self) -> bool:
        return any(np.any(counts > 0) for counts in (*self.ours.values(), *self.theirs.values()))

    @property
    def wins(self) -> str:
        """What our side counts as wins: those, or impressions."""
        field = self.fields.get("wins")
        return "impressions" if field is not None and field.name in IMPRESSIONS else "wins"

    @property
    def steps(self) -> tuple[str, ...]:
        """The steps that either side has."""
        return tuple(step for step in STEPS if step in self.ours or step in self.theirs)

    @property
    def step(self) -> str:
        """The step to look at: the first that differs, else the first of the funnel; empty without any."""
        main = None if self.comparison is None else self.comparison.main
        return next(iter(self.steps), "") if main is None else main.step

    def sentences(self, is_buyer: bool) -> list[str]:
        """What there is to say of it, for the buyer or for the seller."""
        if not self.ours:
            return [SAMPLED]
        reader = Addressee(is_buyer, self.wins)
        if self.comparison is None:
            return []
        return sentences(self.comparison, reader, self.tolerance, self.buyer_counts.late)

    def their_figures(self, step: str) -> Numbers:
        """The buyer's figures of a step, on the days of ours that they are compared with."""
        figures = self.theirs.get(step, np.full(len(self.days), np.nan))
        return discrepancy.shift_days(figures, 0 if self.comparison is None else self.comparison.shift)


def dossier(report: DealReport, deal: DemandDeal, buyer_counts: EnteredCounts, tolerance: float) -> Dossier:
    """Both sides of a deal. Raises why the report can't be read."""
    fields = step_fields(report.slicer)
    first = report.period(DAYS)[0]
    days = tuple(first + timedelta(days=offset) for offset in range(DAYS))
    funnel = FunnelDays(report, {step: field.name for step, field in fields.items()}, "")
    ours: Counts = {}
    if fields:
        # The rows of the deal at the seat that it has, where the report tells seats apart.
        filters = report.only([deal])
        if report.slicer.seat_field is not None and (seat := seat_number(deal)):
            filters += (Filter(name=report.slicer.seat_field, value=(str(seat),), match="equals"),)
        own = funnel.series(None, filters).get("")
        # Zero on days with data in which it has none.
        ours = own if own is not None else {step: 0 * counts for step, counts in funnel.whole.items()}
    counts_by_step = {
        # As a float64, None is NaN.
        step: np.array([getattr(buyer_counts.days.get(day), step, None) for day in days], np.float64)
        for step in STEPS
    }
    theirs = {step: values for step, values in counts_by_step.items() if np.isfinite(values).any()}
    figures = (*ours.values(), *theirs.values())
    has_count = np.any([np.zeros(DAYS, bool), *(counts > 0 for counts in figures)], axis=0)
    if not has_count.any() and deal.created_at is not None:
        start = deal.created_at.astimezone(timezone(timedelta(hours=report.slicer.timezone))).date()
        has_count = np.array([day >= min(start, days[-1]) for day in days])
    begin = int(np.argmax(has_count))
    days = days[begin:]
    ours, theirs = ({step: counts[begin:] for step, counts in side.items()} for side in (ours, theirs))
    comparison = discrepancy.compare(days, ours, theirs, tolerance) if ours and theirs else None
    return Dossier(days, fields, ours, theirs, buyer_counts, comparison, tolerance)


def step_fields(slicer: Slicer) -> dict[str, DataField]:
    """The slicer's data fields for the steps, as far as it has them; impressions where it has no wins."""
    fields = {
        "requests": field_of(slicer, REQUESTS),
        "bids": field_of(slicer, BIDS),
        "wins": field_of(slicer, WINS) or field_of(slicer, IMPRESSIONS),
        "spend": field_of(slicer, SPEND),
    }
    return {step: field for step, field in fields.items() if field is not None}
