"""The parts of a metric beside its figure: the change, whether that is good news, and the range.

A change is good or bad news where the field says which (`polarity`), and where it is more than noise: more
than the uncertainty of a sample, and not within what the two periods' parts (their days, mostly) differ by.
"""

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from lib.reporting.answers import Audience
from lib.reporting.confidence import TAIL
from lib.reporting.models import DataField
from lib.ui.charts.change import Change
from lib.ui.charts.numbers import unit
from lib.ui.query import precision
from lib.ui.query.focus import Focus

SMALLEST, FEWEST = 0.0005, 4
Arrow = Literal["off", "up", "down"]
Values = npt.NDArray[np.float64]


class Style(NamedTuple):
    """The colour and the arrow of a change."""

    color: Literal["gray", "green", "red"]
    arrow: Arrow


UNCERTAIN = Style("gray", "off")


def delta(focus: Focus, field: DataField, changed: Change) -> str | None:
    """The change, of a percentage in points; where it is not known a dash, so that nothing below moves."""
    if focus.compared is None:
        return None
    if changed.amount is not None and unit(field) == "%":
        return focus.numbers.signed(changed.amount, field)
    return focus.numbers.change(changed.ratio)


def off(focus: Focus, field: DataField, now: Audience) -> str | None:
    """The range of the figure, if it is an estimate."""
    off = precision.total_range(now, field.name)
    return f"± {focus.numbers.percent(off)}" if off >= precision.LEAST_SHOWN else None


def style(field: DataField, changed: Change, is_noise: bool = False) -> Style:
    """The style of a change: UNCERTAIN if the sample may have made it or it rounds to 0; grey if noise."""
    if changed.ratio is None or not changed.is_certain or abs(changed.ratio) < SMALLEST:
        return UNCERTAIN
    arrow: Arrow = "up" if changed.ratio > 0 else "down"
    if is_noise or field.polarity == "none":
        return Style("gray", arrow)
    return Style("green" if arrow == field.polarity else "red", arrow)


def is_noise(now: Values, before: Values) -> bool:
    """Whether the values of two periods, part by part, differ by chance only: the paired t-test at 5 %.

    NaN where nothing is known. Of fewer than FEWEST pairs nobody can tell: that is noise too.
    """
    there = min(len(now), len(before))
    apart = now[:there] - before[:there]
    apart = apart[np.isfinite(apart)]
    if len(apart) < FEWEST:
        return True
    error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
    return abs(float(apart.mean())) <= error * float(stdtrit(len(apart) - 1, 1 - TAIL))
