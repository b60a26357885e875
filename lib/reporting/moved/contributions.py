"""Contributions of a key field's values to the difference of a figure between two periods."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.reporting.moved.quantity import Additive, Formula, Own, Quantity, Ratio, values

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Pair:
    """Sums of a key field's values before and now: a row per value, a column per data field.

    `whole_before` and `whole_now` are those of all records, with one row.
    """

    before: pd.DataFrame
    now: pd.DataFrame
    whole_before: pd.DataFrame
    whole_now: pd.DataFrame


@dataclass(frozen=True)
class Contributions:
    """Per value what it adds to the difference, in the figure's own unit; of a ratio, mix + rate = whole.

    `adds_up`: those of all values of a key field that does not overlap add up to the difference.
    """

    whole: Numbers
    mix: Numbers | None = None
    rate: Numbers | None = None
    adds_up: bool = True


def contributions(of: Quantity, pair: Pair, is_segmented: bool = False) -> Contributions:
    """By the kind of figure. Of a segmented key field a ratio is divided by leaving each value out.

    Of figures that are not made of sums: each value's own difference, which adds up to nothing.
    """
    match of:
        case Additive() | Own():
            moved = np.nan_to_num(values(of, pair.now)) - np.nan_to_num(values(of, pair.before))
            return Contributions(moved, adds_up=isinstance(of, Additive))
        case Ratio() if not is_segmented:
            return _ratio(of, pair)
        case Ratio() | Formula():
            return Contributions(np.nan_to_num(_left_out(of, pair)), adds_up=False)


def beyond(of: Quantity, pair: Pair, contributed: Numbers, is_segmented: bool = False) -> Numbers:
    """What values contribute beyond what they would, had each figure changed as most did.

    The usual change is the median of the relative changes, weighted by volume. Of figures that are divided by
    leaving values out, all of a contribution counts.
    """
    match of:
        case Additive():
            before, now = values(of, pair.before), values(of, pair.now)
            return contributed - _usual_change(before, now, np.abs(before) + np.abs(now)) * before
        case Ratio() if not is_segmented:
            share0, _, before, _ = _side(of, pair.before, pair.whole_before)
            share1, _, now, _ = _side(of, pair.now, pair.whole_now)
            share = np.nan_to_num(share0 + share1) / 2
            alike = _usual_change(before, now, share) * share * np.nan_to_num(before)
            return contributed - of.factor * alike
    return contributed


def _usual_change(before: Numbers, now: Numbers, weight: Numbers) -> float:
    """The weighted median of now / before - 1, of those that have one; 0 where none has."""
    known = np.isfinite(before) & np.isfinite(now) & (before != 0) & (weight > 0)
    if not known.any():
        return 0.0
    changes = now[known] / before[known] - 1
    order = np.argsort(changes)
    reached = np.cumsum(weight[known][order])
    return float(changes[order][np.searchsorted(reached, reached[-1] / 2)])


def difference(of: Quantity, pair: Pair) -> float:
    """The difference of the whole; NaN where one of the periods has no figure."""
    return float(values(of, pair.whole_now)[0] - values(of, pair.whole_before)[0])


def _ratio(of: Ratio, pair: Pair) -> Contributions:
    """rate = ½(s₀ + s₁)(r₁ - r₀), mix = (s₁ - s₀)(½(r₀ + r₁) - ½(R₀ + R₁)), with s = x/Σx and r = y/x.

    Their sum is y₁/Σx₁ - y₀/Σx₀ - (s₁ - s₀)·½(R₀ + R₁), which needs no r: a value without any x on one side
    has none, and takes that of the other.
    """
    s0, y0, r0, whole0 = _side(of, pair.before, pair.whole_before)
    s1, y1, r1, whole1 = _side(of, pair.now, pair.whole_now)
    middle = (whole0 + whole1) / 2
    whole = y1 - y0 - (s1 - s0) * middle
    first, second = np.where(np.isnan(r0), r1, r0), np.where(np.isnan(r1), r0, r1)
    mix = np.nan_to_num((s1 - s0) * ((first + second) / 2 - middle))
    whole = np.nan_to_num(whole)
    return Contributions(of.factor * whole, of.factor * mix, of.factor * (whole - mix))


def _side(of: Ratio, sums: pd.DataFrame, whole: pd.DataFrame) -> tuple[Numbers, Numbers, Numbers, float]:
    """Per value its share of Σx, y as a share of Σx, and its ratio; and the ratio of the whole."""
    y, x = (values(Additive(part), sums) for part in (of.above, of.below))
    all_y, all_x = (float(values(Additive(part), whole)[0]) for part in (of.above, of.below))
    with np.errstate(all="ignore"):
        return x / all_x, y / all_x, np.where(x == 0, np.nan, y / x), all_y / all_x


def _left_out(of: Quantity, pair: Pair) -> Numbers:
    """The difference less the one that is left without the records that have the value."""
    rest0 = pair.before.rsub(pair.whole_before.iloc[0], axis="columns")
    rest1 = pair.now.rsub(pair.whole_now.iloc[0], axis="columns")
    left: Numbers = values(of, rest1) - values(of, rest0)
    return difference(of, pair) - left
