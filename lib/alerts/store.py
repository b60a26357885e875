"""The checker's side of the store: all alerts of a service, what was found of them, and waiting messages."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Engine, delete, insert, or_, select, update

from lib.alerts.message import Verdict, body
from lib.database import reading, transact
from lib.views import Alert
from lib.views.alerts import WITH_VIEWS, alert_of
from lib.views.tables import alert_messages, alerts, saved_views
from lib.wire.deadline import Deadline

SECONDS, AT_ONCE = 10, 20
LONGEST_PAUSE = timedelta(hours=1)
WATCHED = ("view_id", "owner", "created", "field", "rule", "bound")


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message that is to be sent, and how often that was tried."""

    id: int
    body: str
    attempts: int


@dataclass(frozen=True)
class AlertStore:
    """Alerts on views of one reporting service; `origin` is the desk's address, for links."""

    engine: Engine
    service: str
    origin: str

    def everything(self) -> list[Alert]:
        """All alerts, of everybody."""
        select = WITH_VIEWS.where(saved_views.c.service == self.service)

        def within(connection: Connection) -> list[Alert]:
            return [alert_of(row) for row in connection.execute(select)]

        return reading(self.engine, within, Deadline(SECONDS))

    def settle(self, alert: Alert, verdict: Verdict, now: datetime, is_sent: bool) -> bool:
        """Write down what a check found; whether the alert began or ceased to fire.

        With the change, in one transaction, goes the message about it, where these are sent: once, however
        often it is checked and by whomever. An alert that was removed or replaced meanwhile is left alone.
        """
        number = uuid4().hex

        def within(connection: Connection) -> bool:
            row = connection.execute(WITH_VIEWS.where(alerts.c.id == alert.id)).one_or_none()
            if row is None or any(row._mapping[name] != getattr(alert, name) for name in WATCHED):
                return False
            before = alert_of(row)
            state = verdict.state or before.state
            since = before.since if state == before.state else now
            figures = {"value": verdict.value, "low": verdict.low, "high": verdict.high}
            values = {
                "state": state, "since": since, "checked": now, "problem": verdict.problem,
                **({} if verdict.state is None else figures),
            }  # fmt: skip
            connection.execute(update(alerts).where(alerts.c.id == alert.id).values(values))
            has_turned = (state == "firing") != (before.state == "firing")
            if has_turned and is_sent:
                text = body(before, verdict, number, now, self.origin)
                connection.execute(insert(alert_messages).values(body=text, attempts=0, due=now))
            return has_turned

        return transact(self.engine, within, Deadline(SECONDS))

    def waiting(self, now: datetime) -> list[Waiting]:
        """Messages that are due, the oldest first; twenty at most."""
        due = select(alert_messages).where(_is_due(now)).order_by(alert_messages.c.id)

        def within(connection: Connection) -> list[Waiting]:
            rows = connection.execute(due.limit(AT_ONCE))
            return [Waiting(row.id, row.body, row.attempts) for row in rows]

        return reading(self.engine, within, Deadline(SECONDS))

    def claim(self, message: Waiting, now: datetime, until: datetime) -> bool:
        """Take a message that is due, so that no other process over this database sends it until then.

        Whether nobody else had. One whose process ends amid sending is sent again: at least once.
        """
        mine = alert_messages.c.id == message.id, _is_due(now)

        def within(connection: Connection) -> bool:
            return connection.execute(update(alert_messages).where(*mine).values(due=until)).rowcount == 1

        return transact(self.engine, within, Deadline(SECONDS))

    def forget(self, message: Waiting) -> None:
        """Forget a message: it arrived, or is given up."""

        def within(connection: Connection) -> None:
            connection.execute(delete(alert_messages).where(alert_messages.c.id == message.id))

        transact(self.engine, within, Deadline(SECONDS))

    def postpone(self, message: Waiting, due: datetime) -> None:
        """Try again then."""

        def within(connection: Connection) -> None:
            values = {"attempts": message.attempts + 1, "due": due}
            connection.execute(update(alert_messages).where(alert_messages.c.id == message.id).values(values))

        transact(self.engine, within, Deadline(SECONDS))


def _is_due(now: datetime) -> ColumnElement[bool]:
    """Whether a message's time has come, or was set before the clock was set back: no pause is that long."""
    due = alert_messages.c.due
    return or_(due <= now, due > now + LONGEST_PAUSE)
