"""Report data about a deal, a package or a targeting: which slicer to ask, for what, in the background."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from lib.figures import numbers
from lib.figures.deals.deal_report import insight
from lib.insight import DeadSearch
from lib.reporting import named_days
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.reporting.query_batch import QueryBatch
from lib.slicers.dates import Days
from lib.slicers.models import DataField, Slicer
from lib.slicers.roles import BIDS, IMPRESSIONS, WIN_CPM, field_of, tells_deals
from lib.ui.deals.list_state import open_key
from lib.ui.kit import redraw, session_cache
from lib.ui.kit.frame import PageContext
from lib.wire.errors import AccessError, BadRequest, InternalError, Refused, TrancheError
from lib.wire.filters import Filter

SLICERS = "slicers_of_deals"
BATCHES, MOMENT_SECONDS = "insights", 0.2
BatchKey = tuple[object, ...]


def of_deals(context: PageContext) -> PageContext | None:
    """Looking at a slicer that tells deals apart: the one that is picked, else the first that does.

    None where none of those that the person may see has the key field `deal`. Raises why the service can't be
    asked; a slicer that it refuses is passed over.
    """
    if tells_deals(context.slicer):
        return context
    slicers: dict[tuple[str, str], Slicer] = session_cache.of(SLICERS, dict)
    for pair in sorted(context.clients.slicers, key=lambda pair: pair[0] != context.project):
        if (slicer := slicers.get(pair)) is None:
            try:
                slicer = context.reporting.info(InfoQuery(project_name=pair[0], slicer_name=pair[1]))
            except Refused:
                raise
            except (AccessError, BadRequest, InternalError):
                continue  # it is refused or broken: another one may do
            slicers[pair] = slicer
        if tells_deals(slicer):
            return replace(context, project=pair[0], slicer_name=pair[1], slicer=slicer)
    return None


def of_deals_or_note(context: PageContext) -> PageContext | None:
    """The same; says so where there is none."""
    if (deals_context := of_deals(context)) is None:
        st.info("None of the slicers that you can see has a key field for deals.", icon=":material/info:")
    return deals_context


def period(context: PageContext, query: AudienceQuery) -> Days:
    """The days that a question is about."""
    return named_days.days_of(query, context.slicer)


def volume_field(context: PageContext) -> DataField | None:
    """The data field of bids, else of impressions; None, and says so, where the slicer has neither."""
    if (field := field_of(context.slicer, (*BIDS, *IMPRESSIONS))) is None:
        st.caption("This slicer has no data field for bids or impressions.")
    return field


def report_figures(slicer: Slicer) -> dict[str, DataField | None]:
    """The figures of a targeting by title, with their data fields; None where the slicer has none."""
    users = tuple(f"unique_{source.name}" for source in slicer.audience_sources)
    names = {"Bids": BIDS, "Impressions": IMPRESSIONS, "Unique users": users, "Average win CPM": WIN_CPM}
    return {title: field_of(slicer, fields) for title, fields in names.items()}


def figures_query(context: PageContext, filters: tuple[Filter, ...], days: int) -> AudienceQuery:
    """The totals of the panel's data fields for these filters, over the last days."""
    names = tuple(field.name for field in report_figures(context.slicer).values() if field is not None)
    return insight(context).query(days, filters=filters, data_fields=names)


def answers(
    context: PageContext, place: str, queries: Sequence[AudienceQuery], what: str
) -> list[Audience] | None:
    """The answers to these questions of a place, if they come in a moment; else says how far they are, and
    draws again when they have come.

    Where a question failed its error is raised, and this place asks again next time.
    """
    batch = query_batch(context, place, queries)
    if batch.wait(MOMENT_SECONDS):
        try:
            return batch.answers()
        except TrancheError:
            forget(place)
            raise
    count, total = batch.progress
    st.caption(f":material/hourglass_top: Computing {what}: {count} of {total} questions answered.")
    look_again(batch)
    return None


def answers_with_data(
    context: PageContext, place: str, queries: Sequence[AudienceQuery], what: str
) -> list[Audience] | None:
    """The same, of questions about the same days; says so, and returns None, where these have no data."""
    audiences = answers(context, place, queries, what)
    if audiences is not None and not any(audience.has_data for audience in audiences):
        st.caption(f"The report has no data for {numbers.days(*period(context, queries[0]))}.")
        return None
    return audiences


def query_batch(context: PageContext, place: str, queries: Sequence[AudienceQuery]) -> QueryBatch:
    """The questions of this place on the screen; those that it asked before are given up."""
    batches: dict[str, tuple[BatchKey, QueryBatch]] = st.session_state.setdefault(BATCHES, {})
    key = (context.viewer, *queries)
    entry = batches.get(place)
    if entry is None or entry[0] != key:
        if entry is not None:
            entry[1].cancel()
        ask = partial(context.reporting.audience, slicer=context.slicer)
        entry = batches[place] = (key, QueryBatch(ask, queries))
    return entry[1]


def look_again(work: QueryBatch | DeadSearch) -> None:
    """Draw the screen, or the open drawer, again once it is done."""
    # Within a drawer only its own part is drawn again: a run of the page would empty what is typed in it.
    if open_key() is None:
        redraw.when(lambda: work.is_done, f"done_{id(work)}")
    else:
        redraw.draw_again(f"draw_again_{id(work)}")


def forget(place: str) -> None:
    """Ask again next time: what came was a failure. Whatever is on its way is given up."""
    batches: dict[str, tuple[BatchKey, QueryBatch]] = st.session_state.get(BATCHES, {})
    if (entry := batches.pop(place, None)) is not None:
        entry[1].cancel()
