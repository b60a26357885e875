"""Estimates the time of exact answers from past ones, in nanoseconds per record and column.

The figure is the median of the latest answers of a slicer to the same split, so that one slow answer changes
little. Where few were seen, answers to other splits count, and a start value three times.
"""

import statistics
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass

from lib.reporting.measures import is_additive

START_NANOSECONDS, START_COUNTS = 20.0, 3
OVERHEAD_MILLISECONDS = 3.0
FEWEST_RECORDS = 10_000  # below, overhead is most of what is measured
ENOUGH, LATEST, SECONDS = 3, 15, 600.0
MOST_SPLITS = 1_000
COLUMNS_OF_OTHERS = 8  # a distinct count or an extreme takes about as long as so many sums

Kind = tuple[str, tuple[str, ...], bool]


@dataclass(frozen=True)
class Workload:
    """The work for an exact answer: how many records and columns have to be read.

    `slicer` names the slicer, whatever its version. A split by time without filters is answered from sums
    per hour: questions with filters are told from those without.
    """

    slicer: str
    split_by: tuple[str, ...]
    is_filtered: bool
    records: int
    columns: int

    @property
    def kind(self) -> Kind:
        """The group of questions with similar costs per record and column."""
        return self.slicer, self.split_by, self.is_filtered


def columns(keys: int, atoms: frozenset[str]) -> int:
    """The number of columns of these atoms (measures.py) and key fields, weighted by time."""
    return 1 + keys + sum(1 if is_additive(atom) else COLUMNS_OF_OTHERS for atom in atoms)


class Costs:
    """Estimates of costs. Safe among threads; keeps the most recent splits."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._lock = now, threading.Lock()
        self._seen: OrderedDict[Kind, deque[tuple[float, float]]] = OrderedDict()

    def milliseconds(self, work: Workload) -> float:
        """The expected time to read all of these records."""
        with self._lock:
            rate = self._rate(work)
        return OVERHEAD_MILLISECONDS + rate * work.records * work.columns / 1e6

    def learn(self, work: Workload, seconds: float) -> None:
        """Add the measured time of an exact answer."""
        if work.records < FEWEST_RECORDS:
            return
        rate = 1e9 * seconds / (work.records * work.columns)
        with self._lock:
            kept = self._seen.setdefault(work.kind, deque(maxlen=LATEST))
            kept.append((self._now(), rate))
            self._seen.move_to_end(work.kind)
            while len(self._seen) > MOST_SPLITS:
                self._seen.popitem(last=False)

    def _rate(self, work: Workload) -> float:
        own = self._latest(work.kind)
        if len(own) >= ENOUGH:
            return statistics.median(own)
        known = [kind for kind in self._seen if kind[0] == work.slicer]
        others = [rate for kind in known for rate in self._latest(kind)]
        return statistics.median([*[START_NANOSECONDS] * START_COUNTS, *others])

    def _latest(self, kind: Kind) -> list[float]:
        """The rates of the last minutes, as older ones may be from a time of other load."""
        since = self._now() - SECONDS
        return [rate for when, rate in self._seen.get(kind, ()) if when >= since]
