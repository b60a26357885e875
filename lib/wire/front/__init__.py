"""The checks that every request passes before the desk or an API gets it, and the headers of every answer."""

from lib.wire.front.company_routes import OUTCOME, CompanyRoutes
from lib.wire.front.desk_routes import DeskRoutes
from lib.wire.front.document import DocumentScript
from lib.wire.front.guarded import guarded
from lib.wire.front.policy import inline_scripts

__all__ = ["OUTCOME", "CompanyRoutes", "DeskRoutes", "DocumentScript", "guarded", "inline_scripts"]
