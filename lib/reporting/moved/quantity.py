"""The kinds of figures, which decide how a difference is divided among values.

Additive    a sum, or sums added and subtracted: a value contributes its own difference
Ratio       factor · Σy / Σx: a value contributes by its share of Σx (mix) and by its own ratio (rate)
Formula     any other arithmetic of sums: what leaving the value out would change
Own         not made of sums (unique users, means): values have figures of their own, and no contributions
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.reporting import formulas
from lib.reporting.expressions import BinaryOperation, Expression, Field, Negation, Number
from lib.reporting.models import DataField, Slicer
from lib.wire.errors import BadDefinition, BadRequest


@dataclass(frozen=True)
class Additive:
    """A sum, by the data fields that are added and subtracted."""

    expression: Expression


@dataclass(frozen=True)
class Ratio:
    """factor · above / below, both of them sums."""

    above: Expression
    below: Expression
    factor: float = 1.0

    @property
    def expression(self) -> Expression:
        """The whole; without the factor's sign, which a Number can't have."""
        factor: Expression = Number(abs(self.factor))
        signed = Negation(factor) if self.factor < 0 else factor
        return BinaryOperation("*", signed, BinaryOperation("/", self.above, self.below))


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
    if _is_linear(expression):
        return Additive(expression)
    return _ratio(expression) or Formula(expression)


def values(of: Quantity, sums: pd.DataFrame) -> np.ndarray:
    """The figure of each row of sums (a column per data field); NaN where it has none."""
    columns = {name: sums[name].to_numpy(dtype=float) for name in of.expression.fields()}
    return np.broadcast_to(of.expression.evaluate(columns), len(sums))


def _expression(field: DataField, slicer: Slicer) -> Expression:
    """The field's formula with formulas in it replaced; the field itself where it can't be read."""
    written = {data_field.name: data_field.formula for data_field in slicer.data_fields if data_field.formula}
    if field.name not in written:
        return Field(field.name)
    try:
        parsed = {name: formulas.parse(text) for name, text in written.items()}
        return formulas.expand(parsed)[field.name]
    except (BadRequest, BadDefinition):
        return Field(field.name)


def _ratio(expression: Expression) -> Ratio | None:
    """One sum over another times a constant, however it is written; None for anything else."""
    above, below, factor = _factors(expression)
    if len(above) != 1 or len(below) != 1 or not factor:
        return None
    if not _is_linear(above[0]) or not _is_linear(below[0]):
        return None
    return Ratio(above[0], below[0], factor)


def _factors(expression: Expression) -> tuple[list[Expression], list[Expression], float]:
    """A product as its factors above and below the line, and its constant; 0 where that has no value."""
    match expression:
        case Negation(operand):
            above, below, factor = _factors(operand)
            return above, below, -factor
        case BinaryOperation("*", left, right):
            (above, below, factor), (more, under, second) = _factors(left), _factors(right)
            return above + more, below + under, factor * second
        case BinaryOperation("/", left, right):
            (above, below, factor), (under, more, second) = _factors(left), _factors(right)
            return above + more, below + under, factor / second if second else 0.0
    if not expression.fields():
        return [], [], float(expression.evaluate({}))
    return [expression], [], 1.0


def _is_linear(expression: Expression) -> bool:
    """Whether its values of disjoint records add up where those of its fields do."""
    match expression:
        case Field():
            return True
        case Negation(operand):
            return _is_linear(operand)
        case BinaryOperation("+" | "-", left, right):
            return _is_linear(left) and _is_linear(right)
        case BinaryOperation("*", left, right):
            return (_is_linear(left) and not right.fields()) or (not left.fields() and _is_linear(right))
        case BinaryOperation("/", left, right):
            return _is_linear(left) and not right.fields()
    return False
