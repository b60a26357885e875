"""The formula of a data field: text like "1000 * cost / imps", read into an Expression, never run as Python.

    sum      = product {("+" | "-") product}
    product  = signed {("*" | "/") signed}
    signed   = "-" signed | number | name | "(" sum ")"

A name is letters, digits, underscores and dots, and begins with a letter or an underscore; any other one is
written in backquotes (a backquote inside it twice).

An Expression is a frozen tree over named columns that can be computed, differentiated and written down:

    Number            a constant, zero or above (a negative one is a Negation)
    Field             a column, by name
    Negation          -operand
    BinaryOperation   left + - * / right

Two expressions are equal when their trees are. `str` writes one so that `parse` reads the same tree.
"""

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Literal, NamedTuple, NoReturn, cast

import numpy as np
import numpy.typing as npt

from lib.slicers.digits import DECIMAL_DIGITS, settle
from lib.wire.errors import BadDefinition, BadRequest, UnknownName

Operator = Literal["+", "-", "*", "/"]
Floats = npt.NDArray[np.float64]
Columns = Mapping[str, Floats | float]
MAX_LENGTH = 2_000
MAX_NESTING = 50
MAX_DEPTH = 150
MAX_NODES = 10_000
PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)*")
_PRECEDENCE: dict[Operator, int] = {"+": 1, "-": 1, "*": 2, "/": 2}
_NEGATION, _ATOM = 3, 4
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])"
    rf"|(?P<name>{PLAIN_NAME.pattern}|`(?:[^`]|``)+`)"
    r"|(?P<sign>[-+*/()])"
    r"|(?P<other>[\w.]+|\S)"
)


class Expression(ABC):
    """A formula as a tree."""

    def evaluate(self, columns: Columns) -> Floats:
        """The values for these columns (or single numbers): float64, of the shape they broadcast to.

        They are settled: what is no more than rounding of two numbers is not their difference. A zero
        denominator gives NaN, and so does what is too large for a float; NaN in gives NaN out. Raises
        KeyError for a field that is not among the columns.
        """
        with np.errstate(all="ignore"):
            values = np.asarray(self._values(columns), dtype=np.float64)
        is_finite = np.isfinite(values)
        if not is_finite.all():
            values = np.where(is_finite, values, np.nan)
        return settle(values) if self._is_product else values

    @abstractmethod
    def derivative(self, field: str) -> "Expression":
        """How it changes with that field: exact, with zeros and ones simplified away."""

    @abstractmethod
    def substitute(self, replacements: Mapping[str, "Expression"]) -> "Expression":
        """The same tree with those fields replaced, all at once."""

    def fraction(self) -> tuple["Expression", "Expression"]:
        """The same as what stands above the line and below it; below is 1 where it divides by nothing."""
        match self:
            case BinaryOperation("*" | "/" as operator, left, right):
                (above, below), (more, under) = left.fraction(), right.fraction()
                if operator == "/":
                    more, under = under, more
                return _product(above, more), _product(below, under)
            case Negation(operand):
                above, below = operand.fraction()
                return _negate(above), below
        return self, ONE

    @property
    def is_sum(self) -> bool:
        """Whether its values of disjoint records add up where those of its fields do."""
        zeros = dict.fromkeys(self.fields(), 0.0)
        is_linear = not any(self.derivative(name).fields() for name in zeros)
        return bool(zeros) and is_linear and bool(self.evaluate(zeros) == 0)

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

    @property
    def _is_product(self) -> bool:
        return False

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

    @property
    def _is_product(self) -> bool:
        return self.operand._is_product

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
                above = _difference(left, _product(self, right))
                is_plain = above == ZERO or self.right == ONE
                return above if is_plain else BinaryOperation("/", above, self.right)

    def substitute(self, replacements: Mapping[str, Expression]) -> Expression:
        """The same operation on both sides' substitutions."""
        left, right = self.left.substitute(replacements), self.right.substitute(replacements)
        return BinaryOperation(self.operator, left, right)

    @property
    def _is_product(self) -> bool:
        return self.operator in ("*", "/")

    def _values(self, columns: Columns) -> Floats:
        left, right = self.left._values(columns), self.right._values(columns)
        match self.operator:
            case "+":
                return settle(np.add(left, right), np.fmax(np.abs(left), np.abs(right)), DECIMAL_DIGITS)
            case "-":
                return settle(np.subtract(left, right), np.fmax(np.abs(left), np.abs(right)), DECIMAL_DIGITS)
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


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def parse(text: str, names: Collection[str] | None = None) -> Expression:
    """Read a formula.

    BadRequest says at which column it stops making sense (counted from 1); UnknownName names the first field
    that is not in `names`, if these are given.
    """
    if len(text) > MAX_LENGTH:
        raise BadRequest(f"A formula has at most {MAX_LENGTH:,} characters, this one {len(text):,}")
    return _Parser(text, names).whole()


