"""The message of an alert that fires or clears."""

import json
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlencode

from lib.views import Alert, AlertState


@dataclass(frozen=True)
class Verdict:
    """`state` is None where it is unknown, and `problem` says why; the alert's state then stays.

    `value` is the figure, `low` and `high` the bounds between which it is as usual, for `changed`.
    """

    state: AlertState | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    problem: str = ""


def body(alert: Alert, verdict: Verdict, number: str, now: datetime, origin: str) -> str:
    """The message as JSON. `number` is its own; where a message arrives twice, it is the same.

    An owner who lost access gets no figure.
    """
    link = urlencode({"project": alert.project, "slicer": alert.slicer, **alert.params})
    message = {
        "id": number,
        "event": "fired" if verdict.state == "firing" else "cleared",
        "at": now.isoformat(timespec="seconds"),
        "reason": verdict.problem or None,
        "alert": {
            "id": alert.id,
            "owner": alert.owner,
            "project": alert.project,
            "slicer": alert.slicer,
            "view": alert.view_name,
            "field": alert.field,
            "rule": alert.rule,
            "bound": alert.bound,
            "value": verdict.value,
            "usual_low": verdict.low,
            "usual_high": verdict.high,
            "link": f"{origin}/audience?{link}",
        },
    }
    if verdict.state == "lost":
        message["alert"] = {name: message["alert"][name] for name in ("id", "owner", "project", "slicer")}  # type: ignore[index]
    return json.dumps(message, ensure_ascii=False)
