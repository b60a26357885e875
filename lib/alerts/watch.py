"""The one thread that checks alerts: after an import, once they are set, and every quarter of an hour.

Of all desks over a database one does it. The others wait, and go on where it ends.
"""

import logging
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime, timedelta

from lib import connect, database
from lib.alerts.check import Read, check
from lib.alerts.store import AlertStore
from lib.alerts.webhook import Webhook
from lib.settings import Settings
from lib.views import Alert
from lib.views.alerts import CHECK_MINUTES, CHECK_SECONDS
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
POLL_SECONDS, EVERY = float(CHECK_SECONDS), timedelta(minutes=CHECK_MINUTES)
Slicer = tuple[str, str]


class Watch:
    """Checks alerts that are due. The first look checks all: no slicer's version is known yet."""

    def __init__(self, settings: Settings, read: Read) -> None:
        self._settings, self._read = settings, read
        self._webhook = Webhook(settings)
        installation = connect.installation(settings)
        self._warehouse = None if settings.base_url else installation.warehouse
        self.store = AlertStore(installation.access.store.engine, settings.base_url, settings.address)
        self._versions: dict[Slicer, str] = {}

    def look(self, now: datetime) -> list[Alert]:
        """Check what is due, then send what is to be sent; returns the alerts that were checked."""
        alerts = self.store.everything()
        versions = {pair: self._version(*pair) for pair in {(one.project, one.slicer) for one in alerts}}
        due = [one for one in alerts if self._is_due(one, versions, now)]
        for alert in due:
            verdict = check(alert, self._settings, self._read)
            if self.store.settle(alert, verdict, now, self._webhook.is_set):
                log.info("Alert %d: %s", alert.id, "fires" if verdict.state == "firing" else "cleared")
        self._versions = versions
        self._webhook.deliver(self.store, now)
        return due

    def run(self, ending: threading.Event, is_alone: Callable[[], bool]) -> None:
        """Look every ten seconds, whatever goes wrong, until the end, or until others may do it too."""
        while not ending.wait(POLL_SECONDS) and is_alone():
            try:
                self.look(datetime.now(UTC))
            except TrancheError as error:
                log.warning("Alerts could not be checked: %s", error.reason)
            except Exception:
                log.exception("Alerts could not be checked")
        self._webhook.close()

    def _is_due(self, alert: Alert, versions: dict[Slicer, str], now: datetime) -> bool:
        """Whether it was not checked lately. A check in the future was made before the clock was set back."""
        pair = alert.project, alert.slicer
        is_new = alert.checked is None or abs(now - alert.checked) >= EVERY
        return is_new or self._versions.get(pair) != versions[pair]

    def _version(self, project: str, slicer: str) -> str:
        """A version that changes with each import; empty for a remote service, whose imports are unknown."""
        if self._warehouse is None:
            return ""
        try:
            return self._warehouse.open(project, slicer).version
        except TrancheError:
            return ""


@contextmanager
def watching(settings: Settings, read: Read) -> Iterator[None]:
    """Check alerts in the background during the block, if the settings say so and no other desk does."""
    ending = threading.Event()
    thread = threading.Thread(target=_wait, args=(settings, read, ending), name="alerts", daemon=True)
    if settings.alerts:
        thread.start()
    try:
        yield
    finally:
        ending.set()


def _wait(settings: Settings, read: Read, ending: threading.Event) -> None:
    """Watch whenever no other desk over the database does, until the end."""
    while not ending.is_set():
        try:
            with process_lock(settings) as is_alone:
                if is_alone():
                    Watch(settings, read).run(ending, is_alone)
        except TrancheError as error:
            log.warning("Alerts could not be checked: %s", error.reason)
        ending.wait(POLL_SECONDS)


def process_lock(settings: Settings) -> AbstractContextManager[Callable[[], bool]]:
    """Whether this desk is the one that checks the alerts on its reporting service (`process_lock`)."""
    work = f"alerts-{zlib.crc32(settings.base_url.encode()):x}" if settings.base_url else "alerts"
    return database.process_lock(connect.installation(settings).access.store.engine, work)
