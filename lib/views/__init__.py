"""People's own records: saved views, chosen leaderboards, notes on dates, alerts, mails, lists of deals."""

from lib.views.boards import COLUMNS, Board, BoardCell, BoardPart
from lib.views.deal_entries import DealLists, EntriesScope
from lib.views.entries import NamedEntries
from lib.views.models import ALERT_RULES, Alert, AlertRule, AlertState, DealEntry, Note, OwnMetric, SavedView
from lib.views.notes import mentions
from lib.views.share_links import ShareLink, ShareLinks
from lib.views.store import ViewStore
from lib.views.subscriptions import Pace, Schedule, Subscription

__all__ = [
    "ALERT_RULES", "COLUMNS", "Alert", "AlertRule", "AlertState", "Board", "BoardCell", "BoardPart",
    "DealEntry", "DealLists", "EntriesScope", "NamedEntries", "Note", "OwnMetric", "Pace", "SavedView",
    "Schedule", "ShareLink", "ShareLinks", "Subscription", "ViewStore", "mentions",
]  # fmt: skip
