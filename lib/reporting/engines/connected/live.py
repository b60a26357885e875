"""Metadata of a connected slicer, read before any question: its columns, and the hours that have records.

Both are read again after a minute, so that new days show without a restart; what was learned of the values of
key fields goes with them.
"""

import datetime as dt
import hashlib
import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.reporting.definition import Definition, RowSource
from lib.reporting.engines.connected.columns import DAY_HOURS, Columns, source_of
from lib.reporting.engines.connected.connections import Connections
from lib.reporting.engines.connected.dialects import NAN_IS_GREATEST
from lib.reporting.engines.connected.samples import DrawnColumns, StoredSample, fitting_sample, schema
from lib.reporting.engines.connected.writing import write_sample
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

log = logging.getLogger(__name__)
FRESH_SECONDS, LONGEST_SECONDS = 60, 60
MOST_VALUES = 200_000
Hours = npt.NDArray[np.int64]


@dataclass
class Sampled:
    """The sample of a connected slicer at one moment.

    `changed` are the days (since 1970, in the slicer's zone) that are not as they were when it was drawn;
    `reference` are the reference records (usual.py), once they were read.
    """

    stored: StoredSample
    columns: DrawnColumns
    changed: frozenset[int]
    reference: pa.Table | None = None


@dataclass
class Live:
    """A connected slicer at one moment: `hours` since 1970 that have records, ascending, and how many each.

    They are hours in UTC for granularity hour, and 24 times the slicer's own day for granularity day.
    `sample` is there if one was written for it. While `is_plain`, no NaN was met among its numbers.
    """

    columns: Columns
    hours: Hours
    counts: Hours
    read_at: float
    sample: Sampled | None = None
    values: dict[str, list[str]] = field(default_factory=dict)
    is_plain: bool = False

    @property
    def definition(self) -> Definition:
        """The slicer's definition."""
        return self.columns.definition

    def shown_hours(self, timezone: int) -> Hours:
        """The hours on a clock so many hours east of UTC; days have no clock."""
        return self.hours + timezone if self.definition.time.granularity == "hour" else self.hours

    def rows_by_day(self) -> dict[dt.date, int]:
        """Records per day of the slicer's own zone, ascending."""
        days = self.shown_hours(self.definition.timezone) // DAY_HOURS
        found: dict[int, int] = {}
        for day, count in zip(days.tolist(), self.counts.tolist(), strict=True):
            found[day] = found.get(day, 0) + count
        return {dt.date(1970, 1, 1) + dt.timedelta(days=day): count for day, count in found.items()}


class LiveSlicers:
    """Connected slicers as they were read within the last minute. Safe among threads."""

    def __init__(self, connections: Connections, clock: Callable[[], float] = time.monotonic) -> None:
        self._connections, self._clock = connections, clock
        self._known: dict[tuple[str, str, str], Live] = {}
        self._locks: dict[tuple[str, str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def current(self, stored: StoredSlicer) -> StoredSlicer:
        """The slicer with the days that its table has now.

        `version` changes with the days and their records, `read_at` with every reading: answers are kept no
        longer than that.
        """
        live = self.of(stored)
        sample = "" if live.sample is None else live.sample.stored.place[1]
        parts = live.hours.tobytes() + live.counts.tobytes() + sample.encode()
        content = hashlib.sha256(parts).hexdigest()[:16]
        return replace(
            stored, rows=live.rows_by_day(), version=f"{stored.version}-{content}", read_at=live.read_at
        )

    def of(self, stored: StoredSlicer) -> Live:
        """The metadata read. SourceUnavailable, DeadlineExceeded; BadDefinition if it no longer fits."""
        key = (stored.project, stored.name, stored.version.partition("-")[0])
        with self._lock:
            lock = self._locks.setdefault(key, threading.Lock())
        with lock:
            live = self._known.get(key)
            if live is None or self._clock() - live.read_at >= FRESH_SECONDS:
                live = self._known[key] = self._read(stored)
            return live

    def values(self, live: Live, name: str, deadline: Deadline) -> list[str]:
        """The different values, or elements, of a key field. BadRequest where they are too many."""
        if name not in live.values:
            live.values[name] = self._values(live, name, deadline)
        return live.values[name]

    def sample(self, source: RowSource, rows: int) -> pa.Table:
        """The first rows of a table, with all of its columns, in the database's own order."""
        table = self._connections.table(source.connection, source.table)
        texts = {
            name: table[name].cast("string") for name, kind in table.schema().items() if kind.is_unknown()
        }
        table = table.mutate(**texts) if texts else table
        return self._connections.rows(source.connection, table.limit(rows), Deadline())

    def write_sample(self, stored: StoredSlicer, into: str, most: int) -> StoredSample:
        """Write a sample of the slicer (writing.py), and read the slicer again before the next question."""
        stored_sample = write_sample(self._connections, stored, into, most)
        with self._lock:
            self._known.clear()
        return stored_sample

    def check(self, definition: Definition) -> None:
        """BadDefinition where the table of a definition does not fit it."""
        source = source_of(definition)
        Columns(self._connections.table(source.connection, source.table), definition).check()

    def rows(self, live: Live, expression: object, deadline: Deadline) -> pa.Table:
        """The rows of an expression over the slicer's table."""
        return self._connections.rows(source_of(live.definition).connection, expression, deadline)

    def _read(self, stored: StoredSlicer) -> Live:
        definition = stored.definition
        source = source_of(definition)
        columns = Columns(self._connections.table(source.connection, source.table), definition)
        columns.check()
        by_hour = columns.table.select(hour=columns.hour()).group_by("hour")
        found = by_hour.aggregate(records=lambda table: table.count()).order_by("hour")
        table = self._connections.rows(source.connection, found, Deadline(LONGEST_SECONDS))
        table = table.filter(table["hour"].is_valid())
        hours, counts = (np.asarray(table[name], dtype=np.int64) for name in ("hour", "records"))
        shift = definition.timezone if definition.time.granularity == "hour" else 0
        sample = self._sample(stored, lambda found: found.changed_days(hours, counts, shift))
        is_plain = self._connections.kind(source.connection) in NAN_IS_GREATEST
        return Live(columns, hours, counts, self._clock(), sample, is_plain=is_plain)

    def _sample(self, stored: StoredSlicer, changed: Callable[[StoredSample], set[int]]) -> Sampled | None:
        """The sample of a slicer, if it has one that fits its definition and is there."""
        stored_sample, source = fitting_sample(stored.folder, stored.definition), source_of(stored.definition)
        if stored_sample is None:
            return None
        if not self._connections.has_own(source.connection, stored_sample.place):
            log.warning(
                "The sample of %s/%s is gone: %s", stored.project, stored.name, ".".join(stored_sample.place)
            )
            return None
        table = self._connections.own_table(source.connection, stored_sample.place, schema(stored.definition))
        return Sampled(
            stored_sample, DrawnColumns(table, stored.definition), frozenset(changed(stored_sample))
        )

    def _values(self, live: Live, name: str, deadline: Deadline) -> list[str]:
        columns = live.columns
        if columns.is_segmented(name):
            found = columns.table.select(value=columns.elements(name)).unnest("value", keep_empty=True)
            found = found.select(value=found.value.fill_null(""))
        else:
            found = columns.table.select(value=columns.text(name))
        table = self.rows(live, found.distinct().limit(MOST_VALUES + 1), deadline)
        if table.num_rows > MOST_VALUES:
            raise BadRequest(
                f"{name} has more than {MOST_VALUES:,} values; compare them as they are written, "
                "without case_insensitive and search_mappings"
            )
        values: list[str] = table["value"].to_pylist()
        return values
