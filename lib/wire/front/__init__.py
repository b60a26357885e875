"""The checks that every request passes before the desk or an API gets it, and the headers of every answer."""

from lib.wire.front.chart_later import ChartLater
from lib.wire.front.company_routes import OUTCOME, CompanyRoutes
from lib.wire.front.desk_routes import DeskRoutes
from lib.wire.front.document import DeskDocument
from lib.wire.front.guarded import guarded
from lib.wire.front.policy import inline_scripts
from lib.wire.front.preloads import Preloads

__all__ = [
    "OUTCOME",
    "ChartLater",
    "CompanyRoutes",
    "DeskDocument",
    "DeskRoutes",
    "Preloads",
    "guarded",
    "inline_scripts",
]
