"""The kinds of figures, and how the difference of one between two periods is divided among values.

Additive    a sum, or sums added and subtracted: a value contributes its own difference
Ratio       Σy / Σx: a value contributes by its share of Σx (mix) and by its own ratio (rate)
Formula     any other arithmetic of sums: what leaving the value out would change
Own         not made of sums (unique users, means): values have figures of their own, and no contributions
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from lib.slicers import formulas
from lib.slicers.formulas import BinaryOperation, Expression, Field
from lib.slicers.models import DataField, Slicer
from lib.wire.errors import BadDefinition, BadRequest

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Additive:
    """A sum, by the data fields that are added and subtracted."""

    expression: Expression


@dataclass(frozen=True)
class Ratio:
    """above / below, both of them sums."""

    above: Expression
    below: Expression

    @property
    def expression(self) -> Expression:
        """The whole."""
        return BinaryOperation("/", self.above, self.below)


@dataclass(frozen=True)
class Formula:
    """Any other arithmetic of sums."""

    expression: Expression


@dataclass(frozen=True)
class Own:
    """A figure that is not made of sums."""

    expression: Expression


Quantity = Additive | Ratio | Formula | Own


def leaves(field: DataField, slicer: Slicer) -> tuple[str, ...]:
    """The data fields that a data field is computed from: itself where it is no formula, or one not known."""
    return tuple(sorted(_expression(field, slicer).fields())) or (field.name,)


def quantity(field: DataField, slicer: Slicer, additive: Collection[str]) -> Quantity:
    """The kind of a data field's figure; `additive` are the data fields whose values add up."""
    expression = _expression(field, slicer)
    if not expression.fields() or not expression.fields() <= set(additive):
        return Own(Field(field.name))
    if expression.is_sum:
        return Additive(expression)
    above, below = expression.fraction()
    return Ratio(above, below) if above.is_sum and below.is_sum else Formula(expression)


def values(quantity: Quantity, sums: pd.DataFrame) -> np.ndarray:
    """The figure of each row of sums (a column per data field); NaN where it has none."""
    columns = {name: sums[name].to_numpy(dtype=float) for name in quantity.expression.fields()}
    return np.broadcast_to(quantity.expression.evaluate(columns), len(sums))


def _expression(field: DataField, slicer: Slicer) -> Expression:
    """The field's formula with formulas in it replaced; the field itself where it can't be read."""
    texts = {data_field.name: data_field.formula for data_field in slicer.data_fields if data_field.formula}
    if field.name not in texts:
        return Field(field.name)
    try:
        expressions = {name: formulas.parse(text) for name, text in texts.items()}
        return formulas.expand(expressions)[field.name]
    except (BadRequest, BadDefinition):
        return Field(field.name)


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
    """Per value what it adds to the difference, in the figure's own unit; of a ratio, mix + rate = whole, and
    `shares` are those of its denominator before and now.

    `adds_up`: those of all values of a key field that does not overlap add up to the difference.
    """

    whole: Numbers
    mix: Numbers | None = None
    rate: Numbers | None = None
    adds_up: bool = True
    shares: tuple[Numbers, Numbers] | None = None


def contributions(quantity: Quantity, pair: Pair, is_segmented: bool = False) -> Contributions:
    """By the kind of figure. Of a segmented key field a ratio is divided by leaving each value out.

    Of figures that are not made of sums: each value's own difference, which adds up to nothing.
    """
    match quantity:
        case Additive() | Own():
            differences = np.nan_to_num(values(quantity, pair.now)) - np.nan_to_num(
                values(quantity, pair.before)
            )
            return Contributions(differences, adds_up=isinstance(quantity, Additive))
        case Ratio() if not is_segmented:
            # rate = ½(s₀ + s₁)(r₁ - r₀), mix = (s₁ - s₀)(½(r₀ + r₁) - ½(R₀ + R₁)), with s = x/Σx and r =
            # y/x. Their sum is y₁/Σx₁ - y₀/Σx₀ - (s₁ - s₀)·½(R₀ + R₁), which needs no r: a value without
            # any x on one side has none, and takes that of the other.
            s0, y0, r0, whole0 = _side(quantity, pair.before, pair.whole_before)
            s1, y1, r1, whole1 = _side(quantity, pair.now, pair.whole_now)
            middle = (whole0 + whole1) / 2
            whole = y1 - y0 - (s1 - s0) * middle
            first, second = np.where(np.isnan(r0), r1, r0), np.where(np.isnan(r1), r0, r1)
            mix = np.nan_to_num((s1 - s0) * ((first + second) / 2 - middle))
            whole = np.nan_to_num(whole)
            return Contributions(whole, mix, whole - mix, shares=(s0, s1))
        case Ratio() | Formula():
            # The difference less the one that is left without the records that have the value.
            rest0 = pair.before.rsub(pair.whole_before.iloc[0], axis="columns")
            rest1 = pair.now.rsub(pair.whole_now.iloc[0], axis="columns")
            change: Numbers = values(quantity, rest1) - values(quantity, rest0)
            return Contributions(np.nan_to_num(difference(quantity, pair) - change), adds_up=False)


def beyond(quantity: Quantity, pair: Pair, contribution: Numbers, is_segmented: bool = False) -> Numbers:
    """What values contribute beyond what they would, had each figure changed as most did.

    The usual change is the median of the relative changes, weighted by volume. Of figures that are divided by
    leaving values out, all of a contribution counts.
    """
    match quantity:
        case Additive():
            before, now = values(quantity, pair.before), values(quantity, pair.now)
            return contribution - _usual_change(before, now, np.abs(before) + np.abs(now)) * before
        case Ratio() if not is_segmented:
            share0, _, before, _ = _side(quantity, pair.before, pair.whole_before)
            share1, _, now, _ = _side(quantity, pair.now, pair.whole_now)
            share = np.nan_to_num(share0 + share1) / 2
            alike = _usual_change(before, now, share) * share * np.nan_to_num(before)
            return contribution - alike
    return contribution


def _usual_change(before: Numbers, now: Numbers, weight: Numbers) -> float:
    """The weighted median of now / before - 1, of those that have one; 0 where none has."""
    has_both = np.isfinite(before) & np.isfinite(now) & (before != 0) & (weight > 0)
    if not has_both.any():
        return 0.0
    changes = now[has_both] / before[has_both] - 1
    order = np.argsort(changes)
    totals = np.cumsum(weight[has_both][order])
    return float(changes[order][np.searchsorted(totals, totals[-1] / 2)])


def difference(quantity: Quantity, pair: Pair) -> float:
    """The difference of the whole; NaN where one of the periods has no figure."""
    return float(values(quantity, pair.whole_now)[0] - values(quantity, pair.whole_before)[0])


def _side(ratio: Ratio, sums: pd.DataFrame, whole: pd.DataFrame) -> tuple[Numbers, Numbers, Numbers, float]:
    """Per value its share of Σx, y as a share of Σx, and its ratio; and the ratio of the whole.

    NaN where there is none: all of them but the ratio of a value, where Σx is 0.
    """
    y, x = (values(Additive(part), sums) for part in (ratio.above, ratio.below))
    all_x = values(Additive(ratio.below), whole)[0] or np.nan
    with np.errstate(all="ignore"):
        return x / all_x, y / all_x, np.where(x == 0, np.nan, y / x), float(values(ratio, whole)[0])
