"""People's own records about a slicer: saved views, chosen leaderboards, notes on dates, alerts."""

from lib.views.kept import Kept
from lib.views.models import (
    ALERT_RULES,
    LONGEST_NAME,
    LONGEST_NOTE,
    Alert,
    AlertRule,
    AlertState,
    Note,
    SavedView,
)

__all__ = [
    "ALERT_RULES",
    "LONGEST_NAME",
    "LONGEST_NOTE",
    "Alert",
    "AlertRule",
    "AlertState",
    "Kept",
    "Note",
    "SavedView",
]
