"""Messages that wait for the mail server, and `tell`, which puts one there."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Engine, insert, update

from lib.database import DatabaseScope
from lib.people import Person
from lib.settings import Settings
from lib.share.mail.letter import Letter, Link, Part, message
from lib.share.messages import Message, MessageQueue
from lib.views.share_links import SharedDeal
from lib.views.subscriptions import WITH_VIEWS, Subscription, subscription_of
from lib.views.tables import mail_messages, mail_subscriptions
from lib.wire.text import is_mailable

PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 60, 240, 720))
About = tuple[str, str] | SharedDeal


@dataclass(frozen=True, slots=True)
class MailMessage(Message):
    """A mail that is to be sent as it is, in whose name, and how often that was tried.

    It is about a slicer of a project, or about none (empty); or about a deal, as it is with this seat.
    """

    owner: str
    recipient: str
    project: str
    slicer: str
    body: str
    created: datetime
    deal: int | None
    seat: int | None


def send(
    engine: Engine,
    settings: Settings,
    owner: Person,
    recipient: str,
    subject: str,
    *parts: Part,
    about: About = ("", ""),
) -> bool:
    """Mail this to an address, soon, in the name of a person; whether the desk can.

    `about` is the slicer or the deal, if it is about one: it is sent as long as the person may see that, and
    the deal is its seat's. Parts have no figures of reports: what waits is sent as it is. StoreUnavailable
    without the database.
    """
    if not settings.mail.smtp_host or not is_mailable(recipient):
        return False
    now = datetime.now(UTC)
    letter = message(Letter(subject, parts), settings.mail.mail_from, recipient)
    body = bytes(letter).decode("ascii")  # RFC 2045
    project, slicer = ("", "") if isinstance(about, SharedDeal) else about
    deal, seat = (about.id, about.seat) if isinstance(about, SharedDeal) else (None, None)
    values = {
        "owner": owner.username, "recipient": recipient, "project": project, "slicer": slicer,
        "deal": deal, "seat": seat, "body": body, "created": now, "attempts": 0, "due": now,
    }  # fmt: skip
    DatabaseScope(engine).execute(insert(mail_messages).values(values))
    return True


def tell(
    engine: Engine,
    settings: Settings,
    person: Person,
    subject: str,
    *parts: Part,
    link: tuple[str, str] = ("", ""),
    about: About = ("", ""),
) -> bool:
    """Mail this to a person, soon; whether they have an address, and the desk a mail server.

    `link` is a label and a path on the desk, left out where the desk's address is not known.
    """
    if link[0] and settings.address:
        parts = (*parts, Link(link[0], f"{settings.address}/{link[1]}"))
    return send(engine, settings, person, person.email or "", subject, *parts, about=about)


@dataclass(frozen=True)
class Outbox(MessageQueue[MailMessage]):
    """The sender's side of the store: due subscriptions of a reporting service, and waiting messages."""

    table, shape, most, pauses = mail_messages, MailMessage, 50, PAUSES
    service: str

    def due(self, now: datetime) -> list[Subscription]:
        """The subscriptions that are due, the longest waiting first."""
        mine = mail_subscriptions.c.service == self.service
        query = WITH_VIEWS.where(mine, mail_subscriptions.c.due <= now)
        return [subscription_of(row) for row in self.rows(query)]

    def settle(self, before: Subscription, changes: Mapping[str, Any]) -> bool:
        """Write down what came, or comes, of a subscription that was due.

        False, and nothing is written, where another desk was first or it was stopped meanwhile: `due` is
        then another. So a mail is sent once, however many desks look at the same moment.
        """
        same = (
            mail_subscriptions.c.id == before.id,
            mail_subscriptions.c.due == before.due,
            mail_subscriptions.c.created == before.created,
        )
        with self.write() as connection:
            change = update(mail_subscriptions).where(*same).values(**changes)
            return connection.execute(change).rowcount == 1
