"""Remote services: connections to them (lines), and the clients of a deals service (deals)."""

from lib.serving.remote.deals import RemoteDeals
from lib.serving.remote.lines import Line, deals_line, reporting_line

__all__ = ["Line", "RemoteDeals", "deals_line", "reporting_line"]
