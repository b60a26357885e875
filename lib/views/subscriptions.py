"""The store of mail subscriptions: a person has a saved view, or their alerts, sent to them by mail."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, time, timedelta
from typing import Any, Final, Literal, get_args

from sqlalchemy import Connection, Row, delete, func, insert, select, update

from lib.database import from_row
from lib.people.tables import made_by
from lib.views.boards import Boards
from lib.views.entries import SavedViews, Scope
from lib.views.tables import boards, mail_subscriptions, saved_views
from lib.wire import time_zones
from lib.wire.errors import AccessError, BadRequest, UnknownName
from lib.wire.text import is_mailable

Pace = Literal["daily", "weekly", "import", "alerts"]
PACES: tuple[Pace, ...] = get_args(Pace)
MOST_SUBSCRIPTIONS, DAY_MINUTES, WEEK_DAYS = 50, 24 * 60, 7
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
ADDITION: Final = "mail added"
REMOVAL: Final = "mail removed"
AT_ONCE = {"data": ""}  # the mark of a mail that is to be sent whether the data are new or not
NO_MAIL = "This mail is not there any more"
OF_THE_VIEW = ("project", "slicer", "is_shared")
WITH_VIEWS = (
    select(
        mail_subscriptions, saved_views.c.name.label("view_name"),
        *(saved_views.c[name] for name in OF_THE_VIEW), saved_views.c.owner.label("view_owner"),
        saved_views.c.created.label("view_created"), boards.c.name.label("board_name"),
        boards.c.is_shared.label("board_shared"), boards.c.owner.label("board_owner"),
        boards.c.created.label("board_created"),
    )
    .outerjoin(saved_views, saved_views.c.id == mail_subscriptions.c.view_id)
    .outerjoin(boards, boards.c.id == mail_subscriptions.c.board_id)
    .order_by(mail_subscriptions.c.id)
)  # fmt: skip


@dataclass(frozen=True)
class Schedule:
    """When a mail comes. BadRequest, or UnknownName for a zone, where that can't be."""

    pace: Pace = "daily"
    zone: str = "UTC"
    minute: int = 8 * 60
    weekday: int = 0

    def __post_init__(self) -> None:
        if self.pace not in PACES:
            raise UnknownName("pace", self.pace, PACES)
        if self.zone not in time_zones.names():
            raise UnknownName("time zone", self.zone, time_zones.names())
        if not 0 <= self.minute < DAY_MINUTES or not 0 <= self.weekday < WEEK_DAYS:
            raise BadRequest("A mail comes at a minute of the day, 0 to 1439, on a weekday, 0 to 6")

    @property
    def words(self) -> str:
        """When it comes, as the end of a sentence: `daily at 08:00 (Europe/Zurich)`."""
        at = f"{self.minute // 60:02}:{self.minute % 60:02} ({self.zone})"
        match self.pace:
            case "daily":
                return f"daily at {at}"
            case "weekly":
                return f"on {WEEKDAYS[self.weekday]}s at {at}"
            case "import":
                return "after each import"
        return "when alerts fire or clear"

    @property
    def title(self) -> str:
        return self.words[0].upper() + self.words[1:]

    def next_after(self, now: datetime) -> datetime:
        """The first time after `now`, in UTC; `now` itself for what follows imports or alerts.

        An hour that the clock skips in spring is the hour after it; of one that comes twice in autumn the
        first counts, so that each day has one mail (PEP 495, fold=0).
        """
        if self.pace in ("import", "alerts"):
            return now
        zone = time_zones.zone(self.zone)
        clock = time(self.minute // 60, self.minute % 60)
        today = now.astimezone(zone).date()
        days = [today + timedelta(days=shift) for shift in range(WEEK_DAYS + 1)]
        if self.pace == "weekly":
            days = [day for day in days if day.weekday() == self.weekday]
        times = (datetime.combine(day, clock, zone).astimezone(UTC) for day in days)
        return next(moment for moment in times if moment > now)


@dataclass(frozen=True, slots=True)
class Subscription:
    """A mail that comes again and again: of a saved view, of a board, or of all alerts of its owner.

    `minute` of the day (0 to 1439) and `weekday` (0 is Monday) are in the zone of the reader. `recipient` is
    an address without an account; empty: the owner's own. `due` is when it is looked at next, `mark` what the
    last mail was about, `failures` how often in a row it failed, and `problem` why. `request` is of a mail
    that is not sent yet: its Message-ID, when it was due, and its questions. Where the reader of this object
    can't see the view or board, its name is empty.
    """

    id: int
    view_id: int | None
    view_name: str
    project: str
    slicer: str
    owner: str
    created: datetime
    recipient: str
    pace: Pace
    zone: str
    minute: int
    weekday: int
    only_new: bool
    with_snapshot: bool
    due: datetime
    mark: Mapping[str, Any]
    failures: int
    problem: str
    sent: datetime | None
    board_id: int | None
    board_name: str
    request: Mapping[str, Any]

    @property
    def is_of_alerts(self) -> bool:
        """Whether it is about its owner's alerts."""
        return self.view_id is None and self.board_id is None

    @property
    def is_going(self) -> bool:
        """Whether it is to be sent at once, and has not been."""
        return self.mark == AT_ONCE and not self.problem

    @property
    def schedule(self) -> Schedule:
        return Schedule(self.pace, self.zone, self.minute, self.weekday)

    @property
    def next_time(self) -> datetime | None:
        """When the next mail comes, if that is known: not after imports, nor of alerts."""
        return self.due if self.pace in ("daily", "weekly") else None


@dataclass(frozen=True)
class Subscriptions:
    """The mail subscriptions that a person may see: their own, an administrator everybody's.

    `note` gets each change in words, for the audit log.
    """

    scope: Scope
    note: Callable[[str, str], None] = lambda event, detail: None

    def all(self) -> list[Subscription]:
        """Those that the person may see."""
        is_admin = self.scope.person.role == "admin"
        query = WITH_VIEWS.where(mail_subscriptions.c.service == self.scope.service)
        return [self._seen_by_me(row) for row in self.scope.rows(query) if is_admin or self._is_mine(row)]

    def mine(self) -> list[Subscription]:
        return [mail for mail in self.all() if self.scope.owns(mail.owner, mail.created)]

    def add(
        self,
        view_id: int | None,
        schedule: Schedule,
        *,
        only_new: bool = False,
        with_snapshot: bool = False,
        recipient: str = "",
        board_id: int | None = None,
    ) -> Subscription:
        """Have a view or a board mailed (without either: one's alerts), in place of the same mail to the same
        recipient.

        `recipient` is an address without an account, for those who may share. BadRequest where the view or
        board can't be seen, for an address that is none, and beyond 50 mails; AccessError where the person
        may not share.
        """
        self._check(view_id, board_id, schedule, recipient)
        now, columns = datetime.now(UTC), mail_subscriptions.c
        about = {
            "owner": self.scope.person.username, "service": self.scope.service, "view_id": view_id,
            "board_id": board_id, "recipient": recipient,
        }  # fmt: skip
        same = [columns[name].is_not_distinct_from(value) for name, value in about.items()]
        values = {
            **about, **asdict(schedule), "only_new": only_new, "with_snapshot": with_snapshot, "created": now,
            "due": schedule.next_after(now), "mark": {}, "failures": 0, "problem": "",
            "request": {},
        }  # fmt: skip
        with self.scope.write() as connection:
            connection.execute(delete(mail_subscriptions).where(*same))
            mine = made_by(self.scope.person, columns.owner, columns.created)
            count = select(func.count()).select_from(mail_subscriptions).where(*mine)
            if connection.execute(count).scalar_one() >= MOST_SUBSCRIPTIONS:
                raise BadRequest(f"You have {MOST_SUBSCRIPTIONS} mails: stop one first")
            addition = insert(mail_subscriptions).values(values).returning(mail_subscriptions.c.id)
            number = connection.execute(addition).scalar_one()
            row = connection.execute(WITH_VIEWS.where(mail_subscriptions.c.id == number)).one()
        subscription = self._seen_by_me(row)
        self.note(ADDITION, describe(subscription))
        return subscription

    def _check(self, view_id: int | None, board_id: int | None, schedule: Schedule, recipient: str) -> None:
        is_of_alerts = view_id is None and board_id is None
        if recipient and not self.scope.person.may_share:
            raise AccessError("Only people who may share can mail a view to somebody without an account")
        if recipient and (is_of_alerts or not is_mailable(recipient)):
            raise BadRequest(f"Mails can't be sent to '{recipient}': name one address, like ada@example.com")
        if is_of_alerts != (schedule.pace == "alerts") or None not in (view_id, board_id):
            raise BadRequest("A mail is about a saved view, about a board, or about alerts")
        if board_id is not None and Boards(self.scope).get(board_id) is None:
            raise BadRequest("This board is not there any more")
        if view_id is not None and SavedViews(self.scope).get(view_id) is None:
            raise BadRequest("This view is not there any more")

    def remove(self, number: int) -> None:
        """Stop a mail; BadRequest where it is gone, AccessError for another person's."""
        with self.scope.write() as connection:
            row = self._changeable(connection, number)
            connection.execute(delete(mail_subscriptions).where(mail_subscriptions.c.id == number))
        self.note(REMOVAL, describe(self._seen_by_me(row)))

    def send_now(self, number: int) -> None:
        """Have a mail sent at once, whether the data are new or not; errors as of `remove`."""
        changes = {"mark": AT_ONCE, "failures": 0, "problem": "", "request": {}}
        change = update(mail_subscriptions).where(mail_subscriptions.c.id == number)
        with self.scope.write() as connection:
            self._changeable(connection, number)
            connection.execute(change.values(**changes, due=datetime.now(UTC)))

    def _changeable(self, connection: Connection, number: int) -> Row[Any]:
        row = connection.execute(WITH_VIEWS.where(mail_subscriptions.c.id == number)).one_or_none()
        if row is None or row.service != self.scope.service:
            raise BadRequest(NO_MAIL)
        if self.scope.person.role != "admin" and not self._is_mine(row):
            raise AccessError
        return row

    def _is_mine(self, row: Row[Any]) -> bool:
        return self.scope.owns(row.owner, row.created)

    def _seen_by_me(self, row: Row[Any]) -> Subscription:
        scope = self.scope
        is_view_seen = scope.sees_of(row.view_owner, row.view_created, row.is_shared)
        is_view_seen = is_view_seen and scope.person.may_see(row.project, row.slicer)
        is_board_seen = scope.sees_of(row.board_owner, row.board_created, row.board_shared)
        return subscription_of(row, is_board_seen or is_view_seen)


def subscription_of(row: Row[Any], is_seen: bool = True) -> Subscription:
    """The subscription of a row of `WITH_VIEWS`; without the name of a view or board that is not seen."""
    about = {name: row._mapping[name] or "" for name in ("project", "slicer")}
    names = {name: row._mapping[name] or "" if is_seen else "" for name in ("view_name", "board_name")}
    return from_row(Subscription, row, **about, **names)


def describe(subscription: Subscription) -> str:
    """What a subscription is, for the audit log: the name of a view is its owner's, and not in it."""
    what = "alerts" if subscription.is_of_alerts else f"view {subscription.view_id}"
    what = what if subscription.board_id is None else f"board {subscription.board_id}"
    about = f" of {subscription.project}/{subscription.slicer}" if subscription.project else ""
    to = f", to {subscription.recipient}" if subscription.recipient else ""
    return f"{what}{about}, {subscription.pace}, of {subscription.owner}{to}"
