"""The one thread that makes mails when they are due, and sends them.

Of all desks over a database one does it. The others wait, and go on where it ends; where two work at the same
moment, a mail is made by one of them and sent by one.
"""

import logging
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Protocol

from sqlalchemy import Engine

from lib import database
from lib.people import Person
from lib.serving import connect
from lib.serving.mail_server import MailRefusal, MailServer
from lib.settings import Settings
from lib.share.mail.letter import Letter, Remark, message
from lib.share.mail.outbox import PAUSES, MailMessage, Outbox, waiting_mail
from lib.share.mail.unsubscribe import Unsubscriber
from lib.views import Alert, Board, SavedView, Subscription
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, TrancheError, Unreachable
from lib.wire.text import is_mailable

log = logging.getLogger(__name__)
FAILURE = "Mails could not be made"
BATCH_WAIT, SLOW = timedelta(seconds=60), timedelta(minutes=15)
NO_ADDRESS = "There is no e-mail address for this person: an administrator sets it (Access, People)."
NO_VIEW = "Its owner can't see this view any more."
NO_BOARD = "Its owner can't see this board, or any of its views, any more."
NO_SHARING = "Its owner may not send figures to people without an account any more."
NO_PERSON = "Its owner can't sign in any more."
Pair = tuple[str, str]


class MailWriter(Protocol):
    """Whatever writes what a mail says, with the figures that a person may see."""

    def of_view(
        self, view: SavedView, person: Person, clients: connect.Clients, with_snapshot: bool
    ) -> Letter:
        """A saved view as this person sees it. Raises the errors of the service."""

    def of_board(self, board: Board, person: Person, clients: connect.Clients, with_snapshot: bool) -> Letter:
        """A board with all of its cells, likewise."""

    def of_alerts(self, starts: Sequence[Alert], ends: Sequence[Alert]) -> Letter:
        """Alerts that fire now, and those that ceased to."""


@dataclass(frozen=True)
class _Mail:
    """A letter to be sent, and what to remember of it."""

    letter: Letter
    mark: Mapping[str, Any]


