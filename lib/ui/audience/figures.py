"""Headline and time chart: one query, shown twice."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import DataField, Filter
from lib.ui.audience import date_notes, figure_controls, over_time, split_lines
from lib.ui.charts import numbers, series, sparkline
from lib.ui.charts.change import Change
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.waiting import awaited
from lib.ui.query import ask, compared_answers, filter_words, focus, metric, periods, question, values
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.ui.query.view import granularities

TRIED, NO_DATA_PLACE = 6, "nothing"


def is_there(audience: Audience) -> bool:
    """Whether the answer has any records."""
    return audience.total.records_found > 0 and len(audience) > 0


def draw_no_data(focus: Focus) -> None:
    """Draw a sentence on why there are no results, and one button that leads on."""
    with st.container(key=NO_DATA_PLACE):
        _draw_no_data(focus)


def _draw_no_data(focus: Focus) -> None:
    days = numbers.days(*focus.period)
    if not focus.query.filters or not _has_data(focus):
        first, last = focus.slicer.first_date, focus.slicer.last_date
        there = f" The data covers {plain(first)} to {plain(last)}." if first and last else ""
        st.info(f"There is no data for {days}.{there}", icon=":material/event_busy:")
        st.button(
            "Show the last days with data", icon=":material/event:", on_click=_usual_days, args=(focus,)
        )
        return
    text = f"Nothing matches these filters for {days}."
    place, most = _most_in_the_way(focus)
    if place is None:
        st.info(f"{text} Remove filters, or choose other days.", icon=":material/filter_alt_off:")
        return
    words = filter_words.sentence(focus.query.filters[place], focus.slicer, _described(focus, place))
    st.info(f"{text} Without “{plain(words)}” there are {plain(most)}.", icon=":material/filter_alt_off:")
    st.button(f"Remove “{plain(words)}”", icon=":material/close:", on_click=_remove, args=(focus, place))


def _has_data(focus: Focus) -> bool:
    """Whether the slicer has data on any of the question's days, as far as it says so."""
    first, last = focus.slicer.first_date, focus.slicer.last_date
    if first is None or last is None:
        return True
    return focus.period[0].isoformat() <= last and focus.period[1].isoformat() >= first


def _most_in_the_way(focus: Focus) -> tuple[int | None, str]:
    """The place of the filter whose removal brings the largest volume, and that volume."""
    by = values.frequent(focus.slicer)
    if by is None:
        return None, ""
    found = [(_volume_without(focus, place, by), place) for place in range(len(focus.query.filters[:TRIED]))]
    most, place = max(found)
    field = focus.slicer.data_field(by)
    text = f"{focus.numbers.short(most, field)} {numbers.title(field).lower()}"
    return (place, text) if most > 0 else (None, "")


def _volume_without(focus: Focus, place: int, by: str) -> float:
    changes = {"filters": _without(focus, place), "split_by": (), "data_fields": (by,), "order_by": ()}
    return ask.audience(focus.context, focus.query.model_copy(update=changes)).total.values.get(by) or 0.0


def _without(focus: Focus, place: int) -> tuple[Filter, ...]:
    return (*focus.query.filters[:place], *focus.query.filters[place + 1 :])


def _described(focus: Focus, place: int) -> dict[str, str]:
    filter_ = focus.query.filters[place]
    return values.words(focus.context, focus.query, filter_.name, filter_.value)


def _usual_days(focus: Focus) -> None:
    start, end = periods.usual(focus.slicer, ask.today(focus.context, focus.query))
    question.ask(focus.query.model_copy(update={"start_date": start, "end_date": end}))
    st.rerun()


def _remove(focus: Focus, place: int) -> None:
    question.ask(focus.query.model_copy(update={"filters": _without(focus, place)}))
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
        today = ask.today(focus.context, focus.query)
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
