"""Operations of a running desk: is it alive, is it ready, and how busy is it?"""

from lib.operations.meter import Meter, Observed, OpenTabs
from lib.operations.readiness import Readiness, probes
from lib.operations.routes import routes

__all__ = ["Meter", "Observed", "OpenTabs", "Readiness", "probes", "routes"]
