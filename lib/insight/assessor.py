"""Judges deals batch after batch by one report: its funnels are asked for once, prices package by package."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

from lib.deals.models import DemandDeal, SupplyPackage, Targeting
from lib.insight import health, win_prices
from lib.insight.deal_report import DEAL, DealReport
from lib.insight.filters import Lists, report_filters
from lib.insight.health import DealHealth, Funnels, Surroundings
from lib.insight.win_prices import WinPrices

DAYS, PRICED, PATIENCE = 7, 20, 10_000
"""Days of the funnel, packages whose prices are asked for in a run, milliseconds for an exact answer."""


@dataclass
class Assessor:
    """One run over all deals. `report` is None without one that tells deals apart.

    `lists` gives the entries of domain and app lists; `by_cpm`: prices are CPMs, as those of wins are.
    """

    report: DealReport | None
    lists: Callable[[], Lists]
    by_cpm: bool
    _won: dict[int, WinPrices | None] = field(default_factory=dict)

    @property
    def last_day(self) -> date | None:
        """The last day that counts; None without a report."""
        return None if self.report is None else self.report.period(DAYS)[1]

    def assess(self, deals: Sequence[DemandDeal], around: Surroundings) -> dict[int, DealHealth]:
        """The health of these deals by id. Raises why the report can't be read."""
        funnels = self._funnels
        found = {deal.id or 0: health.health(deal, around, funnels) for deal in deals}
        unsold = [deal for deal in deals if health.is_unsold(found[deal.id or 0])]
        won = self._prices(unsold, around.packages)
        return found | {deal.id or 0: health.health(deal, around, funnels, won) for deal in unsold}

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

    def _prices(
        self, unsold: Sequence[DemandDeal], packages: Mapping[int, SupplyPackage]
    ) -> dict[int, WinPrices]:
        """What wins in the targeting of their packages, as far as it was asked for in this run."""
        ids = dict.fromkeys(one.id for deal in unsold for one in deal.supply_deals if one.id in packages)
        for one in ids:
            if one is not None and one not in self._won and len(self._won) < PRICED:
                self._won[one] = self._price(packages[one])
        return {one: won for one in ids if one is not None and (won := self._won.get(one)) is not None}

    def _price(self, package: SupplyPackage) -> WinPrices | None:
        """What wins in its targeting; None where nothing was won, filters can't say the targeting, or prices
        have another unit."""
        report = self.report
        fields = None if report is None or not self.by_cpm else win_prices.win_fields(report.slicer)
        if report is None or fields is None:
            return None
        translation = report_filters(package, report.slicer, self.lists(), package.media_type)
        if translation.left_out or any(name in Targeting.model_fields for name in package.unread):
            return None
        usual = report.query(DAYS).model_copy(update={"split_by": (DEAL,)})
        query = win_prices.win_question(usual, report.slicer, fields)
        return win_prices.win_prices(
            report.ask(query.model_copy(update={"filters": translation.filters})), fields
        )
