"""The parts of a metric beside its figure: the change, whether that is good news, and the range."""

from typing import Literal, NamedTuple

from lib.reporting.answers import Audience
from lib.reporting.models import DataField
from lib.ui.charts.change import Change
from lib.ui.charts.numbers import unit
from lib.ui.query import focus, precision
from lib.ui.query.focus import Focus

SMALLEST = 0.0005


class Style(NamedTuple):
    """The colour and the arrow of a change."""

    color: Literal["gray", "green", "red"]
    arrow: Literal["off", "up", "down"]


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


def style(field: DataField, changed: Change) -> Style:
    """The style of a change: UNCERTAIN if it may be noise, or rounds to zero."""
    if changed.ratio is None or not changed.is_certain or abs(changed.ratio) < SMALLEST:
        return UNCERTAIN
    is_good = (changed.ratio > 0) != focus.less_is_better(field)
    return Style("green" if is_good else "red", "up" if changed.ratio > 0 else "down")
