"""Supply packages and demand deals: found, looked at, changed."""

from lib.ui import frame
from lib.ui.deals import screen

here = frame.signed_in()
screen.draw(here)
