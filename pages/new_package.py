"""A supply package with its demand deals, set up in one go."""

from lib.ui.frame import frame
from lib.ui.new_package import screen

here = frame.signed_in()
screen.draw(here)
