"""Forecasts and what came of them: how often their ranges held, the misses first."""

from lib.ui.deals import forecasts
from lib.ui.kit import frame

context = frame.signed_in()
forecasts.draw(context)
