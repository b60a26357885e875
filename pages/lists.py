"""Domain and app lists, which packages target or exclude."""

from lib.ui.deals.lists import screen
from lib.ui.kit import frame

here = frame.signed_in()
screen.draw(here)
