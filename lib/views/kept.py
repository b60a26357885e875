"""All that one person keeps here, and sees of what others keep."""

from dataclasses import dataclass

from lib.views.alerts import Alerts
from lib.views.cards import ChosenCards
from lib.views.notes import Notes
from lib.views.saved import SavedViews
from lib.views.scope import Scope
from lib.views.start import StartView


@dataclass(frozen=True)
class Kept:
    """The stores of one person. Their methods raise StoreUnavailable where the database can't be used."""

    scope: Scope

    @property
    def views(self) -> SavedViews:
        """Saved views."""
        return SavedViews(self.scope)

    @property
    def start(self) -> StartView:
        """The view that the desk opens on."""
        return StartView(self.scope)

    @property
    def cards(self) -> ChosenCards:
        """The leaderboards chosen for slicers."""
        return ChosenCards(self.scope)

    @property
    def notes(self) -> Notes:
        """Notes on dates."""
        return Notes(self.scope)

    @property
    def alerts(self) -> Alerts:
        """The figures that the person watches."""
        return Alerts(self.scope)
