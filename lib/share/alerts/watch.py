"""Alerts due, and the one thread that checks them: after an import, once set, and every quarter of an hour.

Of all desks over a database one does it. The others wait, and go on where it ends.

Messages go to the webhook of the settings. Its address may have a token in its path and is handled like a
password: neither it nor the secret reach a log.
"""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import httpx
from sqlalchemy import insert, update

from lib import database
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.share.alerts.check import Verdict, check
from lib.share.messages import Message, MessageQueue, background
from lib.views import Alert
from lib.views.alerts import CHECK_MINUTES, WITH_VIEWS, Alerts, alert_of
from lib.views.entries import Scope
from lib.views.tables import alert_messages, alerts, saved_views
from lib.wire import call, exact
from lib.wire.call import Call
from lib.wire.deadline import Deadline
from lib.wire.errors import ServiceProblem, TrancheError
from lib.wire.signature import signed_headers
from lib.wire.sockets import client

RULE_FIELDS = ("view_id", "owner", "created", "field", "rule", "bound")
log = logging.getLogger(__name__)
EVERY = timedelta(minutes=CHECK_MINUTES)
Slicer = tuple[str, str]
SECONDS, CONNECT_SECONDS = 10, 5
WORK = "alerts"
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 15, 30, 60))


@dataclass(frozen=True, slots=True)
class AlertMessage(Message):
    """What a message is to say, and how often it was tried: it is written when it is sent, see `body`."""

    alert_id: int
    event: Mapping[str, Any]


@dataclass(frozen=True)
class AlertStore(MessageQueue[AlertMessage]):
    """Alerts on views of one reporting service, and messages about them."""

    table, shape, most, pauses = alert_messages, AlertMessage, 20, PAUSES
    service: str

    def everything(self) -> list[Alert]:
        return [alert_of(row) for row in self.rows(WITH_VIEWS.where(saved_views.c.service == self.service))]

    def alert(self, number: int) -> Alert:
        """The alert of this number, which is there."""
        (row,) = self.rows(WITH_VIEWS.where(alerts.c.id == number))
        return alert_of(row)

    def alert_for(self, owner: Person | None, number: int) -> Alert | None:
        """An alert as its owner may see it; None if it is not theirs."""
        if owner is None:
            return None
        mine = Alerts(Scope(self.engine, self.service, owner)).mine()
        return next((alert for alert in mine if alert.id == number), None)

    def settle(self, alert: Alert, verdict: Verdict, now: datetime, is_sent: bool) -> bool:
        """Write down what a check found; whether the alert began or ceased to fire.

        With the change, in one transaction, goes the message about it, where these are sent: once, however
        often it is checked and by whomever. An alert that was removed or replaced meanwhile is left alone.
        Where there is no verdict what is known stays, unless it is about other rows.
        """
        with self.write() as connection:
            row = connection.execute(WITH_VIEWS.where(alerts.c.id == alert.id)).one_or_none()
            if row is None or any(row._mapping[name] != getattr(alert, name) for name in RULE_FIELDS):
                return False
            before = alert_of(row)
            stays = verdict.state is None and before.rows_key == verdict.rows_key
            state = before.state if stays else verdict.state or "new"
            since = before.since if state == before.state else now
            figures = {"value": verdict.value, "low": verdict.low, "high": verdict.high}
            values: dict[str, Any] = {
                "state": state, "since": since, "checked": now, "problem": verdict.problem,
                "rows_key": verdict.rows_key, **({} if stays else figures),
            }  # fmt: skip
            connection.execute(update(alerts).where(alerts.c.id == alert.id).values(values))
            has_turned = (state == "firing") != (before.state == "firing")
            if has_turned and is_sent:
                event = {
                    "id": uuid4().hex, "event": "fired" if state == "firing" else "cleared",
                    "at": now.isoformat(timespec="seconds"), "reason": verdict.problem or None,
                    "rows_key": verdict.rows_key, **figures,
                }  # fmt: skip
                values = {"alert_id": alert.id, "event": event, "attempts": 0, "due": now}
                connection.execute(insert(alert_messages).values(values))
            return has_turned


def body(alert: Alert, sight: Alert | None, event: Mapping[str, Any], rows_key: str, origin: str) -> str:
    """The message as JSON, about an event of this alert. `origin` is the desk's address, for the link.

    `sight` is the alert as its owner may see it now, and `rows_key` says which rows they may: figures of the
    event are left out where these are others, and those of the last check stand instead if it found the same.
    Whoever can't see the view any more gets no word of it. Where a message arrives twice, `id` is the same.
    """
    message = {name: event[name] for name in ("id", "event", "at", "reason")}
    message["alert"] = {name: getattr(alert, name) for name in ("id", "owner", "project", "slicer")}
    if sight is not None and sight.view_name:
        is_same = (sight.state == "firing") == (event["event"] == "fired")
        last = {"value": sight.value, "low": sight.low, "high": sight.high} if is_same else {}
        figures = event if event["rows_key"] == rows_key else last
        link = urlencode({"project": alert.project, "slicer": alert.slicer, **alert.params})
        message["alert"] |= {
            "view": alert.view_name,
            "field": alert.field,
            "rule": alert.rule,
            "bound": alert.bound,
            "value": figures.get("value"),
            "usual_low": figures.get("low"),
            "usual_high": figures.get("high"),
            "link": f"{origin}/audience?{link}",
        }
    return exact.dumps(message).decode()


