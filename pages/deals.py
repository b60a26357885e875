"""Supply packages and demand deals: found, looked at, changed."""

from lib.ui.deals import screen
from lib.ui.frame import frame

here = frame.signed_in()
screen.draw(here)
