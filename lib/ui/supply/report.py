"""Report data about a deal, a package or a targeting: which slicer to ask, and for what."""

from dataclasses import dataclass, replace
from datetime import date

import streamlit as st

from lib.insight.measured import BIDS, IMPRESSIONS, WIN_CPM, field_of
from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import (
    API_ROWS_LIMIT,
    AudienceQuery,
    DataField,
    Filter,
    InfoQuery,
    Slicer,
    time_key_field,
)
from lib.ui.frame.frame import Here
from lib.ui.question import ask, periods
from lib.ui.question.periods import DAY
from lib.wire.errors import AccessError, BadRequest, InternalError, Refused

DEAL, PACKAGE = "deal", "supply_package"
SLICERS = "slicers_of_deals"


@dataclass(frozen=True)
class ReportFigure:
    """A figure of the panel: what it is called, and the data field; None where the slicer has none."""

    title: str
    field: DataField | None


def of_deals(here: Here) -> Here | None:
    """Looking at a slicer that tells deals apart: the one that is picked, else the first that does.

    None where none of those that the person may see has the key field `deal`. Raises why the service can't be
    asked; a slicer that it refuses is passed over.
    """
    if tells_deals(here.slicer):
        return here
    kept: dict[tuple[str, str], Slicer] = st.session_state.setdefault(SLICERS, {})
    for pair in sorted(here.clients.slicers, key=lambda pair: pair[0] != here.project):
        found = kept.get(pair) or _info(here, *pair)
        if found is not None:
            kept[pair] = found
            if tells_deals(found):
                return replace(here, project=pair[0], slicer_name=pair[1], slicer=found)
    return None


def wanted(slicer: Slicer) -> tuple[ReportFigure, ...]:
    """The figures of a targeting: bids, impressions, unique users and average win CPM."""
    users = tuple(f"unique_{source.name}" for source in slicer.audience_sources)
    return (
        ReportFigure("Bids", field_of(slicer, BIDS)),
        ReportFigure("Impressions", field_of(slicer, IMPRESSIONS)),
        ReportFigure("Unique users", field_of(slicer, users)),
        ReportFigure("Average win CPM", field_of(slicer, WIN_CPM)),
    )


def question(
    here: Here, filters: tuple[Filter, ...], days: int, fields: tuple[str, ...], by_day: bool = False
) -> AudienceQuery:
    """These data fields over the last complete days with data, as exact as a quick answer can be."""
    start, end = last_days(here.slicer, ask.today(here, _bare(here)), days)
    return _bare(here).model_copy(
        update={
            "start_date": start,
            "end_date": end,
            "filters": filters,
            "data_fields": fields,
            "split_by": (time_key_field("day"),) if by_day else (),
        }
    )


def last_days(slicer: Slicer, today: date, days: int) -> tuple[str, str]:
    """The last complete days: relative dates while the data are fresh, else up to the last day with data."""
    if periods.is_fresh(slicer, today):
        return f"-{days}d", "yesterday"
    last = date.fromisoformat(slicer.last_date) if slicer.last_date else today
    return (last - (days - 1) * DAY).isoformat(), last.isoformat()


def period(here: Here, query: AudienceQuery) -> Days:
    """The days that a question is about."""
    return periods.resolved(query.start_date, query.end_date, ask.today(here, query))


def figures(here: Here, filters: tuple[Filter, ...], days: int) -> Audience:
    """Totals of the panel's data fields for these filters, over the last days."""
    names = tuple(figure.field.name for figure in wanted(here.slicer) if figure.field is not None)
    return ask.audience(here, question(here, filters, days, names))


def _bare(here: Here) -> AudienceQuery:
    return AudienceQuery(
        project_name=here.project,
        slicer_name=here.slicer_name,
        start_date="-7d",
        end_date="yesterday",
        audience_rows_limit=API_ROWS_LIMIT,
        precision=1,
    )


def tells_deals(slicer: Slicer) -> bool:
    """Whether its key fields tell deals and packages apart, by the ids that these have in Deals."""
    return {DEAL, PACKAGE} <= {field.name for field in slicer.key_fields}


def _info(here: Here, project: str, name: str) -> Slicer | None:
    """The slicer; None where it is refused or broken: another one may do."""
    try:
        return here.reporting.info(InfoQuery(project_name=project, slicer_name=name))
    except Refused:
        raise
    except (AccessError, BadRequest, InternalError):
        return None
