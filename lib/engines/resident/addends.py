"""How the lanes of a layout are added up: whole numbers as they are, others in two parts.

A lane of decimal numbers is stored as whole ones. While their sizes add up to less than 2⁵³, they have one
sum in any order; beyond, and where they are no decimal ones, multiples of a unit are added up beside the
rest (digits.py).
"""

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from lib.engines.resident.layout import Floats, Ints, Layout
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
    """The atoms of a question as columns that float64 adds up exactly, and the sums that these make.

    An atom whose sum float64 may not hold has more columns beside that of its lane: two parts, and sizes
    where negative numbers may leave nothing but rounding.
    """

    def __init__(self, layout: Layout, atoms: list[str]) -> None:
        self._layout, self._atoms = layout, atoms
        self._places = [layout.decimals[atom] for atom in atoms]
        self._units = {atom: layout.units[atom] for atom in atoms if atom in layout.units}
        self._sized = {
            atom for atom in self._units if layout.decimals[atom] is None and atom in layout.contents.signed
        }
        self.width = 2 * len(self._units) + len(self._sized)

    def parts(self, lanes: Mapping[str, Floats]) -> Floats:
        """The columns beside those of the lanes: (records × width)."""
        return np.stack(list(self._parts(lanes)), axis=1)

    def of_hours(self, hours: Ints) -> Floats:
        """The columns of sums of these hours: (hours × atoms, and then width)."""
        layout = self._layout
        lanes = [layout.contents.lanes.index(atom) for atom in self._atoms]
        sums = layout.hour_sums[hours][:, lanes]
        for column, places in enumerate(self._places):
            if places:
                sums[:, column] = whole_numbers(sums[:, column], places)
        return np.column_stack(
            [sums, *(part for atom in self._units for part in self._hour_parts(atom, hours))]
        )

    def sums(self, columns: list[Floats], parts: Floats) -> list[Floats]:
        """The sums of the atoms, from those of their lanes and of the parts (groups × width)."""
        sums, more = [], iter(parts.T)
        for atom, places, column in zip(self._atoms, self._places, columns, strict=True):
            if atom not in self._units:
                sums.append(column / 10.0**places if places else column)
                continue
            high, low = next(more), next(more)
            size = next(more) if atom in self._sized else None
            sums.append(settle(high + low, size) if places is None else join(high, low, places))
        return sums

    def _parts(self, lanes: Mapping[str, Floats]) -> Iterator[Floats]:
        for atom, part in self._units.items():
            yield from split(lanes[atom], part)
            if atom in self._sized:
                yield np.abs(lanes[atom])

    def _hour_parts(self, atom: str, hours: Ints) -> Iterator[Floats]:
        """As `_parts` has them, of sums: of whole numbers by exact fractions."""
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
