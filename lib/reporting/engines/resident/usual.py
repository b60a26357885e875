"""The typical value of one more light record: the part of a group that a sample may have missed entirely.

A group's own moments come from the records drawn in it, and know nothing of those that were not. So intervals
count one record more: the usual light one (of a weight above 1) of the whole layout. It is estimated from a
small sample of the layout that is the same for every question.
"""

import numpy as np

from lib.reporting.engines.resident import sampling
from lib.reporting.engines.resident.layout import Floats, Ints, Layout
from lib.reporting.engines.resident.rows import ranges

REFERENCE_RECORDS = 4_000


def reference(layout: Layout) -> tuple[Ints, Floats]:
    """The records of that sample (the largest of the grid with so few), and the weight of each."""
    drawn = layout.drawn.sum(axis=0)
    place = max(0, int(np.searchsorted(drawn, REFERENCE_RECORDS, side="right")) - 1)
    records = ranges(layout.starts[:-1], layout.drawn[:, place])
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
        self.represented = weight[light]
        self.drawn = float(self.represented @ inclusion)

    def contributions(self) -> Floats:
        """E Σ w(w-1)y² / E Σ w|y| per column: how much of a sum rests on a single record; shape (m,)."""
        volume = self.represented @ np.abs(self.columns)
        squares = self.excess @ self.columns**2
        return np.asarray(np.divide(squares, volume, out=np.zeros_like(volume), where=volume > 0))

    def moments(self, firsts: Ints, seconds: Ints) -> Floats:
        """The mean of w(w-1)·a·b over the light records drawn, per pair of columns a and b."""
        products = self.excess @ (self.columns[:, firsts] * self.columns[:, seconds])
        return np.asarray(products / self.drawn if self.drawn else np.zeros(len(firsts)))
