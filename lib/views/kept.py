"""All stores of one person: their own entries, and those that they see of others."""

from dataclasses import dataclass

from lib.views.alerts import Alerts
from lib.views.cards import ChosenCards
from lib.views.deal_entries import DealLists, EntriesScope, PackageTemplates
from lib.views.notes import Notes
from lib.views.saved import SavedViews
from lib.views.scope import Scope
from lib.views.start import StartView


@dataclass(frozen=True)
class Kept:
    """The stores of one person. Their methods raise StoreUnavailable where the database can't be used.

    `deals_service` is the remote deals service, empty if embedded.
    """

    scope: Scope
    deals_service: str = ""

    @property
    def views(self) -> SavedViews:
        """Saved views."""
        return SavedViews(self.scope)

    @property
    def deal_lists(self) -> DealLists:
        """Saved lists of packages and deals."""
        return DealLists(self._of_deals)

    @property
    def templates(self) -> PackageTemplates:
        """Templates of packages."""
        return PackageTemplates(self._of_deals)

    @property
    def start(self) -> StartView:
        """The start page."""
        return StartView(self.scope)

    @property
    def cards(self) -> ChosenCards:
        """The chosen leaderboards."""
        return ChosenCards(self.scope)

    @property
    def notes(self) -> Notes:
        """Notes on dates."""
        return Notes(self.scope)

    @property
    def alerts(self) -> Alerts:
        """The person's alerts."""
        return Alerts(self.scope)

    @property
    def _of_deals(self) -> EntriesScope:
        return EntriesScope(self.scope.engine, self.deals_service, self.scope.person)
