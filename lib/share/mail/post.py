"""The one thread that writes mails when they are due, and sends them.

Of all desks over a database one does it. The others wait, and go on where it ends; where two work at the same
moment, a mail is sent by one of them. What waits for the mail server is the request, never the figures: at
each try they are those of who the owner is then.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from lib.deals.models import DemandDeal
from lib.deals.negotiation import seat_number
from lib.people import Person
from lib.serving import connect
from lib.serving.mail_server import MailRefusal, MailServer
from lib.settings import Settings
from lib.share.mail.digest import Digest
from lib.share.mail.letter import Letter, Remark, message, new_message_id
from lib.share.mail.outbox import PAUSES, MailMessage, Outbox
from lib.share.mail.unsubscribe import Unsubscriber
from lib.share.messages import CLAIM, background
from lib.views import Alert, Subscription
from lib.wire import time_zones
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, Forbidden, NotFound, TrancheError, Unreachable
from lib.wire.text import is_mailable

log = logging.getLogger(__name__)
BATCH_WAIT, SLOW = timedelta(seconds=60), timedelta(minutes=15)
NO_ADDRESS = "There is no e-mail address for this person: an administrator sets it (Access, People)."
NO_VIEW = "Its owner can't see this view any more."
NO_BOARD = "Its owner can't see this board, or any of its views, any more."
Pair = tuple[str, str]
Params = Mapping[str, str]
Questions = Mapping[str, Params]


@dataclass(frozen=True)
class _Draft:
    """A mail that is due: to whom, and what to remember once it is sent. Without `write` there is none."""

    recipient: str
    mark: Mapping[str, Any]
    write: Callable[[], Letter] | None = None
    questions: Questions = field(default_factory=dict)


class Post:
    """Makes and sends the mails of an installation."""

    def __init__(self, settings: Settings) -> None:
        installation = connect.installation(settings)
        engine = installation.access.store.engine
        self._settings, self._writer, self._people = settings, Digest(settings), installation.people
        self._reports, self._server = connect.Reports(installation), MailServer(settings)
        self._stop = Unsubscriber.of(engine, installation.access.audit, settings.address)
        self._marks: dict[Pair, tuple[datetime, str]] = {}
        self.outbox = Outbox(engine, settings.remote.base_url)

    def look(self, now: datetime, is_alone: Callable[[], bool] = lambda: True) -> None:
        """Send messages that wait, then the mails that are due, as long as it is this desk's work.

        Once the mail server can't be reached the others wait too.
        """
        if not self._server.is_set:
            return
        for mail in self.outbox.claim_due(now):
            try:
                if not self._may_have(mail):
                    self.outbox.forget(mail)
                    continue
                self._server.send(mail.body.encode("ascii"), mail.recipient)
            except TrancheError as error:
                is_final = isinstance(error, MailRefusal) and error.is_final
                self.outbox.put_off(mail, now, error.reason, is_final)
                if isinstance(error, Unreachable):
                    return
            else:
                self.outbox.forget(mail)
        for subscription in self.outbox.due(now):
            if not (is_alone() and self._send(subscription, now)):
                return

    def _send(self, subscription: Subscription, now: datetime) -> bool:
        """Write and send the mail of a subscription, if there is one, or note why not and when it is tried
        again. False where the mail server can't be reached.

        Its Message-ID and its questions are those of the first try; its figures are of now, for who its owner
        is now.
        """
        request: dict[str, Any] = {"message_id": new_message_id(self._server.sender), "at": now.isoformat()}
        request |= subscription.request
        mark, is_written = None, False
        ends = {"due": subscription.schedule.next_after(now), "failures": 0, "problem": "", "request": {}}
        try:
            draft = self._draft(subscription, request, now)
            if draft is None:
                if subscription.next_time is not None or subscription.failures:
                    self.outbox.settle(subscription, ends)
                return True
            mark = draft.mark
            if draft.write is None:
                self.outbox.settle(subscription, {**ends, "mark": mark})
                return True
            request["questions"] = draft.questions
            claim = now + CLAIM
            if not self.outbox.settle(subscription, {"due": claim, "request": request}):
                return True
            subscription = replace(subscription, due=claim)
            letter = draft.write()
            why = f"Sent by Tranche {subscription.schedule.words}, set up by {subscription.owner}."
            whole = Letter(letter.subject, (*letter.parts, Remark(why)), letter.files)
            stop = self._stop.address(subscription)
            body = bytes(message(whole, self._server.sender, draft.recipient, stop, request["message_id"]))
            is_written = True
            self._server.send(body, draft.recipient)
        except TrancheError as error:
            self._postpone(subscription, error, now, request, mark)
            return not (is_written and isinstance(error, Unreachable))
        except Exception:
            log.exception("Mail %d could not be made", subscription.id)
            failure = TrancheError("It could not be made; the log has the details")
            self._postpone(subscription, failure, now, request, mark)
        else:
            self.outbox.settle(subscription, {**ends, "mark": mark, "sent": now})
        return True

    def _draft(self, subscription: Subscription, request: Mapping[str, Any], now: datetime) -> _Draft | None:
        """The mail for who the owner is now; None where there is nothing new. Raises why that can't be."""
        person = self._people.still(subscription.owner, subscription.created)
        if person is None:
            raise AccessError("Its owner can't sign in any more.")
        recipient = subscription.recipient or person.email or ""
        if not is_mailable(recipient):
            raise AccessError(NO_ADDRESS)
        if subscription.recipient and not self._may_share(person):
            raise AccessError("Its owner may not send figures to people without an account any more.")
        clients = self._clients(person)
        if subscription.is_of_alerts:
            return _of_alerts(self._writer, subscription, clients.view_store.alerts.mine(), recipient, now)
        store, board = clients.view_store, None
        if subscription.board_id is None:
            view = store.views.get(subscription.view_id or 0)
            views = [] if view is None else [view]
        else:
            board = store.boards.get(subscription.board_id)
            views = [] if board is None else [*store.boards.views_of(board).values()]
        views = [view for view in views if (view.project, view.slicer) in clients.slicers]
        if not views:
            raise AccessError(NO_VIEW if subscription.board_id is None else NO_BOARD)
        pairs = sorted({(view.project, view.slicer) for view in views})
        mark = {"data": " ".join(self._data(pair, now) for pair in pairs)}
        if subscription.pace == "import" and not subscription.mark:
            return _Draft(recipient, mark)
        is_new = mark["data"] != subscription.mark.get("data")
        if not is_new and (subscription.only_new or subscription.pace == "import"):
            return None
        at = datetime.fromisoformat(request["at"])
        board_params = {} if board is None else board.params
        zone = subscription.zone
        questions = request.get("questions") or self._writer.questions(views, board_params, clients, at, zone)
        if board is None:
            (view,) = views
            write = partial(self._writer.of_view, view, questions[str(view.id)], person, clients)
        else:
            day = at.astimezone(time_zones.zone(zone)).date()
            write = partial(self._writer.of_board, board, views, questions, person, day)
        return _Draft(recipient, mark, partial(write, subscription.with_snapshot), questions)

    def _postpone(
        self,
        subscription: Subscription,
        error: TrancheError,
        now: datetime,
        request: Mapping[str, Any],
        mark: Mapping[str, Any] | None,
    ) -> None:
        """Try again later, later each time; at last at its next time, or at the next import or alert."""
        is_final = isinstance(error, MailRefusal) and error.is_final
        has_next = subscription.next_time is not None or mark is not None
        failures, problem = subscription.failures, error.reason.rstrip(".")
        if is_final or (failures >= len(PAUSES) and has_next):
            changes: dict[str, Any] = {
                "due": subscription.schedule.next_after(now), "failures": 0, "request": {},
                "problem": f"{problem}. It is given up.",
            }  # fmt: skip
            changes |= {"mark": mark} if subscription.next_time is None and mark is not None else {}
        else:
            pause = PAUSES[min(failures, len(PAUSES) - 1)]
            problem = f"{problem}. It is tried again later."
            changes = {
                "due": now + pause, "failures": failures + 1, "request": request, "problem": problem,
            }  # fmt: skip
        if self.outbox.settle(subscription, changes):
            log.warning("Mail %d could not be sent: %s", subscription.id, changes["problem"])

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

    def _may_have(self, mail: MailMessage) -> bool:
        """Whether a message is still to be sent: whoever it is from, or about, may have lost access since,
        or the deal is another seat's. Raises the service's errors."""
        person = self._people.still(mail.owner, mail.created)
        if person is None or (mail.project and not person.may_see(mail.project, mail.slicer)):
            return False
        if mail.deal is not None:
            if not person.deals.reads:
                return False
            try:
                deal = self._clients(person).deals.get(DemandDeal, mail.deal)
            except (NotFound, AccessError, Forbidden):
                return False
            if seat_number(deal) != mail.seat:
                return False
        return mail.recipient == person.email or self._may_share(person)

    def _clients(self, person: Person) -> connect.Clients:
        deadline = Deadline(max(self._settings.deadline_seconds, self._settings.remote.answer_seconds))
        return connect.connect(person, self._settings, within=deadline)

    def _may_share(self, person: Person) -> bool:
        return person.may_share and self._settings.share_links


def _of_alerts(
    writer: Digest, subscription: Subscription, alerts: Sequence[Alert], recipient: str, now: datetime
) -> _Draft | None:
    """The alerts that began or ceased to fire since the last mail, together in one; None without any.

    The mail waits for a minute after the latest of them, since one import may let several fire. An alert
    that has not been checked, or not under its owner's rights of now, is as it was.
    """
    last_firing: Mapping[str, str] = subscription.mark.get("firing", {})
    unknown = {str(alert.id) for alert in alerts if alert.state == "new"}
    firing = {number: since for number, since in last_firing.items() if number in unknown}
    firing |= {str(alert.id): str(alert.since) for alert in alerts if alert.state == "firing"}
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
    write = partial(writer.of_alerts, starts, ends) if starts or ends else None
    return _Draft(recipient, {"firing": firing}, write)


def posting(settings: Settings) -> AbstractContextManager[None]:
    """Make and send mails in the background during the block, if no other desk does.

    Without a mail server in the settings nothing is begun.
    """
    if not settings.mail.smtp_host:
        return nullcontext()
    return background(settings, "mail", "Mails could not be made", lambda: nullcontext(Post(settings).look))
