"""The layouts that this process has open. Building one keeps nobody waiting who asks about another slicer."""

import threading
from concurrent.futures import Future, TimeoutError
from pathlib import Path

from lib.reporting.engines.resident.build import build, put_aside, say_damaged
from lib.reporting.engines.resident.checksums import Damaged
from lib.reporting.engines.resident.layout import Layout
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline

MOST_OPEN = 32
SECONDS_BETWEEN_CHECKS = 0.25


class OpenLayouts:
    """Layouts by folder, the most recently used ones; safe among threads."""

    def __init__(self) -> None:
        self._open: dict[Path, Layout] = {}
        self._opening: dict[Path, Future[Layout]] = {}
        self._lock = threading.Lock()

    def layout(self, stored: StoredSlicer, deadline: Deadline) -> Layout:
        """The layout of the slicer's version, built if it is not there whole.

        Building goes on by itself, also past the deadline of those who wait for it.
        """
        folder = stored.layout_folder
        with self._lock:
            layout = self._open.get(folder)
        if layout is not None:
            try:
                layout.check()
            except Damaged as damage:
                self.replace(stored, layout, damage.reason)
                layout = None
        layout = layout or self._opened(stored, deadline)
        self._keep(folder, layout)
        return layout

    def replace(self, stored: StoredSlicer, layout: Layout, reason: str) -> None:
        """Put a damaged layout aside, so that the next question builds another."""
        with self._lock:
            if self._open.get(layout.folder) is not layout:
                return
            del self._open[layout.folder]
            say_damaged(stored, reason)
            put_aside(layout.folder)

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
