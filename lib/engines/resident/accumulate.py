"""The kernel: a group-by is a sparse matrix times a dense one.

`csc_array((ones, keys, indptr), shape=(groups, records)) @ columns` has, in row g, the sum of the columns
over the records of group g. A record of no group (filtered out) or of several (segmented) is an empty or a
longer column of the sparse matrix, no more.
"""

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import csc_array

from lib.engines.resident.lanes import SAFE_RECORDS, Stored
from lib.engines.resident.layout import Ints, Layout
from lib.slicers.zones import Zone, clock_hours, day_begins

Rows = slice | Ints
CHUNK = 1 << 17
Indptr = npt.NDArray[np.int32]
Places = npt.NDArray[np.int32]
Keys = npt.NDArray[np.signedinteger[Any]]

SPARE = 1 << 20
KEPT_ONES = 16  # arrays of ones, one for each size that chunks have
LARGEST_TABLE = 1 << 22  # keys that a table is made for: its ranks take 16 MB
SPARSE = 64  # possible keys per record from which sorting is quicker than a table


@dataclass(frozen=True)
class Period:
    """The days asked for, as places in the layout: days `low` to `high` (exclusive), and the hours inside.

    `local` are the layout's hours in the question's zone; `whole` says that every record of those days is
    inside, so that no record needs to be looked at for its time.
    """

    low: int
    high: int
    inside: npt.NDArray[np.bool_]
    local: Ints
    whole: bool

    @classmethod
    def of(cls, layout: Layout, days: tuple[int, int], zone: Zone, own_zone: int) -> "Period":
        """The period of `days` (first, last; since 1970) in `zone`, in a layout whose days are in `own_zone`.

        Daily rows know no hours: both zones are 0 for them.
        """
        begin, end = day_begins(zone, days[0]), day_begins(zone, days[1] + 1)
        opens = 24 * layout.days - own_zone
        places = np.flatnonzero((opens < end) & (opens + 24 > begin))
        low, high = (int(places[0]), int(places[-1]) + 1) if len(places) else (0, 0)
        inside = (layout.hours >= begin) & (layout.hours < end)
        whole = bool(len(places) == 0 or (opens[low] >= begin and opens[high - 1] + 24 <= end))
        return cls(low, high, inside, clock_hours(zone, layout.hours), whole)

    def span(self, layout: Layout) -> slice:
        """All records of the period's days; they lie side by side."""
        return slice(int(layout.starts[self.low]), int(layout.starts[self.high]))


def threshold(layout: Layout, period: Period, limit: int | None) -> int | None:
    """The place in the grid of the largest τ that draws at most `limit` records; None to read them all."""
    counts = layout.draw_counts[period.low : period.high].sum(axis=0)
    if limit is None or period.low == period.high or counts[-1] <= limit:
        return None
    return max(0, int(np.searchsorted(counts, limit, side="right")) - 1)


