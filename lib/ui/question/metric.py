"""The parts of a metric beside its figure: the change, whether that is good news, and the range."""

from typing import Literal

from lib.reporting.answers import Audience
from lib.reporting.models import DataField
from lib.ui.charts import numbers
from lib.ui.charts.change import Change
from lib.ui.question import focus, precision
from lib.ui.question.focus import Focus

SMALLEST = 0.0005


def delta(seen: Focus, changed: Change) -> str | None:
    """The change as st.metric reads it: a hyphen for a minus, and no sign where it rounds to nothing.

    Where it is not known a dash keeps its place, so that nothing below moves.
    """
    if seen.compared is None:
        return None
    return seen.numbers.change(changed.ratio).replace(numbers.MINUS, "-")


def off(seen: Focus, field: DataField, now: Audience) -> str | None:
    """The range of the figure, if it is an estimate."""
    off = precision.total_range(now, field.name)
    return f"± {seen.numbers.percent(off)}" if off >= precision.LEAST_SHOWN else None


def color(field: DataField, changed: Change) -> Literal["off", "inverse", "normal"]:
    """The colour of a change: none where it can't be told from noise or rounds to nothing."""
    if changed.ratio is None or not changed.is_certain or abs(changed.ratio) < SMALLEST:
        return "off"
    return "inverse" if focus.less_is_better(field) else "normal"
