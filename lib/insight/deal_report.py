"""A report that tells deals apart: the days to ask it for, the question, and the rows of deals and seats."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date

from lib.deals.models import DemandDeal, Dsp, Seat, SupplyPackage
from lib.reporting.answers import Audience
from lib.reporting.models import API_ROWS_LIMIT, AudienceQuery
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.models import Slicer
from lib.slicers.roles import DEAL, DSP, PACKAGE, SEAT
from lib.wire.filters import Filter

KEY_FIELDS = {DemandDeal: DEAL, SupplyPackage: PACKAGE, Seat: SEAT, Dsp: DSP}
NO_ID = "0"
Entity = DemandDeal | SupplyPackage | Seat | Dsp


@dataclass(frozen=True)
class DealReport:
    """A slicer whose key fields tell deals apart, and who asks it; `today` is in its time zone.

    `sees_all_seats` says whether whoever asks may see the deals of all seats. Money in it is in `currency`,
    that of deals without one of their own.
    """

    project: str
    name: str
    slicer: Slicer
    today: date
    ask: Callable[[AudienceQuery], Audience]
    sees_all_seats: bool = False
    currency: str = ""

    def has_currency_of(self, deal: DemandDeal) -> bool:
        """Whether the deal's price and budget can be compared with money in the report."""
        return deal.currency in (None, "", self.currency)

    def query(self, days: int, **changes: object) -> AudienceQuery:
        """The question about the last complete days with data, as exact as a quick answer can be."""
        start, end = dates.last_days(self.slicer, self.today, days)
        query = AudienceQuery(
            project_name=self.project,
            slicer_name=self.name,
            start_date=start,
            end_date=end,
            audience_rows_limit=API_ROWS_LIMIT,
            precision=1,
        )
        return query.model_copy(update=changes)

    def period(self, days: int) -> Days:
        """The days that `query` is about."""
        return dates.date_range(*dates.last_days(self.slicer, self.today, days), self.today)

    def only(self, entities: Sequence[Entity]) -> tuple[Filter, ...]:
        """The filters for the rows of these entities, all of one kind; none without any.

        They are entities as the deals client of whoever asks returned them, never ids: what the deals API
        does not show to somebody is in no question of theirs. Of a package that is sold to others too, people
        with some seats ask about the deals that they see.
        """
        filters = [
            Filter(name=field, value=tuple(str(entity.id) for entity in entities), match="equals")
            for field in {KEY_FIELDS[type(entity)] for entity in entities}
        ]
        packages = [entity for entity in entities if isinstance(entity, SupplyPackage)]
        if packages and not self.sees_all_seats:
            own_ids = dict.fromkeys(str(deal.id) for package in packages for deal in package.demand_deals)
            filters.append(Filter(name=DEAL, value=tuple(own_ids) or (NO_ID,), match="equals"))
        return tuple(filters)

    def without(self, *entities: Entity) -> Filter:
        """The filter for the rows of all but these entities, all of one kind, of the deals client."""
        ids = tuple(str(entity.id) for entity in entities)
        return Filter(name=KEY_FIELDS[type(entities[0])], value=ids, match="not equals")
