"""A draw from a layout: plain, weighted and certain sums, second moments, and the usual light record.

A group's own moments come from the records drawn in it, and know nothing of those that were not. So intervals
count one record more: the usual light one (of a weight above 1) of the whole layout. It is estimated from a
small sample of the layout that is the same for every question.
"""

import numpy as np

from lib.engines.resident import sampling
from lib.engines.resident.accumulate import ranges
from lib.engines.resident.lanes import Floats
from lib.engines.resident.layout import Ints, Layout
from lib.engines.sums import Aggregate, Pair, Sample
from lib.slicers.measures import RECORDS, Numbers

REFERENCE_RECORDS = 4_000


class Draw:
    """A sample q < τ of a layout, and how its columns are called.

    With a atoms y and p pairs: [y | w·y | y where w = 1 | w(w-1)·y·y'], 3a + p columns. The first atom is
    the count of records. Columns are in the units of the lanes; sums are divided by `scales`.
    """

    def __init__(self, layout: Layout, tau: float, atoms: list[str], pairs: list[Pair]) -> None:
        self.layout, self.tau, self.atoms, self.pairs = layout, tau, atoms, pairs
        number = {atom: place for place, atom in enumerate(atoms)}
        self._firsts, self._seconds = (
            np.array([number[pair[side]] for pair in pairs], dtype=np.int64) for side in (0, 1)
        )
        self._powers = np.array([10.0 ** (layout.contents.lanes[atom].decimals or 0) for atom in atoms])
        products = self._powers[self._firsts] * self._powers[self._seconds]
        self.scales = np.concatenate([*[self._powers] * 3, products])

    def columns(self, records: Ints) -> Floats:
        """The columns of these records; shape (records, 3a + p)."""
        plain = self._plain(records)
        weight = sampling.weights(self.layout.sizes(records), self.tau)[:, None]
        moments = plain[:, self._firsts] * plain[:, self._seconds] * (weight * (weight - 1))
        return np.hstack([plain, plain * weight, plain * (weight == 1), moments])

    def aggregate(self, sums: Numbers) -> Aggregate:
        """Summed columns (groups × (3a + p)) by their names."""
        width = len(self.atoms)
        part = {
            name: sums[:, at * width : (at + 1) * width]
            for at, name in enumerate(("plain", "weighted", "certain"))
        }
        blocks = {name: dict(zip(self.atoms, block.T, strict=True)) for name, block in part.items()}
        return Aggregate(
            estimate=blocks["weighted"],
            records=blocks["plain"][RECORDS],
            exact=False,
            certain=blocks["certain"],
            moments=dict(zip(self.pairs, sums[:, 3 * width :].T, strict=True)),
        )

    def sample(self) -> Sample:
        """The parts of this draw that an interval needs, by the reference records (`Usual`)."""
        contents = self.layout.contents
        # the largest draw of the grid with so few records, and the weight of each
        counts = self.layout.draw_counts.sum(axis=0)
        place = max(0, int(np.searchsorted(counts, REFERENCE_RECORDS, side="right")) - 1)
        records = ranges(self.layout.starts[:-1], self.layout.draw_counts[:, place])
        weight = sampling.weights(self.layout.sizes(records), float(self.layout.grid[place]))
        size = self.layout.sizes(records).astype(np.float64)
        plain = self._plain(records) / self._powers
        usual = Usual(self.tau, size, weight, plain)
        typical = dict(zip(contents.lanes, contents.typical, strict=True))
        largest = max(1.0, 1.0 / (self.tau * contents.smallest_size))
        # of n reference records that have any of it one of n + 2 may be light (Laplace's rule of succession)
        chance = 1 / (2 + np.count_nonzero(plain, axis=0))
        unseen = chance * largest * np.array([typical[atom] for atom in self.atoms])
        usual_contributions = usual.contributions()
        contributions = np.where(usual_contributions > 0, usual_contributions, unseen)
        moments = usual.moments(self._firsts, self._seconds)
        products = contributions[self._firsts] * contributions[self._seconds]
        is_square = self._firsts == self._seconds
        moments = np.where(is_square, np.where(moments > 0, moments, products), moments)
        return Sample(
            contribution=dict(zip(self.atoms, contributions.tolist(), strict=True)),
            moments=dict(zip(self.pairs, moments.tolist(), strict=True)),
            signed=frozenset(contents.signed),
            bounds=contents.bounds,
        )

    def missing(self, sums: Numbers) -> dict[str, float]:
        """The volume to expect in groups that no record fell in, by atom.

        Σ (w-1)·y over the groups of a single record: unbiased for it (Good 1953, with unequal probabilities).
        """
        width = len(self.atoms)
        single = sums[:, 0] == 1
        excess = (sums[single, width : 2 * width] - sums[single, :width]).sum(axis=0)
        return dict(zip(self.atoms, excess.tolist(), strict=True))

    def _plain(self, records: Ints) -> Floats:
        """The atoms of these records; shape (records, a)."""
        columns = [self.layout.columns[atom] for atom in self.atoms]
        blocks = {number: self.layout.block(number)[records].astype(np.float64) for number, _ in columns}
        return np.stack([blocks[number][:, places[:2]].sum(axis=1) for number, places in columns], axis=1)


class Usual:
    """The usual light record at the threshold `tau`, by `columns` of the reference records.

    `size` and `weight` are of those records; `columns` has shape (records, m).
    """

    def __init__(self, tau: float, size: Floats, weight: Floats, columns: Floats) -> None:
        light = tau * size < 1
        inclusion = tau * size[light]
        self.columns = columns[light]
        self.excess = weight[light] * (1 / inclusion - 1)
        self.weight = weight[light]
        self.draws = float(self.weight @ inclusion)

    def contributions(self) -> Floats:
        """E Σ w(w-1)y² / E Σ w|y| per column: how much of a sum rests on a single record; shape (m,)."""
        volume = self.weight @ np.abs(self.columns)
        squares = self.excess @ self.columns**2
        return np.asarray(np.divide(squares, volume, out=np.zeros_like(volume), where=volume > 0))

    def moments(self, firsts: Ints, seconds: Ints) -> Floats:
        """The mean of w(w-1)·a·b over the light records drawn, per pair of columns a and b."""
        products = self.excess @ (self.columns[:, firsts] * self.columns[:, seconds])
        return np.asarray(products / self.draws if self.draws else np.zeros(len(firsts)))
