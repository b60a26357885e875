"""Messages that wait for the mail server, and `tell`, which puts one there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, or_, select, update

from lib.database import DatabaseScope
from lib.people import Person
from lib.settings import Settings
from lib.share.mail.letter import Letter, Part, message
from lib.views.subscriptions import WITH_VIEWS, Subscription, subscription_of
from lib.views.tables import mail_messages, mail_subscriptions
from lib.wire.text import is_mailable

AT_ONCE = 50
CLAIM = timedelta(minutes=5)
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 720))
LONGEST_PAUSE = PAUSES[-1]


@dataclass(frozen=True, slots=True)
class MailMessage:
    """A mail that is to be sent, the owner of what it says, and how often that was tried.

    `project` and `slicer` are what it shows figures of, empty where it shows none.
    """

    id: int
    subscription_id: int | None
    owner: str
    recipient: str
    project: str
    slicer: str
    body: str
    created: datetime
    attempts: int


def send(
    engine: Engine, settings: Settings, owner: Person, recipient: str, subject: str, *parts: Part
) -> bool:
    """Mail this to an address, soon, in the name of a person; whether the desk can.

    StoreUnavailable without the database.
    """
    if not settings.smtp_host or not is_mailable(recipient):
        return False
    mail = message(Letter(subject, parts), settings.mail_from, recipient)
    values = waiting_mail(None, owner.username, recipient, bytes(mail), datetime.now(UTC))
    DatabaseScope(engine).execute(insert(mail_messages).values(values))
    return True


def tell(engine: Engine, settings: Settings, person: Person, subject: str, *parts: Part) -> bool:
    """Mail this to a person, soon; whether they have an address, and the desk a mail server."""
    return send(engine, settings, person, person.email or "", subject, *parts)


def waiting_mail(
    subscription: Subscription | None, owner: str, recipient: str, body: bytes, now: datetime
) -> dict[str, Any]:
    """The row of a mail that is due now. Mails are ASCII: texts in them are encoded (RFC 2045)."""
    return {
        "subscription_id": None if subscription is None else subscription.id, "owner": owner,
        "recipient": recipient, "project": "" if subscription is None else subscription.project,
        "slicer": "" if subscription is None else subscription.slicer, "body": body.decode("ascii"),
        "created": now, "attempts": 0, "due": now,
    }  # fmt: skip


@dataclass(frozen=True)
class Outbox(DatabaseScope):
    """The sender's side of the store: due subscriptions of a reporting service, and waiting messages."""

    service: str

    def due(self, now: datetime) -> list[Subscription]:
        """The subscriptions that are due, the longest waiting first."""
        mine = mail_subscriptions.c.service == self.service
        query = WITH_VIEWS.where(mine, mail_subscriptions.c.due <= now)
        return [subscription_of(row) for row in self.rows(query)]

    def board_slicers(self, mail: MailMessage) -> list[list[str]]:
        """The slicers, each a project and a name, that a mail of a board shows figures of; else none."""
        mine = mail_subscriptions.c.id == mail.subscription_id
        row = self.row(select(mail_subscriptions.c.mark).where(mine))
        return [] if row is None else [*row.mark.get("slicers", ())]

    def settle(
        self, before: Subscription, changes: Mapping[str, Any], message: Mapping[str, Any] | None = None
    ) -> bool:
        """Write down what came of a subscription that was due, with its mail, in one transaction.

        False, and nothing is written, where another desk was first or it was stopped meanwhile: `due` and
        `mark` are then others. So a mail is made once, however many desks look at the same moment.
        """
        same = (
            mail_subscriptions.c.id == before.id,
            mail_subscriptions.c.due == before.due,
            mail_subscriptions.c.created == before.created,
        )
        change = update(mail_subscriptions).where(*same).values(**changes)
        with self.write() as connection:
            if connection.execute(change).rowcount != 1:
                return False
            if message is not None:
                connection.execute(insert(mail_messages).values(**message))
            return True

    def waiting(self, now: datetime) -> list[MailMessage]:
        """Messages that are due, the oldest first; fifty at most."""
        query = select(mail_messages).where(_is_due(now)).order_by(mail_messages.c.id).limit(AT_ONCE)
        rows = (row._mapping for row in self.rows(query))
        return [MailMessage(**{name: value for name, value in row.items() if name != "due"}) for row in rows]

    def claim(self, message: MailMessage, now: datetime) -> bool:
        """Claim a due message, so that no other desk sends it meanwhile; False if another has claimed it.

        One whose process ends while sending is sent again: at least once.
        """
        mine = mail_messages.c.id == message.id, _is_due(now)
        with self.write() as connection:
            change = update(mail_messages).where(*mine).values(due=now + CLAIM)
            return connection.execute(change).rowcount == 1

    def finish(self, message: MailMessage, now: datetime) -> None:
        """It arrived at the mail server."""
        self._end(message, {"sent": now, "problem": ""})

    def give_up(self, message: MailMessage, problem: str) -> None:
        """Forget a message that can't be sent; its subscription says why."""
        self._end(message, {"problem": problem})

    def postpone(self, message: MailMessage, due: datetime, problem: str) -> None:
        """Try again then; its subscription says why."""
        values = {"attempts": message.attempts + 1, "due": due}
        with self.write() as connection:
            connection.execute(update(mail_messages).where(mail_messages.c.id == message.id).values(values))
            self._note(connection, message, {"problem": problem})

    def _end(self, message: MailMessage, values: Mapping[str, Any]) -> None:
        with self.write() as connection:
            connection.execute(delete(mail_messages).where(mail_messages.c.id == message.id))
            self._note(connection, message, values)

    def _note(self, connection: Connection, message: MailMessage, values: Mapping[str, Any]) -> None:
        if message.subscription_id is not None:
            mine = mail_subscriptions.c.id == message.subscription_id
            connection.execute(update(mail_subscriptions).where(mine).values(**values))


def _is_due(now: datetime) -> ColumnElement[bool]:
    """Whether a message's time has come, or was set before the clock was set back: no pause is that long."""
    due = mail_messages.c.due
    return or_(due <= now, due > now + LONGEST_PAUSE)
