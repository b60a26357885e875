"""The bar's field for a question in words: while one types, its readings as the pills that each would set.

A click asks one of them, Enter the first.
"""

from dataclasses import replace

import streamlit as st

from lib.figures.query import ask, card, filters, values
from lib.figures.query.periods import PREVIOUS
from lib.figures.query.state import MOST_DATA_FILTERS, MOST_ROWS, PageState
from lib.reporting.models import MOST_GROUPS, AudienceQuery
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.ui.kit import amount_field, page_scripts, problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import history, wording
from lib.ui.query.wording import Meaning, Reading, Readings, ValueIndex, text_key
from lib.wire.text import straight

FIELD, TEXT, READING, ANSWERED = "wording", "wording_text", "wording_reading", "wording_answered"
MOST_FIELDS = 24
EXAMPLE = "Ask: spend by country, mobile"


def draw(context: PageContext) -> None:
    """Draw the field, and below it what the sentence may mean, while it has the focus (style.css).

    Once a sentence is asked, the empty field says what it meant, for as long as that is the question.
    """
    meaning, params = st.session_state.get(ANSWERED, ("", None))
    with st.container(key=FIELD, gap=None):
        text = st.text_input(
            "A question in words", key=TEXT, label_visibility="collapsed", live=amount_field.PAUSE,
            placeholder=f"Asked: {meaning}" if params == history.current(context).params else EXAMPLE,
        )  # fmt: skip
        # Streamlit sends a text after a pause as it sends one after Enter, and does not say which it was.
        page_scripts.press_by_keys(f"{READING}_0", TEXT, "/")
        if text:
            with st.container(key="wording_readings", gap=None), problems.report_errors("The values"):
                readings = _read(context, text)
                for number, reading in enumerate(readings.best):
                    st.button(
                        plain(" · ".join(reading.pills)), key=f"{READING}_{number}", icon=":material/search:",
                        on_click=_ask, args=(context, number), type="tertiary",
                    )  # fmt: skip
                    if reading.ignored:
                        st.caption(plain(f"Not understood: {', '.join(reading.ignored)}"))
                if readings.reason:
                    st.info(plain(readings.reason))


def _read(context: PageContext, text: str) -> Readings:
    query = history.current(context).query
    today, index = ask.today(context, query), value_index(context, query)
    return wording.read(text, context.slicer, today, index, context.locale or "")


def value_index(context: PageContext, query: AudienceQuery) -> ValueIndex:
    """The most frequent values of the slicer's key fields, as pickers list them, by code and description."""
    index: dict[str, list[Meaning]] = {}
    names = [field.name for field in context.slicer.key_fields if field.name not in TIME_KEY_FIELDS]
    for name in sorted(names, key=card.usefulness)[:MOST_FIELDS]:
        for code, label in values.value_options(context, query, name).descriptions.items():
            for text in {text_key(code), text_key(label)} - {""}:
                index.setdefault(text, []).append((name, code, label))
    return index


def under(page_state: PageState, reading: Reading) -> PageState:
    """The state with what the reading names; all else is as it was."""
    query, view = page_state.query, page_state.view
    for filter_ in reading.filters:
        query = filters.gather(query, filter_.name, filter_.value, filter_.match)
    groups = (*query.any_of, *reading.any_of)
    query = query.model_copy(update={"any_of": tuple(dict.fromkeys(groups))[:MOST_GROUPS]})
    data_filters = tuple(dict.fromkeys((*view.data_filters, *reading.data_filters)))[:MOST_DATA_FILTERS]
    view = replace(view, data_filters=data_filters)
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
        view = replace(view, grain=reading.grain)
    if reading.moved:
        # What moved is a comparison: without days to compare with there would be nothing in that tab.
        view = replace(view, tab="moved", compare=view.compare or (PREVIOUS,))
    if reading.limit:
        view = replace(view, rows=min(reading.limit, MOST_ROWS))
    return replace(page_state, query=query, view=view)


def _ask(context: PageContext, number: int) -> None:
    """Ask a reading of the text: one step, which undo takes back. A callback."""
    # Whoever types on and presses Enter at once presses a button of the text before: only its number counts.
    best = _read(context, st.session_state[TEXT]).best
    if number < len(best):
        reading = best[number]
        page_state = under(history.current(context), reading)
        rest = [f"not understood: {', '.join(reading.ignored)}"] if reading.ignored else []
        st.session_state[TEXT] = ""
        st.session_state[ANSWERED] = straight(" · ".join([*reading.pills, *rest])), page_state.params
        history.change(page_state)
