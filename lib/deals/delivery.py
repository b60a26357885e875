"""The figures of a deal's past days that lists show and are ordered by: impressions, spend, win rate, pacing.

They are computed with a deal's health, by the same report, and stored beside it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

DeliveryKind = Literal["impressions", "spend", "win_rate", "pacing"]
GoalKind = Literal["units_to_date", "units_expected", "units_projected"]
PacingStatus = Literal["behind", "on_track", "ahead"]
TITLES: dict[DeliveryKind | GoalKind, str] = {
    "impressions": "Impressions", "spend": "Spend", "win_rate": "Win rate", "pacing": "Pacing",
    "units_to_date": "Delivered to date", "units_expected": "Expected to date",
    "units_projected": "Projected to the end",
}  # fmt: skip
PERIODS = (7, 30)
BEHIND, AHEAD = 80.0, 120.0
"""In percent of what a goal needs: a deal that delivered less is behind, one that delivered more is ahead."""


@dataclass(frozen=True)
class DeliveryFigure:
    """A figure of the last so many complete days with data; of the booking so far where `days` is 0.

    Spend is in the report's currency. The win rate is in percent of the bids; pacing in percent of what the
    deal's goal (guaranteed impressions, else its budget) needs in those days to be met evenly. Of guaranteed
    impressions: those to date, expected by then if the goal is met evenly, and projected to the end.
    """

    kind: DeliveryKind | GoalKind
    days: int = 0

    @property
    def name(self) -> str:
        """Its name in the API, the database and links."""
        return f"{self.kind}_{self.days}_days" if self.days else self.kind

    @property
    def title(self) -> str:
        """`Win rate, 7 days`."""
        return f"{TITLES[self.kind]}, {self.days} days" if self.days else TITLES[self.kind]


FIGURES = {
    figure.name: figure
    for figure in (
        *(DeliveryFigure(kind, days) for days in PERIODS for kind in get_args(DeliveryKind)),
        *map(DeliveryFigure, get_args(GoalKind)),
    )
}


def pacing_status(figures: Mapping[str, float | None]) -> PacingStatus | None:
    """A deal's pacing in a word: of guaranteed impressions to date, of a budget in the last 7 days."""
    to_date, expected = figures.get("units_to_date"), figures.get("units_expected")
    pace = figures.get("pacing_7_days") if to_date is None or not expected else 100 * to_date / expected
    return None if pace is None else "behind" if pace < BEHIND else "ahead" if pace > AHEAD else "on_track"