class Post:
    """Makes and sends the mails of an installation."""

    def __init__(self, settings: Settings, writer: MailWriter) -> None:
        installation = connect.installation(settings)
        engine = installation.access.store.engine
        self._settings, self._writer, self._people = settings, writer, installation.people
        self._reports, self._server = connect.Reports(installation), MailServer(settings)
        self._stop = Unsubscriber.of(engine, installation.access.audit, settings.address)
        self._marks: dict[Pair, tuple[datetime, str]] = {}
        self.outbox = Outbox(engine, settings.base_url)

    def look(self, now: datetime, is_alone: Callable[[], bool] = lambda: True) -> None:
        """Make the mails that are due, then send what waits, as long as it is this desk's work."""
        for subscription in self.outbox.due(now):
            if is_alone():
                self._make(subscription, now)
        self._deliver(now)

    def _make(self, subscription: Subscription, now: datetime) -> None:
        """Make the mail of a subscription, if there is one, or write down why there is none."""
        try:
            mail, recipient = self._mail(subscription, now)
        except TrancheError as error:
            self._postpone(subscription, error, now)
            return
        except Exception:
            log.exception("Mail %d could not be made", subscription.id)
            self._postpone(subscription, TrancheError("It could not be made; the log has the details"), now)
            return
        changes = {"due": subscription.schedule.next_after(now), "failures": 0, "problem": ""}
        if mail is None:
            if subscription.next_time is not None or subscription.failures:
                self.outbox.settle(subscription, changes)
            return
        changes["mark"] = mail.mark
        row = None
        if mail.letter.parts:
            body = self._body(mail.letter, subscription, recipient)
            row = waiting_mail(subscription, subscription.owner, recipient, body, now)
            changes.pop("problem")  # until it has arrived
        self.outbox.settle(subscription, changes, row)

    def _mail(self, subscription: Subscription, now: datetime) -> tuple[_Mail | None, str]:
        """What to send, None where there is nothing new, and to whom. Raises why that can't be."""
        person = self._people.still(subscription.owner, subscription.created)
        if person is None:
            raise AccessError(NO_PERSON)
        recipient = subscription.recipient or person.email or ""
        if not is_mailable(recipient):
            raise AccessError(NO_ADDRESS)
        if subscription.recipient and not self._may_share(person):
            raise AccessError(NO_SHARING)
        deadline = Deadline(max(self._settings.deadline_seconds, self._settings.answer_seconds))
        clients = connect.connect(person, self._settings, within=deadline)
        if subscription.is_of_alerts:
            return _of_alerts(self._writer, subscription, clients.view_store.alerts.mine(), now), recipient
        write, pairs = self._letter(subscription, person, clients)
        mark = {"data": " ".join(self._data(pair, now) for pair in pairs), "slicers": [*map(list, pairs)]}
        if subscription.board_id is None:
            mark = {"data": mark["data"]}
        if subscription.pace == "import" and not subscription.mark:
            return _Mail(Letter("", ()), mark), recipient
        if mark == subscription.mark and (subscription.only_new or subscription.pace == "import"):
            return None, recipient
        return _Mail(write(subscription.with_snapshot), mark), recipient

    def _letter(
        self, subscription: Subscription, person: Person, clients: connect.Clients
    ) -> tuple[Callable[[bool], Letter], list[Pair]]:
        """What writes the letter, and the slicers that it shows. AccessError where its owner sees none."""
        if subscription.board_id is not None:
            board = clients.view_store.boards.get(subscription.board_id)
            views = {} if board is None else clients.view_store.boards.views_of(board)
            pairs = sorted({(view.project, view.slicer) for view in views.values()} & {*clients.slicers})
            if board is None or not pairs:
                raise AccessError(NO_BOARD)
            return partial(self._writer.of_board, board, person, clients), pairs
        view = clients.view_store.views.get(subscription.view_id or 0)
        if view is None or (view.project, view.slicer) not in clients.slicers:
            raise AccessError(NO_VIEW)
        return partial(self._writer.of_view, view, person, clients), [(view.project, view.slicer)]

    def _postpone(self, subscription: Subscription, error: TrancheError, now: datetime) -> None:
        """Try again later, later each time; at last at its next time."""
        problem = f"{error.reason.rstrip('.')}."
        is_last = subscription.failures >= len(PAUSES) and subscription.next_time is not None
        pause = PAUSES[min(subscription.failures, len(PAUSES) - 1)]
        due = subscription.schedule.next_after(now) if is_last else now + pause
        failures = 0 if is_last else subscription.failures + 1
        if self.outbox.settle(subscription, {"due": due, "failures": failures, "problem": problem}):
            log.warning("Mail %d could not be made: %s", subscription.id, problem)

    def _body(self, letter: Letter, subscription: Subscription, recipient: str) -> bytes:
        why = f"Sent by Tranche {subscription.schedule.words}, set up by {subscription.owner}."
        whole = Letter(letter.subject, (*letter.parts, Remark(why)), letter.files)
        return bytes(message(whole, self._server.sender, recipient, self._stop.address(subscription)))

    def _data(self, pair: Pair, now: datetime) -> str:
        """A text that differs once a slicer's data do: after an import; where these are unknown, of its last
        day, looked at every quarter of an hour."""
        if self._reports.is_quick(*pair):
            return self._reports.version(*pair)
        at, mark = self._marks.get(pair, (now - SLOW, ""))
        if abs(now - at) >= SLOW:
            mark = str(self._reports.info(*pair).last_date)
            self._marks[pair] = now, mark
        return mark

    def _deliver(self, now: datetime) -> None:
        """Send what is due. After a failure to reach the mail server the other mails wait too."""
        if not self._server.is_set:
            return
        for mail in self.outbox.waiting(now):
            if not self.outbox.claim(mail, now):
                continue
            if problem := self._obstacle(mail):
                self.outbox.give_up(mail, problem)
                continue
            try:
                self._server.send(mail.body.encode("ascii"), mail.recipient)
            except TrancheError as error:
                self._put_off(mail, error, now)
                if isinstance(error, Unreachable):
                    return
            else:
                self.outbox.finish(mail, now)

    def _obstacle(self, mail: MailMessage) -> str:
        """Why a mail is not to be sent any more: whoever has it sent lost access after it was made."""
        person = self._people.still(mail.owner, mail.created)
        if person is None:
            return NO_PERSON
        if mail.project and not person.may_see(mail.project, mail.slicer):
            return NO_VIEW
        if not all(person.may_see(*pair) for pair in self.outbox.board_slicers(mail)):
            return NO_BOARD
        is_own = mail.recipient == person.email
        return "" if is_own or self._may_share(person) else NO_SHARING

    def _may_share(self, person: Person) -> bool:
        return person.may_share and self._settings.share_links

    def _put_off(self, mail: MailMessage, error: TrancheError, now: datetime) -> None:
        is_refused = isinstance(error, MailRefusal) and error.is_final
        if is_refused or mail.attempts >= len(PAUSES):
            log.error("%s; mail %d is given up", error.reason, mail.id)
            self.outbox.give_up(mail, f"{error.reason}. It is given up.")
        else:
            due = now + PAUSES[mail.attempts]
            log.warning("%s; mail %d is tried again later", error.reason, mail.id)
            self.outbox.postpone(mail, due, f"{error.reason}. It is tried again later.")


def _of_alerts(
    writer: MailWriter, subscription: Subscription, alerts: Sequence[Alert], now: datetime
) -> _Mail | None:
    """The alerts that began or ceased to fire since the last mail, together in one; None without any.

    The mail waits for a minute after the latest of them, since one import may let several fire.
    """
    last_firing: Mapping[str, str] = subscription.mark.get("firing", {})
    firing = {str(alert.id): str(alert.since) for alert in alerts if alert.state == "firing"}
    starts = [
        alert
        for alert in alerts
        if firing.get(str(alert.id), "") != last_firing.get(str(alert.id), "") and str(alert.id) in firing
    ]
    ends = [alert for alert in alerts if str(alert.id) in last_firing and str(alert.id) not in firing]
    if firing == last_firing:
        return None
    latest = max(
        (alert.since for alert in (*starts, *ends) if alert.since is not None), default=now - BATCH_WAIT
    )
    if timedelta(0) <= now - latest < BATCH_WAIT:
        return None
    letter = writer.of_alerts(starts, ends) if starts or ends else Letter("", ())
    return _Mail(letter, {"firing": firing})


@contextmanager
def posting(settings: Settings, writer: MailWriter) -> Iterator[None]:
    """Make and send mails in the background during the block, if no other desk does.

    Without a mail server in the settings nothing is begun.
    """
    work = f"mail-{zlib.crc32(settings.base_url.encode()):x}" if settings.base_url else "mail"

    @contextmanager
    def start() -> Iterator[database.Look]:
        yield Post(settings, writer).look

    def engine() -> Engine:
        return connect.installation(settings).access.store.engine

    with database.background(work, FAILURE, engine, start) if settings.smtp_host else nullcontext():
        yield
