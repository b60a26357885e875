"""Judges deals batch after batch by one report: their funnels, and what changed where one is broken."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from lib.deals.delivery import PERIODS
from lib.deals.models import DemandDeal
from lib.deals.supply.states import SupplyIndex
from lib.insight import health
from lib.insight.broken_deals import BrokenDeals, FunnelDays
from lib.insight.deal_report import DEAL, DealReport
from lib.insight.deliveries import Deliveries, delivery_fields
from lib.insight.health import DealHealth, Funnels, Surroundings
from lib.insight.supply_path import unauthorized_shares
from lib.reporting.answers import Audience

DAYS, UNAUTHORIZED_SHARE = PERIODS[0], 10.0
"""Days of the funnel, and the share of bids for unauthorized supply, in percent, that needs attention."""
ADVICE = (
    "The facts of its packages name the sites and apps. Ask their publishers for the line in ads.txt, or "
    "exclude them by a list."
)


@dataclass
class Assessor:
    """One run over all deals. `report` is None without one that tells deals apart.

    `price_type` is that of deals that have none of their own, `supply` what their sites and apps are judged
    by.
    """

    report: DealReport | None
    price_type: str = "floor"
    supply: SupplyIndex = field(default_factory=SupplyIndex)

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
            healths |= dict(BrokenDeals(days, running, around).diagnose(healths))
        healths = {deal: self._with_supply(deal, one) for deal, one in healths.items()}
        if (deliveries := self._deliveries) is None:
            return healths
        figures = {deal.id or 0: deliveries.figures(deal, health.packages_of(deal, around)) for deal in deals}
        return {
            deal: replace(one, delivery=figures[deal], is_estimate=deliveries.is_estimate)
            for deal, one in healths.items()
        }

    def _with_supply(self, deal: int, one: DealHealth) -> DealHealth:
        """The health with unauthorized supply from UNAUTHORIZED_SHARE percent of a deal's bids on: among its
        findings, and the reason for attention where nothing else is."""
        share = self._unauthorized_shares.get(str(deal), 0.0)
        if one.state == "idle" or share < UNAUTHORIZED_SHARE:
            return one
        finding = f"{share:.1f} % of its bids are for sites or apps that don't authorize us."
        findings = (*one.findings, finding)
        if one.state != "healthy":
            return replace(one, findings=findings)
        return replace(one, state="attention", words="Unauthorized", findings=findings, advice=ADVICE)

    @cached_property
    def _unauthorized_shares(self) -> dict[str, float]:
        """The percent of each deal's bids that is for unauthorized supply; none where it is of a sample."""
        if (days := self._days) is None or "bids" not in days.fields:
            return {}
        return unauthorized_shares(days.report, self.supply, DEAL, days.fields["bids"], DAYS) or {}

    @cached_property
    def _days(self) -> FunnelDays | None:
        """The days of the funnels; None if no slicer has deals or a step."""
        if self.report is None or not (fields := health.step_fields(self.report.slicer)):
            return None
        return FunnelDays(self.report, fields, self.price_type)

    @cached_property
    def _answers(self) -> dict[int, Audience]:
        """All deals over each period, in days: the steps of their funnels, and what they delivered."""
        if (days := self._days) is None:
            return {}
        fields = dict.fromkeys((*days.fields.values(), *delivery_fields(days.report.slicer).values()))
        return {period: days.ask(period, tuple(fields), (DEAL,), ()) for period in PERIODS}

    @cached_property
    def _funnels(self) -> Funnels | None:
        """The funnels of all deals; None if no slicer has deals or a step."""
        if (days := self._days) is None:
            return None
        return health.funnels(self._answers[DAYS], days.fields, days.report.period(DAYS)[1])

    @cached_property
    def _deliveries(self) -> Deliveries | None:
        """What all deals delivered; None if no slicer has deals or a step."""
        return None if self._days is None else Deliveries(self._days.report, self._answers)
