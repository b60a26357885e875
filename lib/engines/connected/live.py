"""Metadata of a connected slicer, read before any question: its columns, and the hours that have records.

Both are read again after a minute, so that new days show without a restart; where they have changed, what was
learned of the values of key fields is forgotten.
"""

import datetime as dt
import hashlib
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.engines.connected.backends import about
from lib.engines.connected.columns import DAY_HOURS, Columns, sample, source_of
from lib.engines.connected.connections import Connections
from lib.engines.connected.days import DayCounter, Days, age, stamp, stored_days, touch
from lib.engines.connected.dialects import NAN_IS_GREATEST
from lib.engines.connected.parquet import snapshot_of
from lib.engines.connected.snapshots import Snapshot
from lib.slicers.definition import Definition, RowSource
from lib.slicers.warehouse import StoredSlicer
from lib.slicers.warehouse.slicer import Mark
from lib.wire import private
from lib.wire.deadline import Deadline
from lib.wire.errors import BadDefinition, BadRequest, Misconfigured, SourceUnavailable

log = logging.getLogger(__name__)
FRESH_SECONDS = 60
STORED_SECONDS = 600  # stored days no older than this are used at once, and compared in the background
PATIENCE_SECONDS, SHORT_SECONDS, SHARE = 0.25, 1.0, 20
LOCK = "days.lock"
Key = tuple[str, str, str]
MOST_VALUES = 200_000
Hours = npt.NDArray[np.int64]


@dataclass
class Live:
    """A connected slicer at one moment: `hours` since 1970 that have records, ascending, and how many each.

    They are hours in UTC for granularity hour, and 24 times the slicer's own day for granularity day.
    While `is_plain`, no NaN was met among its numbers. Where `has_fractions`, a sum of doubles had many
    digits: such sums are settled by the sizes of what was added up.
    """

    columns: Columns
    hours: Hours
    counts: Hours
    read_at: float
    values: dict[str, list[str]] = field(default_factory=dict)
    is_plain: bool = False
    has_fractions: bool = False
    days: Days | None = None

    @property
    def definition(self) -> Definition:
        """The slicer's definition."""
        return self.columns.definition


class TableSample(NamedTuple):
    """Rows of a table without the columns that can be no field; of these their names, and why."""

    rows: pa.Table
    left_out: dict[str, str]


