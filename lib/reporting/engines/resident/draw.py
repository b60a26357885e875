"""A sample of a layout: the columns that are summed for it, and what intervals need to know."""

import numpy as np

from lib.reporting.engines.resident.layout import Floats, Ints, Layout
from lib.reporting.engines.sample_sums import KnownRecords, SampleSums, reference
from lib.reporting.engines.sums import Aggregate, Pair, Sample


class Draw:
    """A sample q < τ of a layout. See SampleSums."""

    def __init__(self, layout: Layout, tau: float, atoms: list[str], pairs: list[Pair]) -> None:
        self.layout, self.drawn = layout, SampleSums(tau, atoms, pairs)

    def columns(self, records: Ints) -> Floats:
        """The columns of these records; shape (records, 3a + p)."""
        return self.drawn.columns(self._atoms(records), self.layout.size[records])

    def aggregate(self, sums: Floats) -> Aggregate:
        """Summed columns (groups × (3a + p)) by their names."""
        return self.drawn.aggregate(sums)

    def sample(self) -> Sample:
        """The parts of this draw that an interval needs."""
        records, weight = reference(self.layout)
        contents = self.layout.contents
        known_records = KnownRecords(
            contents.lanes, contents.typical, contents.signed, contents.bounds, contents.smallest_size
        )
        size = self.layout.size[records].astype(np.float64)
        return self.drawn.sample(known_records, self._atoms(records), size, weight)

    def missing(self, sums: Floats) -> dict[str, float]:
        """The volume to expect in groups that no record fell in, by atom."""
        return self.drawn.missing(sums)

    def _atoms(self, records: Ints) -> Floats:
        lanes = [self.layout.lane[atom] for atom in self.drawn.atoms]
        blocks = {number: self.layout.block(number)[records] for number in {block for block, _ in lanes}}
        return np.stack([blocks[number][:, lane] for number, lane in lanes], axis=1)
