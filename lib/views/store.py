"""All stores of one person: views, notes, start page, leaderboards; own entries and shared ones."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Row, Table, delete, insert, select

from lib.views.alerts import Alerts
from lib.views.boards import Board, Boards
from lib.views.deal_entries import DealLists, EntriesScope, PackageTemplates
from lib.views.entries import OwnMetrics, SavedViews, Scope
from lib.views.models import LONGEST_PARAMS, SavedView
from lib.views.notes import Notes
from lib.views.share_links import ShareLinks
from lib.views.subscriptions import Subscriptions
from lib.views.tables import chosen_cards, start_boards, start_views
from lib.wire.errors import BadRequest


@dataclass(frozen=True)
class ChosenCards:
    """A person's choices: a text per slicer, as in links."""

    scope: Scope

    def get(self, project: str, slicer: str) -> str:
        """The choice, or an empty text. AccessError if the person may not see the slicer."""
        row = self.scope.row(select(chosen_cards).where(*self._mine(project, slicer)))
        return str(row.cards) if row is not None and self.scope.person.had_name(row.at) else ""

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
    """The saved view, or the board, that a person chose as start page."""

    scope: Scope

    def get(self) -> SavedView | None:
        """The view; None without one, or if the person may no longer see it."""
        row = self._row(start_views)
        return None if row is None else SavedViews(self.scope).get(row.view_id)

    def board(self) -> Board | None:
        row = self._row(start_boards)
        return None if row is None else Boards(self.scope).get(row.board_id)

    def set(self, number: int | None) -> None:
        """Set a view as start page, or remove it with None. BadRequest if the person can't see the view."""
        if number is not None and SavedViews(self.scope).get(number) is None:
            raise BadRequest("This view is not there any more")
        self._set(start_views, "view_id", number)

    def set_board(self, number: int | None) -> None:
        if number is not None and Boards(self.scope).get(number) is None:
            raise BadRequest("This board is not there any more")
        self._set(start_boards, "board_id", number)

    def _row(self, table: Table) -> Row[Any] | None:
        row = self.scope.row(select(table).where(*self._mine(table)))
        return row if row is not None and self.scope.person.had_name(row.at) else None

    def _set(self, table: Table, column: str, number: int | None) -> None:
        """Set this start page in place of any other."""
        values = {"username": self.scope.person.username, "service": self.scope.service, column: number}
        add = [] if number is None else [insert(table).values(**values, at=datetime.now(UTC))]
        removals = [delete(each).where(*self._mine(each)) for each in (start_views, start_boards)]
        self.scope.execute(*removals, *add)

    def _mine(self, table: Table) -> tuple[Any, ...]:
        mine = table.c.username == self.scope.person.username
        return mine, table.c.service == self.scope.service


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
    def boards(self) -> Boards:
        return Boards(self.scope)

    @property
    def metrics(self) -> OwnMetrics:
        return OwnMetrics(self.scope, self.note)

    @property
    def share_links(self) -> ShareLinks:
        return ShareLinks(self.scope, self.deals_service, self.note)

    @property
    def deal_lists(self) -> DealLists:
        return DealLists(self._of_deals)

    @property
    def deal_columns(self) -> ChosenColumns:
        """The chosen columns of the lists of packages and deals."""
        return ChosenColumns(self._of_deals)

    @property
    def templates(self) -> PackageTemplates:
        return PackageTemplates(self._of_deals)

    @property
    def start(self) -> StartView:
        return StartView(self.scope)

    @property
    def cards(self) -> ChosenCards:
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