def chunks(layout: Layout, period: Period, place: int | None, size: int = CHUNK) -> list[Rows]:
    """The records to read, in pieces of about `size`: all of the period's days, or what grid[place] draws."""
    if place is None:
        whole = period.span(layout)
        return [slice(at, min(at + size, whole.stop)) for at in range(whole.start, whole.stop, size)]
    starts = layout.starts[period.low : period.high]
    return list(parts(ranges(starts, layout.draw_counts[period.low : period.high, place]), size))


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """`starts[0] … starts[0]+lengths[0]-1, starts[1] …` as one array."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)


def count(rows: Rows) -> int:
    """How many records these are."""
    return rows.stop - rows.start if isinstance(rows, slice) else len(rows)


def numbers(rows: Rows) -> Ints:
    """The record numbers, as an array."""
    return np.arange(rows.start, rows.stop) if isinstance(rows, slice) else rows


def elements(layout: Layout, name: str, rows: Rows) -> tuple[npt.NDArray[np.unsignedinteger], Ints]:
    """The codes of a segmented key field in these records, one after the other, and how many each has."""
    codes = layout.codes(name)
    if isinstance(rows, slice):
        edges = layout.indptr(name, slice(rows.start, rows.stop + 1))
        return codes[edges[0] : edges[-1]], np.diff(edges)
    starts = layout.indptr(name, rows)
    lengths = layout.indptr(name, rows + 1) - starts
    return codes[ranges(starts, lengths)], lengths


def parts(records: Ints, size: int) -> Iterator[Ints]:
    """`records` in pieces of `size`."""
    return (records[at : at + size] for at in range(0, len(records), size))


def product(keys: Keys, indptr: Indptr, columns: Stored, groups: int) -> Stored:
    """Sums of `columns` (records × m) per group: shape (groups, m).

    Small numbers have sums of 32 bits, so many at a time that none can be larger. To widen the numbers
    first takes longer than what it saves.
    """
    is_cut = columns.dtype != np.float64 and len(columns) > SAFE_RECORDS
    if not is_cut or np.bincount(keys).max(initial=0) <= SAFE_RECORDS:
        return _product(keys, indptr, columns, groups)
    sums = GroupSums(groups)
    for at in range(0, len(columns), SAFE_RECORDS):
        edges = indptr[at : at + SAFE_RECORDS + 1]
        part = keys[edges[0] : edges[-1]]
        sums.take([_product(part, edges - edges[0], columns[at : at + SAFE_RECORDS], groups)])
    return sums.blocks[0]


def _product(keys: Keys, indptr: Indptr, columns: Stored, groups: int) -> Stored:
    ones = _ones(len(keys), columns.dtype.str)
    shape = (groups, len(indptr) - 1)
    matrix = csc_array((ones, keys.astype(np.int32, copy=False), indptr), shape=shape)
    return np.asarray(matrix @ columns)


def one_each(records: int) -> Indptr:
    """The `indptr` of so many records with one element each."""
    return _counting()[: records + 1] if records < SPARE else np.arange(records + 1, dtype=np.int32)


def distinct(keys: Keys, possible: int) -> tuple[Ints, Places]:
    """The keys that occur, ascending, and the place among them of each; keys are from 0 to `possible` - 1.

    By a table of all possible keys, by sorting each key together with its position, or, where both don't fit
    into 63 bits, by `factorize`.
    """
    if possible <= min(LARGEST_TABLE, SPARSE * len(keys)):
        occurs = np.zeros(possible, dtype=bool)
        occurs[keys] = True
        groups = np.flatnonzero(occurs)
        rank = np.empty(possible, dtype=np.int32)
        rank[groups] = np.arange(len(groups), dtype=np.int32)
        return groups, rank[keys]
    bits = len(keys).bit_length()
    if (possible - 1).bit_length() + bits > 63:
        places, groups = pd.factorize(keys, sort=True)
        return np.asarray(groups), places.astype(np.int32)
    pairs = np.sort((keys.astype(np.int64) << bits) | np.arange(len(keys)))
    sorted_keys = pairs >> bits
    is_first = np.ones(len(keys), dtype=bool)
    np.not_equal(sorted_keys[1:], sorted_keys[:-1], out=is_first[1:])
    ranks = np.empty(len(keys), dtype=np.int32)
    ranks[pairs & ((1 << bits) - 1)] = np.cumsum(is_first, dtype=np.int32) - 1
    return sorted_keys[is_first], ranks


@dataclass
class GroupSums:
    """Sums of several chunks in a row per group: blocks of columns (records × m) give blocks of sums."""

    groups: int
    blocks: list[Stored] = field(default_factory=list)

    def add(self, keys: Keys, indptr: Indptr, columns: list[Stored]) -> None:
        """Add a chunk: the group of each element, which elements are whose, and the blocks of columns."""
        self.take([product(keys, indptr, block, self.groups) for block in columns])

    def merge(self, other: "GroupSums") -> None:
        """Take in the sums of others of these groups."""
        if other.blocks:
            self.take(other.blocks)

    def present(self) -> tuple[Ints, list[Stored]]:
        """The groups that have records, and their rows of each block. Column 0 of block 0 counts records."""
        if not self.blocks:
            return np.zeros(0, np.int64), []
        places = np.flatnonzero(self.blocks[0][:, 0])
        return places, self.blocks if len(places) == self.groups else [block[places] for block in self.blocks]

    def take(self, blocks: list[Stored]) -> None:
        """Take in sums of each block of columns."""
        if not self.blocks:
            self.blocks = blocks
            return
        for place, (mine, theirs) in enumerate(zip(self.blocks, blocks, strict=True)):
            # More sums than one may be too large for 32 bits.
            sums = mine if mine.dtype == np.float64 else None
            self.blocks[place] = np.add(mine, theirs, out=sums, dtype=np.float64)


@functools.lru_cache(KEPT_ONES)
def _ones(count: int, dtype: str) -> Stored:
    """Of just this size: SciPy copies a part of a larger array."""
    ones: Stored = np.ones(count, dtype)
    ones.flags.writeable = False
    return ones


@functools.cache
def _counting() -> Indptr:
    spare = np.arange(SPARE, dtype=np.int32)
    spare.flags.writeable = False
    return spare
