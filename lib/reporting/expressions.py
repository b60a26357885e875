"""An expression over named columns: a frozen tree that can be computed, differentiated and written down.

    Number            a constant, zero or above (a negative one is a Negation)
    Field             a column, by name
    Negation          -operand
    BinaryOperation   left + - * / right

Two expressions are equal when their trees are. `str` writes one so that `formulas.parse` reads the same tree.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Operator = Literal["+", "-", "*", "/"]
Floats = npt.NDArray[np.float64]
Columns = Mapping[str, Floats | float]

PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_PRECEDENCE: dict[Operator, int] = {"+": 1, "-": 1, "*": 2, "/": 2}
_NEGATION, _ATOM = 3, 4


class Expression(ABC):
    """A formula as a tree."""

    def evaluate(self, columns: Columns) -> Floats:
        """The values for these columns (or single numbers): float64, of the shape they broadcast to.

        A zero denominator gives NaN, and so does what is too large for a float; NaN in gives NaN out.
        Raises KeyError for a field that is not among the columns.
        """
        with np.errstate(all="ignore"):
            values = np.asarray(self._values(columns), dtype=np.float64)
        return np.where(np.isfinite(values), values, np.nan)

    @abstractmethod
    def derivative(self, field: str) -> "Expression":
        """How it changes with that field: exact, with zeros and ones simplified away."""

    @abstractmethod
    def substitute(self, replacements: Mapping[str, "Expression"]) -> "Expression":
        """The same tree with those fields replaced, all at once."""

    @property
    def parts(self) -> tuple["Expression", ...]:
        """The expressions that it is directly made of."""
        return ()

    @property
    def precedence(self) -> int:
        """How tightly it binds when written: 1 sums, 2 products, 3 a negation, 4 what needs no brackets."""
        return _ATOM

    def fields(self) -> frozenset[str]:
        """The names of all fields in it."""
        return frozenset[str]().union(*(part.fields() for part in self.parts))

    def is_nonnegative(self, signed: Collection[str]) -> bool:
        """Whether it can't be negative: nothing is subtracted, and no field is one of the `signed` ones."""
        return all(part.is_nonnegative(signed) for part in self.parts)

    def size(self) -> int:
        """How many nodes it has."""
        return 1 + sum(part.size() for part in self.parts)

    def depth(self) -> int:
        """How many nodes lie on the longest way down."""
        return 1 + max((part.depth() for part in self.parts), default=0)

    @abstractmethod
    def _values(self, columns: Columns) -> Floats: ...

    def _within(self, precedence: int) -> str:
        return str(self) if self.precedence >= precedence else f"({self})"


@dataclass(frozen=True)
class Number(Expression):
    """A constant; ValueError unless finite and not negative."""

    value: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.value) or math.copysign(1, self.value) < 0:
            raise ValueError(f"{self.value} is not a finite number from zero up")

    def __str__(self) -> str:
        return repr(float(self.value)).removesuffix(".0")

    def derivative(self, field: str) -> Expression:
        return ZERO

    def substitute(self, replacements: Mapping[str, Expression]) -> Expression:
        return self

    def _values(self, columns: Columns) -> Floats:
        return np.asarray(self.value, dtype=np.float64)


@dataclass(frozen=True)
class Field(Expression):
    """A column. A name other than letters, digits, underscores and dots is written in backquotes."""

    name: str

    def __str__(self) -> str:
        return self.name if PLAIN_NAME.fullmatch(self.name) else "`" + self.name.replace("`", "``") + "`"

    def fields(self) -> frozenset[str]:
        return frozenset((self.name,))

    def is_nonnegative(self, signed: Collection[str]) -> bool:
        """Whether it is not one of them."""
        return self.name not in signed

    def derivative(self, field: str) -> Expression:
        """One for itself, zero for any other."""
        return ONE if field == self.name else ZERO

    def substitute(self, replacements: Mapping[str, Expression]) -> Expression:
        """Its replacement, or itself."""
        return replacements.get(self.name, self)

    def _values(self, columns: Columns) -> Floats:
        return np.asarray(columns[self.name], dtype=np.float64)


@dataclass(frozen=True)
class Negation(Expression):
    """The operand with the other sign."""

    operand: Expression

    def __str__(self) -> str:
        return f"-{self.operand._within(_NEGATION)}"

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.operand,)

    def is_nonnegative(self, signed: Collection[str]) -> bool:
        """No: its operand may be above zero."""
        return False

    @property
    def precedence(self) -> int:
        """Above products: -a * b is (-a) * b."""
        return _NEGATION

    def derivative(self, field: str) -> Expression:
        """(-u)' = -u'."""
        return _negate(self.operand.derivative(field))

    def substitute(self, replacements: Mapping[str, Expression]) -> Expression:
        """The negation of the operand's substitution."""
        return Negation(self.operand.substitute(replacements))

    def _values(self, columns: Columns) -> Floats:
        return np.negative(self.operand._values(columns))


@dataclass(frozen=True)
class BinaryOperation(Expression):
    """left operator right."""

    operator: Operator
    left: Expression
    right: Expression

    def __str__(self) -> str:
        left, right = self.left._within(self.precedence), self.right._within(self.precedence + 1)
        return f"{left} {self.operator} {right}"

    @property
    def parts(self) -> tuple[Expression, ...]:
        return (self.left, self.right)

    def is_nonnegative(self, signed: Collection[str]) -> bool:
        """Whether both sides can't be negative, and nothing is subtracted."""
        return self.operator != "-" and super().is_nonnegative(signed)

    @property
    def precedence(self) -> int:
        return _PRECEDENCE[self.operator]

    def derivative(self, field: str) -> Expression:
        """The rules of sum, product and quotient; the last as (u' - u/v · v') / v."""
        left, right = self.left.derivative(field), self.right.derivative(field)
        match self.operator:
            case "+":
                return _sum(left, right)
            case "-":
                return _difference(left, right)
            case "*":
                return _sum(_product(left, self.right), _product(self.left, right))
            case "/":
                return _quotient(_difference(left, _product(self, right)), self.right)

    def substitute(self, replacements: Mapping[str, Expression]) -> Expression:
        """The same operation on both sides' substitutions."""
        left, right = self.left.substitute(replacements), self.right.substitute(replacements)
        return BinaryOperation(self.operator, left, right)

    def _values(self, columns: Columns) -> Floats:
        left, right = self.left._values(columns), self.right._values(columns)
        match self.operator:
            case "+":
                return np.add(left, right)
            case "-":
                return np.subtract(left, right)
            case "*":
                return np.multiply(left, right)
            case "/":
                return np.divide(left, np.where(right == 0, np.nan, right))


ZERO, ONE = Number(0), Number(1)


def _negate(operand: Expression) -> Expression:
    return ZERO if operand == ZERO else Negation(operand)


def _sum(left: Expression, right: Expression) -> Expression:
    if ZERO in (left, right):
        return right if left == ZERO else left
    return BinaryOperation("+", left, right)


def _difference(left: Expression, right: Expression) -> Expression:
    if ZERO in (left, right):
        return left if right == ZERO else _negate(right)
    return BinaryOperation("-", left, right)


def _product(left: Expression, right: Expression) -> Expression:
    if ZERO in (left, right):
        return ZERO
    if ONE in (left, right):
        return right if left == ONE else left
    return BinaryOperation("*", left, right)


def _quotient(left: Expression, right: Expression) -> Expression:
    return left if left == ZERO or right == ONE else BinaryOperation("/", left, right)
