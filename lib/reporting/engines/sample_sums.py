"""Sums over a sample, whichever engine draws it: plain, weighted and certain sums, and second moments.

The typical value of one more light record: the part of a group that a sample may have missed entirely.

A group's own moments come from the records drawn in it, and know nothing of those that were not. So intervals
count one record more: the usual light one (of a weight above 1) of the whole layout. It is estimated from a
small sample of the layout that is the same for every question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lib.reporting.engines.resident import sampling
from lib.reporting.engines.resident.accumulate import ranges
from lib.reporting.engines.resident.layout import Floats, Ints, Layout
from lib.reporting.engines.sums import Aggregate, Numbers, Pair, Sample
from lib.reporting.measures import RECORDS

REFERENCE_RECORDS = 4_000


def reference(layout: Layout) -> tuple[Ints, Floats]:
    """The records of that sample (the largest of the grid with so few), and the weight of each."""
    counts = layout.draw_counts.sum(axis=0)
    place = max(0, int(np.searchsorted(counts, REFERENCE_RECORDS, side="right")) - 1)
    records = ranges(layout.starts[:-1], layout.draw_counts[:, place])
    return records, sampling.weights(layout.size[records], float(layout.grid[place]))


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


Bounds = Mapping[str, tuple[float | None, float | None]]


@dataclass(frozen=True)
class KnownRecords:
    """What is known of all records: atoms (`lanes`) with negative values, mean |y|, bounds, least size."""

    lanes: Sequence[str]
    typical: Sequence[float]
    signed: Sequence[str]
    bounds: Bounds
    smallest_size: float


@dataclass(frozen=True)
class SampleSums:
    """A sample q < τ: how its columns are called.

    With a atoms y and p pairs: [y | w·y | y where w = 1 | w(w-1)·y·y'], 3a + p columns. The first atom is
    the count of records.
    """

    tau: float
    atoms: list[str]
    pairs: list[Pair]

    def columns(self, plain: Numbers, size: npt.NDArray[np.float32]) -> Numbers:
        """The columns of some records, by their atoms (records × a) and sizes; shape (records, 3a + p)."""
        weight = sampling.weights(size, self.tau)[:, None]
        firsts, seconds = self.places
        moments = plain[:, firsts] * plain[:, seconds] * (weight * (weight - 1))
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

    def sample(self, records: KnownRecords, plain: Numbers, size: Numbers, weight: Numbers) -> Sample:
        """The parts of this draw that an interval needs.

        `plain` (records × a), `size` and `weight` are of the reference records (`Usual`).
        """
        usual = Usual(self.tau, size, weight, plain)
        typical = dict(zip(records.lanes, records.typical, strict=True))
        largest = max(1.0, 1.0 / (self.tau * records.smallest_size))
        unseen = largest * np.array([typical[atom] for atom in self.atoms])
        usual_contributions = usual.contributions()
        contributions = np.where(usual_contributions > 0, usual_contributions, unseen)
        firsts, seconds = self.places
        moments = usual.moments(firsts, seconds)
        products = contributions[firsts] * contributions[seconds]
        moments = np.where(firsts == seconds, np.where(moments > 0, moments, products), moments)
        return Sample(
            contribution=dict(zip(self.atoms, contributions.tolist(), strict=True)),
            moments=dict(zip(self.pairs, moments.tolist(), strict=True)),
            signed=frozenset(records.signed),
            bounds=records.bounds,
        )

    def missing(self, sums: Numbers) -> dict[str, float]:
        """The volume to expect in groups that no record fell in.

        Σ (w-1)·y over the groups of a single record: unbiased for it (Good 1953, with unequal probabilities).
        """
        width = len(self.atoms)
        single = sums[:, 0] == 1
        excess = (sums[single, width : 2 * width] - sums[single, :width]).sum(axis=0)
        return dict(zip(self.atoms, excess.tolist(), strict=True))

    @property
    def places(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Where the atoms of each pair stand among the atoms."""
        place = {atom: number for number, atom in enumerate(self.atoms)}
        firsts, seconds = ([place[pair[side]] for pair in self.pairs] for side in (0, 1))
        return np.array(firsts, dtype=np.int64), np.array(seconds, dtype=np.int64)


class Draw:
    """A sample q < τ of a layout. See SampleSums."""

    def __init__(self, layout: Layout, tau: float, atoms: list[str], pairs: list[Pair]) -> None:
        self.layout, self.sums = layout, SampleSums(tau, atoms, pairs)

    def columns(self, records: Ints) -> Floats:
        """The columns of these records; shape (records, 3a + p)."""
        return self.sums.columns(self._atoms(records), self.layout.size[records])

    def aggregate(self, sums: Floats) -> Aggregate:
        """Summed columns (groups × (3a + p)) by their names."""
        return self.sums.aggregate(sums)

    def sample(self) -> Sample:
        """The parts of this draw that an interval needs."""
        records, weight = reference(self.layout)
        contents = self.layout.contents
        known_records = KnownRecords(
            contents.lanes, contents.typical, contents.signed, contents.bounds, contents.smallest_size
        )
        size = self.layout.size[records].astype(np.float64)
        return self.sums.sample(known_records, self._atoms(records), size, weight)

    def missing(self, sums: Floats) -> dict[str, float]:
        """The volume to expect in groups that no record fell in, by atom."""
        return self.sums.missing(sums)

    def _atoms(self, records: Ints) -> Floats:
        lanes = [self.layout.lane[atom] for atom in self.sums.atoms]
        blocks = {number: self.layout.block(number)[records] for number in {block for block, _ in lanes}}
        return np.stack([blocks[number][:, lane] for number, lane in lanes], axis=1)
