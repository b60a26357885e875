"""The split as small charts over time: the top values of a key field, from one query."""

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, Filter, time_key_field
from lib.ui.audience import leaderboard_queries, split_levels
from lib.ui.charts import panels, series, theme
from lib.ui.charts.numbers import NOT_SET
from lib.ui.charts.panels import Panel
from lib.ui.charts.series import Series
from lib.ui.charts.time_chart import ValueLine
from lib.ui.query import ask, export_menu, split_rows, state
from lib.ui.query.focus import Focus
from lib.ui.query.split_rows import SplitRows


def fetch_value_lines(focus: Focus) -> list[ValueLine]:
    """A line per chosen value, with the line of the days compared; none if no value is chosen."""
    if not focus.value_lines or focus.grain is None:
        return []
    name, *values = focus.value_lines
    query, colors = _question(focus), state.line_colors(focus.value_lines)
    _begin(focus, query)
    now = ask.estimate(focus.context, query)
    labels = {value: _label(now, name, value) for value in values}
    return value_lines_courses(focus, query, labels, {value: colors[name, value] for value in values})


def value_lines_courses(
    focus: Focus, query: AudienceQuery, labels: Mapping[str, str], colors: Mapping[str, str]
) -> list[ValueLine]:
    """The courses of these values, in their order; the query is split by time and then their key field."""
    _begin(focus, query)
    now = ask.estimate(focus.context, query)
    other = focus.comparison.before if focus.comparison else None
    before = ask.estimate(focus.context, focus.in_days(query, other)) if other else None
    return [
        ValueLine(
            label=label,
            color=colors[value],
            now=_course(focus, now, value, focus.period, None),
            before=_earlier(focus, before, value, other),
        )
        for value, label in labels.items()
    ]


def _begin(focus: Focus, query: AudienceQuery) -> None:
    """Start both queries of the comparison in parallel."""
    earlier = [focus.in_days(query, focus.comparison.before)] if focus.comparison else []
    ask.prefetch(focus.context, [query, *earlier])


def _question(focus: Focus) -> AudienceQuery:
    """The question about each value over time, without filters on their key field."""
    name, *values = focus.value_lines
    exact = Filter(name=name, value=tuple(values), match="equals")
    time = time_key_field(focus.grain or "day")
    filters = (*leaderboard_queries.others(focus.query, name), exact)
    changes = {"split_by": (time, name), "filters": filters, "data_fields": (focus.field.name,)}
    return focus.over_time().model_copy(update=changes)


def _earlier(focus: Focus, answer: Audience | None, value: str, days: Days | None) -> Series | None:
    if answer is None or focus.compared_days is None:
        return None
    return _course(focus, answer, value, focus.compared_days, days)


def _course(focus: Focus, answer: Audience, value: str, period: Days, days: Days | None) -> Series:
    places = [place for place, code in enumerate(answer.names.iloc[:, 1]) if code == value]
    rows = split_levels.take(answer, places)
    today = ask.today(focus.context, focus.query)
    return series.over(rows, focus.field.name, focus.grain or "day", period, today, days)


def _label(answer: Audience, name: str, value: str) -> str:
    frame = answer.descriptions
    is_value = answer.names[name] == value
    if frame is None or not is_value.any():
        return value or NOT_SET
    return str(frame.loc[is_value, name].iloc[0]) or NOT_SET


KEY, MOST_LINES = "split_lines", 12


@dataclass(frozen=True)
class Courses:
    """The values with their figures, and the field of each of them over time."""

    split: SplitRows
    answer: Audience
    panels: list[Panel]


def key_field(focus: Focus) -> str | None:
    """The key field whose values have a chart each: the first that is not time; None without one."""
    names = [name for name in focus.query.split_by if name not in TIME_KEY_FIELDS]
    return names[0] if names and focus.grain is not None else None


def fetch_courses(focus: Focus, name: str) -> Courses:
    """The top values of the order, then their courses."""
    changes = {"split_by": (name,), "order_by": split_levels.order(focus, (name,)), "limit": MOST_LINES}
    query = focus.passing_rows().model_copy(update=changes)
    top = ask.estimate(focus.context, query)
    split = SplitRows(
        top, None, focus.field, focus.slicer, focus.period, ask.today(focus.context, focus.query)
    )
    values = tuple(map(str, top.names[name]))
    if not values:
        return Courses(split, top, [])
    over_time = _over_time(focus, name, values)
    colors = state.line_colors(focus.value_lines)
    courses = value_lines_courses(
        focus,
        over_time,
        dict(zip(values, split_rows.row_labels(split), strict=True)),
        {value: colors.get((name, value), theme.ACCENT) for value in values},
    )
    figures = [focus.numbers.full(value, focus.field) for value in top.values[focus.field.name]]
    panels = [Panel(line, text) for line, text in zip(courses, figures, strict=True)]
    return Courses(split, ask.estimate(focus.context, over_time), panels)


def draw(focus: Focus, courses: Courses, title: str) -> None:
    """Draw the charts."""
    st.plotly_chart(
        panels.figure(courses.panels, focus.field, focus.numbers),
        key=KEY,
        config=export_menu.config(focus, KEY),
        alt=panels.alternative(courses.panels, title),
    )


def _over_time(focus: Focus, name: str, values: tuple[str, ...]) -> AudienceQuery:
    """The field over time by value, of these values."""
    only = Filter(name=name, value=values, match="equals")
    changes = {
        "split_by": (time_key_field(focus.grain or "day"), name),
        "filters": (*focus.query.filters, only),
        "data_fields": (focus.field.name,),
    }
    return focus.over_time().model_copy(update=changes)
