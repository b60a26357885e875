"""Judges deals batch after batch by one report: their funnels, and what changed where one is broken."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property

from lib.deals.buyer_counts import BuyerCounts
from lib.deals.deal_health import DealContext, DealHealth
from lib.deals.delivery import BEHIND, PERIODS, pacing_status
from lib.deals.models import DemandDeal
from lib.deals.supply.states import SupplyIndex
from lib.insight import deal_checks, discrepancy_sentences
from lib.insight.deal_checks import Funnels
from lib.insight.deal_report import DealReport
from lib.insight.deliveries import Deliveries, delivery_fields
from lib.insight.dossier import dossier
from lib.insight.funnel_days import FunnelDays
from lib.insight.goal import goal_deliveries
from lib.insight.investigation import investigate
from lib.insight.supply_path import unauthorized_shares
from lib.slicers.roles import DEAL, PACKAGE, step_fields

DAYS, UNAUTHORIZED_SHARE = PERIODS[0], 10.0
"""Days of the funnel; the share of bids for unauthorized supply, in percent, from which a deal needs
attention."""
ADVICE = (
    "The facts of its packages name the sites and apps. Ask their publishers for the line in ads.txt, or "
    "exclude them by a list."
)


@dataclass
class Assessor:
    """One run over all deals. `report` is None without one that tells deals apart.

    `price_type` is that of deals that have none of their own, `supply` what their sites and apps are judged
    by; `buyer_counts` are what buyers entered, which may differ by the part `tolerance` of ours.
    """

    report: DealReport | None
    price_type: str = "floor"
    supply: SupplyIndex = field(default_factory=SupplyIndex)
    buyer_counts: BuyerCounts | None = None
    tolerance: float = 0.1

    @property
    def last_day(self) -> date | None:
        """The last day that counts; None without a report."""
        return None if self.report is None else self.report.period(DAYS)[1]

    def assess(self, deals: Sequence[DemandDeal], context: DealContext) -> dict[int, DealHealth]:
        """The health of these deals by id. Raises why the report can't be read."""
        (funnels, deliveries), days = self._totals, self._days
        healths = {deal.id or 0: deal_checks.health(deal, context, funnels) for deal in deals}
        if days is not None and funnels is not None and funnels.has_data and funnels.is_exact:
            healths |= investigate(days, deals, context, healths)
        report, packages_of = self.report, context.packages_of
        counts = {} if days is None or self.buyer_counts is None else self.buyer_counts.of_deals(deals)
        goals = {} if report is None or deliveries is None else goal_deliveries(report, deals, packages_of)
        for deal in deals:
            number = deal.id or 0
            deal_health = self._with_supply(deal, healths[number])
            if report is not None and number in counts and deal_health.state != "idle":
                both = dossier(report, deal, counts[number], self.tolerance)
                gap = None if both.comparison is None else both.comparison.main
                # Where the buyer's counts differ until now, and not because they are still arriving.
                if both.comparison and gap and gap.last is None and not both.comparison.may_arrive(gap):
                    finding, *_, advice = both.sentences(is_buyer=False)
                    deal_health = deal_health.with_fault(discrepancy_sentences.title(gap), finding, advice)
            if deliveries is not None:
                figures, is_estimate = deliveries.figures(deal, packages_of(deal)), deliveries.is_estimate
                if (goal := goals.get(number)) is not None:
                    figures, is_estimate = figures | goal.figures, is_estimate or not goal.is_exact
                deal_health = replace(deal_health, delivery=figures, is_estimate=is_estimate)
            paces = {days: deal_health.delivery.get(f"pacing_{days}_days") for days in PERIODS}
            paces_by_days = {days: pace for days, pace in paces.items() if pace is not None}
            is_known = PERIODS[0] in paces_by_days and not deal_health.is_estimate
            is_behind = is_known and max(paces_by_days.values()) < BEHIND
            # A deal that is ahead to date may be slow in the last days.
            if is_behind and pacing_status(deal_health.delivery) != "ahead":
                texts = [f"{pace:.0f} % in the last {days} days" for days, pace in paces_by_days.items()]
                finding = f"Of what its goal needs, it delivered {' and '.join(texts)}."
                deal_health = deal_health.with_fault("Behind its goal", finding)
            healths[number] = deal_health
        return healths

    def _with_supply(self, deal: DemandDeal, deal_health: DealHealth) -> DealHealth:
        """The health with unauthorized supply, from UNAUTHORIZED_SHARE percent of the bids of the deal or of
        one of its packages on."""
        own = self._unauthorized_shares[DEAL].get(str(deal.id), 0.0)
        by_package = self._unauthorized_shares[PACKAGE]
        share, package = max(
            ((by_package.get(str(package.id), 0.0), package.name) for package in deal.supply_deals),
            key=lambda pair: pair[0],
            default=(0.0, ""),
        )
        if max(own, share) < UNAUTHORIZED_SHARE:
            return deal_health
        is_own = own >= UNAUTHORIZED_SHARE
        bids = (
            f"{own:.1f} % of its bids"
            if is_own
            else f"{share:.1f} % of the bids of {package or 'its package'}"
        )
        finding = f"{bids} are for sites or apps that don't authorize us."
        return deal_health.with_fault("Unauthorized", finding, ADVICE)

    @cached_property
    def _unauthorized_shares(self) -> dict[str, dict[str, float]]:
        """The percent of bids that is for unauthorized supply, of deals and packages; none in a sample."""
        if (days := self._days) is None or "bids" not in days.fields:
            return {DEAL: {}, PACKAGE: {}}
        bids = days.fields["bids"]
        return {
            by: unauthorized_shares(days.report, self.supply, by, bids, DAYS) or {} for by in (DEAL, PACKAGE)
        }

    @cached_property
    def _days(self) -> FunnelDays | None:
        """The days of the funnels; None if no slicer has deals or a step."""
        if self.report is None or not (fields := step_fields(self.report.slicer)):
            return None
        return FunnelDays(self.report, fields, self.price_type)

    @cached_property
    def _totals(self) -> tuple[Funnels, Deliveries] | tuple[None, None]:
        """The funnels of all deals, and what they delivered, by one question for each period; None if no
        slicer has deals or a step."""
        if (days := self._days) is None:
            return None, None
        fields = dict.fromkeys((*days.fields.values(), *delivery_fields(days.report.slicer).values()))
        answers = {period: days.ask(period, tuple(fields), (DEAL,), ()) for period in PERIODS}
        funnels = deal_checks.funnels(answers[DAYS], days.fields, days.report.period(DAYS)[1])
        return funnels, Deliveries(days.report, answers)
