"""How the lanes of a layout are added up: sums of what is stored of each (lanes.py), and what these make."""

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
import numpy.typing as npt

from lib.engines.resident.lanes import Floats, Stored
from lib.engines.resident.layout import Ints, Layout
from lib.slicers.digits import DECIMAL_DIGITS, join, settle, split, unit, whole_numbers

Local = npt.NDArray[np.int32]


def sums_by_hour(
    lane: Floats, hours: Local, count: int, places: int | None, volume: float
) -> tuple[Floats, Floats]:
    """The sums of numbers in each of so many hours, and what float64 can't hold of them.

    The numbers have so many decimal `places` (None: they are no decimal ones), and `volume` is Σ|y|.
    """
    scale = 10 ** (places or 0)
    numbers = whole_numbers(lane, places or 0)
    if not math.isfinite(volume) or (places is not None and volume * scale < 10**DECIMAL_DIGITS):
        return np.bincount(hours, numbers, count) / scale, np.zeros(count)
    parts = split(numbers, unit(volume * scale))
    high, low = (np.bincount(hours, part, count).astype(np.float64) for part in parts)
    if places is None:
        sums = high + low
        above = sums - low
        return sums, (high - above) + (low - (sums - above))
    exact = [Fraction(int(a) + int(b), scale) for a, b in zip(high.tolist(), low.tolist(), strict=True)]
    return np.array(list(map(float, exact))), np.array([float(e - Fraction(float(e))) for e in exact])


class Addends:
    """The atoms of a question: where their numbers are in `blocks`, and the sums that these add up to."""

    def __init__(self, layout: Layout, atoms: list[str]) -> None:
        self._layout, self._atoms = layout, atoms
        self._lanes = [layout.contents.lanes[atom] for atom in atoms]
        self.blocks = sorted({0, *(layout.columns[atom][0] for atom in atoms)})
        self._columns = [
            (self.blocks.index(block), columns) for block, columns in (layout.columns[atom] for atom in atoms)
        ]
        self.width = sum(layout.forms[block].width for block in self.blocks)

    def of_blocks(self, sums: list[Stored]) -> list[Floats]:
        """The sums of the atoms, from those of each block (groups × width)."""
        by_column = [np.array(block.T, np.float64, order="C") for block in sums]
        return [
            self._sum(number, *(by_column[block][column] for column in columns))
            for number, (block, columns) in enumerate(self._columns)
        ]

    def hour_columns(self, hours: Ints) -> Floats:
        """What is stored of each atom, of sums of these hours."""
        return np.column_stack(
            [part for number in range(len(self._atoms)) for part in self._hour_parts(number, hours)]
        )

    def of_hours(self, sums: Floats) -> list[Floats]:
        """The sums of the atoms, from those of `hour_columns`."""
        columns = iter(sums.T)
        return [
            self._sum(number, *islice(columns, len(places)))
            for number, (_, places) in enumerate(self._columns)
        ]

    def _sum(
        self, number: int, high: Floats, rest: Floats | None = None, size: Floats | None = None
    ) -> Floats:
        decimals = self._lanes[number].decimals
        if rest is None:
            return high / 10.0**decimals if decimals else high
        return settle(high + rest, size) if decimals is None else join(high, rest, decimals)

    def _hour_parts(self, number: int, hours: Ints) -> Iterator[Floats]:
        """As `Form.store` has them; whole numbers by exact fractions."""
        contents, lane, atom = self._layout.contents, self._lanes[number], self._atoms[number]
        sums = self._layout.hour_sums[hours, list(contents.lanes).index(atom)]
        if lane.unit is None:
            yield whole_numbers(sums, lane.decimals or 0)
            return
        rests = np.array(contents.rests.get(atom, np.zeros(len(self._layout.hours))))[hours]
        if lane.decimals is None or not np.isfinite(sums).all():
            high, low = split(sums, lane.unit)
            yield from (high, low + rests)
        else:
            exact = [
                round((Fraction(number) + Fraction(rest)) * 10**lane.decimals)
                for number, rest in zip(sums.tolist(), rests.tolist(), strict=True)
            ]
            high, _ = split(np.array(list(map(float, exact))), lane.unit)
            below = [float(whole - int(above)) for whole, above in zip(exact, high.tolist(), strict=True)]
            yield from (high, np.array(below))
        if lane.is_sized:
            yield np.array(contents.sizes[atom])[hours] if atom in contents.sizes else np.abs(sums)
