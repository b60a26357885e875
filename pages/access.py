"""Who may ask: tokens for scripts; for an administrator, people, their roles and what they may see."""

from lib.ui import frame
from lib.ui.access import access

here = frame.signed_in()
access.draw(here)
