"""Boards: saved views side by side, over one or several slicers."""

from lib.ui.audience.boards import screen
from lib.ui.kit import frame

screen.draw(frame.signed_in())
