"""How many impressions a day a targeting had lately, which a guarantee is compared with."""

from lib.deals.models import Targeting
from lib.insight.deal_report import DealReport
from lib.insight.estimate import IMPRESSIONS, field_of
from lib.insight.filters import Lists, report_filters

DAYS = 30


def daily_impressions(
    report: DealReport, targeting: Targeting, lists: Lists, media_type: str | None
) -> float | None:
    """The mean of the last 30 complete days; None where the report has no such field, or no value.

    What the report can't filter by is left out, so the figure is rather too high. Raises why the report can't
    be asked.
    """
    field = field_of(report.slicer, IMPRESSIONS)
    if field is None:
        return None
    filters = report_filters(targeting, report.slicer, lists, media_type).filters
    changes = {"filters": filters, "data_fields": (field.name,)}
    impressions = report.ask(report.query(DAYS).model_copy(update=changes)).total.values.get(field.name)
    return None if impressions is None else impressions / DAYS
