"""The layouts that this process has open. Building one keeps nobody waiting who asks about another slicer."""

import threading
from collections import defaultdict
from pathlib import Path

from lib.reporting.engines.resident.build import build
from lib.reporting.engines.resident.layout import Layout
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline

MOST_OPEN = 32


class OpenLayouts:
    """Layouts by folder, the most recently used ones; safe among threads."""

    def __init__(self) -> None:
        self._open: dict[Path, Layout] = {}
        self._building: defaultdict[Path, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def layout(self, stored: StoredSlicer, deadline: Deadline) -> Layout:
        """The layout of the slicer's version, built if it is not there.

        Whoever waits for another thread's building waits no longer than the deadline.
        """
        folder = stored.layout_folder
        with self._lock:
            building = self._building[folder]
        if not building.acquire(timeout=-1 if (left := deadline.remaining()) is None else left):
            deadline.exceeded()
        try:
            layout = self._open.get(folder) or Layout(build(stored))
        finally:
            building.release()
        self._keep(folder, layout)
        return layout

    def _keep(self, folder: Path, layout: Layout) -> None:
        with self._lock:
            self._open.pop(folder, None)
            self._open[folder] = layout
            while len(self._open) > MOST_OPEN:
                oldest = next(iter(self._open))
                del self._open[oldest]
                self._building.pop(oldest, None)
