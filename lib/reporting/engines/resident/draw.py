"""Sums over a sample: per atom its plain, weighted and certain sums, and second moments."""

from dataclasses import dataclass

import numpy as np

from lib.reporting.engines.resident import sampling
from lib.reporting.engines.resident.layout import Floats, Ints, Layout
from lib.reporting.engines.resident.usual import Usual, reference
from lib.reporting.engines.sums import Aggregate, Pair, Sample
from lib.reporting.measures import RECORDS


@dataclass(frozen=True)
class Draw:
    """A sample q < τ of a layout, and the columns that are summed for it.

    With a atoms y and p pairs: [y | w·y | y where w = 1 | w(w-1)·y·y'], 3a + p columns. The first atom is
    the count of records.
    """

    layout: Layout
    tau: float
    atoms: list[str]
    pairs: list[Pair]

    def columns(self, records: Ints) -> Floats:
        """The columns of these records; shape (records, 3a + p)."""
        plain = self._atoms(records)
        weight = sampling.weights(self.layout.size[records], self.tau)[:, None]
        firsts, seconds = self._places
        moments = plain[:, firsts] * plain[:, seconds] * (weight * (weight - 1))
        return np.hstack([plain, plain * weight, plain * (weight == 1), moments])

    def aggregate(self, sums: Floats) -> Aggregate:
        """Summed columns (groups × (3a + p)) by their names."""
        width = len(self.atoms)
        part = {
            name: sums[:, at * width : (at + 1) * width]
            for at, name in enumerate(("plain", "weighted", "certain"))
        }
        named = {name: dict(zip(self.atoms, block.T, strict=True)) for name, block in part.items()}
        return Aggregate(
            estimate=named["weighted"],
            drawn=named["plain"][RECORDS],
            exact=False,
            certain=named["certain"],
            moments=dict(zip(self.pairs, sums[:, 3 * width :].T, strict=True)),
        )

    def sample(self) -> Sample:
        """The parts of this draw that an interval needs."""
        records, weight = reference(self.layout)
        size = self.layout.size[records].astype(np.float64)
        usual = Usual(self.tau, size, weight, self._atoms(records))
        unseen = self._largest_weight * np.array(self._typical)
        found = usual.contributions()
        contributions = np.where(found > 0, found, unseen)
        firsts, seconds = self._places
        moments = usual.moments(firsts, seconds)
        products = contributions[firsts] * contributions[seconds]
        moments = np.where(firsts == seconds, np.where(moments > 0, moments, products), moments)
        return Sample(
            contribution=dict(zip(self.atoms, contributions.tolist(), strict=True)),
            moments=dict(zip(self.pairs, moments.tolist(), strict=True)),
            signed=frozenset(self.layout.contents.signed),
            bounds=self.layout.contents.bounds,
        )

    def missing(self, sums: Floats) -> dict[str, float]:
        """The volume to expect in groups that no record fell in.

        Σ (w-1)·y over the groups of a single record: unbiased for it (Good 1953, with unequal probabilities).
        """
        width = len(self.atoms)
        single = sums[:, 0] == 1
        excess = (sums[single, width : 2 * width] - sums[single, :width]).sum(axis=0)
        return dict(zip(self.atoms, excess.tolist(), strict=True))

    @property
    def _places(self) -> tuple[Ints, Ints]:
        """Where the atoms of each pair stand among the atoms."""
        place = {atom: number for number, atom in enumerate(self.atoms)}
        firsts, seconds = ([place[pair[side]] for pair in self.pairs] for side in (0, 1))
        return np.array(firsts, dtype=np.int64), np.array(seconds, dtype=np.int64)

    @property
    def _typical(self) -> list[float]:
        """The mean |y| of each atom over all records."""
        usual = dict(zip(self.layout.contents.lanes, self.layout.contents.typical, strict=True))
        return [usual[atom] for atom in self.atoms]

    @property
    def _largest_weight(self) -> float:
        return max(1.0, 1.0 / (self.tau * self.layout.contents.smallest_size))

    def _atoms(self, records: Ints) -> Floats:
        lanes = [self.layout.lane[atom] for atom in self.atoms]
        blocks = {number: self.layout.block(number)[records] for number in {block for block, _ in lanes}}
        return np.stack([blocks[number][:, lane] for number, lane in lanes], axis=1)
