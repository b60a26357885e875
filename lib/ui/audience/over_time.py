"""The field over time: its lines, in words and as a table."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from lib.reporting.answers import Audience
from lib.ui.audience import split_lines
from lib.ui.charts import numbers, series, time_chart
from lib.ui.charts.time_chart import Named, ValueLine
from lib.ui.kit import problems
from lib.ui.kit.straight import straighten
from lib.ui.query import ask, compared_answers
from lib.ui.query.compared_answers import ComparedAnswers
from lib.ui.query.focus import Focus
from lib.views import Note
from lib.wire.text import straight

TWIN, TABLE_WIDTH = "time_table", 420


def lines(focus: Focus, now: Audience, found: Sequence[ComparedAnswers | None]) -> list[Named]:
    """The line of the period and those compared; none without time key fields."""
    if focus.grain is None:
        return []
    name, today = focus.field.name, ask.today(focus.context, focus.query)
    line = series.over(now, name, focus.grain, focus.period, today)
    shown = [Named(numbers.span(*focus.period), line)]
    for one, answers in zip(focus.comparisons, found, strict=True):
        if answers is not None and one.compared is not None and one.comparison is not None:
            there = one.comparison.before
            earlier = series.over(answers.before, name, focus.grain, one.compared, today, there)
            shown.append(Named(numbers.span(*there, focus.period[1].year), earlier))
    return shown


def _named(value_lines: Sequence[ValueLine]) -> list[Named]:
    """The lines of values, for the table."""
    return [Named(line.label, line.now) for line in value_lines]


def alternative(focus: Focus, values: Sequence[ValueLine] = (), noted: Sequence[Note] = ()) -> str:
    """The chart in words, for screen readers."""
    about = f"{_title(focus)}{_of(values)}, {numbers.days(*focus.period)}; its values are above the chart"
    return about + time_chart.spoken(noted)


def draw_table(focus: Focus) -> None:
    """Draw the chart's values in a popover; it is asked for only while that is open."""
    popover = st.popover("Values", icon=":material/table_rows:", type="tertiary", key=TWIN, on_change="rerun")
    if not popover.open:
        return
    with popover, problems.report_errors("The values"):
        query = focus.over_time()
        now = ask.quickly(focus.context, query)
        values = split_lines.fetch_value_lines(focus)
        shown = _named(values) or lines(focus, now, compared_answers.fetch_each(focus, query, now))
        writes: dict[Any, Any] = {straight(line.label): _plain(focus) for line in shown}
        st.dataframe(
            straighten(table(str(focus.grain), shown)).style.format(writes),
            hide_index=True,
            placeholder=numbers.NOTHING,
            width=TABLE_WIDTH,
            alt=_title(focus),
        )


def table(grain: str, shown: Sequence[Named]) -> pd.DataFrame:
    """A row per bucket of the first line, a column per line; the n-th of each side by side."""
    first = shown[0].series
    buckets = [series.bucket_text(name, part) for name, part in zip(first.names, first.parts, strict=True)]
    columns: dict[str, Any] = {grain.capitalize(): buckets}
    for line in shown:
        columns[line.label] = pd.Series(line.series.values).reindex(range(len(buckets)))
    return pd.DataFrame(columns)


def _of(values: Sequence[ValueLine]) -> str:
    return f" of {', '.join(line.label for line in values)}" if values else ""


def _title(focus: Focus) -> str:
    return f"{numbers.title(focus.field, with_unit=True)} by {focus.grain}"


def _plain(focus: Focus) -> Any:
    return lambda value: focus.numbers.plain(value, focus.field)
