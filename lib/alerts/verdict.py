"""The result of checking an alert."""

from dataclasses import dataclass

from lib.views import AlertState


@dataclass(frozen=True)
class Verdict:
    """`state` is None where nothing could be said, and `problem` why; the alert's state then stays.

    `value` is the figure, `low` and `high` the bounds between which it is as usual, for `changed`.
    """

    state: AlertState | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    problem: str = ""
