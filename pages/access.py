"""Who may ask: tokens for scripts; for an administrator, people, their roles and what they may see."""

from lib.ui.access import screen
from lib.ui.frame import frame

here = frame.signed_in()
screen.draw(here)
