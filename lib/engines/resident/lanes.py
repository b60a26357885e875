"""How the numbers of a block lie side by side: whole numbers as they are, others in two parts.

A lane of decimal numbers is stored as whole ones. While their sizes add up to less than 2⁵³, they have one
sum in any order; beyond, and where they are no decimal ones, multiples of a unit are stored, and the rest of
each behind the lanes. Either is added up by itself (digits.py). A block of small whole numbers takes four
bytes for each, and is added up as it is; others take eight.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, islice, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from lib.slicers.digits import split, whole_numbers

FIRST_LANES, MORE_LANES = 8, 32
SAFE_RECORDS = 1 << 16
LARGEST_SMALL = 2.0**15 - 1
"""SAFE_RECORDS numbers up to this have a sum of 32 bits."""
Floats = npt.NDArray[np.float64]
Stored = npt.NDArray[Any]
"""Numbers or sums of a block: float64, or int32 where they are small."""


def spans(lanes: int) -> list[slice]:
    """The lanes of each block, out of so many.

    A wide block is added up in less time than several narrow ones; the first is narrow, since few questions
    ask for more than the first data fields.
    """
    edges = [0, *range(FIRST_LANES, lanes, MORE_LANES), lanes]
    return [slice(first, end) for first, end in pairwise(edges)]


@dataclass(frozen=True)
class Lane:
    """How numbers are stored: times 10^`decimals` (None: they are no decimal ones), which makes them whole.

    Those with a `unit` are multiples of it and the rest; `is_sized` ones, of which negative numbers may leave
    nothing but rounding, have their sizes beside. None is larger than `largest`.
    """

    decimals: int | None = 0
    unit: float | None = None
    is_sized: bool = False
    largest: float = field(default=0.0, compare=False)

    @property
    def is_small(self) -> bool:
        """Whether many of what is stored have a sum of 32 bits."""
        is_whole = self.decimals is not None and self.unit is None
        return is_whole and self.largest * 10.0 ** (self.decimals or 0) <= LARGEST_SMALL


@dataclass(frozen=True)
class Form:
    """How the lanes of a block are stored."""

    lanes: tuple[Lane, ...]
    dtype: str = field(init=False)

    def __post_init__(self) -> None:
        is_small = all(lane.is_small for lane in self.lanes)
        object.__setattr__(self, "dtype", "int32" if is_small else "float64")

    @classmethod
    def of(cls, lanes: Sequence[Lane]) -> "list[Form]":
        """The form of each block of these lanes."""
        return [cls(tuple(lanes[span])) for span in spans(len(lanes))]

    @cached_property
    def columns(self) -> list[tuple[int, ...]]:
        """Where the numbers of each lane are in a record, their rests and their sizes."""
        more = count(len(self.lanes))
        return [
            (place, *islice(more, (lane.unit is not None) + lane.is_sized))
            for place, lane in enumerate(self.lanes)
        ]

    @cached_property
    def width(self) -> int:
        """How many numbers a record has."""
        return sum(map(len, self.columns))

    def store(self, numbers: Floats) -> Stored:
        """Numbers (records × lanes) as they are stored (records × width)."""
        block: Stored = np.empty((len(numbers), self.width), self.dtype)
        for place, (lane, columns) in enumerate(zip(self.lanes, self.columns, strict=True)):
            whole = whole_numbers(numbers[:, place], lane.decimals or 0) + 0.0  # no lane has -0
            parts = (whole,) if lane.unit is None else (*split(whole, lane.unit), np.abs(whole))
            for column, part in zip(columns, parts, strict=False):
                block[:, column] = part
        return block

    def restore(self, block: Stored) -> Floats:
        """The numbers again, exactly."""
        return np.stack(
            [
                block[:, columns[:2]].sum(axis=1) / 10.0 ** (lane.decimals or 0)
                for lane, columns in zip(self.lanes, self.columns, strict=True)
            ],
            axis=1,
        )
