"""Headline and time chart: one query, shown twice."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import DataField
from lib.ui.audience import date_notes, figure_controls, nothing, over_time, value_lines
from lib.ui.charts import numbers, series, sparkline
from lib.ui.charts.change import Change
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.waiting import awaited
from lib.ui.query import ask, focus, metric, question
from lib.ui.query import compared_answers as compared
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.ui.query.view import granularities

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
        args=(focus.here, field.name),
    )


def _show(context: PageContext, name: str) -> None:
    question.look(context, field=name)
    st.rerun()


def _metric(focus: Focus, field: DataField, now: Audience, found: ComparedAnswers | None) -> None:
    value = now.total.values.get(field.name)
    changed = found.total(field) if found is not None else Change(None)
    style = metric.style(field, changed)
    st.metric(
        plain(numbers.title(field)),
        plain(focus.numbers.short(value, field)),
        metric.delta(focus, field, changed),
        delta_color=style.color,
        delta_arrow=style.arrow,
        delta_description=metric.off(focus, field, now),
        help=plain(_help(focus, field, value, changed)),
    )
    if focus.grain is not None and len(now) > 1:
        today = ask.today(focus.here, focus.query)
        course = series.over(now, field.name, focus.grain, focus.period, today)
        sparkline.draw(course.without_parts, field, focus.grain, focus.period, focus.numbers)


def _help(focus: Focus, field: DataField, value: float | None, changed: Change) -> str:
    """The full figure, the field's description, and notes on the change."""
    parts = [focus.numbers.full(value, field), field.annotation or "", field.formula_description or ""]
    if not changed.is_certain:
        parts.append("The change is smaller than its uncertainty: it may not be a real rise or fall")
    return " · ".join(part for part in parts if part)


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
            found = compared.asked(seen, query, now)
            values = value_lines.asked(seen)
        if nothing.is_there(now):
            draw_headline(seen, now, found)
            lines = over_time.lines(seen, now, found)
            noted = date_notes.of(seen)
            figure_controls.draw(seen, now, over_time.named(values) or lines, noted)
            if lines:
                over_time.draw(seen, lines, values, noted.notes)
            figure_controls.draw_notes(seen, now, found)
            ask.refined()
        else:
            nothing.draw(seen)
