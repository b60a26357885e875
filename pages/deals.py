"""Supply packages and demand deals: found, looked at, changed."""

from lib.ui.deals import screen
from lib.ui.kit import frame

here = frame.signed_in()
screen.draw(here)
