"""The split as small charts over time: the top values of a key field, from one query."""

from dataclasses import dataclass

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, Filter, time_key_field
from lib.ui.audience import split_levels, value_lines
from lib.ui.charts import panels, theme
from lib.ui.charts.panels import Panel
from lib.ui.query import ask, lines, picture, split_rows
from lib.ui.query.focus import Focus
from lib.ui.query.split_rows import SplitRows

KEY, SHOWN = "split_lines", 12


@dataclass(frozen=True)
class Courses:
    """The values with their figures, and the field of each of them over time."""

    split: SplitRows
    answer: Audience
    panels: list[Panel]


def key_field(seen: Focus) -> str | None:
    """The key field whose values have a chart each: the first that is not time; None without one."""
    names = [name for name in seen.query.split_by if name not in TIME_KEY_FIELDS]
    return names[0] if names and seen.grain is not None else None


def asked(seen: Focus, name: str) -> Courses:
    """The top values of the order, then their courses."""
    changes = {"split_by": (name,), "order_by": split_levels.order(seen, (name,)), "limit": SHOWN}
    query = seen.rows().model_copy(update=changes)
    top = ask.quickly(seen.here, query)
    split = SplitRows(top, None, seen.field, seen.slicer, seen.period, ask.today(seen.here, seen.query))
    values = tuple(map(str, top.names[name]))
    if not values:
        return Courses(split, top, [])
    over_time = _over_time(seen, name, values)
    colors = lines.colors(seen.lines)
    found = value_lines.courses(
        seen,
        over_time,
        dict(zip(values, split_rows.row_labels(split), strict=True)),
        {value: colors.get((name, value), theme.ACCENT) for value in values},
    )
    figures = [seen.numbers.full(value, seen.field) for value in top.values[seen.field.name]]
    shown = [Panel(line, text) for line, text in zip(found, figures, strict=True)]
    return Courses(split, ask.quickly(seen.here, over_time), shown)


def draw(seen: Focus, courses: Courses, title: str) -> None:
    """Draw the charts."""
    st.plotly_chart(
        panels.figure(courses.panels, seen.field, seen.numbers),
        key=KEY,
        config=picture.config(seen, KEY),
        alt=panels.alternative(courses.panels, title),
    )


def _over_time(seen: Focus, name: str, values: tuple[str, ...]) -> AudienceQuery:
    """The field over time by value, of these values."""
    only = Filter(name=name, value=values, match="equals")
    changes = {
        "split_by": (time_key_field(seen.grain or "day"), name),
        "filters": (*seen.query.filters, only),
        "data_fields": (seen.field.name,),
    }
    return seen.over_time().model_copy(update=changes)
