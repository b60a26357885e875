"""How the lanes of a layout are added up: whole numbers as they are, others in two parts.

A lane of decimal numbers is stored as whole ones. While their sizes add up to less than 2⁵³, they have one
sum in any order; beyond, and where they are no decimal ones, multiples of a unit are added up beside the
rest (digits.py).
"""

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from lib.engines.resident.layout import Floats, Ints, Layout
from lib.slicers.digits import DECIMAL_DIGITS, join, settle, split, unit, whole_numbers

SHIFT = 3 * 2.0**52
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
    """The atoms of a question as columns that float64 adds up exactly, and the sums that these make.

    Where float64 may not hold the sum of a lane, its block is two: multiples of a unit, and the rest.
    Sizes are added up where negative numbers may leave nothing but rounding.
    """

    def __init__(self, layout: Layout, atoms: list[str]) -> None:
        self._layout, self._atoms = layout, atoms
        self._places = [layout.decimals[atom] for atom in atoms]
        self._units = {atom: layout.units[atom] for atom in atoms if atom in layout.units}
        self._sized = [
            atom for atom in self._units if layout.decimals[atom] is None and atom in layout.contents.signed
        ]
        self.blocks = sorted({0, *(layout.lane[atom][0] for atom in atoms)})
        self._lanes = {
            atom: (self.blocks.index(layout.lane[atom][0]), layout.lane[atom][1]) for atom in atoms
        }
        sizes = [layout.spans[number].stop - layout.spans[number].start for number in self.blocks]
        self._shifts, self._scales = [np.zeros(size) for size in sizes], [np.ones(size) for size in sizes]
        for atom, (block, lane) in self._lanes.items():
            if atom in self._units:
                self._shifts[block][lane] = SHIFT * self._units[atom]
            else:
                self._scales[block][lane] = 10.0 ** (layout.decimals[atom] or 0)
        self._split = [block for block, shifts in enumerate(self._shifts) if shifts.any()]
        self.width = sum(sizes[block] for block in self._split) + len(self._sized)

    def columns(self, blocks: list[Floats]) -> list[Floats]:
        """What is added up of the lanes of `blocks`: those, what splitting leaves of some, and sizes."""
        if not self._split:
            return blocks
        columns = list(blocks)
        for block in self._split:
            # the sum is so large that its last digit is the unit
            columns[block] = blocks[block] + self._shifts[block]
            columns[block] -= self._shifts[block]
            columns.append(blocks[block] - columns[block])
        return [
            *columns,
            *(
                np.abs(blocks[at][:, lane : lane + 1])
                for at, lane in map(self._lanes.__getitem__, self._sized)
            ),
        ]

    def sums_of_columns(self, sums: list[Floats]) -> list[Floats]:
        """The sums of the atoms from those of `columns` (groups × lanes)."""
        for block, scales in enumerate(self._scales):
            if (scales != 1).any() and sums[block].flags.writeable:
                np.divide(sums[block], scales, out=sums[block])
        parts = []
        for atom in self._units:
            block, lane = self._lanes[atom]
            rest = sums[len(self.blocks) + self._split.index(block)]
            parts += [sums[block][:, lane], rest[:, lane]]
            if atom in self._sized:
                parts.append(sums[len(self.blocks) + len(self._split) + self._sized.index(atom)][:, 0])
        return self._sums([sums[block][:, lane] for block, lane in self._lanes.values()], parts)

    def of_hours(self, hours: Ints) -> Floats:
        """The sums of these hours as columns: those of the atoms, and then parts."""
        layout = self._layout
        lanes = [layout.contents.lanes.index(atom) for atom in self._atoms]
        sums = layout.hour_sums[hours][:, lanes]
        for column, places in enumerate(self._places):
            if places:
                sums[:, column] = whole_numbers(sums[:, column], places)
        return np.column_stack(
            [sums, *(part for atom in self._units for part in self._hour_parts(atom, hours))]
        )

    def sums_of_hours(self, sums: Floats) -> list[Floats]:
        """The same from those of `of_hours`."""
        columns = [
            column / 10.0**places if places and atom not in self._units else column
            for atom, places, column in zip(self._atoms, self._places, sums.T, strict=False)
        ]
        return self._sums(columns, list(sums.T[len(self._atoms) :]))

    def _sums(self, columns: list[Floats], parts: list[Floats]) -> list[Floats]:
        sums, more = [], iter(parts)
        for atom, places, column in zip(self._atoms, self._places, columns, strict=True):
            if atom not in self._units:
                sums.append(column)
                continue
            high, low = next(more), next(more)
            size = next(more) if atom in self._sized else None
            sums.append(settle(high + low, size) if places is None else join(high, low, places))
        return sums

    def _hour_parts(self, atom: str, hours: Ints) -> Iterator[Floats]:
        """Two parts of sums, of whole numbers by exact fractions, and the sizes."""
        contents, part, places = self._layout.contents, self._units[atom], self._layout.decimals[atom]
        sums = self._layout.hour_sums[hours, contents.lanes.index(atom)]
        rests = np.array(contents.rests.get(atom, np.zeros(len(self._layout.hours))))[hours]
        if places is None or not np.isfinite(sums).all():
            high, low = split(sums, part)
            yield from (high, low + rests)
        else:
            exact = [
                round((Fraction(number) + Fraction(rest)) * 10**places)
                for number, rest in zip(sums.tolist(), rests.tolist(), strict=True)
            ]
            high, _ = split(np.array(list(map(float, exact))), part)
            yield from (
                high,
                np.array(
                    [float(whole - int(above)) for whole, above in zip(exact, high.tolist(), strict=True)]
                ),
            )
        if atom in self._sized:
            yield np.array(contents.sizes[atom])[hours] if atom in contents.sizes else np.abs(sums)
