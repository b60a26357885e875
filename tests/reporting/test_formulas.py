"""Formulas: what is read, what is refused, and that arithmetic and derivatives are right."""

import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lib.slicers.formulas import (
    MAX_DEPTH,
    MAX_LENGTH,
    MAX_NESTING,
    BinaryOperation,
    Expression,
    Field,
    Negation,
    Number,
    expand,
    parse,
)
from lib.wire.errors import BadDefinition, BadRequest, UnknownName

NAMES = ("imps", "payout.adv_payout", "vast_25")
SIGNS: dict[str, Callable[[Fraction, Fraction], Fraction]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}


def _trees(numbers: st.SearchStrategy[float], names: st.SearchStrategy[str]) -> st.SearchStrategy[Expression]:
    leaves = st.builds(Number, numbers) | st.builds(Field, names)
    return st.recursive(
        leaves,
        lambda inner: (
            st.builds(Negation, inner) | st.builds(BinaryOperation, st.sampled_from("+-*/"), inner, inner)
        ),
        max_leaves=12,
    )


ANY_NUMBERS = st.floats(0, allow_infinity=False).filter(lambda value: not np.signbit(value))
ANY_TREES = _trees(ANY_NUMBERS, st.sampled_from(NAMES) | st.text(min_size=1, max_size=8))
SMALL_TREES = _trees(st.integers(0, 9).map(float), st.sampled_from(NAMES))
ROWS = st.lists(st.tuples(*[st.integers(-9, 9)] * len(NAMES)), min_size=1, max_size=6)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1000 * cost / imps", 1000 * 3 / 8),
        ("cost-imps-1", 3 - 8 - 1),
        ("cost-(imps-1)", 3 - (8 - 1)),
        ("imps/cost/2", 8 / 3 / 2),
        ("imps / (cost / 2)", 8 / (3 / 2)),
        ("-cost * imps", -24),
        ("2 - -cost", 5),
        ("--cost", 3),
        ("1e3*.5 + 2. - 0.25E-2", 501.9975),
        ("100 * payout.actual_pub / (vast_25 + 1)", 100 * 5 / 8),
        ("`Total revenue, €` * 2", 22),
        ("`a``b`", 13),
        ("\tcost\n+ 1 ", 4),
    ],
)
def test_reading(text: str, value: float) -> None:
    """Signs bind as in arithmetic, from left to right, and any field can be named."""
    columns = {
        "cost": 3.0, "imps": 8.0, "payout.actual_pub": 5.0,
        "vast_25": 7.0, "Total revenue, €": 11.0, "a`b": 13.0,
    }  # fmt: skip
    assert parse(text, names=columns).evaluate(columns) == pytest.approx(value)


@pytest.mark.parametrize(
    ("text", "column", "found"),
    [
        ("", 1, "the end"),
        ("cost +", 7, "the end"),
        ("cost imps", 6, "'imps'"),
        ("(cost + imps", 13, "the end"),
        ("cost)", 5, "')'"),
        ("cost ** 2", 7, "'*'"),
        ("cost // 2", 7, "'/'"),
        ("cost % 2", 6, "'%'"),
        ("1.2.3", 1, "'1.2.3'"),
        ("1d_roas", 1, "'1d_roas'"),
        ("1e999", 1, "'1e999'"),
        ("a..b", 2, "'..b'"),
        ("`open", 1, "'`'"),
        ("``", 1, "'`'"),
        ("__import__('os').system('ls')", 11, "'('"),
        ("cost if imps else 0", 6, "'if'"),
        ("lambda: 0", 7, "':'"),
        ("x[0]", 2, "'['"),
        ("+cost", 1, "'+'"),
        ("cost; imps", 5, "';'"),
        ("\0", 1, "'\0'"),
    ],
)
def test_what_is_no_formula(text: str, column: int, found: str) -> None:
    """A reason says at which column the formula stops making sense, what stands there and what could."""
    with pytest.raises(BadRequest) as refused:
        parse(text)
    assert f"column {column}: expected " in refused.value.reason
    assert refused.value.reason.endswith(f"found {found}")


def test_unknown_fields_are_named() -> None:
    """A field that the slicer lacks is refused, with the nearest that it has."""
    with pytest.raises(UnknownName, match=r"Unknown data field 'impz'; did you mean 'imps'\?"):
        parse("1000 * cost / impz", names=["cost", "imps"])


