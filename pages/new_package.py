"""A supply package with its demand deals, set up in one go."""

from lib.ui import frame
from lib.ui.package import screen

here = frame.signed_in()
screen.draw(here)
