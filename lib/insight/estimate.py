"""Figures made of two of an answer, with the widest range that the two allow."""

import math

from lib.reporting.answers import Estimate


def share(part: Estimate, rest: Estimate) -> Estimate:
    """`part` in percent of both together; its range is the widest that the two ranges allow.

    No value where one of the two has none, or there is nothing.
    """
    if part.value is None or rest.value is None or part.value + rest.value == 0:
        return Estimate(None)
    value = 100 * part.value / (part.value + rest.value)
    if part.is_exact and rest.is_exact:
        return Estimate(value)
    low_part, high_part = _sides(part)
    low_rest, high_rest = _sides(rest)
    return Estimate(value, _percent(low_part, high_rest), _percent(high_part, low_rest))


def part(figure: Estimate, whole: Estimate) -> Estimate:
    """A figure in percent of the `whole` that it is a part of, with the widest range that the two allow."""
    if figure.value is None or not whole.value:
        return Estimate(None)
    value = 100 * figure.value / whole.value
    if figure.is_exact and whole.is_exact:
        return Estimate(value)
    low, high = _sides(figure)
    low_whole, high_whole = _sides(whole)
    least = 100 * low / high_whole if high_whole else math.nan
    most = 100 * high / low_whole if low_whole else math.nan
    return Estimate(value, least, most if most != most else min(most, 100.0))


def _sides(figure: Estimate) -> tuple[float, float]:
    """A figure's range; counts are never below zero."""
    value = figure.value or 0.0
    low, high = figure.low, figure.high
    return (value, value) if low is None or high is None else (max(low, 0.0) if low == low else low, high)


def _percent(part: float, rest: float) -> float:
    whole = part + rest
    return 100 * part / whole if whole else math.nan