@pytest.mark.parametrize(
    "text",
    [
        "1" * (MAX_LENGTH + 1),
        "(" * MAX_NESTING + "a" + ")" * MAX_NESTING,
        "-" * (MAX_NESTING + 1) + "a",
        "+".join("a" * (MAX_DEPTH + 1)),
    ],
)
def test_bounds(text: str) -> None:
    """Too long, too deep, too many terms in a row: a bad request, not an exhausted stack."""
    with pytest.raises(BadRequest, match="at most"):
        parse(text)


@given(ANY_TREES)
def test_round_trip(tree: Expression) -> None:
    """What is written down is read back as the same tree, whatever the numbers and names in it."""
    assert parse(str(tree)) == tree


def _exact(tree: Expression, values: dict[str, Fraction]) -> Fraction | None:
    """The value by fractions; None where a denominator is zero."""
    match tree:
        case Number(value):
            return Fraction(value)
        case Field(name):
            return values[name]
        case Negation(operand):
            inner = _exact(operand, values)
            return None if inner is None else -inner
        case BinaryOperation(sign, left, right):
            sides = _exact(left, values), _exact(right, values)
            if sides[0] is None or sides[1] is None or (sign == "/" and sides[1] == 0):
                return None
            return SIGNS[sign](sides[0], sides[1])
    raise TypeError(tree)


def _has_risky_denominator(tree: Expression, values: dict[str, Fraction]) -> bool:
    """Whether a denominator that is not zero, or is, might be taken for the other in floats."""
    risky = any(_has_risky_denominator(part, values) for part in tree.parts)
    if isinstance(tree, BinaryOperation) and tree.operator == "/":
        exact = _exact(tree.right, values)
        floats = float(tree.right.evaluate({name: float(value) for name, value in values.items()}))
        risky |= exact is not None and (exact == 0) != (floats == 0)
    return risky


@given(tree=SMALL_TREES, rows=ROWS)
def test_values_against_fractions(tree: Expression, rows: list[tuple[int, ...]]) -> None:
    """Columns give, row by row, what exact fractions give, and NaN where a denominator is zero."""
    exact_rows = [dict(zip(NAMES, map(Fraction, row), strict=True)) for row in rows]
    assume(not any(_has_risky_denominator(tree, row) for row in exact_rows))
    columns = {name: np.array([float(row[name]) for row in exact_rows]) for name in NAMES}
    values = np.broadcast_to(tree.evaluate(columns), len(rows))
    for value, row in zip(values, exact_rows, strict=True):
        exact = _exact(tree, row)
        if exact is None:
            assert np.isnan(value)
        else:
            assert value == pytest.approx(float(exact), rel=1e-9, abs=1e-9)


def _differences_exact(
    tree: Expression, at: dict[str, Fraction], field: str
) -> tuple[Fraction, Fraction] | None:
    """The central difference by exact fractions with two steps; None where the tree has no value."""
    slopes = []
    for step in (Fraction(1, 10**6), Fraction(1, 10**7)):
        high = _exact(tree, at | {field: at[field] + step})
        low = _exact(tree, at | {field: at[field] - step})
        if high is None or low is None or _exact(tree, at) is None:
            return None
        slopes.append((high - low) / (2 * step))
    return slopes[0], slopes[1]


@given(tree=SMALL_TREES, row=st.tuples(*[st.integers(1, 9)] * len(NAMES)), field=st.sampled_from(NAMES))
def test_derivative_against_differences(tree: Expression, row: tuple[int, ...], field: str) -> None:
    """The derivative is what the quotient of exact differences tends to."""
    at = dict(zip(NAMES, map(Fraction, row), strict=True))
    slopes = _differences_exact(tree, at, field)
    assume(slopes is not None and abs(slopes[0] - slopes[1]) <= Fraction(1, 10**8) * max(1, abs(slopes[1])))
    assert slopes is not None
    derived = _exact(tree.derivative(field), at)
    assert derived is not None
    assert float(derived) == pytest.approx(float(slopes[1]), rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "field", "derivative"),
    [
        ("1000 * cost / imps", "cost", "1000 / imps"),
        ("1000 * cost / imps", "imps", "-(1000 * cost / imps) / imps"),
        ("cost * cost", "cost", "cost + cost"),
        ("3 - cost", "cost", "-1"),
        ("clicks + 7", "cost", "0"),
    ],
)
def test_derivatives_are_simplified(text: str, field: str, derivative: str) -> None:
    """Zeros and ones don't stay in a derivative."""
    assert parse(text).derivative(field) == parse(derivative)