def expand(formulas: Mapping[str, Expression]) -> dict[str, Expression]:
    """The same formulas, with each field that is itself one of them replaced, until none is left.

    BadDefinition names a circle, or a formula that grows out of hand.
    """
    needs = {name: expression.fields() & formulas.keys() for name, expression in formulas.items()}
    try:
        in_order = list(TopologicalSorter(needs).static_order())
    except CycleError as circle:
        way = " → ".join(f"'{name}'" for name in reversed(circle.args[1]))
        raise BadDefinition([f"Formulas refer to each other in a circle: {way}"]) from None
    result: dict[str, Expression] = {}
    for name in in_order:
        result[name] = formulas[name].substitute(result)
        if is_too_large(result[name]):
            raise BadDefinition([f"Formula of '{name}': too large with the formulas that it refers to"])
    return {name: result[name] for name in formulas}


def is_too_large(expression: Expression) -> bool:
    """Whether an expression is larger than any that is computed."""
    return expression.depth() > MAX_DEPTH or expression.size() > MAX_NODES


class _Parser:
    """Recursive descent over the tokens of one formula."""

    def __init__(self, text: str, names: Collection[str] | None) -> None:
        self._text = text
        self._names = names
        self._tokens = _tokens(text)
        self._position = 0
        self._nesting = 0

    def whole(self) -> Expression:
        expression = self._sum()
        if self._next.kind != "end":
            self._refuse("an operator (+ - * /) or the end")
        if expression.depth() > MAX_DEPTH:
            raise BadRequest(f"A formula has at most about {MAX_DEPTH} operations in a row, this one more")
        return expression

    @property
    def _next(self) -> _Token:
        return self._tokens[self._position]

    def _take(self) -> str:
        self._position += 1
        return self._tokens[self._position - 1].text

    def _sum(self) -> Expression:
        left = self._product()
        while self._next.text in ("+", "-"):
            left = BinaryOperation(cast(Operator, self._take()), left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._sign()
        while self._next.text in ("*", "/"):
            left = BinaryOperation(cast(Operator, self._take()), left, self._sign())
        return left

    def _sign(self) -> Expression:
        if self._nesting == MAX_NESTING:
            self._refuse(f"at most {MAX_NESTING} brackets and signs inside each other")
        self._nesting += 1
        if self._next.text == "-":
            self._take()
            operand: Expression = Negation(self._sign())
        else:
            operand = self._operand()
        self._nesting -= 1
        return operand

    def _operand(self) -> Expression:
        if self._next.kind == "number":
            value = float(self._next.text)
            if value == float("inf"):
                self._refuse("a number below 1.8e308")
            self._take()
            return Number(value)
        if self._next.kind == "name":
            text = self._take()
            name = text[1:-1].replace("``", "`") if text.startswith("`") else text
            if self._names is not None and name not in self._names:
                raise UnknownName("data field", name, self._names)
            return Field(name)
        if self._next.text == "(":
            opening = self._next.column
            self._take()
            inner = self._sum()
            if self._next.text != ")":
                self._refuse(f"an operator (+ - * /) or the ')' for the '(' of column {opening}")
            self._take()
            return inner
        return self._refuse("a number, a field name or '('")

    def _refuse(self, expected: str) -> NoReturn:
        token = f"'{self._next.text}'" if self._next.text else "the end"
        column = self._next.column
        raise BadRequest(f"Formula '{self._text}', column {column}: expected {expected}, found {token}")


def _tokens(text: str) -> list[_Token]:
    matches = _TOKEN.finditer(text)
    tokens = [_Token(str(match.lastgroup), match.group(), match.start() + 1) for match in matches]
    return [*tokens, _Token("end", "", len(text) + 1)]
