"""The change of a figure between two periods, with a 95 % range of its own; and alerts in words."""

import math
from dataclasses import dataclass, field

from lib.reporting.answers import Estimate
from lib.reporting.models import DataField
from lib.ui.charts.numbers import Numbers, days, title
from lib.views import Alert, AlertRule
from lib.views.alerts import CHECK_SECONDS

RULES: dict[AlertRule, str] = {
    "above": "is above",
    "below": "is below",
    "changed": "changed by more than its noise",
}


@dataclass(frozen=True)
class Change:
    """`ratio` is relative to the earlier figure; None if either is missing or the earlier is zero.
    `amount` is the difference in the field's own unit, with its 95 % range (NaN where it is not known; None
    of exact figures). It is certain when this leaves out zero. `previous` is the earlier figure as it is.
    """

    ratio: float | None
    is_certain: bool = True
    amount: float | None = field(default=None, compare=False)
    low: float | None = field(default=None, compare=False)
    high: float | None = field(default=None, compare=False)
    previous: float | None = field(default=None, compare=False)


def change(now: Estimate, before: Estimate) -> Change:
    """The change from one figure to the other.

    The records of two periods are sampled independently, so their errors add up as squares: the range is made
    of the ranges of both, each side with its own (Zou and Donner 2008, MOVER).
    """
    if not _is_there(now.value) or not _is_there(before.value):
        return Change(None)
    value, earlier = now.value or 0.0, before.value or 0.0
    difference, ratio = value - earlier, (value - earlier) / abs(earlier) if earlier else None
    if not now.side and not before.side:
        return Change(ratio, True, difference)
    low = difference - math.hypot(value - _side(now.low, value), _side(before.high, earlier) - earlier)
    high = difference + math.hypot(_side(now.high, value) - value, earlier - _side(before.low, earlier))
    return Change(ratio, low > 0 or high < 0, difference, low, high)


def _side(side: float | None, value: float) -> float:
    """An end of a range; the value itself of an exact figure."""
    return value if side is None else side


def _is_there(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def condition_text(alert: Alert, numbers: Numbers) -> str:
    """The condition: `Impressions above 100,000`."""
    field = DataField.model_validate(alert.figure)
    if alert.rule == "changed":
        return f"{title(field)} {RULES['changed']}"
    return f"{title(field)} {alert.rule} {numbers.full(alert.bound, field)}"


def alert_state(alert: Alert, numbers: Numbers) -> str:
    """The state: the figure, its usual range, since when it fires; or why it could not be checked."""
    parts = []
    if alert.state == "new":
        parts.append(f"not checked yet: will be within {CHECK_SECONDS} seconds")
    if alert.state in ("ok", "firing") and alert.value is not None:
        field = DataField.model_validate(alert.figure)
        parts.append(f"now {numbers.full(alert.value, field)}")
        if alert.low is not None and alert.high is not None:
            parts.append(f"usual {numbers.full(alert.low, field)} to {numbers.full(alert.high, field)}")
    if alert.state == "firing" and alert.since is not None:
        parts.append(f"since {days(alert.since.date(), alert.since.date())}, {alert.since:%H:%M} UTC")
    if alert.problem:
        parts.append(_trouble(alert))
    return " · ".join(parts)


def _trouble(alert: Alert) -> str:
    if alert.state == "lost":
        return "you can't see this view any more"
    return f"last check: {alert.problem.rstrip('.')}"
