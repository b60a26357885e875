"""A cache of answers, shared between callers; concurrent equal queries are computed once.

Whether a caller may see the slicer is checked before. A key names the slicer and the filters of the caller's
grant, not the person: whoever may see the same rows gets the same answer, and nobody else does.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

import pandas as pd
import pyarrow as pa

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter

SECONDS_BETWEEN_CHECKS = 0.25
BYTES_BESIDE_FRAMES = 4096
Answer = TypeVar("Answer")


@dataclass(frozen=True)
class Key:
    """The key of an answer: the slicer's version, and the normalized question.

    `read_at` is when the table of a connected slicer was looked at, whose figures may change in place.

    `row_filters` are those of the caller's grant, on which days with data depend beside the figures.

    `question` is resolved (requests.py), its filters are in one order; `rows_limit` is None
    where every record is read.
    """

    project: str
    slicer: str
    version: str
    read_at: float
    row_filters: tuple[Filter, ...]
    question: AudienceQuery
    rows_limit: int | None


def key(
    slicer: StoredSlicer, row_filters: tuple[Filter, ...], query: AudienceQuery, rows_limit: int | None
) -> Key:
    """The key of a resolved question."""
    shortest = query.model_copy(
        update={
            "filters": _normalize(query.filters),
            "any_of": tuple(sorted(set(map(_normalize, query.any_of)), key=repr)),
            "audience_rows_limit": 0,
            "exact_within": None,
            "same_precision_as": (),
        }
    )
    return Key(slicer.project, slicer.name, slicer.version, slicer.read_at, row_filters, shortest, rows_limit)


def _normalize(filters: Iterable[Filter]) -> tuple[Filter, ...]:
    """The filters and their values, each once and in one order."""
    unique = {filter_.model_copy(update={"value": tuple(sorted(set(filter_.value)))}) for filter_ in filters}
    return tuple(sorted(unique, key=repr))


class AnswerCache(Generic[Answer]):
    """The most recently used answers, up to `most_bytes` in memory by `size`. Safe among threads."""

    def __init__(self, most_bytes: int, size: Callable[[Answer], int]) -> None:
        self._most_bytes, self._size, self._bytes = most_bytes, size, 0
        self.hits = self.misses = 0
        self._entries: OrderedDict[Hashable, tuple[Answer, int]] = OrderedDict()
        self._computing: dict[Hashable, Future[Answer | None]] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, compute: Callable[[], tuple[Answer, bool]], deadline: Deadline) -> Answer:
        """The cached answer, that of an equal query under way, or the result of `compute`.

        `compute` says beside its answer whether that may be kept. Where somebody else's attempt fails, for
        a reason that may be theirs alone (a deadline, a closed connection), the caller makes their own.
        """
        while True:
            with self._lock:
                if key in self._entries:
                    self._entries.move_to_end(key)
                    self.hits += 1
                    return self._entries[key][0]
                running = self._computing.get(key)
                if running is None:
                    mine = self._computing[key] = Future()
                    self.misses += 1
            if running is None:
                return self._compute(key, mine, compute)
            deadline.check()
            while not wait([running], SECONDS_BETWEEN_CHECKS).done:
                deadline.check()
            if (answer := running.result()) is not None:
                return answer

    def peek(self, key: Hashable) -> Answer | None:
        """The cached answer, or None; whoever asks goes on to ask `get` then."""
        with self._lock:
            if key not in self._entries:
                return None
            self._entries.move_to_end(key)
            self.hits += 1
            return self._entries[key][0]

    @property
    def bytes(self) -> int:
        """The size of the cached answers."""
        return self._bytes

    def _compute(
        self, key: Hashable, running: "Future[Answer | None]", compute: Callable[[], tuple[Answer, bool]]
    ) -> Answer:
        answer = None
        try:
            answer, is_lasting = compute()
            size = self._size(answer) if is_lasting and self._most_bytes else 1
            if is_lasting and size <= self._most_bytes:
                with self._lock:
                    self._entries[key] = answer, size
                    self._bytes += size
                    while self._bytes > self._most_bytes:
                        self._bytes -= self._entries.popitem(last=False)[1][1]
            return answer
        finally:
            with self._lock:
                del self._computing[key]
            running.set_result(answer)


def size_of(answer: Audience) -> int:
    """The approximate size of an answer in memory, in bytes: by shapes, and the buffers of its texts."""
    frames = (answer.values, answer.percents, answer.low, answer.high, answer.n_eff)
    numbers = 8 * sum(frame.size for frame in frames if frame is not None)
    texts = (answer.keys, answer.descriptions, answer.currencies)
    columns = [column for frame in texts if frame is not None for _, column in frame.items()]
    columns += [] if answer.confidence_range is None else [answer.confidence_range]
    total = 64 * (len(answer.total.dates) + 8 * len(answer.total.values))
    return BYTES_BESIDE_FRAMES + total + numbers + sum(map(_text_bytes, columns))


def _text_bytes(column: pd.Series | pa.Array) -> int:
    """The bytes of a column of texts; texts of Python's own are counted one by one."""
    if isinstance(column, pa.Array):
        return int(column.nbytes)
    is_packed = isinstance(column.dtype, pd.StringDtype) and column.dtype.storage == "pyarrow"
    return int(column.array.nbytes if is_packed else column.memory_usage(index=False, deep=True))
