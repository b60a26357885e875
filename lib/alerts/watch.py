"""The one thread that checks alerts: after an import, once they are set, and every quarter of an hour."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from lib import connect, private
from lib.alerts.check import Read, checked
from lib.alerts.store import AlertStore
from lib.alerts.webhook import Webhook
from lib.settings import Settings
from lib.views import Alert
from lib.wire.errors import TrancheError

log = logging.getLogger(__name__)
POLL_SECONDS, EVERY = 10.0, timedelta(minutes=15)
Slicer = tuple[str, str]


class Watch:
    """Checks alerts that are due. The first look checks all: no slicer's version is known yet."""

    def __init__(self, settings: Settings, read: Read) -> None:
        self._settings, self._read = settings, read
        self._webhook = Webhook(settings)
        here = connect.installation(settings)
        self._warehouse = None if settings.base_url else here.warehouse
        origin = settings.origins[0] if settings.origins else ""
        self.store = AlertStore(here.access.store.engine, settings.base_url, origin)
        self._versions: dict[Slicer, str] = {}

    def look(self, now: datetime) -> list[Alert]:
        """Check what is due, then send what is to be sent; returns the alerts that were checked."""
        alerts = self.store.everything()
        versions = {pair: self._version(*pair) for pair in {(one.project, one.slicer) for one in alerts}}
        due = [one for one in alerts if self._is_due(one, versions, now)]
        for alert in due:
            found = checked(alert, self._settings, self._read)
            if self.store.settle(alert, found, now, self._webhook.is_set):
                log.info("Alert %d: %s", alert.id, "fires" if found.state == "firing" else "cleared")
        self._versions = versions
        self._webhook.deliver(self.store, now)
        return due

    def run(self, ending: threading.Event) -> None:
        """Look every ten seconds, whatever goes wrong, until the end."""
        while not ending.wait(POLL_SECONDS):
            try:
                self.look(datetime.now(UTC))
            except TrancheError as error:
                log.warning("Alerts could not be checked: %s", error.reason)
            except Exception:
                log.exception("Alerts could not be checked")
        self._webhook.close()

    def _is_due(self, alert: Alert, versions: dict[Slicer, str], now: datetime) -> bool:
        pair = alert.project, alert.slicer
        is_new = alert.checked is None or now - alert.checked >= EVERY
        return is_new or self._versions.get(pair) != versions[pair]

    def _version(self, project: str, slicer: str) -> str:
        """What changes with an import; nothing is known of a remote service's."""
        if self._warehouse is None:
            return ""
        try:
            return self._warehouse.open(project, slicer).version
        except TrancheError:
            return ""


@contextmanager
def watching(settings: Settings, read: Read) -> Iterator[None]:
    """Check alerts in the background during the block, if the settings say so and no other process does."""
    ending = threading.Event()
    thread = threading.Thread(target=_alone, args=(settings, read, ending), name="alerts", daemon=True)
    if settings.alerts:
        thread.start()
    try:
        yield
    finally:
        ending.set()


def _alone(settings: Settings, read: Read, ending: threading.Event) -> None:
    """Watch once no other process of this home does."""
    while not ending.is_set():
        with private.alone(settings.home / "alerts.lock") as other:
            if not other:
                Watch(settings, read).run(ending)
                return
        ending.wait(POLL_SECONDS)
