"""What people keep about a slicer: saved views (named questions), chosen leaderboards, notes on dates."""

from lib.views.kept import Kept
from lib.views.models import LONGEST_NAME, LONGEST_NOTE, Note, SavedView

__all__ = ["LONGEST_NAME", "LONGEST_NOTE", "Kept", "Note", "SavedView"]
