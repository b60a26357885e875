"""The layouts that this process has open. Building one keeps nobody waiting who asks about another slicer.

A layout is verified in the background once it is open, and again when it is used an hour later.
"""

import threading
import time
from concurrent.futures import Future, TimeoutError
from pathlib import Path

from lib.reporting.engines.resident.build import build, log_damage, put_aside
from lib.reporting.engines.resident.checksums import Damaged, Replaced
from lib.reporting.engines.resident.layout import Layout
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline

MOST_OPEN = 32
SECONDS_BETWEEN_CHECKS = 0.25
SECONDS_UNTIL_VERIFIED_AGAIN = 3600


class OpenLayouts:
    """Layouts by folder, the most recently used ones; safe among threads."""

    def __init__(self) -> None:
        self._open: dict[Path, Layout] = {}
        self._opening: dict[Path, Future[Layout]] = {}
        self._lock, self._verifying = threading.Lock(), threading.Lock()

    def layout(self, stored: StoredSlicer, deadline: Deadline) -> Layout:
        """The layout of the slicer's version, built if it is not there whole.

        Building goes on by itself, also past the deadline of those who wait for it.
        """
        folder = stored.layout_folder
        with self._lock:
            layout = self._open.get(folder)
        if layout is not None:
            try:
                layout.refresh()
            except Replaced:
                self.forget(layout)
                layout = None
            except Damaged as damage:
                self.replace(stored, layout, damage.reason)
                layout = None
        layout = layout or self._opened(stored, deadline)
        self._keep(folder, layout)
        self._verify_when_due(stored, layout)
        return layout

    def forget(self, layout: Layout) -> bool:
        """Don't answer from this layout any more; whether it was open until now."""
        with self._lock:
            is_open = self._open.get(layout.folder) is layout
            if is_open:
                del self._open[layout.folder]
            return is_open

    def replace(self, stored: StoredSlicer, layout: Layout, reason: str) -> None:
        """Put a damaged layout aside, so that the next question builds another."""
        if self.forget(layout) and not layout.is_replaced:
            log_damage(stored, reason)
            put_aside(layout.folder)

    def _verify_when_due(self, stored: StoredSlicer, layout: Layout) -> None:
        with self._lock:
            if time.monotonic() < layout.verify_after:
                return
            layout.verify_after = time.monotonic() + SECONDS_UNTIL_VERIFIED_AGAIN
        name = f"checksums of {stored.name}"
        threading.Thread(target=self._verify, args=(stored, layout), name=name, daemon=True).start()

    def _verify(self, stored: StoredSlicer, layout: Layout) -> None:
        """Verify a layout, one after the other: a start doesn't read all of them at once."""
        try:
            with self._verifying:
                layout.verify()
        except Replaced:
            self.forget(layout)
        except Damaged as damage:
            self.replace(stored, layout, damage.reason)

    def _opened(self, stored: StoredSlicer, deadline: Deadline) -> Layout:
        with self._lock:
            opening = self._opening.get(stored.layout_folder)
            if opening is None:
                opening = self._opening[stored.layout_folder] = Future()
                name = f"layout of {stored.name}"
                threading.Thread(target=self._build, args=(stored, opening), name=name, daemon=True).start()
        while True:
            deadline.check()
            try:
                return opening.result(SECONDS_BETWEEN_CHECKS)
            except TimeoutError:
                continue

    def _build(self, stored: StoredSlicer, opening: "Future[Layout]") -> None:
        try:
            layout = Layout(build(stored))
            self._keep(stored.layout_folder, layout)
            opening.set_result(layout)
        except BaseException as error:
            opening.set_exception(error)
        finally:
            with self._lock:
                self._opening.pop(stored.layout_folder, None)

    def _keep(self, folder: Path, layout: Layout) -> None:
        with self._lock:
            self._open.pop(folder, None)
            self._open[folder] = layout
            while len(self._open) > MOST_OPEN:
                del self._open[next(iter(self._open))]
