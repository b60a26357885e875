"""Access: tokens for scripts; for administrators, people, their roles and permissions."""

from lib.ui.access import screen
from lib.ui.frame import frame

here = frame.signed_in()
screen.draw(here)
