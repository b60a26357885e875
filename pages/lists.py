"""Domain and app lists, which packages target or exclude."""

from lib.ui.deals.lists import screen
from lib.ui.kit import frame

context = frame.signed_in()
screen.draw(context)
