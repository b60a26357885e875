"""Draws the sample of a connected slicer, and writes it into a table of ours and a sample.json.

Draws the sample of a connected slicer: reads every row of its table once, and keeps those of the least q.

Sizes, random numbers and thresholds are the resident engine's own (sampling.py), by a record's position among
the rows of its day as the database returns them: the same rows in the same order give the same sample. Memory
grows with the rows kept (16 bytes each); the rows themselves are put down in a temporary folder.
"""

import datetime as dt
import logging
import re
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path

import duckdb
import ibis
import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from lib import private
from lib.reporting.definition import Definition
from lib.reporting.engines.connected import samples
from lib.reporting.engines.connected.columns import DAY_HOURS, Columns, source_of
from lib.reporting.engines.connected.connections import Connections
from lib.reporting.engines.connected.samples import HOUR, ORDER, SIZE, StoredSample, numbers, stored_sample
from lib.reporting.engines.resident import sampling
from lib.reporting.engines.resident.build import SEED
from lib.reporting.engines.resident.builder import lane_of
from lib.reporting.engines.resident.days import Bounds, Limits
from lib.reporting.engines.resident.layout import Floats
from lib.reporting.measures import additive_atoms
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest, TrancheError

Ints = npt.NDArray[np.int64]


class RunningSums:
    """Sums over all records so far.

    `lanes` are the additive atoms; `hour_sums` has a row of them per hour.
    """

    def __init__(self, definition: Definition) -> None:
        self.lanes = additive_atoms(definition)
        self._bounds = Bounds(definition)
        self._limits: list[Limits] = []
        self.hour_sums: dict[int, Floats] = {}
        self._sizes = np.zeros(len(self.lanes))
        self._negative = np.zeros(len(self.lanes), dtype=bool)

    def add(self, hours: npt.NDArray[np.int64], columns: Mapping[str, Floats]) -> None:
        """Take in records: the hour of each, and its data fields by name."""
        present, places = np.unique(hours, return_inverse=True)
        sums = np.zeros((len(present), len(self.lanes)))
        atoms = {atom: lane_of(atom, dict(columns), len(hours)) for atom in self._bounds.atoms}
        self._limits.append(self._bounds.of(atoms))
        for place, atom in enumerate(self.lanes):
            values = lane_of(atom, dict(columns), len(hours))
            sums[:, place] = np.bincount(places, values, len(present))
            self._sizes[place] += float(np.abs(values).sum())
            self._negative[place] |= bool((values < 0).any())
        for hour, row in zip(present.tolist(), sums, strict=True):
            self.hour_sums[hour] = self.hour_sums.get(hour, 0.0) + row

    @property
    def hours(self) -> list[int]:
        """The hours that have records, ascending."""
        return sorted(self.hour_sums)

    @property
    def signed(self) -> list[str]:
        """The atoms that have negative values."""
        return [atom for atom, negative in zip(self.lanes, self._negative, strict=True) if negative]

    @property
    def bounds(self) -> Mapping[str, tuple[float | None, float | None]]:
        """The limits of each ratio over all records; None on a side without one."""
        return self._bounds.of_all(self._limits)

    def typical(self, records: int) -> list[float]:
        """The mean size of each atom over so many records."""
        shares: list[float] = (self._sizes / max(records, 1)).tolist()
        return shares


