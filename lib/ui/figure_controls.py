"""What the figures show: data field, granularity, the headline's metrics; and what is said of them."""

from collections.abc import Iterator, Sequence

import streamlit as st

from lib.reporting.answers import Audience
from lib.ui import numbers, over_time, precision, question, shortfalls
from lib.ui.charts import Named
from lib.ui.focus import Focus
from lib.ui.frame import Here
from lib.ui.periods import Days
from lib.ui.view import granularities

FIELD, GRAIN, METRICS = "shown_field", "shown_grain", "shown_metrics"


def draw(focus: Focus, now: Audience, before: Audience | None, lines: Sequence[Named]) -> None:
    """The controls in a row, and at its end how precise it all is."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _field(focus)
        if focus.grain is not None:
            _grain(focus)
        _metrics(focus)
        if lines:
            over_time.draw_table(focus, lines)
        over_time.draw_zoom_out(focus)
        st.space("stretch")
        st.caption(" · ".join(said(focus, now, before)), width="content")


def said(focus: Focus, now: Audience, before: Audience | None) -> Iterator[str]:
    """What a reader has to know about the figures: days without data, fields not computed, precision."""
    yield from _missing_days(focus, now, focus.period, "Data")
    if before is not None and focus.compared is not None:
        yield from _missing_days(focus, before, focus.compared, "Compared data")
    yield from shortfalls.never_sent(focus.slicer, focus.field)
    unread = now.precision.unread if now.precision else ()
    if unread:
        yield f"Not computed in time: {', '.join(_title(focus, name) for name in unread)}"
    yield precision.sentence(now, focus.field.name, focus.numbers)


def _missing_days(focus: Focus, audience: Audience, period: Days, what: str) -> Iterator[str]:
    asked, there = (period[1] - period[0]).days + 1, len(audience.total.dates)
    is_told = there > 0 or not len(audience)
    if there < asked and is_told:
        yield f"{what} on {focus.numbers.number(there)} of {focus.numbers.number(asked)} days"


def _field(focus: Focus) -> None:
    st.session_state[FIELD] = focus.field.name
    st.selectbox(
        "Data field",
        [field.name for field in focus.slicer.data_fields],
        format_func=lambda name: numbers.title(focus.slicer.data_field(name), with_unit=True),
        key=FIELD,
        label_visibility="collapsed",
        filter_mode="contains",
        width=230,
        on_change=_look_field,
        args=(focus.here,),
    )


def _grain(focus: Focus) -> None:
    st.session_state[GRAIN] = focus.grain
    st.segmented_control(
        "Granularity",
        granularities(focus.slicer),
        format_func=str.capitalize,
        key=GRAIN,
        required=True,
        label_visibility="collapsed",
        on_change=_look_grain,
        args=(focus.here,),
    )


def _metrics(focus: Focus) -> None:
    with st.popover("Metrics", icon=":material/tune:", type="tertiary"):
        st.session_state[METRICS] = list(focus.metrics)
        st.multiselect(
            "Figures in the headline",
            [field.name for field in focus.slicer.data_fields],
            format_func=lambda name: _title(focus, name),
            key=METRICS,
            filter_mode="contains",
            select_all=False,
            width=380,
            on_change=_ask_metrics,
            args=(focus.here,),
        )


def _title(focus: Focus, name: str) -> str:
    return numbers.title(focus.slicer.data_field(name))


def _look_field(here: Here) -> None:
    question.look(here, field=st.session_state[FIELD])
    st.rerun()


def _look_grain(here: Here) -> None:
    question.look(here, grain=st.session_state[GRAIN])
    st.rerun()


def _ask_metrics(here: Here) -> None:
    chosen = tuple(st.session_state[METRICS])
    question.ask(question.current(here).model_copy(update={"data_fields": chosen or None}))
    st.rerun()
