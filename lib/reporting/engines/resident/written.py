"""Files of a layout while they are written: days of an earlier one are kept or new ones added."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lib.reporting.engines.resident.checksums import Sum
from lib.reporting.engines.resident.earlier import Earlier
from lib.reporting.engines.resident.layout import Codes, Ints

CHUNK = 1 << 20

Local = npt.NDArray[np.int32]


class LaneWriter:
    """Writes a file with as many bytes for each record, after those of `head`."""

    def __init__(self, path: Path, earlier: Earlier | None, head: bytes = b"") -> None:
        self.path, self.earlier, self.same = path, earlier, 0
        if earlier is None:
            path.write_bytes(head)
            return
        self.width = (earlier.sum_of(path.name).size - len(head)) // earlier.layout.contents.records
        self.same = len(head) + self.width * int(earlier.layout.starts[earlier.led])
        earlier.begin(path, self.same)
        if len(earlier.kept) > earlier.led:
            earlier.check(path.name)

    def add(self, lane: npt.NDArray[Any]) -> None:
        """Add a day."""
        with self.path.open("ab") as target:
            lane.tofile(target)

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout; those that it begins with are there."""
        if self.earlier is None or place < self.earlier.led:
            return
        records = self.earlier.records(place)
        with (self.earlier.layout.folder / self.path.name).open("rb") as source:
            source.seek(records.start * self.width)
            content = source.read((records.stop - records.start) * self.width)
        with self.path.open("ab") as target:
            target.write(content)

    def sum(self) -> Sum:
        """The checksums of the file."""
        return Sum.of(self.path, self.earlier.sum_of(self.path.name) if self.earlier else None, self.same)


@dataclass(frozen=True)
class Before:
    """A file of codes of an earlier layout: its codes, and which of them are a day's."""

    earlier: Earlier
    codes: Codes
    elements: Callable[[int], slice]


class CodeWriter:
    """Writes a file of codes: places among a day's own values at first, and among all in the end."""

    def __init__(self, path: Path, before: Before | None) -> None:
        self.path, self.before, self.same = path, before, 0
        self.parts: list[slice | int] = []
        self.local = path.with_suffix(".local")
        self.local.touch()

    @property
    def elements(self) -> int:
        """How many codes there are."""
        return sum(part if isinstance(part, int) else part.stop - part.start for part in self.parts)

    def add(self, codes: Local) -> None:
        """Add a day."""
        with self.local.open("ab") as file:
            np.ascontiguousarray(codes, dtype=np.int32).tofile(file)
        self.parts.append(len(codes))

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout."""
        if self.before is not None:
            self.parts.append(self.before.elements(place))

    def used(self, values: int) -> npt.NDArray[np.bool_]:
        """Which of the earlier values are those of a day that is kept."""
        if self.before is None or self.before.earlier.is_whole:
            return np.ones(values, dtype=bool)
        found = np.zeros(values, dtype=bool)
        for part in self.parts:
            if isinstance(part, slice):
                found[self.before.codes[part]] = True
        return found

    def finish(self, table: Ints, tables: Sequence[Ints], dtype: str) -> None:
        """Write the file: `table` has the codes of earlier values (-1: none), `tables` those of new days."""
        done = self._begin(table, dtype)
        now, added = table.astype(dtype), iter(tables)
        with self.local.open("rb") as source, self.path.open("ab") as target:
            for part in self.parts[done:]:
                if isinstance(part, int):
                    next(added).astype(dtype)[np.fromfile(source, np.int32, part)].tofile(target)
                elif self.before is not None:
                    for at in range(part.start, part.stop, CHUNK):
                        now[self.before.codes[at : min(at + CHUNK, part.stop)]].tofile(target)
        self.local.unlink()

    def sum(self) -> Sum:
        """The checksums of the file."""
        known = self.before.earlier.sum_of(self.path.name) if self.before else None
        return Sum.of(self.path, known, self.same)

    def _begin(self, table: Ints, dtype: str) -> int:
        """How many days are in place: those that both begin with, if codes are what they were."""
        if self.before is None:
            return 0
        earlier, codes = self.before.earlier, self.before.codes
        is_same = bool(((table == np.arange(len(table))) | (table < 0)).all())
        led = earlier.led if is_same and codes.dtype == np.dtype(dtype) else 0
        self.same = self.before.elements(led - 1).stop * codes.dtype.itemsize if led else 0
        earlier.begin(self.path, self.same)
        return led


def merge(before: npt.NDArray[Any], used: npt.NDArray[np.bool_], added: Sequence[npt.NDArray[Any]]) -> Any:
    """All values used or added, ascending; where those of before are (-1: nowhere), and where the added.

    Each array is ascending, without repetition.
    """
    union = np.sort(np.concatenate([before[used], *added]), kind="stable")  # merges what is sorted
    is_first = np.ones(len(union), dtype=bool)
    np.not_equal(union[1:], union[:-1], out=is_first[1:])
    union = union[is_first]
    table = np.full(len(before), -1, np.int64)
    table[used] = np.searchsorted(union, before[used])
    return union, table, [np.searchsorted(union, one) for one in added]
