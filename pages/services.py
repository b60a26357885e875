"""For administrators: where reports and deals come from, and whether each service answers."""

from lib.ui.frame import frame
from lib.ui.services import screen

here = frame.signed_in()
screen.draw(here)
