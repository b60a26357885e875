"""The values of a key field that moved more than noise, and how much of the difference they explain."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.reporting.moved import surprise
from lib.reporting.moved.contributions import Contributions, Numbers, Pair, contributions, difference
from lib.reporting.moved.quantity import Quantity, values
from lib.reporting.moved.sides import Sides
from lib.reporting.moved.surprise import Explanation

TESTED, SHOWN, LEAST_SHARE = 30, 5, 0.05


@dataclass(frozen=True)
class Mover:
    """A value: its contribution to the difference, and its own figure before and now.

    Of a ratio, `mix` and `rate` add up to what it contributes; `share` is the part of the whole difference,
    where all values of the key field moved the same way.
    """

    code: str
    words: str
    contribution: float
    before: float
    now: float
    mix: float | None = None
    rate: float | None = None
    share: float | None = None


@dataclass(frozen=True)
class Moves:
    """The movers of a key field, the largest first, and how well they explain the difference.

    `telling` are the few that explain it; `adds_up`: with those of all other values the contributions are the
    difference. The values of an overlapping (segmented) key field count in several rows: it is not ranked.
    """

    name: str
    movers: tuple[Mover, ...]
    telling: tuple[Mover, ...]
    explanation: Explanation
    is_overlapping: bool = False
    adds_up: bool = True

    @property
    def is_enough(self) -> bool:
        """Whether a few values explain most of the difference."""
        return self.explanation.power >= surprise.ENOUGH


@dataclass(frozen=True)
class Candidate:
    """A key field with a place per value: contributions, and their standard errors by sampling."""

    of: Quantity
    sides: Sides
    pair: Pair
    found: Contributions
    error: Numbers
    is_overlapping: bool

    @property
    def volume(self) -> Numbers:
        """The volume of each value: the first data field's mean of both periods."""
        first = self.pair.now.columns[0]
        both: Numbers = (self.pair.before[first].abs() + self.pair.now[first].abs()).to_numpy() / 2
        return both

    @property
    def largest(self) -> list[int]:
        """The places of the values that contribute the most: these are tested."""
        order = np.argsort(-np.abs(self.found.whole), kind="stable")
        return [int(place) for place in order[:TESTED]]

    @property
    def explanation(self) -> Explanation:
        """How well the values explain the difference before any is tested."""
        return _explained(self, [place for place in self.largest if self._is_large(place)])

    def moves(self, places: Sequence[int]) -> Moves:
        """The moves with these values as movers, as far as they matter."""
        kept = [place for place in places if self._is_large(place)]
        kept.sort(key=lambda place: -abs(self.found.whole[place]))
        found = _explained(self, kept)
        movers, telling = (tuple(map(self._mover, places)) for places in (kept[:SHOWN], found.places))
        return Moves(self.sides.name, movers, telling, found, self.is_overlapping, self._adds_up)

    @property
    def _adds_up(self) -> bool:
        return self.found.adds_up and not self.is_overlapping

    def _is_large(self, place: int) -> bool:
        """Whether a value contributes a twentieth of all movement."""
        every = np.abs(self.found.whole).sum()
        return bool(every > 0 and abs(self.found.whole[place]) >= LEAST_SHARE * every)

    def _mover(self, place: int) -> Mover:
        code = self.sides.codes[place]
        mix, rate = self.found.mix, self.found.rate
        return Mover(
            code,
            self.sides.words.get(code, code),
            float(self.found.whole[place]),
            float(values(self.of, self.pair.before)[place]),
            float(values(self.of, self.pair.now)[place]),
            None if mix is None else float(mix[place]),
            None if rate is None else float(rate[place]),
            self._share(place),
        )

    def _share(self, place: int) -> float | None:
        """The share of the difference; only meaningful if nothing moved in the opposite direction."""
        whole = difference(self.of, self.pair)
        moved = [*self.found.whole, rest(self)]
        is_one_way = all(one * whole >= -1e-9 * whole * whole for one in moved)
        return float(self.found.whole[place] / whole) if self._adds_up and whole and is_one_way else None


def candidate(of: Quantity, sides: Sides, whole: Pair, is_overlapping: bool) -> Candidate:
    """A key field's figures."""
    pair = sides.pair(whole)
    found = contributions(of, pair, is_overlapping)
    return Candidate(of, sides, pair, found, _error(of, sides, pair, is_overlapping), is_overlapping)


def rest(one: Candidate) -> float:
    """The contribution of unknown values: the difference less the contributions of the others."""
    return difference(one.of, one.pair) - float(one.found.whole.sum())


def _explained(one: Candidate, places: Sequence[int]) -> Explanation:
    whole = difference(one.of, one.pair)
    surprising = surprise.surprise(one.of, one.pair)
    return surprise.explanation(one.found.whole, surprising, places, whole)


def _error(of: Quantity, sides: Sides, pair: Pair, is_overlapping: bool) -> Numbers:
    """By sampling: each sum is moved by its own error, and the contributions' movements added in quadrature.

    Sums of the same records move together, so that this errs on the wide side for ratios.
    """
    there = contributions(of, pair, is_overlapping).whole
    variance = np.zeros(len(there))
    codes = sides.codes
    for which, side in (("before", sides.before), ("now", sides.now)):
        errors = side.errors_of(codes)
        for name in errors:
            variance += (_shifted(of, pair, which, errors[name], is_overlapping) - there) ** 2
    return np.sqrt(variance)


def _shifted(of: Quantity, pair: Pair, which: str, error: pd.Series, is_overlapping: bool) -> Numbers:
    sums: pd.DataFrame = getattr(pair, which)
    moved = sums.assign(**{str(error.name): sums[error.name].to_numpy() + error.to_numpy()})
    sides = {"before": pair.before, "now": pair.now} | {which: moved}
    shifted = Pair(sides["before"], sides["now"], pair.whole_before, pair.whole_now)
    return contributions(of, shifted, is_overlapping).whole
