"""A supply package with its demand deals, set up in one go."""

from lib.ui.deals.new_package import screen
from lib.ui.kit import frame

context = frame.signed_in()
screen.draw(context)
