"""The health of deals as the list's filter and order have it: what is stored of the report in question."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import ColumnElement, Select, case, select

from lib.deals.models import HEALTH_STATES
from lib.deals.store.tables import deal_health, demand_deals, health_reports
from lib.deals.store.work import Work


def state(work: Work) -> ColumnElement[Any]:
    """A deal's state by the report of `work`; null where it was never computed."""
    return _of(work, deal_health.c.state)


def urgency(work: Work) -> ColumnElement[Any]:
    """A number to order by: those that need attention first."""
    return _of(
        work, case({name: place for place, name in enumerate(HEALTH_STATES)}, value=deal_health.c.state)
    )


def deals_in(work: Work, states: Collection[str]) -> Select[tuple[int]]:
    """The ids of deals in these states by the report of `work`."""
    mine = deal_health.c.report_id == _report(work), deal_health.c.state.in_(states)
    return select(deal_health.c.deal_id).where(*mine)


def _of(work: Work, column: ColumnElement[Any]) -> ColumnElement[Any]:
    mine = deal_health.c.deal_id == demand_deals.c.id, deal_health.c.report_id == _report(work)
    return select(column).where(*mine).correlate(demand_deals).scalar_subquery()


def _report(work: Work) -> Any:
    project, slicer = work.report
    named = health_reports.c.project == project, health_reports.c.slicer == slicer
    return select(health_reports.c.id).where(*named).scalar_subquery()
