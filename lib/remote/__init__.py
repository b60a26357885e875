"""Remote services: connections to them (lines), and the clients of a deals service (deals)."""

from lib.remote.deals import RemoteDeals
from lib.remote.lines import Line, deals_line, reporting_line

__all__ = ["Line", "RemoteDeals", "deals_line", "reporting_line"]
