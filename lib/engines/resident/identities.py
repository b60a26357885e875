"""Figures that are not additive: counts of distinct values or users, minimum and maximum."""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.engines.resident.lanes import Floats
from lib.engines.resident.layout import Codes, Ints, Numbers, Places
from lib.wire.deadline import Deadline

LARGEST_BITMAP = 1 << 26
PENDING = 1 << 22


@dataclass(frozen=True)
class Membership:
    """A chunk: the record numbers that count, and for each element the group's place and its record's place.

    `place` is -1 where the group is not among those of the answer; `owner` points into `records`, and is None
    where each record has one element, in their order.
    """

    records: Ints
    place: Ints
    owner: Ints | None

    def of_elements(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A value per element, of one per record."""
        return values if self.owner is None else values[self.owner]


def count_distinct(
    chunks: Iterable[Membership], codes: Places, values: int, groups: int, deadline: Deadline
) -> tuple[Floats, float]:
    """How many different codes below `values` each group has, and all records together."""
    pairs, everything = _pairs(chunks, codes, values, groups, deadline)
    return pairs.counts(), float(everything.sum())


def _pairs(
    chunks: Iterable[Membership], codes: Places | Codes, values: int, groups: int, deadline: Deadline
) -> "tuple[_Bitmap | _PairSet, npt.NDArray[np.bool_]]":
    everything = np.zeros(values, dtype=bool)
    pairs = _Bitmap(groups, values) if groups * values <= LARGEST_BITMAP else _PairSet(groups, values)
    for chunk in chunks:
        deadline.check()
        chunk_codes = codes[chunk.records].astype(np.int64)
        is_known = chunk_codes < values
        everything[chunk_codes if is_known.all() else chunk_codes[is_known]] = True
        inside = chunk.of_elements(is_known) & (chunk.place >= 0)
        pair = chunk.place * values + chunk.of_elements(chunk_codes)
        pairs.add(pair if inside.all() else pair[inside])
    return pairs, everything


def only_value(
    chunks: Iterable[Membership], codes: Codes, numbers: Floats, groups: int, deadline: Deadline
) -> tuple[Floats, float]:
    """The number of the one code that all records of a group have: -n where they have n codes, 0 without any.

    The same of all records together.
    """
    pairs, everything = _pairs(chunks, codes, len(numbers), groups, deadline)
    places, members = np.divmod(pairs.keys(), max(1, len(numbers)))
    counts, only = np.bincount(places, minlength=groups), np.zeros(groups)
    only[places] = numbers[members]
    whole = numbers[everything]
    total = float(whole[0]) if len(whole) == 1 else -float(len(whole))
    return np.where(counts > 1, -counts, only), total


class _Bitmap:
    """Pairs of group and value as flags."""

    def __init__(self, groups: int, values: int) -> None:
        self.shape = (groups, values)
        self.flags = np.zeros(groups * values, dtype=bool)

    def add(self, pairs: Ints) -> None:
        self.flags[pairs] = True

    def counts(self) -> Floats:
        return np.asarray(self.flags.reshape(self.shape).sum(axis=1), dtype=np.float64)

    def keys(self) -> Ints:
        return np.flatnonzero(self.flags)


class _PairSet:
    """Pairs of group and value as a set, where flags would be too many."""

    def __init__(self, groups: int, values: int) -> None:
        self.groups, self.values = groups, values
        self.parts: list[Ints] = []

    def add(self, pairs: Ints) -> None:
        self.parts.append(pd.unique(pairs))
        if sum(len(part) for part in self.parts[1:]) > PENDING:
            self._compact()

    def counts(self) -> Floats:
        return np.bincount(self.keys() // self.values, minlength=self.groups).astype(np.float64)

    def keys(self) -> Ints:
        self._compact()
        return self.parts[0]

    def _compact(self) -> None:
        self.parts = [pd.unique(np.concatenate([np.zeros(0, np.int64), *self.parts]))]


def extreme(
    chunks: Iterable[Membership], column: Numbers, greatest: bool, groups: int, deadline: Deadline
) -> tuple[Floats, float]:
    """The least or greatest value in each group, and of all records; NaN where there is none."""
    better, empty = (np.fmax, -np.inf) if greatest else (np.fmin, np.inf)
    best, total = np.full(groups, empty), empty
    for chunk in chunks:
        deadline.check()
        values = column[chunk.records]
        elements = chunk.of_elements(values)
        inside = (chunk.place >= 0) & ~np.isnan(elements)
        better.at(best, chunk.place[inside], elements[inside])
        total = float(better.reduce(values, initial=total))
    return np.where(best == empty, np.nan, best), float("nan") if total == empty else total


def users_below(order: Places, codes: Places, budget: int) -> tuple[Ints, int]:
    """The records of as many users as fit whole in `budget` records (one at least), and how many users."""
    users = max(1, int(codes[order[min(budget, len(order) - 1)]]))
    inside = bisect.bisect_left(order, users, key=lambda record: int(codes[record]))
    return np.sort(order[:inside].astype(np.int64)), users
