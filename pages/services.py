"""For administrators: where reports and deals come from, and whether each service answers."""

from lib.ui import frame, services

here = frame.signed_in()
services.draw(here)
