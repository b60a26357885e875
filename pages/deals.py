"""Supply packages and demand deals: found, looked at, changed."""

from lib.ui.deals import screen
from lib.ui.kit import frame

context = frame.signed_in()
screen.draw(context)
