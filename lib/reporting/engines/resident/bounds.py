"""Bounds of a ratio: Σy/Σx of a group is within the range of y/x over its records (no x below zero).

This is the mediant inequality. A record with x = 0 and another y takes the limit on that side away.
"""

import math
from collections.abc import Mapping

import numpy as np

from lib.reporting.definition import Definition
from lib.reporting.engines.resident.layout import Floats
from lib.reporting.expressions import BinaryOperation, Expression
from lib.reporting.measures import is_additive, measures


class Bounds:
    """The least and greatest value per record of each data field that is such a ratio."""

    def __init__(self, definition: Definition) -> None:
        self.ratios = {
            measure.name: measure.expression
            for measure in measures(definition).values()
            if isinstance(measure.expression, BinaryOperation) and _is_ratio_of_sums(measure.expression)
        }
        self.limits = dict.fromkeys(self.ratios, (math.inf, -math.inf))

    @property
    def atoms(self) -> frozenset[str]:
        """The atoms that the ratios are made of."""
        return frozenset[str]().union(*(ratio.fields() for ratio in self.ratios.values()))

    def add(self, atoms: Mapping[str, Floats]) -> None:
        """Take in records, by the atoms of each."""
        for name, ratio in self.ratios.items():
            above, below = ratio.left.evaluate(atoms), ratio.right.evaluate(atoms)
            low, high = self.limits[name]
            positive = below > 0
            values = above[positive] / below[positive]
            low, high = values.min(initial=low), values.max(initial=high)
            loose = above[~positive]
            is_unlimited = bool((below < 0).any())
            self.limits[name] = (
                -math.inf if is_unlimited or (loose < 0).any() else float(low),
                math.inf if is_unlimited or (loose > 0).any() else float(high),
            )

    def known(self) -> dict[str, tuple[float | None, float | None]]:
        """The limits of each ratio; None on a side without one."""
        return {
            name: (low if math.isfinite(low) else None, high if math.isfinite(high) else None)
            for name, (low, high) in self.limits.items()
        }


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
