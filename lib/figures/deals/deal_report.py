"""What deals are asked about in reports: the slicer, and its usual days."""

from functools import partial

from lib.figures.context import RequestContext
from lib.insight import Insight
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery
from lib.slicers import dates


def insight(context: RequestContext, reporting: Reporting | None = None) -> Insight:
    """The slicer that is looked at, asked through this client, else that of the person as they are now."""
    audience = partial((reporting or context.reporting).audience, slicer=context.slicer)
    today, seats = dates.today(context.slicer.timezone), context.person.deals.seats
    return Insight(
        context.project, context.slicer_name, context.slicer, today, audience, seats is None,
        context.clients.currency,
    )  # fmt: skip


def usual_days(context: RequestContext) -> AudienceQuery:
    """The days whose values the pickers offer: the last 30 complete ones."""
    return insight(context, context.clients.reporting).query(30, data_fields=())
