"""For administrators: where reports and deals come from, and whether each service answers."""

from lib.ui.admin import services
from lib.ui.kit import frame

here = frame.signed_in()
services.draw(here)
