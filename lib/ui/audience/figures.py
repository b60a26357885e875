"""Headline and time chart: one query, shown twice."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, DataField
from lib.ui.audience import date_notes, figure_controls, over_time, split_lines
from lib.ui.audience.headline import figure, is_there, no_data
from lib.ui.charts import numbers, sparkline
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.waiting import awaited
from lib.ui.query import ask, compared_answers, focus, question
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.ui.query.view import granularities

NO_DATA_PLACE = "nothing"


def draw_no_data(focus: Focus) -> None:
    """Draw a sentence on why there are no results, and one button that leads on."""
    with st.container(key=NO_DATA_PLACE):
        nothing = no_data(focus)
        icons = ("event_busy", "event") if nothing.is_about_days else ("filter_alt_off", "close")
        there, way_on = (f":material/{icon}:" for icon in icons)
        st.info(plain(nothing.sentence), icon=there)
        if nothing.query is not None:
            st.button(plain(nothing.label), icon=way_on, on_click=_ask, args=(nothing.query,))


def _ask(query: AudienceQuery) -> None:
    question.ask(query)
    st.rerun()


NARROWEST = 132
HEADLINE, CHOSEN, FIGURE, SHOW = "headline", "chosen_figure", "figure", "show_figure"


def draw_headline(focus: Focus, now: Audience, found: ComparedAnswers | None) -> None:
    """Draw one metric per field of the headline; a click makes it the data field of the page."""
    columns = max(len(focus.headline), 4)
    with (
        st.container(key=HEADLINE),
        st.grid(columns, min_column_width=NARROWEST, gap="small", wrap=False),
    ):
        for name in focus.headline:
            is_chosen, field = name == focus.field.name, focus.slicer.data_field(name)
            with st.container(key=f"{FIGURE}_{name}"):
                _button(focus, field)
                with st.container(key=CHOSEN if is_chosen else None, gap="xxsmall"):
                    _metric(focus, field, now, found)


def _button(focus: Focus, field: DataField) -> None:
    """Draw the button over the figure; its label is for screen readers."""
    st.button(
        f"Show {plain(numbers.title(field))}",
        key=f"{SHOW}_{field.name}",
        type="tertiary",
        on_click=_show,
        args=(focus.context, field.name),
    )


def _show(context: PageContext, name: str) -> None:
    question.look(context, field=name)
    st.rerun()


def _metric(focus: Focus, field: DataField, now: Audience, found: ComparedAnswers | None) -> None:
    shown = figure(focus, field, now, found)
    st.metric(
        plain(shown.title),
        plain(shown.text),
        None if shown.delta is None else plain(shown.delta),
        delta_color=shown.style.color,
        delta_arrow=shown.style.arrow,
        delta_description=shown.off,
        help=plain(shown.help),
    )
    if shown.course is not None and focus.grain is not None:
        sparkline.draw(shown.course, field, focus.grain, focus.period, focus.numbers)


HEIGHT, PLACE = 412, "figures"


def draw(context: PageContext) -> None:
    """Draw them in a place of their own, which has its height from the start where there is a time chart."""
    with st.container(key=PLACE if granularities(context.slicer) else None):
        _draw(context)


@st.fragment(parallel=True)
def _draw(context: PageContext) -> None:
    """Send the query and draw its answer."""
    if not context.slicer.data_fields:
        st.info("This slicer has no data fields to show.", icon=":material/info:")
        return
    seen = focus.of(context)
    with problems.reported("The figures"):
        with awaited(HEIGHT, figure_controls.FIELD):
            query = seen.over_time()
            now = ask.quickly(context, query)
            found = compared_answers.asked(seen, query, now)
            values = split_lines.value_lines_asked(seen)
        if is_there(now):
            draw_headline(seen, now, found)
            lines = over_time.lines(seen, now, found)
            noted = date_notes.of(seen)
            figure_controls.draw(seen, now, over_time.named(values) or lines, noted)
            if lines:
                over_time.draw(seen, lines, values, noted.notes)
            figure_controls.draw_notes(seen, now, found)
            ask.refined()
        else:
            draw_no_data(seen)
