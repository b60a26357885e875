"""For administrators: where reports and deals come from, and whether each service answers."""

from lib.ui.admin import services
from lib.ui.kit import frame

context = frame.signed_in()
services.draw(context)