@pytest.mark.parametrize(
    ("text", "above", "below", "adds_up"),
    [
        ("1000 * cost / imps", "1000 * cost", "imps", (True, True)),
        ("cost / (imps / 1000)", "cost * 1000", "imps", (True, True)),
        ("-(cost - 2 * fee) / imps / 2", "-(cost - 2 * fee)", "imps * 2", (True, True)),
        ("cost / imps * (clicks / imps)", "cost * clicks", "imps * imps", (False, False)),
        ("cost + fee / 2", "cost + fee / 2", "1", (True, False)),
        ("cost / imps + 1", "cost / imps + 1", "1", (False, False)),
        ("(cost + 7) / imps", "cost + 7", "imps", (False, True)),
    ],
)
def test_fractions(text: str, above: str, below: str, adds_up: tuple[bool, bool]) -> None:
    """A formula is what stands above the line over what stands below, sums or not, however it is written."""
    sides = parse(text).fraction()
    assert sides == (parse(above), parse(below))
    assert (sides[0].is_sum, sides[1].is_sum) == adds_up


def test_missing_values_and_zero_denominators() -> None:
    """0/0 and x/0 give NaN, never inf; NaN stays NaN; no warning is raised; too large for a float is NaN."""
    columns = {"a": np.array([1.0, 0.0, np.nan, 6.0, 1e308]), "b": np.array([0.0, 0.0, 2.0, 3.0, 1e-308])}
    with np.errstate(all="raise"):
        value = parse("a / b").evaluate(columns)
    np.testing.assert_array_equal(value, [np.nan, np.nan, np.nan, 2.0, np.nan])
    assert value.dtype == np.float64
    np.testing.assert_array_equal(parse("0 * a").evaluate(columns)[2:4], [np.nan, 0])
    assert parse("7").evaluate({}) == 7
    np.testing.assert_array_equal(
        parse("a / b + 1").evaluate({"a": 1.0, "b": np.array([2, 0])}), [1.5, np.nan]
    )


def test_fields_and_substitution() -> None:
    """A field is replaced wherever it stands, all at once, and brackets come by themselves when written."""
    formula = parse("a / b - a")
    assert formula.fields() == {"a", "b"}
    replaced = formula.substitute({"a": parse("b + 1"), "b": parse("a")})
    assert str(replaced) == "(b + 1) / a - (b + 1)"


def test_formulas_of_formulas() -> None:
    """Formulas may refer to formulas in any order; what is left refers to plain fields alone."""
    formulas = {"margin": parse("revenue_rate - cost_rate"), "cost_rate": parse("cost / imps")}
    formulas["revenue_rate"] = parse("revenue / imps")
    expanded = expand(formulas)
    assert list(expanded) == ["margin", "cost_rate", "revenue_rate"]
    assert str(expanded["margin"]) == "revenue / imps - cost / imps"


@pytest.mark.parametrize(
    ("formulas", "circle"),
    [({"a": "a + 1"}, "'a' → 'a'"), ({"a": "b", "b": "1 / c", "c": "x + a"}, "'a' → 'b' → 'c' → 'a'")],
)
def test_circles_are_named(formulas: dict[str, str], circle: str) -> None:
    """Formulas that refer to each other in a circle are refused, and the way round is named."""
    with pytest.raises(BadDefinition) as refused:
        expand({name: parse(text) for name, text in formulas.items()})
    assert circle in refused.value.reason


@pytest.mark.parametrize(("step", "count"), [("{0} + {0}", 20), ("{0} + 1", 160)])
def test_formulas_that_explode(step: str, count: int) -> None:
    """Formulas that double (or lengthen) each other are refused before they fill memory or stack."""
    formulas = {f"f{n}": parse(step.format(f"f{n - 1}")) for n in range(1, count)}
    with pytest.raises(BadDefinition, match="too large"):
        expand(formulas)


@pytest.mark.parametrize("value", [-1.0, -0.0, float("nan"), float("inf")])
def test_numbers_are_finite_and_not_negative(value: float) -> None:
    """A number in a tree is one that can be written down; a negative one is a negation."""
    with pytest.raises(ValueError, match="not a finite number"):
        Number(value)
