"""The change of a figure between two periods, and whether it exceeds the figure's uncertainty."""

import math
from dataclasses import dataclass, field

from lib.insight.estimate import Estimate
from lib.reporting.answers import Audience


@dataclass(frozen=True)
class Change:
    """`ratio` is relative to the earlier figure; None if either is missing or the earlier is zero.
    `amount` is the difference in the field's own unit.

    It is certain when the figures' 95 % ranges do not overlap: what a reader sees overlapping is no rise or
    fall, and of the twenty rows of a table one does not stand out by chance.
    """

    ratio: float | None
    is_certain: bool = True
    amount: float | None = field(default=None, compare=False)


def change(now: Estimate, before: Estimate) -> Change:
    """The change from one figure to the other."""
    if not _is_there(now.value) or not _is_there(before.value):
        return Change(None)
    difference = (now.value or 0.0) - (before.value or 0.0)
    is_certain = abs(difference) >= now.side + before.side
    return Change(difference / abs(before.value) if before.value else None, is_certain, difference)


def of_total(audience: Audience, field: str) -> Estimate:
    """The total of a data field, with its range."""
    total = audience.total
    if field not in total.low and not is_sampled(audience):
        return Estimate(total.values.get(field))
    sides = (total.low.get(field), total.high.get(field))
    return Estimate(total.values.get(field), *(math.nan if side is None else side for side in sides))


def of_rows(audience: Audience, field: str) -> list[Estimate]:
    """The rows' values of a data field, each with its range."""
    values = audience.values[field]
    if audience.low is not None and audience.high is not None and field in audience.low:
        sides = zip(values, audience.low[field], audience.high[field], strict=True)
        return [Estimate(*side) for side in sides]
    unknown = (math.nan, math.nan) if is_sampled(audience) else ()
    return [Estimate(value, *unknown) for value in values]


def is_sampled(audience: Audience) -> bool:
    """Whether an answer's figures are estimates from a sample."""
    if audience.precision is not None:
        return audience.precision.is_sampled
    return audience.total.confidence_range is not None or audience.confidence_range is not None


def _is_there(value: float | None) -> bool:
    return value is not None and math.isfinite(value)
