"""A report that tells deals apart: the days to ask it for, and the question."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from lib.reporting import dates
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import API_ROWS_LIMIT, AudienceQuery, Slicer

DEAL, PACKAGE = "deal", "supply_package"


@dataclass(frozen=True)
class DealReport:
    """A slicer whose key fields tell deals apart, and who asks it; `today` is in its time zone."""

    project: str
    name: str
    slicer: Slicer
    today: date
    ask: Callable[[AudienceQuery], Audience]

    def query(self, days: int) -> AudienceQuery:
        """The question about the last complete days with data, as exact as a quick answer can be."""
        start, end = dates.last_days(self.slicer, self.today, days)
        return AudienceQuery(
            project_name=self.project,
            slicer_name=self.name,
            start_date=start,
            end_date=end,
            audience_rows_limit=API_ROWS_LIMIT,
            precision=1,
        )

    def period(self, days: int) -> Days:
        """The days that `query` is about."""
        return dates.date_range(*dates.last_days(self.slicer, self.today, days), self.today)


def tells_deals(slicer: Slicer) -> bool:
    """Whether its key fields tell deals and packages apart, by the ids that these have in Deals."""
    return {DEAL, PACKAGE} <= {field.name for field in slicer.key_fields}
