"""Drawing at random, a million rows at a time. Everything takes the generator, so a seed fixes everything."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


def pick(rng: np.random.Generator, weights: Floats | Sequence[float], size: int) -> Ints:
    """`size` places in `weights`, each as likely as its weight."""
    return pick_by(rng, np.asarray(weights, dtype=np.float64)[None, :], np.zeros(size, np.int64))


def pick_by(rng: np.random.Generator, weights: Floats, group: Ints) -> Ints:
    """For each element of `group` a place in that row of `weights`, shape (groups, items).

    A row of `weights` that some element needs must not be all zero.
    """
    groups, items = weights.shape
    sums = np.cumsum(weights, axis=1)
    totals = np.where(sums[:, -1:] > 0, sums[:, -1:], 1.0)
    edges = (sums / totals + np.arange(groups)[:, None]).ravel()
    found = np.searchsorted(edges, group + rng.random(len(group)), side="right")
    places: Ints = found - group * items
    return places


def thin(rng: np.random.Generator, counts: Ints, share: Floats | float) -> Ints:
    """How many of `counts` pass, when each passes with probability `share` (cut to 0…1)."""
    return rng.binomial(counts, np.clip(share, 0.0, 1.0))


def cents(amounts: Floats) -> Floats:
    """Dollars, to the ten-thousandth of a cent."""
    return np.round(amounts, 6)


def zipf(items: int, slope: float = 1.0) -> Floats:
    """Weights of a long tail: the n-th item has 1 / n**slope."""
    return np.arange(1, items + 1, dtype=np.float64) ** -slope