def rows_by_day(hours: Hours, counts: Hours, definition: Definition) -> dict[dt.date, int]:
    """Records per day of the slicer's own zone, ascending, of hours (see Live)."""
    shift = definition.timezone if definition.time.has_zones else 0
    totals: dict[int, int] = {}
    for day, count in zip(((hours + shift) // DAY_HOURS).tolist(), counts.tolist(), strict=True):
        totals[day] = totals.get(day, 0) + count
    return {dt.date(1970, 1, 1) + dt.timedelta(days=day): count for day, count in totals.items()}


def _key(slicer: StoredSlicer) -> Key:
    return slicer.project, slicer.name, slicer.version.partition("-")[0]


class LiveSlicers:
    """Connected slicers as they were read within the last minute. Safe among threads.

    The first time, days come from the file that another process or `tranche connect` has stored; only without
    one, the table is counted first. From then on they are compared with the table in the background.
    """

    def __init__(
        self,
        connections: Connections,
        clock: Callable[[], float] = time.monotonic,
        patience: float = PATIENCE_SECONDS,
    ) -> None:
        """`patience` is how many seconds somebody waits for days that are being read again."""
        self._connections, self._clock, self._patience = connections, clock, patience
        self._live: dict[Key, Live] = {}
        self._checked_at: dict[Key, float] = {}
        self._reading: dict[Key, Future[Live]] = {}
        self._stamps: dict[Path, Mark | None] = {}
        self._lock = threading.Lock()

    def current(self, slicer: StoredSlicer) -> StoredSlicer:
        """The slicer with the days that its table has now, or had when its database last answered.

        `version` changes with the days and their records. `read_at` changes with them too; of a table whose
        changes don't show, with every reading: answers are kept no longer than that.
        """
        try:
            live = self.of(slicer)
        except (SourceUnavailable, Misconfigured) as error:
            days = stored_days(slicer.folder, slicer.definition)
            if days is None:
                raise
            hours, counts = days.totals()
            rows = rows_by_day(hours, counts, slicer.definition)
            version = f"{slicer.version}-unavailable"
            return self._label(
                replace(slicer, rows=rows, version=version, problem=error.reason), "can't be reached"
            )
        content = hashlib.sha256(live.hours.tobytes() + live.counts.tobytes()).hexdigest()[:16]
        rows = rows_by_day(live.hours, live.counts, live.definition)
        info = replace(slicer, rows=rows, version=f"{slicer.version}-{content}", read_at=live.read_at)
        return self._label(info, "live", snapshot_of(live.columns.table))

    def _label(self, slicer: StoredSlicer, how: str, snapshot: Snapshot | None = None) -> StoredSlicer:
        """The slicer with the name of its database and how it is read, and when its days were compared.

        Of a table with versions, when the current one was committed.
        """
        if snapshot is not None:
            return replace(slicer, engine=f"{snapshot.title}, {how}", compared_at=snapshot.at)
        seconds = age(slicer.folder)
        now = dt.datetime.now(dt.UTC)
        compared_at = now - dt.timedelta(seconds=seconds) if seconds < float("inf") else None
        title = self._connections.title(source_of(slicer.definition).connection)
        return replace(slicer, engine=f"{title}, {how}", compared_at=compared_at)

    def of(self, slicer: StoredSlicer) -> Live:
        """The metadata read. SourceUnavailable, DeadlineExceeded; Misconfigured if it no longer fits."""
        key = _key(slicer)
        with self._lock:
            live = self._live.get(key)
            if live is not None and self._clock() - self._checked_at[key] < FRESH_SECONDS:
                return live
            reading = self._reading.get(key)
            if reading is None:
                reading = self._reading[key] = Future()
                work = threading.Thread(target=self._run, args=(key, slicer, live, reading), daemon=True)
                work.start()
        if live is None:
            return reading.result()
        with suppress(TimeoutError):
            return reading.result(self._patience)
        return live

    def _run(self, key: Key, slicer: StoredSlicer, live: Live | None, reading: "Future[Live]") -> None:
        """Read a slicer's metadata, and end the waiting for it."""
        began = self._clock()
        try:
            with about(slicer):
                result = self._read(slicer, live)
        except BaseException as error:
            with self._lock:
                self._live.pop(key, None)
                del self._reading[key]
            reading.set_exception(error)
            return
        with self._lock:
            took = self._clock() - began
            self._live[key] = result
            pause = SHARE * took if took > SHORT_SECONDS else 0.0
            is_stored = live is None and slicer.folder not in self._stamps
            self._checked_at[key] = began + pause - (FRESH_SECONDS if is_stored else 0.0)
            del self._reading[key]
        reading.set_result(result)

    def values(self, live: Live, name: str, deadline: Deadline) -> list[str]:
        """The different values, or elements, of a key field. BadRequest where they are too many."""
        if name in live.values:
            return live.values[name]
        columns = live.columns
        if columns.is_segmented(name):
            rows = columns.table.select(value=columns.elements(name)).unnest("value", keep_empty=True)
            rows = rows.select(value=rows.value.fill_null(""))
        else:
            rows = columns.table.select(value=columns.text(name))
        table = self.rows(live, rows.distinct().limit(MOST_VALUES + 1), deadline)
        if table.num_rows > MOST_VALUES:
            raise BadRequest(
                f"{name} has more than {MOST_VALUES:,} values; compare them as they are written, "
                "without case_insensitive and search_mappings"
            )
        live.values[name] = table["value"].to_pylist()
        return live.values[name]

    def sample(self, source: RowSource, rows: int) -> TableSample:
        """The first rows of a table, in the database's own order."""
        expression, left_out = sample(self._connections.table(source.connection, source.table), rows)
        return TableSample(self._connections.rows(source.connection, expression, Deadline()), left_out)

    def misfits(self, definition: Definition) -> dict[str, str]:
        """The columns whose type doesn't suit their field, and why."""
        source = source_of(definition)
        return Columns(self._connections.table(source.connection, source.table), definition).misfits()

    def check(self, definition: Definition, deadline: Deadline | None = None) -> Columns:
        """The columns of a definition's table. BadDefinition where they don't fit, BadRequest without one."""
        source = source_of(definition)
        columns = Columns(self._connections.table(source.connection, source.table, deadline), definition)
        if problems := columns.problems():
            raise BadDefinition([f"{source.table}: {problem}" for problem in problems])
        return columns

    def check_again(self, slicer: StoredSlicer) -> Columns:
        """The columns of a slicer's table. Misconfigured, which names both, where they fit no longer."""
        try:
            return self.check(slicer.definition)
        except BadRequest as error:
            raise Misconfigured(
                f"The table of {slicer.project}/{slicer.name} has changed: {error.reason}. Adapt the table, "
                "or the definition, and connect the slicer again with tranche connect --replace"
            ) from None

    def has_changed(self, slicer: StoredSlicer) -> bool:
        """Whether the table is not the one that was read, which is then forgotten; see `check_again`."""
        columns, key = self.check_again(slicer), _key(slicer)
        with self._lock:
            live = self._live.get(key)
            if live is None or live.columns.table.equals(columns.table):
                return False
            del self._live[key]
            return True

    def reach(self, connection: str, deadline: Deadline) -> None:
        """Whether a connection's database answers. SourceUnavailable, Misconfigured."""
        self._connections.reach(connection, deadline)

    def rows(self, live: Live, expression: object, deadline: Deadline) -> pa.Table:
        """The rows of an expression over the slicer's table."""
        return self._connections.rows(source_of(live.definition).connection, expression, deadline)

    def _read(self, slicer: StoredSlicer, before: Live | None) -> Live:
        """The metadata as it is now; `before` itself if nothing has changed."""
        columns = self.check_again(slicer)
        is_first = before is None and slicer.folder not in self._stamps
        days = self._days(slicer, columns, is_first)
        has_same_days = before is not None and before.days == days and days.is_marked
        if before is not None and has_same_days and before.columns.table.equals(columns.table):
            return before
        hours, counts = days.totals()
        is_plain = self._connections.kind(source_of(slicer.definition).connection) in NAN_IS_GREATEST
        is_plain = is_plain and (before is None or before.is_plain)
        has_fractions = before is not None and before.has_fractions
        return Live(columns, hours, counts, self._clock(), {}, is_plain, has_fractions, days)

    def _days(self, slicer: StoredSlicer, columns: Columns, is_first: bool) -> Days:
        """The days now, or as another process found them a moment ago. One process counts at a time."""
        before, counter = (
            stored_days(slicer.folder, slicer.definition),
            DayCounter(self._connections, columns),
        )
        if before is not None:
            # Whether somebody else has compared the stored days with the table lately.
            is_other = is_first or self._stamps.get(slicer.folder) != stamp(slicer.folder)
            if is_other and age(slicer.folder) < (STORED_SECONDS if is_first else FRESH_SECONDS):
                return before
        try:
            with private.process_lock(slicer.folder / LOCK) as other:
                if other and before is not None:
                    return before
                days = counter.current(before)
                if days is before:
                    touch(slicer.folder)
                else:
                    days.save(slicer.folder)
                self._stamps[slicer.folder] = stamp(slicer.folder)
                return days
        except OSError as error:
            log.warning("The days of %s/%s can't be stored: %s", slicer.project, slicer.name, error)
            return counter.current(before)
