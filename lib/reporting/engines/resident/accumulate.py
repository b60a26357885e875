"""The kernel: a group-by is a sparse matrix times a dense one.

`csc_array((ones, keys, indptr), shape=(groups, records)) @ columns` has, in row g, the sum of the columns
over the records of group g. A record of no group (filtered out) or of several (segmented) is an empty or a
longer column of the sparse matrix, no more.
"""

from dataclasses import dataclass, field
from typing import Protocol, Self

import numpy as np
import pandas as pd
from scipy.sparse import csc_array

from lib.reporting.engines.resident.layout import Floats, Ints
from lib.reporting.engines.resident.split import Indptr
from lib.reporting.engines.sums import check_groups

DENSE_GROUPS = 1 << 18
PENDING = 1 << 21


def product(keys: Ints, indptr: Indptr, columns: Floats, groups: int) -> Floats:
    """Sums of `columns` (records × m) per group: shape (groups, m)."""
    shape = (groups, len(indptr) - 1)
    matrix = csc_array((np.ones(len(keys)), keys.astype(np.int32), indptr), shape=shape)
    return np.asarray(matrix @ columns)


class Accumulator(Protocol):
    """Adds up chunks. Several may work on parts of the records; `merge` joins another's sums."""

    def add(self, keys: Ints, indptr: Indptr, columns: list[Floats]) -> None:
        """Add a chunk: the keys of its records, and blocks of columns (records × m each)."""
        ...

    def merge(self, other: Self) -> None:
        """Take in the sums of another accumulator of the same kind."""
        ...

    def finish(self) -> tuple[Ints, list[Floats]]:
        """The keys that occurred, ascending, and per block their sums (keys × m)."""
        ...


@dataclass
class DenseSums:
    """Sums in a row per possible key, for few possible keys. Column 0 of block 0 counts records."""

    groups: int
    sums: list[Floats] = field(default_factory=list)

    def add(self, keys: Ints, indptr: Indptr, columns: list[Floats]) -> None:
        """See Accumulator."""
        self._take([product(keys, indptr, block, self.groups) for block in columns])

    def merge(self, other: Self) -> None:
        """See Accumulator."""
        if other.sums:
            self._take(other.sums)

    def finish(self) -> tuple[Ints, list[Floats]]:
        """See Accumulator."""
        present = np.flatnonzero(self.sums[0][:, 0]) if self.sums else np.zeros(0, np.int64)
        return present, [block[present] for block in self.sums]

    def _take(self, sums: list[Floats]) -> None:
        if not self.sums:
            self.sums = sums
            return
        for mine, theirs in zip(self.sums, sums, strict=True):
            mine += theirs


@dataclass
class HashedSums:
    """Sums per key that occurs, for many possible keys: chunks are summed apart, then their sums together."""

    max_groups: int | None = None
    keys: list[Ints] = field(default_factory=list)
    sums: list[list[Floats]] = field(default_factory=list)

    def add(self, keys: Ints, indptr: Indptr, columns: list[Floats]) -> None:
        """See Accumulator; raises BadRequest once more than max_groups keys have occurred."""
        places, unique = pd.factorize(keys)
        self._take(unique, [product(places, indptr, block, len(unique)) for block in columns])

    def merge(self, other: Self) -> None:
        """See Accumulator."""
        for keys, sums in zip(other.keys, other.sums, strict=True):
            self._take(keys, sums)

    def finish(self) -> tuple[Ints, list[Floats]]:
        """See Accumulator."""
        self._compact()
        if not self.keys:
            return np.zeros(0, np.int64), []
        order = np.argsort(self.keys[0])
        return self.keys[0][order], [block[order] for block in self.sums[0]]

    def _take(self, keys: Ints, sums: list[Floats]) -> None:
        self.keys.append(keys)
        self.sums.append(sums)
        if sum(len(part) for part in self.keys) > PENDING and len(self.keys) > 1:
            self._compact()

    def _compact(self) -> None:
        if len(self.keys) > 1:
            places, unique = pd.factorize(np.concatenate(self.keys))
            indptr = np.arange(len(places) + 1, dtype=np.int32)
            stacked = [np.concatenate(blocks) for blocks in zip(*self.sums, strict=True)]
            self.sums = [[product(places, indptr, block, len(unique)) for block in stacked]]
            self.keys = [unique]
        if self.keys:
            check_groups(len(self.keys[0]), self.max_groups)
