"""Access: tokens for scripts; for administrators, people, their roles and permissions."""

from lib.ui.admin import access
from lib.ui.kit import frame

context = frame.signed_in()
access.draw(context)
