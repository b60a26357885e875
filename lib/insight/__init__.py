"""What reports and deals say together. You may ignore what is behind; others import from here.

    Insight(project, slicer, …)   a report, who asks it, and the verbs: evidence, expected, dead_targets,
                                  dossier, goals, overlap, seat_prices, supply_path, target_costs, …
    Assessor(report, …)           the health of deals and its causes, batch by batch, also without a report
    Forecast                      a figure of a booked period, with its 95 % range
    Dossier, Evidence             both sides of a deal by day; figures before and after a change
    SharedInventory, SupplyPath   what two packages share; which sites and apps authorize us
    SeatPrices, TargetCost        what seats won at; what each target costs or adds
    DeadSearch                    a search for targets without a bid, under way

Verbs raise why the report can't be read. Those that return a Lookup ask nothing yet: whoever calls them asks
its `queries`, and its `read` turns the answers into the value.
"""

from lib.insight import (
    cost,
    dead_search,
    dossier,
    evidence,
    expected,
    goal,
    overlap,
    seat_prices,
    supply_path,
    win_prices,
)
from lib.insight.assessor import Assessor
from lib.insight.cost import TargetCost
from lib.insight.dead_search import DeadSearch
from lib.insight.deal_report import DealReport
from lib.insight.dossier import Dossier
from lib.insight.evidence import Evidence
from lib.insight.forecast import Forecast
from lib.insight.overlap import SharedInventory
from lib.insight.seat_prices import SeatPrices
from lib.insight.supply_path import SupplyPath
from lib.insight.win_prices import WinFields

__all__ = [
    "Assessor",
    "DeadSearch",
    "Dossier",
    "Evidence",
    "Forecast",
    "Insight",
    "SeatPrices",
    "SharedInventory",
    "SupplyPath",
    "TargetCost",
]


class Insight(DealReport):
    """A report and who asks it, as DealReport has them; a verb is a function of its file, about this one."""

    available, expected = expected.available, expected.of_targeting
    dossier, goals = dossier.dossier, goal.goal_deliveries
    dead_targets = dead_search.search
    evidence, evidence_days = evidence.lookup, evidence.days_around
    overlap, two_prices = overlap.lookup, staticmethod(overlap.two_prices)
    supply_path, unauthorized_shares = supply_path.lookup, supply_path.unauthorized_shares
    target_costs = cost.lookup
    seat_prices, daily_wins = seat_prices.lookup, seat_prices.daily_lookup
    win_prices, win_scales = win_prices.lookup, win_prices.win_scales

    @property
    def win_fields(self) -> WinFields | None:
        """What the win CPM and the wins are called; None where the report lacks one."""
        return win_prices.win_fields(self.slicer)
