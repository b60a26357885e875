"""Adding up the records of a question: where they are cut, who adds which of them, and how sums meet.

Where groups are few, each thread adds its chunks into sums for all possible groups. Where they are many, the
groups that occur are found first, each thread in its own pieces; then the records are added up under the
places of their groups among those. Chunks are cut, and sums added, in the same order every time.
"""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np

from lib.engines.resident.accumulate import CHUNK, GroupSums, Indptr, Keys, Places, Rows, distinct
from lib.engines.resident.lanes import Stored
from lib.engines.resident.layout import Ints
from lib.engines.resident.split import Split
from lib.engines.sums import check_groups
from lib.wire.deadline import Deadline

FEW_GROUPS = 1 << 18
WORTH_THREADS = 1 << 16
LARGEST_PIECE = 1 << 20

Columns = Callable[[Rows], list[Stored]]
Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Location:
    """The records of a chunk that count, the groups of their elements, and which elements are whose."""

    rows: Rows
    keys: Keys
    indptr: Indptr


@dataclass(frozen=True)
class Adding:
    """How the records of one question are added up: `locate` says which of a chunk count, and where."""

    split: Split
    locate: Callable[[Rows], Location]
    threads: int
    deadline: Deadline
    max_groups: int | None = None

    def sum_up(
        self, columns: Columns, pieces: Callable[[int], list[Rows]], records: int, chunk: int = CHUNK
    ) -> "SplitSums":
        """The sums of these columns; `pieces` cuts the records, so many a chunk, or more."""
        shares = max(1, min(self.threads, records // (WORTH_THREADS // 2)))
        groups = self.split.groups
        if groups <= min(FEW_GROUPS, max(CHUNK, 2 * records)):
            size = min(max(chunk, 16 * groups), LARGEST_PIECE)
            return self._few(columns, pieces(min(size, -(-records // shares) or 1)), shares)
        return self._many(columns, pieces(min(LARGEST_PIECE, -(-records // shares) or 1)), shares)

    def _few(self, columns: Columns, pieces: list[Rows], shares: int) -> "SplitSums":
        def share(part: Sequence[Rows]) -> tuple[GroupSums, GroupSums]:
            sums, total = GroupSums(self.split.groups), GroupSums(1)
            for rows in part:
                self.deadline.check()
                location = self.locate(rows)
                self._add(sums, total, location.keys, location, columns)
            return sums, total

        sums, total = _merge(_in_threads(share, pieces, shares))
        keys, blocks = sums.present()
        check_groups(len(keys), self.max_groups)
        return SplitSums(keys, blocks, total)

    def _many(self, columns: Columns, pieces: list[Rows], shares: int) -> "SplitSums":
        def locate_part(part: Sequence[Rows]) -> list[tuple[Location, Ints]]:
            parts = []
            for rows in part:
                self.deadline.check()
                location = self.locate(rows)
                part_keys, places = distinct(location.keys, self.split.groups)
                parts.append((Location(location.rows, places, location.indptr), part_keys))
            return parts

        locations = [pair for part in _in_threads(locate_part, pieces, shares) for pair in part]
        # All keys of the parts, ascending, and per part where its keys are among them.
        every = [part_keys for _, part_keys in locations]
        if len(every) == 1:
            keys, places = every[0], [np.arange(len(every[0]), dtype=np.int32)]
        else:
            keys, ranks = distinct(np.concatenate([np.zeros(0, np.int64), *every]), self.split.groups)
            places = np.split(ranks, np.cumsum([len(part_keys) for part_keys in every])[:-1])[: len(every)]
        check_groups(len(keys), self.max_groups)

        def share(part: Sequence[tuple[Location, Places]]) -> tuple[GroupSums, GroupSums]:
            sums, total = GroupSums(len(keys)), GroupSums(1)
            for location, key_places in part:
                self.deadline.check()
                self._add(sums, total, key_places[location.keys], location, columns)
            return sums, total

        pairs = [(location, key_places) for (location, _), key_places in zip(locations, places, strict=True)]
        sums, total = _merge(_in_threads(share, pairs, shares))
        return SplitSums(keys, sums.blocks, total)

    def _add(
        self, sums: GroupSums, total: GroupSums, groups: Keys, location: Location, columns: Columns
    ) -> None:
        blocks = columns(location.rows)
        sums.add(groups, location.indptr, blocks)
        if self.split.is_segmented:
            once = np.minimum(np.diff(location.indptr), 1)
            ends = np.concatenate([[0], np.cumsum(once)]).astype(np.int32)
            total.add(np.zeros(once.sum(), np.int32), ends, blocks)


@dataclass(frozen=True)
class SplitSums:
    """The groups that have records, by their keys, ascending; blocks of sums (groups × m each).

    `total` has sums of all records where those of the groups add up to more: a record may be in several.
    """

    keys: Ints
    blocks: list[Stored]
    total: GroupSums

    def whole(self) -> list[Stored]:
        """Per block the sums of all records together."""
        if self.total.blocks:
            return [block[0] for block in self.total.blocks]
        return [block.sum(axis=0) for block in self.blocks]


def _merge(shares: list[tuple[GroupSums, GroupSums]]) -> tuple[GroupSums, GroupSums]:
    sums, total = shares[0]
    for other, other_total in shares[1:]:
        sums.merge(other)
        total.merge(other_total)
    return sums, total


def _in_threads(work: Callable[[Sequence[Item]], Result], items: list[Item], shares: int) -> list[Result]:
    """The results of `work` on each share of the items, in order.

    The first is worked on here; so is another, if no thread has begun it by then.
    """
    shares = max(1, min(shares, len(items)))
    parts = [
        items[len(items) * share // shares : len(items) * (share + 1) // shares] for share in range(shares)
    ]
    others = [_threads().submit(work, part) for part in parts[1:]]
    try:
        results = [work(parts[0])]
        for part, other in zip(parts[1:], others, strict=True):
            results.append(work(part) if other.cancel() else other.result())
    finally:
        for other in others:
            other.cancel()
    return results


@cache
def _threads() -> ThreadPoolExecutor:
    """Threads for the shares of all questions: to start one takes longer than many a share."""
    return ThreadPoolExecutor(os.cpu_count(), "sums")
