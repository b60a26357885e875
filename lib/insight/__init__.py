"""What reports and deals say together. You may ignore what is behind; others import from here.

    Insight(project, slicer, …)   a report, who asks it, and the verbs: evidence, expected, dead_targets,
                                  dossier, goal, overlap, seat_prices, supply_path, target_costs, …
    Assessor(report, …)           the health of deals and its causes, batch by batch, also without a report
    Forecast                      a figure of a booked period, with its 95 % range
    Dossier, Evidence             both sides of a deal by day; figures before and after a change
    SharedInventory, SupplyPath   what two packages share; which sites and apps authorize us
    SeatPrices, TargetCost        what seats won at; what each target costs or adds
    DeadSearch                    a search for targets without a bid, under way

Verbs raise why the report can't be read. Those that return a Lookup ask nothing yet: whoever calls them asks
its `queries`, and its `read` turns the answers into the value.
"""

from lib.insight.assessor import Assessor
from lib.insight.cost import TargetCost
from lib.insight.dead_search import DeadSearch
from lib.insight.dossier import Dossier
from lib.insight.evidence import Evidence
from lib.insight.forecast import Forecast
from lib.insight.insight import Insight
from lib.insight.overlap import SharedInventory
from lib.insight.seat_prices import SeatPrices
from lib.insight.supply_path import SupplyPath

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
