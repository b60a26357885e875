"""The formula of a data field: text like "1000 * cost / imps", read into an Expression, never run as Python.

    sum      = product {("+" | "-") product}
    product  = signed {("*" | "/") signed}
    signed   = "-" signed | number | name | "(" sum ")"

A name is letters, digits, underscores and dots, and begins with a letter or an underscore; any other one is
written in backquotes (a backquote inside it twice).
"""

import re
from collections.abc import Collection, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, NoReturn, cast

from lib.reporting.expressions import (
    PLAIN_NAME,
    BinaryOperation,
    Expression,
    Field,
    Negation,
    Number,
    Operator,
)
from lib.wire.errors import BadDefinition, BadRequest, UnknownName

__all__ = ["BinaryOperation", "Expression", "Field", "Negation", "Number", "expand", "parse"]

MAX_LENGTH = 2_000
MAX_NESTING = 50
MAX_DEPTH = 150
MAX_NODES = 10_000
_TOKEN = re.compile(
    r"(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?![\w.])"
    rf"|(?P<name>{PLAIN_NAME.pattern}|`(?:[^`]|``)+`)"
    r"|(?P<sign>[-+*/()])"
    r"|(?P<other>[\w.]+|\S)"
)


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
    result: dict[str, Expression] = {}
    for name in _in_order(formulas):
        result[name] = formulas[name].substitute(result)
        if is_too_large(result[name]):
            raise BadDefinition([f"Formula of '{name}': too large with the formulas that it refers to"])
    return {name: result[name] for name in formulas}


def is_too_large(expression: Expression) -> bool:
    """Whether an expression is larger than any that is computed."""
    return expression.depth() > MAX_DEPTH or expression.size() > MAX_NODES


def _in_order(formulas: Mapping[str, Expression]) -> list[str]:
    needs = {name: expression.fields() & formulas.keys() for name, expression in formulas.items()}
    try:
        return list(TopologicalSorter(needs).static_order())
    except CycleError as circle:
        way = " → ".join(f"'{name}'" for name in reversed(circle.args[1]))
        raise BadDefinition([f"Formulas refer to each other in a circle: {way}"]) from None


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
        operand = self._negation() if self._next.text == "-" else self._operand()
        self._nesting -= 1
        return operand

    def _negation(self) -> Expression:
        self._take()
        return Negation(self._sign())

    def _operand(self) -> Expression:
        if self._next.kind == "number":
            return self._number()
        if self._next.kind == "name":
            return self._field()
        if self._next.text == "(":
            return self._brackets()
        return self._refuse("a number, a field name or '('")

    def _number(self) -> Expression:
        value = float(self._next.text)
        if value == float("inf"):
            self._refuse("a number below 1.8e308")
        self._take()
        return Number(value)

    def _field(self) -> Expression:
        text = self._take()
        name = text[1:-1].replace("``", "`") if text.startswith("`") else text
        if self._names is not None and name not in self._names:
            raise UnknownName("data field", name, self._names)
        return Field(name)

    def _brackets(self) -> Expression:
        opening = self._next.column
        self._take()
        inner = self._sum()
        if self._next.text != ")":
            self._refuse(f"an operator (+ - * /) or the ')' for the '(' of column {opening}")
        self._take()
        return inner

    def _refuse(self, expected: str) -> NoReturn:
        token = f"'{self._next.text}'" if self._next.text else "the end"
        column = self._next.column
        raise BadRequest(f"Formula '{self._text}', column {column}: expected {expected}, found {token}")


def _tokens(text: str) -> list[_Token]:
    tokens = [
        _Token(str(match.lastgroup), match.group(), match.start() + 1) for match in _TOKEN.finditer(text)
    ]
    return [*tokens, _Token("end", "", len(text) + 1)]
