"""What a sample has to know of all records, gathered by batches: sums per hour, typical values, bounds."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from lib.reporting.definition import Definition
from lib.reporting.engines.resident.builder import lane_of
from lib.reporting.engines.resident.days import Bounds, Limits
from lib.reporting.engines.resident.layout import Floats
from lib.reporting.measures import additive_atoms


class Gathered:
    """Sums over all records so far.

    `lanes` are the additive atoms; `hour_sums` has a row of them per hour.
    """

    def __init__(self, definition: Definition) -> None:
        self.lanes = additive_atoms(definition)
        self._bounds = Bounds(definition)
        self._limits: list[Limits] = []
        self.hour_sums: dict[int, Floats] = {}
        self._sizes = np.zeros(len(self.lanes))
        self._negative = np.zeros(len(self.lanes), dtype=bool)

    def add(self, hours: npt.NDArray[np.int64], columns: Mapping[str, Floats]) -> None:
        """Take in records: the hour of each, and its data fields by name."""
        present, places = np.unique(hours, return_inverse=True)
        sums = np.zeros((len(present), len(self.lanes)))
        atoms = {atom: lane_of(atom, dict(columns), len(hours)) for atom in self._bounds.atoms}
        self._limits.append(self._bounds.of(atoms))
        for place, atom in enumerate(self.lanes):
            values = lane_of(atom, dict(columns), len(hours))
            sums[:, place] = np.bincount(places, values, len(present))
            self._sizes[place] += float(np.abs(values).sum())
            self._negative[place] |= bool((values < 0).any())
        for hour, row in zip(present.tolist(), sums, strict=True):
            self.hour_sums[hour] = self.hour_sums.get(hour, 0.0) + row

    @property
    def hours(self) -> list[int]:
        """The hours that have records, ascending."""
        return sorted(self.hour_sums)

    @property
    def signed(self) -> list[str]:
        """The atoms that have negative values."""
        return [atom for atom, negative in zip(self.lanes, self._negative, strict=True) if negative]

    @property
    def bounds(self) -> Mapping[str, tuple[float | None, float | None]]:
        """The limits of each ratio over all records; None on a side without one."""
        return self._bounds.of_all(self._limits)

    def typical(self, records: int) -> list[float]:
        """The mean size of each atom over so many records."""
        shares: list[float] = (self._sizes / max(records, 1)).tolist()
        return shares
