"""All stores of one person: views, notes, start page, leaderboards; own entries and shared ones."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, insert, select

from lib.views.alerts import Alerts
from lib.views.deal_entries import DealLists, EntriesScope, PackageTemplates
from lib.views.entries import SavedViews, Scope
from lib.views.models import LONGEST_PARAMS, SavedView
from lib.views.notes import Notes
from lib.views.own_metrics import OwnMetrics
from lib.views.share_links import ShareLinks
from lib.views.subscriptions import Subscriptions
from lib.views.tables import chosen_cards, start_views
from lib.wire.errors import BadRequest


@dataclass(frozen=True)
class ChosenCards:
    """A person's choices: a text per slicer, as in links."""

    scope: Scope

    def get(self, project: str, slicer: str) -> str:
        """The choice, or an empty text. AccessError if the person may not see the slicer."""
        mine, since = self._mine(project, slicer), self.scope.person.added
        row = self.scope.row(select(chosen_cards).where(*mine))
        return "" if row is None or (since is not None and row.at < since) else str(row.cards)

    def set(self, project: str, slicer: str, cards: str) -> None:
        """Store this choice; an empty text removes it. BadRequest if it is too long, AccessError as above."""
        mine = self._mine(project, slicer)
        if len(cards) > LONGEST_PARAMS:
            raise BadRequest(f"The leaderboards are too long to keep: {LONGEST_PARAMS:,} characters at most")
        values = {
            "username": self.scope.person.username, "service": self.scope.service, "project": project,
            "slicer": slicer, "cards": cards, "at": datetime.now(UTC),
        }  # fmt: skip
        add = [insert(chosen_cards).values(values)] if cards else []
        self.scope.execute(delete(chosen_cards).where(*mine), *add)

    def _mine(self, project: str, slicer: str) -> tuple[ColumnElement[bool], ...]:
        about = self.scope.about(chosen_cards, project, slicer)
        return *about, chosen_cards.c.username == self.scope.person.username


@dataclass(frozen=True)
class ChosenColumns(ChosenCards):
    """A person's columns of each list of a deals service: a text per kind, which stands for the slicer of no
    project."""

    def _mine(self, project: str, slicer: str) -> tuple[ColumnElement[bool], ...]:
        column = chosen_cards.c
        mine = column.service == self.scope.service, column.username == self.scope.person.username
        return *mine, column.project == project, column.slicer == slicer


@dataclass(frozen=True)
class StartView:
    """The saved view that a person chose as start page."""

    scope: Scope

    def get(self) -> SavedView | None:
        """The view; None without one, or if the person may no longer see it."""
        row, since = self.scope.row(select(start_views).where(*self._mine())), self.scope.person.added
        if row is None or (since is not None and row.at < since):
            return None
        return SavedViews(self.scope).get(row.view_id)

    def set(self, number: int | None) -> None:
        """Set the start page, or remove it with None. BadRequest if the person can't see the view."""
        if number is not None and SavedViews(self.scope).get(number) is None:
            raise BadRequest("This view is not there any more")
        values = {"username": self.scope.person.username, "service": self.scope.service, "view_id": number}
        add = [] if number is None else [insert(start_views).values(**values, at=datetime.now(UTC))]
        self.scope.execute(delete(start_views).where(*self._mine()), *add)

    def _mine(self) -> tuple[Any, ...]:
        mine = start_views.c.username == self.scope.person.username
        return mine, start_views.c.service == self.scope.service


@dataclass(frozen=True)
class ViewStore:
    """The stores of one person. Their methods raise StoreUnavailable where the database can't be used.

    `deals_service` is the remote deals service, empty if embedded; `note` takes changes of what others see
    too into the audit log: the event, and its details.
    """

    scope: Scope
    deals_service: str = ""
    note: Callable[[str, str], None] = lambda event, detail: None

    @property
    def views(self) -> SavedViews:
        return SavedViews(self.scope)

    @property
    def metrics(self) -> OwnMetrics:
        return OwnMetrics(self.scope, self.note)

    @property
    def share_links(self) -> ShareLinks:
        return ShareLinks(self.scope, self.deals_service, self.note)

    @property
    def deal_lists(self) -> DealLists:
        """Saved lists of packages and deals."""
        return DealLists(self._of_deals)

    @property
    def deal_columns(self) -> ChosenColumns:
        """The chosen columns of the lists of packages and deals."""
        return ChosenColumns(self._of_deals)

    @property
    def templates(self) -> PackageTemplates:
        """Templates of packages."""
        return PackageTemplates(self._of_deals)

    @property
    def start(self) -> StartView:
        return StartView(self.scope)

    @property
    def cards(self) -> ChosenCards:
        """The chosen leaderboards."""
        return ChosenCards(self.scope)

    @property
    def notes(self) -> Notes:
        """Notes on dates, and comments on views."""
        return Notes(self.scope)

    @property
    def alerts(self) -> Alerts:
        return Alerts(self.scope)

    @property
    def mails(self) -> Subscriptions:
        return Subscriptions(self.scope, self.note)

    @property
    def _of_deals(self) -> EntriesScope:
        return EntriesScope(self.scope.engine, self.deals_service, self.scope.person)
