"""Domain and app lists, which packages target or exclude."""

from lib.ui.frame import frame
from lib.ui.lists import screen

here = frame.signed_in()
screen.draw(here)
