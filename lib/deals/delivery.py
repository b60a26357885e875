"""The figures of a deal's past days that lists show and are ordered by: impressions, spend, win rate, pacing.

They are computed with a deal's health, by the same report, and stored beside it.
"""

from dataclasses import dataclass
from typing import Literal

DeliveryKind = Literal["impressions", "spend", "win_rate", "pacing"]
TITLES: dict[DeliveryKind, str] = {
    "impressions": "Impressions", "spend": "Spend", "win_rate": "Win rate", "pacing": "Pacing",
}  # fmt: skip
PERIODS = (7, 30)


@dataclass(frozen=True)
class DeliveryFigure:
    """A figure of the last so many complete days with data.

    Spend is in the report's currency. The win rate is in percent of the bids; pacing in percent of what the
    deal's goal (guaranteed impressions, else its budget) needs in those days to be met evenly.
    """

    kind: DeliveryKind
    days: int

    @property
    def name(self) -> str:
        """Its name in the API, the database and links."""
        return f"{self.kind}_{self.days}_days"

    @property
    def title(self) -> str:
        """`Win rate, 7 days`."""
        return f"{TITLES[self.kind]}, {self.days} days"


FIGURES = {
    figure.name: figure for days in PERIODS for kind in TITLES for figure in [DeliveryFigure(kind, days)]
}