class Scale:
    """The sizes of days, and what a record's size in its day is measured by."""

    def __init__(self, definition: Definition, by_day: pa.Table) -> None:
        """`found` are the rows of `statement`. A day that is not among them has size 1."""
        self._names = additive(definition)
        order = np.argsort(np.asarray(by_day["day"], np.int64), kind="stable")
        self._days = np.asarray(by_day["day"], np.int64)[order]
        records = np.asarray(by_day["records"], np.int64)[order]
        sums = [np.asarray(by_day[f"s{place}"], np.float64)[order] for place in range(len(self._names))]
        volume = [
            dict(zip(self._names, day, strict=True))
            for day in np.array(sums).reshape(len(sums), -1).T.tolist()
        ] or [{} for _ in records]
        self._sizes = np.array(sampling.sizes_of_days(volume, records.tolist()))
        self._means = [total / records for total in sums]

    def shares(self, columns: Mapping[str, Floats], days: Ints) -> npt.NDArray[np.float32]:
        """The size of each record in its day: the mean of 1 and of |y| / mean|y|, as `sizes_in_day`."""
        place, is_known = self._places(days)
        total, count = np.ones(len(days)), np.ones(len(days))
        for name, means in zip(self._names, self._means, strict=True):
            mean = np.where(is_known, means[place], 0.0) if len(means) else np.zeros(len(days))
            counts = mean > 0
            absolute = np.abs(np.nan_to_num(columns[name]))
            total += np.divide(absolute, mean, out=np.zeros(len(days)), where=counts)
            count += counts
        return (total / count).astype(np.float32)

    def of_days(self, days: Ints) -> Floats:
        """The size of each record's day."""
        place, is_known = self._places(days)
        return np.where(is_known, self._sizes[place], 1.0) if len(self._sizes) else np.ones(len(days))

    def _places(self, days: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        if not len(self._days):
            return np.zeros(len(days), np.int64), np.zeros(len(days), bool)
        place = np.searchsorted(self._days, days).clip(0, len(self._days) - 1)
        return place, self._days[place] == days


def additive(definition: Definition) -> list[str]:
    """The data fields that sizes are measured by."""
    return [field.name for field in definition.data_fields if field.source and field.is_additive]


def statement(columns: Columns) -> ir.Table:
    """Records and Σ|y| of each additive data field, by day in the slicer's zone."""
    definition, names = columns.definition, additive(columns.definition)
    cells = {f"v{place}": columns.number(name) for place, name in enumerate(names)}
    table = columns.table.select(day=columns.day(definition.timezone), **cells)
    sums = {f"s{place}": table[f"v{place}"].abs().sum().fill_null(0.0) for place in range(len(names))}
    by_day = table.filter(ibis._.day.notnull()).group_by("day")
    return by_day.aggregate(records=lambda rows: rows.count(), **sums)


DRAWN_FILE = "drawn.parquet"


class Drawing:
    """One run over the rows of a table. `folder` takes the rows drawn, `most` says how many these may be."""

    def __init__(self, definition: Definition, scale: Scale, folder: Path, most: int) -> None:
        self.definition, self.scale, self.folder, self.most = definition, scale, folder, most
        self.running_sums = RunningSums(definition)
        self.positions: dict[int, int] = {}
        self.bound, self.largest, self.smallest = np.inf, 0.0, np.inf
        self.draws: list[tuple[Floats, Ints]] = []
        schema = samples.schema(definition)
        self._schema = schema.to_pyarrow()
        self._writer = pq.ParquetWriter(folder / "kept.parquet", self._schema)

    def add(self, batch: pa.RecordBatch) -> None:
        """Take in rows (the columns of `samples.semantic`)."""
        columns = {
            name: np.asarray(
                batch[samples.number_column(self.definition, name)].to_numpy(zero_copy_only=False), np.float64
            )
            for name in numbers(self.definition)
        }
        hours = np.asarray(batch[HOUR].to_numpy(zero_copy_only=False), np.int64)
        self.running_sums.add(hours, columns)
        days = (hours + self._shift) // DAY_HOURS
        shares, of_days = self.scale.shares(columns, days), self.scale.of_days(days)
        size = (shares.astype(np.float64) * of_days).astype(np.float32)
        q = self._uniform(days) / shares / of_days
        self.largest = max(self.largest, float(q.max(initial=0.0)))
        self.smallest = min(self.smallest, float(size.min(initial=np.inf)))
        is_below = q < self.bound
        self._keep(batch, is_below, size[is_below].astype(np.float64), q[is_below], days[is_below])

    def finish(self, place: tuple[str, str], previous: tuple[str, str] | None) -> StoredSample:
        """Write `drawn.parquet`, ordered by q, and return what is to be known of it."""
        self._writer.close()
        whole = self.records <= self.most
        days = sorted(self.positions)
        grid, records = self._grid(self._by_day(days), whole)
        self._order(float(grid[-1]))
        sums = self.running_sums
        return StoredSample(
            definition=samples.digest(self.definition),
            place=place,
            replaced=previous,
            written=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            rows=int(records[:, -1].sum()),
            days=days,
            hours=sums.hours,
            lanes=sums.lanes,
            hour_sums=[sums.hour_sums[hour].tolist() for hour in sums.hours],
            typical=sums.typical(self.records),
            signed=sums.signed,
            bounds=dict(sums.bounds),
            smallest_size=self.smallest if self.records else 1.0,
            grid=grid.tolist(),
            drawn=records.tolist(),
            is_whole=whole,
        )

    @property
    def records(self) -> int:
        """All rows so far."""
        return sum(self.positions.values())

    @property
    def _shift(self) -> int:
        hourly = self.definition.time.granularity == "hour"
        return self.definition.timezone if hourly else 0

    def _uniform(self, days: Ints) -> Floats:
        """The random number of each row, by its day and its position among the rows of that day."""
        q = np.empty(len(days))
        for day in np.unique(days).tolist():
            rows = np.flatnonzero(days == day)
            first = self.positions.get(day, 0)
            q[rows] = sampling.uniform(SEED, day, len(rows), first)
            self.positions[day] = first + len(rows)
        return q

    def _keep(
        self, batch: pa.RecordBatch, is_below: npt.NDArray[np.bool_], size: Floats, q: Floats, days: Ints
    ) -> None:
        table = pa.Table.from_batches([batch]).filter(pa.array(is_below))
        table = table.append_column(SIZE, pa.array(size)).append_column(ORDER, pa.array(q))
        self._writer.write_table(table.cast(self._schema))
        self.draws.append((q, days))
        if sum(len(part) for part, _ in self.draws) > 2 * self.most:
            every_q, theirs = self._kept_so_far()
            self.bound = float(np.partition(every_q, self.most)[self.most])
            self.draws = [(every_q[every_q < self.bound], theirs[every_q < self.bound])]

    def _kept_so_far(self) -> tuple[Floats, Ints]:
        """The q of each row kept, and its day."""
        if not self.draws:
            return np.zeros(0), np.zeros(0, np.int64)
        return np.concatenate([q for q, _ in self.draws]), np.concatenate([days for _, days in self.draws])

    def _by_day(self, days: list[int]) -> list[Floats]:
        """The sorted q of each day."""
        q, theirs = self._kept_so_far()
        order = np.lexsort((q, theirs))
        edges = np.searchsorted(theirs[order], days)
        return np.split(q[order], edges[1:]) if days else []

    def _grid(self, by_day: list[Floats], whole: bool) -> tuple[Floats, Ints]:
        """The resident engine's thresholds (sampling.py), up to the greatest that the rows kept allow."""
        grid, records = sampling.thresholds(by_day, [1.0] * len(by_day), self.largest or None)
        fits = (grid <= self.bound) & (records.sum(axis=0) <= self.most)
        return (grid, records) if whole else (grid[fits], records[:, fits])

    def _order(self, below: float) -> None:
        """The rows below a threshold, ordered by q."""
        with duckdb.connect(config={"temp_directory": str(self.folder)}) as connection:
            duck_dbpy_relation = connection.read_parquet(str(self.folder / "kept.parquet"))
            duck_dbpy_relation.filter(f"{ORDER} < {below!r}").order(ORDER).write_parquet(
                str(self.folder / DRAWN_FILE)
            )


log = logging.getLogger(__name__)
BATCH_ROWS, FEWEST_ROWS, LOCK = 50_000, 10_000, "sample.lock"


def write_sample(connections: Connections, slicer: StoredSlicer, into: str, most: int) -> StoredSample:
    """Draw at most `most` records and write them into the schema (or folder) `into` at the source.

    The table of the sample before stays until the next one: questions may still read it. BadRequest where
    nothing can be written there, or while another process writes one; then the slicer is as it was.
    """
    source = source_of(slicer.definition)
    if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", into) or into == source.table.partition(".")[0]:
        raise BadRequest(
            "--sample-into names a schema, or a folder beside the tables, of its own: small letters, digits "
            f"and _, not '{into}'"
        )
    if most < FEWEST_ROWS:
        raise BadRequest(f"A sample has at least {FEWEST_ROWS:,} records")
    columns = Columns(connections.table(source.connection, source.table), slicer.definition)
    columns.check()
    with private.process_lock(slicer.folder / LOCK) as other:
        if other:
            raise BadRequest(f"Another sample of {slicer.name} is being written; wait until it is done")
        return _write(connections, slicer, columns, into, most)


def _write(
    connections: Connections, slicer: StoredSlicer, columns: Columns, into: str, most: int
) -> StoredSample:
    connection, before = source_of(slicer.definition).connection, stored_sample(slicer.folder)
    place = (into, f"sample_{secrets.token_hex(8)}")
    connections.try_own(connection, into)  # before hours of reading
    with tempfile.TemporaryDirectory(prefix="sample-", dir=slicer.folder) as folder:
        drawing = _drawing(connections, columns, connection, Path(folder), most)
        sample = drawing.finish(place, None if before is None else before.place)
        schema = samples.schema(slicer.definition)
        connections.write_own(connection, place, schema, Path(folder) / DRAWN_FILE)
    sample.save(slicer.folder)
    if before is not None and before.replaced is not None:
        _drop(connections, connection, before.replaced)
    return sample


def _drawing(connections: Connections, columns: Columns, connection: str, folder: Path, most: int) -> Drawing:
    sums = connections.rows(connection, statement(columns), Deadline())
    drawing = Drawing(columns.definition, Scale(columns.definition, sums), folder, most)
    table = columns.table.select(**samples.semantic(columns))
    for batch in connections.batches(connection, table.filter(table[HOUR].notnull()), BATCH_ROWS):
        drawing.add(batch)
    return drawing


def _drop(connections: Connections, connection: str, place: tuple[str, str]) -> None:
    try:
        connections.drop_own(connection, place)
    except TrancheError as error:
        log.warning("The table %s of an earlier sample could not be removed: %s", ".".join(place), error)
