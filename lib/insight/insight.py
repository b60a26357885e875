"""A report, and the verbs of what it says together with deals."""

from lib.insight import (
    cost,
    dead_search,
    dossier,
    evidence,
    expected,
    goal,
    overlap,
    price_scales,
    seat_prices,
    supply_path,
    win_prices,
)
from lib.insight.deal_report import DealReport
from lib.insight.win_prices import WinFields


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
    win_prices, win_scales = win_prices.lookup, price_scales.win_scales

    @property
    def win_fields(self) -> WinFields | None:
        """What the win CPM and the wins are called; None where the report lacks one."""
        return win_prices.win_fields(self.slicer)
