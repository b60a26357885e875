"""Rows of a later file whose keys a slicer has already: a window that was sent again would count twice.

A key is the stored time with the values of all key fields: one file per advertiser of the same day is no
overlap. Keys are compared by their hashes of 64 bits, a day at a time; of days that the slicer lacks none is
computed.
"""

import datetime as dt
from collections.abc import Sequence

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.slicers.definition import TIME
from lib.slicers.warehouse import StoredSlicer
from lib.wire.errors import RowsOverlap

Flags = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
_DAY = 86_400
_MOST_HASHES = 16 << 20
_MOST_DAYS = 4


class StoredKeys:
    """The keys of a slicer's rows. `rows` counts those looked at, `overlapping` those that are there already,
    on these `days`."""

    def __init__(self, slicer: StoredSlicer) -> None:
        self._slicer, self._names = slicer, [TIME, *(field.name for field in slicer.definition.key_fields)]
        self._shift = slicer.definition.timezone * 3600 if slicer.definition.time.has_zones else 0
        self._hashes: dict[dt.date, Hashes] = {}
        self._connection = duckdb.connect(config={"threads": 1})
        self.rows, self.overlapping, self.days = 0, 0, set[dt.date]()

    def flags(self, table: pa.Table) -> Flags:
        """Which of these rows have keys that are there already."""
        days = pc.add(table.column(TIME).cast(pa.int64()), self._shift).to_numpy() // _DAY
        flags = np.zeros(table.num_rows, bool)
        for number in np.unique(days).tolist():
            day = dt.date(1970, 1, 1) + dt.timedelta(number)
            if day in self._slicer.files:
                rows = np.flatnonzero(days == number)
                flags[rows] = np.isin(self._hash(table.take(pa.array(rows))), self._stored_hashes(day))
                self.days |= {day} if flags[rows].any() else set()
        self.rows += table.num_rows
        self.overlapping += int(flags.sum())
        return flags

    def refuse(self) -> None:
        """RowsOverlap, in words, where rows had keys that are there already."""
        if self.overlapping:
            raise RowsOverlap(
                f"{self.overlapping:,} of {self.rows:,} rows have keys that are there already "
                f"({_days(sorted(self.days))}): added, they would count twice; nothing was imported. Replace "
                "all rows of the files' days with --replace-days, leave these rows out with --overlap skip, "
                "or add them with --overlap add (always: overlap: add in the definition)"
            )

    def _stored_hashes(self, day: dt.date) -> Hashes:
        if day not in self._hashes:
            while self._hashes and sum(map(len, self._hashes.values())) > _MOST_HASHES:
                del self._hashes[next(iter(self._hashes))]
            self._hashes[day] = np.unique(self._hash(self._slicer.read([day], self._names)))
        return self._hashes[day]

    def _hash(self, table: pa.Table) -> Hashes:
        columns = [table.column(TIME).cast(pa.int64()), *map(table.column, self._names[1:])]
        names = [f"c{number}" for number in range(len(columns))]
        keys = pa.table(columns, names=names)
        query = f"hash({', '.join(names)}) AS key"
        hashes: Hashes = self._connection.from_arrow(keys).project(query).fetchnumpy()["key"]
        return hashes


def _days(days: Sequence[dt.date]) -> str:
    """`6, 7 and 8 Nov 2026`; of many days their number, the first and the last."""
    first, last = days[0], days[-1]
    if len(days) > _MOST_DAYS or (first.year, first.month) != (last.year, last.month):
        return f"{len(days):,} days from {first.day} {first:%b %Y} to {last.day} {last:%b %Y}"
    *others, end = [str(day.day) for day in days]
    return f"{', '.join(others)}{' and ' if others else ''}{end} {last:%b %Y}"
