"""Judges deals batch after batch by one report: their funnels, and what changed where one is broken."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from lib.deals.models import DemandDeal
from lib.insight import health
from lib.insight.broken_deals import PATIENCE, BrokenDeals, FunnelDays
from lib.insight.deal_report import DEAL, DealReport
from lib.insight.health import DealHealth, Funnels, Surroundings

DAYS = 7
"""Days of the funnel."""


@dataclass
class Assessor:
    """One run over all deals. `report` is None without one that tells deals apart.

    `price_type` is that of deals that have none of their own.
    """

    report: DealReport | None
    price_type: str = "floor"

    @property
    def last_day(self) -> date | None:
        """The last day that counts; None without a report."""
        return None if self.report is None else self.report.period(DAYS)[1]

    def assess(self, deals: Sequence[DemandDeal], around: Surroundings) -> dict[int, DealHealth]:
        """The health of these deals by id. Raises why the report can't be read."""
        funnels, days = self._funnels, self._days
        healths = {deal.id or 0: health.health(deal, around, funnels) for deal in deals}
        if days is not None and funnels is not None and funnels.has_data and funnels.is_exact:
            running = [deal for deal in deals if health.may_deliver(deal, around)]
            healths |= dict(BrokenDeals(days, running, around).diagnosed(healths))
        return healths

    @cached_property
    def _days(self) -> FunnelDays | None:
        """The days of the funnels; None if no slicer has deals or a step."""
        if self.report is None or not (fields := health.step_fields(self.report.slicer)):
            return None
        return FunnelDays(self.report, fields, self.price_type)

    @cached_property
    def _funnels(self) -> Funnels | None:
        """The funnels of all deals; None if no slicer has deals or a step."""
        if (days := self._days) is None:
            return None
        changes = {
            "data_fields": tuple(days.fields.values()),
            "split_by": (DEAL,),
            "exact_within": PATIENCE,
        }
        answer = days.report.ask(days.report.query(DAYS).model_copy(update=changes))
        return health.funnels(answer, days.fields, days.report.period(DAYS)[1])
