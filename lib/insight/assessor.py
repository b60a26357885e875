"""Judges deals batch after batch by one report, whose funnels are asked for once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from lib.deals.models import DemandDeal
from lib.insight import health
from lib.insight.deal_report import DEAL, DealReport
from lib.insight.health import DealHealth, Funnels, Surroundings

DAYS, PATIENCE = 7, 10_000
"""Days of the funnel, milliseconds for an exact answer."""


@dataclass
class Assessor:
    """One run over all deals. `report` is None without one that tells deals apart."""

    report: DealReport | None

    @property
    def last_day(self) -> date | None:
        """The last day that counts; None without a report."""
        return None if self.report is None else self.report.period(DAYS)[1]

    def assess(self, deals: Sequence[DemandDeal], around: Surroundings) -> dict[int, DealHealth]:
        """The health of these deals by id. Raises why the report can't be read."""
        funnels = self._funnels
        return {deal.id or 0: health.health(deal, around, funnels) for deal in deals}

    @cached_property
    def _funnels(self) -> Funnels | None:
        """The funnels of all deals; None if no slicer has deals or a step."""
        report = self.report
        fields = {} if report is None else health.step_fields(report.slicer)
        if report is None or not fields:
            return None
        asked = {"data_fields": tuple(fields.values()), "split_by": (DEAL,), "exact_within": PATIENCE}
        answer = report.ask(report.query(DAYS).model_copy(update=asked))
        return health.funnels(answer, fields, report.period(DAYS)[1])
