"""All deals by what they bring and what they need, and a plan of changes."""

from lib.ui.deals import portfolio
from lib.ui.kit import frame

context = frame.signed_in()
portfolio.draw(context)
