"""Alerts in words: what they watch for, and how they stand."""

from lib.figures.numbers import Numbers, days, title
from lib.slicers.models import DataField
from lib.views import Alert, AlertRule
from lib.views.alerts import CHECK_SECONDS

RULES: dict[AlertRule, str] = {
    "above": "is above",
    "below": "is below",
    "changed": "changed by more than its noise",
}


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
        is_lost = alert.state == "lost"
        problem = alert.problem.rstrip(".")
        parts.append("you can't see this view any more" if is_lost else f"last check: {problem}")
    return " · ".join(parts)
