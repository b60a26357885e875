"""What is added up of a sample: per atom its plain, weighted and certain sums, and second moments."""

from dataclasses import dataclass

import numpy as np

from lib.reporting.engines.resident import sampling
from lib.reporting.engines.resident.layout import Floats, Ints, Layout
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
        place = {atom: number for number, atom in enumerate(self.atoms)}
        joint = [plain[:, place[a]] * plain[:, place[b]] for a, b in self.pairs]
        moments = np.stack(joint, axis=1) * (weight * (weight - 1))
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

    def sample(self, total: Floats) -> Sample:
        """What an interval needs to know of this draw; `total` is the sum of all columns (3a + p)."""
        width = len(self.atoms)
        light = total[:width] - total[2 * width : 3 * width]
        usual = dict(zip(self.layout.contents.lanes, self.layout.contents.typical, strict=True))
        typical = {
            atom: abs(light[at]) / light[0] if light[0] else usual[atom] for at, atom in enumerate(self.atoms)
        }
        return Sample(
            max_weight=max(1.0, 1.0 / (self.tau * self.layout.contents.smallest_size)),
            typical=typical,
            signed=frozenset(self.layout.contents.signed),
        )

    def missing(self, sums: Floats) -> dict[str, float]:
        """The volume to expect in groups that no record fell in.

        Σ (w-1)·y over the groups of a single record: unbiased for it (Good 1953, with unequal probabilities).
        """
        width = len(self.atoms)
        single = sums[:, 0] == 1
        excess = (sums[single, width : 2 * width] - sums[single, :width]).sum(axis=0)
        return dict(zip(self.atoms, excess.tolist(), strict=True))

    def _atoms(self, records: Ints) -> Floats:
        lanes = [self.layout.lane[atom] for atom in self.atoms]
        blocks = {number: self.layout.block(number)[records] for number in {block for block, _ in lanes}}
        return np.stack([blocks[number][:, lane] for number, lane in lanes], axis=1)
