"""Rows whose keys a slicer, or an earlier file of the same import, has already: they would count twice.

A key is the stored time with the values of all key fields: one file per advertiser of the same day is no
overlap. Keys are compared by their hashes of 64 bits, a day at a time. Of one file, on days that the slicer
lacks, none is computed.
"""

import datetime as dt

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.ingest.files import DataFile
from lib.slicers.definition import TIME, Definition
from lib.slicers.warehouse import StoredSlicer
from lib.slicers.warehouse.writer import days_of
from lib.wire.errors import RowsOverlap
from lib.wire.text import count_of, write_day

Hashes = npt.NDArray[np.uint64]
_MOST_HASHES = 16 << 20
_MOST_DAYS = 4


class KnownKeys:
    """The keys of a `slicer`'s rows, where it is added to, and of the files before the one that is read.

    `rows` counts those looked at, `overlapping` those that are there already, on these `days`; `is_repeated`
    says that some are in an earlier file. Without `has_files` files are not compared with each other; `skips`
    leaves rows out whose keys are there.
    """

    def __init__(
        self, definition: Definition, slicer: StoredSlicer | None, has_files: bool, skips: bool
    ) -> None:
        self._definition, self._slicer, self._skips = definition, slicer, skips
        self._names = [TIME, *(field.name for field in definition.key_fields)]
        self._hashes: dict[dt.date, Hashes] = {}
        self._has_files = has_files
        self._file: DataFile | None = None
        self._earlier: dict[dt.date, Hashes] = {}
        self._own: dict[dt.date, list[Hashes]] = {}
        import duckdb  # most imports append to nothing

        self._connection = duckdb.connect(config={"threads": 1})
        self.rows, self.overlapping, self.days, self.is_repeated = 0, 0, set[dt.date](), False

    def take(self, file: DataFile, table: pa.Table) -> pa.Table:
        """The rows of a file or sheet to store; those of one are not compared with each other."""
        if file != self._file:
            for day, parts in self._own.items():
                earlier = [self._earlier[day]] if day in self._earlier else []
                self._earlier[day] = np.unique(np.concatenate([*earlier, *parts]))
            self._own, self._file = {}, file
        plain = table.cast(self._definition.schema())
        days = days_of(plain, self._definition)
        flags = np.zeros(table.num_rows, bool)
        for number in np.unique(days).tolist():
            day = dt.date(1970, 1, 1) + dt.timedelta(number)
            if self._slicer and day in self._slicer.files and day not in self._hashes:
                while self._hashes and sum(map(len, self._hashes.values())) > _MOST_HASHES:
                    del self._hashes[next(iter(self._hashes))]
                self._hashes[day] = np.unique(self._hash(self._slicer.read([day], self._names)))
            old = self._hashes.get(day)
            if old is None and not self._has_files:
                continue
            rows = np.flatnonzero(days == number)
            hashes = self._hash(plain.take(pa.array(rows)))
            if old is not None:
                flags[rows] = np.isin(hashes, old)
            if day in self._earlier:
                is_repeated = np.isin(hashes, self._earlier[day])
                self.is_repeated |= bool(is_repeated.any())
                flags[rows] |= is_repeated
            if self._has_files:
                self._own.setdefault(day, []).append(np.unique(hashes))
            self.days |= {day} if flags[rows].any() else set()
        self.rows += table.num_rows
        self.overlapping += int(flags.sum())
        return table.filter(pa.array(~flags)) if self._skips and flags.any() else table

    def refuse(self) -> None:
        """RowsOverlap, in words, where rows had keys that are there already."""
        if self.overlapping:
            days = sorted(self.days)
            first, last = days[0], days[-1]
            # `6, 7 and 8 Nov 2026`; of many days their number, the first and the last
            if len(days) > _MOST_DAYS or (first.year, first.month) != (last.year, last.month):
                when = f"{len(days):,} days from {write_day(first)} to {write_day(last)}"
            else:
                others = ", ".join(str(day.day) for day in days[:-1])
                when = f"{others}{' and ' if others else ''}{last.day} {last:%b %Y}"
            where, remedy = "there already", "Replace all rows of the files' days"
            if self.is_repeated:
                where = (
                    f"{'there already, or ' * bool(self._slicer)}in an earlier file or sheet of this import"
                )
                remedy = "Import the files one after another (sheets with --sheet), the later"
            raise RowsOverlap(
                f"The keys of {self.overlapping:,} of {count_of(self.rows, 'row')} are {where} "
                f"({when}): added, they would count twice; nothing was imported. "
                f"{remedy} with --replace-days, leave these rows out with --overlap skip, "
                "or add them with --overlap add (always: overlap: add in the definition)",
                self.is_repeated,
            )

    def _hash(self, table: pa.Table) -> Hashes:
        columns = [table.column(TIME).cast(pa.int64()), *map(table.column, self._names[1:])]
        names = [f"c{number}" for number in range(len(columns))]
        keys = pa.table(columns, names=names)
        query = f"hash({', '.join(names)}) AS key"
        hashes: Hashes = self._connection.from_arrow(keys).project(query).fetchnumpy()["key"]
        return hashes
