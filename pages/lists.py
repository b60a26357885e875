"""Domain and app lists, which packages target or exclude."""

from lib.ui.deals.inventory import lists
from lib.ui.kit import frame

context = frame.signed_in()
lists.draw(context)
