"""Bounds of a ratio: Σy/Σx of a group is within the range of y/x over its records (no x below zero).

This is the mediant inequality. A record with x = 0 and another y takes the limit on that side away.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from lib.reporting.definition import Definition
from lib.reporting.engines.resident.layout import Floats
from lib.reporting.expressions import BinaryOperation, Expression
from lib.reporting.measures import is_additive, measures

Limits = dict[str, tuple[float, float]]


class Bounds:
    """The least and greatest value per record of each data field that is such a ratio."""

    def __init__(self, definition: Definition) -> None:
        self.ratios = {
            measure.name: measure.expression
            for measure in measures(definition).values()
            if isinstance(measure.expression, BinaryOperation) and _is_ratio_of_sums(measure.expression)
        }

    @property
    def atoms(self) -> frozenset[str]:
        """The atoms that the ratios are made of."""
        return frozenset[str]().union(*(ratio.fields() for ratio in self.ratios.values()))

    def of(self, atoms: Mapping[str, Floats]) -> Limits:
        """The limits of each ratio over some records, by the atoms of each; infinite where there is none."""
        return {name: _limits(ratio, atoms) for name, ratio in self.ratios.items()}

    def of_all(self, days: Sequence[Limits]) -> dict[str, tuple[float | None, float | None]]:
        """The limits over all records, from those of each day; None on a side without one."""
        together = {}
        for name in self.ratios:
            low = min((day[name][0] for day in days), default=math.inf)
            high = max((day[name][1] for day in days), default=-math.inf)
            together[name] = (
                low if math.isfinite(low) else None,
                high if math.isfinite(high) else None,
            )
        return together


def _limits(ratio: BinaryOperation, atoms: Mapping[str, Floats]) -> tuple[float, float]:
    above, below = ratio.left.evaluate(atoms), ratio.right.evaluate(atoms)
    positive = below > 0
    values, loose = above[positive] / below[positive], above[~positive]
    is_unlimited = bool((below < 0).any())
    return (
        -math.inf if is_unlimited or (loose < 0).any() else float(values.min(initial=math.inf)),
        math.inf if is_unlimited or (loose > 0).any() else float(values.max(initial=-math.inf)),
    )


def _is_ratio_of_sums(expression: BinaryOperation) -> bool:
    atoms = expression.fields()
    return (
        expression.operator == "/"
        and bool(atoms)
        and all(map(is_additive, atoms))
        and _is_linear(expression.left)
        and _is_linear(expression.right)
    )


def _is_linear(expression: Expression) -> bool:
    """Whether it is a weighted sum of atoms: constant slopes, and nothing left where all are zero."""
    slopes = [expression.derivative(atom) for atom in expression.fields()]
    nothing = expression.evaluate({atom: np.zeros(1) for atom in expression.fields()})
    return all(not slope.fields() for slope in slopes) and float(nothing.sum()) == 0.0
