"""Which rows of a granted slicer a person or a token sees: the filters of grants, edited on Access."""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from lib.figures.query import filters
from lib.people import DealsGrant, Grant
from lib.reporting.models import AudienceQuery, InfoQuery
from lib.slicers import dates
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import Slicer
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import filter_pills
from lib.ui.query.filter_editor import FilterTarget
from lib.wire.errors import BadRequest, TrancheError
from lib.wire.filters import Filter

EDITS = "row_filters"
ALL_ROWS, MOST_SEATS = "all rows", 5
Edits = dict[tuple[str, str], tuple[Filter, ...]]


def grants_with_filters(whose: str, places: Iterable[str], grants: Iterable[Grant] = ()) -> list[Grant]:
    """The grants for these projects and slicers, as texts, with the filters drawn beside them for `whose`.

    `grants` are those that are stored: where nothing was changed theirs hold, or those in the text itself.
    BadRequest for a text that is no grant.
    """
    before: dict[str, tuple[Filter, ...]] = {}
    for grant in grants:
        before[grant.place] = (*before.get(grant.place, ()), *grant.filters)
    edits: Edits = st.session_state.get(EDITS, {})
    fresh = list(map(Grant.parse, places))
    return [
        replace(grant, filters=edits.get((whose, grant.place), grant.filters or before.get(grant.place, ())))
        for grant in fresh
    ]


def forget() -> None:
    """Forget changes that were not saved."""
    st.session_state.pop(EDITS, None)


def draw(
    context: PageContext,
    whose: str,
    places: Iterable[str],
    grants: Iterable[Grant] = (),
    deals: DealsGrant | None = None,
) -> None:
    """Draw the filters of each slicer among the grants; seats in `deals` offer the filter that fits."""
    before = list(grants)
    for place in places:
        try:
            (grant,) = grants_with_filters(whose, [place], before)
        except BadRequest:
            continue
        if grant.slicer is not None and (grant.project, grant.slicer) in context.clients.slicers:
            _draw_grant(context, whose, grant, deals)
        elif grant.filters:
            st.caption(plain(grant.label))


def _draw_grant(context: PageContext, whose: str, grant: Grant, deals: DealsGrant | None) -> None:
    project, name = grant.project, grant.slicer or ""
    try:
        slicer = context.clients.reporting.info(InfoQuery(project_name=project, slicer_name=name))
    except TrancheError as error:
        st.caption(plain(f"The rows of {grant.label} can't be limited now: {error.reason}"))
        return
    labels = [_label(filter_, slicer) for filter_ in grant.filters]
    # With a key, and the server knowing, it stays open when a filter changes its label.
    box = st.expander(
        plain(f"{grant.place}: {'; '.join(labels) or ALL_ROWS}"), icon=":material/filter_alt:",
        key=_key(whose, grant, "open"), on_change="rerun",
    )  # fmt: skip
    if not box.open:
        return
    with box:
        for number, label in enumerate(labels):
            st.button(
                plain(label), icon=":material/close:", key=_key(whose, grant, f"drop_{number}"),
                help="Remove this filter", on_click=_set,
                args=(whose, grant, (*grant.filters[:number], *grant.filters[number + 1 :])),
            )  # fmt: skip
        if slicer.seat_field is not None and deals is not None and deals.seats:
            # Offer to limit the rows to the seats whose deals the person may see.
            seats = tuple(map(str, sorted(deals.seats)))
            fitting = Filter(name=slicer.seat_field, value=seats, match="equals")
            others = (filter_ for filter_ in grant.filters if filter_.name != fitting.name)
            sentence = filters.sentence(fitting, slicer, most=MOST_SEATS)
            if fitting not in grant.filters:
                st.button(
                    plain(f"Limit to the seats of their deals: {sentence}"), icon=":material/handshake:",
                    key=_key(whose, grant, "seats"), on_click=_set, args=(whose, grant, (*others, fitting)),
                )  # fmt: skip
        _draw_form(replace(context, project=project, slicer_name=name, slicer=slicer), whose, grant)


def _label(filter_: Filter, slicer: Slicer) -> str:
    """A filter as a sentence; by the name of its field where the slicer has none of that name any more."""
    if filter_.name not in slicer.key_names:
        return f"{filter_.name} (no such key field: opens nothing)"
    options = ", in any case" * filter_.case_insensitive + ", or its description" * filter_.search_mappings
    return filters.sentence(filter_, slicer, most=len(filter_.value)) + options


def _draw_form(context: PageContext, whose: str, grant: Grant) -> None:
    slicer = context.slicer
    all_labels = filter_pills.field_labels(slicer)
    labels = {name: label for name, label in all_labels.items() if name not in TIME_KEY_FIELDS}
    if not labels:
        st.caption("This slicer has no key fields to filter by.")
        return
    days = dates.default_days(slicer, dates.today(slicer.timezone))
    query = AudienceQuery(
        project_name=context.project, slicer_name=context.slicer_name,
        start_date=slicer.first_date or days[0], end_date=slicer.last_date or days[1],
    )  # fmt: skip

    def read() -> AudienceQuery:
        edits: Edits = st.session_state.get(EDITS, {})
        return query.model_copy(update={"filters": edits.get((whose, grant.place), grant.filters)})

    target = FilterTarget(context, read, lambda new: _set(whose, grant, new.filters), query)
    filter_pills.draw_addition(lambda _: target, _prefix(whose, grant), labels)


def _set(whose: str, grant: Grant, new_filters: tuple[Filter, ...]) -> None:
    """Note the filters of a grant until they are saved. A callback."""
    edits: Edits = st.session_state.setdefault(EDITS, {})
    edits[whose, grant.place] = new_filters


def _key(whose: str, grant: Grant, name: str) -> str:
    return f"{_prefix(whose, grant)}_{name}"


def _prefix(whose: str, grant: Grant) -> str:
    return f"row_filters_{whose}_{grant.place}"
