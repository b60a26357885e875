"""The field for a question in words: its readings as the pills that each would set; a click or Enter asks."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import streamlit as st

from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, Granularity
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import ask, filters, history, state, values, wording
from lib.ui.query.state import MOST_ROWS, PageState
from lib.ui.query.wording import Find, Match, Reading

POPOVER, TEXT, ENTERED = "filter_add", "wording_text", "wording_entered"
MOST_FIELDS = 14


def draw(context: PageContext) -> None:
    """Draw the field, in the popover that adds filters, and below it what the sentence may mean."""
    with problems.report_errors("The values"):
        text = st.text_input(
            "A question in words",
            key=TEXT,
            max_chars=300,
            placeholder="spend by country last week vs prior, only mobile",
            on_change=_enter,
        )
        if not text:
            return
        query = history.current(context).query
        readings = wording.read(text, context.slicer, ask.today(context, query), finder(context, query))
        if st.session_state.pop(ENTERED, False) and len(readings.best) == 1:
            # The popover stays open: a widget that is drawn can't be closed outside of a callback.
            history.push(under(history.current(context), readings.best[0]))
            st.rerun()
        for number, reading in enumerate(readings.best):
            st.button(
                plain(" · ".join(reading.pills)),
                key=f"wording_reading_{number}",
                icon=":material/search:",
                on_click=_ask,
                args=(context, reading),
            )
            if reading.ignored:
                st.caption(plain(f"Not understood: {', '.join(reading.ignored)}"))
        if readings.reason:
            st.info(plain(readings.reason))


def finder(context: PageContext, query: AudienceQuery) -> Find:
    """Finds values among the most frequent ones of the slicer's key fields, as pickers list them."""
    index: dict[str, list[Match]] = {}
    names = [field.name for field in context.slicer.key_fields if field.name not in TIME_KEY_FIELDS]
    for name in sorted(names, key=state.usefulness)[:MOST_FIELDS]:
        for code, label in values.value_options(context, query, name).descriptions.items():
            for text in dict.fromkeys((code.casefold(), label.casefold())):
                if text:
                    index.setdefault(text, []).append((name, code, label))

    def find(texts: Sequence[str]) -> Mapping[str, Sequence[Match]]:
        return {text: index[text.casefold()] for text in texts if text.casefold() in index}

    return find


def under(page_state: PageState, reading: Reading) -> PageState:
    """The state with what the reading names; all else is as it was."""
    query, view = page_state.query, page_state.view
    for filter_ in reading.filters:
        query = filters.gather(query, filter_.name, filter_.value, filter_.match)
    if reading.days is not None:
        start, end = reading.days
        query = query.model_copy(update={"start_date": start, "end_date": end})
        view = replace(view, zoom=None, grain=None)
    if reading.split_by:
        query = query.model_copy(update={"split_by": reading.split_by, "order_by": ()})
        view = replace(view, tab="split")
    if reading.fields:
        view = replace(view, field=reading.fields[0])
        if len(reading.fields) > 1:
            query = query.model_copy(update={"data_fields": reading.fields})
    if reading.compare is not None:
        also = view.also if reading.compare and view.also != reading.compare else ()
        view = replace(view, compare=reading.compare, also=also)
    if reading.grain is not None:
        grain: Granularity = reading.grain  # type: ignore[assignment]
        view = replace(view, grain=grain)
    if reading.limit:
        view = replace(view, rows=min(reading.limit, MOST_ROWS))
    return replace(page_state, query=query, view=view)


def _enter() -> None:
    """Note that the field was sent with Enter. A callback."""
    st.session_state[ENTERED] = True


def _ask(context: PageContext, reading: Reading) -> None:
    """Ask it: one step, which undo takes back. A callback."""
    st.session_state[POPOVER] = False
    history.push(under(history.current(context), reading))