class Watch:
    """Checks alerts that are due. The first look checks all: no slicer's version is known yet."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._webhook = Webhook(settings)
        installation = connect.installation(settings)
        self._people = installation.people
        self._warehouse = None if settings.remote.base_url else installation.warehouse
        self.store = AlertStore(installation.access.store.engine, settings.remote.base_url)
        self._versions: dict[Slicer, str] = {}

    def look(self, now: datetime) -> list[Alert]:
        """Check what is due, then send what is to be sent; returns the alerts that were checked."""
        alerts = self.store.everything()
        # They change with each import; empty for a remote service, whose imports are unknown.
        versions = dict.fromkeys(((alert.project, alert.slicer) for alert in alerts), "")
        if self._warehouse is not None:
            for project, slicer in versions:
                with suppress(TrancheError):
                    versions[project, slicer] = self._warehouse.open(project, slicer).version
        everyone = self._people.everyone()
        owners = {person.username: person for person in everyone if not self._people.is_locked(person)}
        due = []
        for alert in alerts:
            pair, owner = (alert.project, alert.slicer), owners.get(alert.owner)
            if owner is not None and not owner.had_name(alert.created):
                owner = None  # a namesake came instead
            # A check in the future was made before the clock was set back.
            is_new = alert.checked is None or abs(now - alert.checked) >= EVERY
            # The owner may see other rows since.
            has_changed = alert.rows_key != ("" if owner is None else owner.rows_key(*pair))
            if not (is_new or has_changed or self._versions.get(pair) != versions[pair]):
                continue
            due.append(alert)
            verdict = check(alert, owner, self._settings)
            if self.store.settle(alert, verdict, now, self._webhook.is_set):
                log.info("Alert %d: %s", alert.id, "fires" if verdict.state == "firing" else "cleared")
        self._versions = versions
        self._webhook.deliver(self.store, self._body, now)
        return due

    def close(self) -> None:
        self._webhook.close()

    def _body(self, message: AlertMessage) -> str:
        """A message for who its owner is now; see `body`. An alert takes its messages along."""
        alert = self.store.alert(message.alert_id)
        owner = self._people.still(alert.owner, alert.created)
        rows_key = "" if owner is None else owner.rows_key(alert.project, alert.slicer)
        sight = self.store.alert_for(owner, alert.id)
        return body(alert, sight, message.event, rows_key, self._settings.address)


def watching(settings: Settings) -> AbstractContextManager[None]:
    """Check alerts in the background during the block, if the settings say so and no other desk does."""
    if not settings.alerts.alerts:
        return nullcontext()
    return background(settings, WORK, "Alerts could not be checked", lambda: _watch(settings))


@contextmanager
def _watch(settings: Settings) -> Iterator[database.Look]:
    with closing(Watch(settings)) as watch:
        yield lambda now, is_alone: watch.look(now)


class Webhook:
    """The way to the receiver."""

    def __init__(self, settings: Settings) -> None:
        address, self._secret = settings.alerts.alerts_webhook, settings.alerts.alerts_secret
        self._address = "" if address is None else address.get_secret_value()
        timeout = httpx.Timeout(SECONDS, connect=CONNECT_SECONDS)
        self._http = client(self._address, settings.remote.ca_file, timeout=timeout)

    @property
    def is_set(self) -> bool:
        """Whether there is one."""
        return bool(self._address)

    def deliver(self, store: AlertStore, write: Callable[[AlertMessage], str], now: datetime) -> None:
        """Send what is due, each message once, as `write` has it now.

        What fails waits, longer each time, and at last is given up. A receiver that can't be reached is
        tried once a round: the other messages wait too.
        """
        if not self.is_set:
            return
        for message in store.claim_due(now):
            body, is_reached = write(message).encode(), True
            headers = signed_headers(self._secret, body)
            request = Call("POST", self._address, headers=headers, content=body, deadline=Deadline(SECONDS))
            try:
                # The status is all that counts: no body is read.
                with call.stream(self._http, request) as (answer, _):
                    trouble = "" if answer.is_success else f"it answered {answer.status_code}"
            except (ServiceProblem, TrancheError) as error:
                trouble, is_reached = type(error).__name__.lower(), False
            if trouble:
                host = urlsplit(self._address).hostname or ""
                store.put_off(message, now, f"The alert webhook at {host}: {trouble}")
            else:
                store.forget(message)
            if not is_reached:
                return

    def close(self) -> None:
        self._http.close()
