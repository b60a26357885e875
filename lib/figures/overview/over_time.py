"""The field over time: its lines, in words and as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lib.figures import numbers, series
from lib.figures.numbers import NOT_SET
from lib.figures.overview import split_levels
from lib.figures.query import ask, compared_answers
from lib.figures.query.compared_answers import ComparedAnswers
from lib.figures.query.filters import other_filters
from lib.figures.query.focus import Focus
from lib.figures.query.view_parts import line_colors
from lib.figures.series import EACH, TRENDS, ChartLine, Series, ValueLine
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.granularities import time_key_field
from lib.views import Note
from lib.wire.errors import TrancheError
from lib.wire.filters import Filter


def lines(focus: Focus, now: Audience, comparisons: Sequence[ComparedAnswers | None]) -> list[ChartLine]:
    """The line of the period and those compared; none without time key fields."""
    if focus.grain is None:
        return []
    name, clock = focus.field.name, dates.clock(focus.zone)
    line = series.over(now, name, focus.grain, focus.period, clock, zone=focus.zone, query=focus.query)
    all_lines = [ChartLine(numbers.span(*focus.period), line)]
    for side, answers in zip(focus.comparisons, comparisons, strict=True):
        if answers is not None and side.compared_days is not None and side.comparison is not None:
            days = side.comparison.before
            earlier = series.over(
                answers.before, name, focus.grain, side.compared_days, clock, days, focus.zone, focus.query
            )
            all_lines.append(ChartLine(numbers.span(*days, focus.period[1].year), earlier))
    return all_lines


def trends(focus: Focus, all_lines: Sequence[ChartLine], now: Audience) -> list[ChartLine]:
    """The lines as the chart draws them: of the trend chosen, where the data field adds up."""
    if not has_trend(focus, now):
        return [*all_lines]
    trend = TRENDS[focus.view.trend]
    totals = _totals(focus) if trend.has_total else all_lines
    return [
        ChartLine(line.label, trend.line(line.series, total.series))
        for line, total in zip(all_lines, totals, strict=False)
    ]


def value_trends(focus: Focus, values: Sequence[ValueLine], now: Audience) -> list[ValueLine]:
    """The same for the lines of values."""
    if not has_trend(focus, now) or not values:
        return [*values]
    trend = TRENDS[focus.view.trend]
    totals = [line.series for line in _totals(focus)] if trend.has_total else []
    return [
        replace(
            line,
            now=trend.line(line.now, totals[0] if totals else line.now),
            before=line.before and trend.line(line.before, totals[:2][-1] if totals else line.before),
        )
        for line in values
    ]


def fetch_value_lines(focus: Focus) -> list[ValueLine]:
    """A line per chosen value, with the line of the days compared; none if no value is chosen."""
    if not focus.value_lines or focus.grain is None:
        return []
    name, *values = focus.value_lines
    exact = Filter(name=name, value=tuple(values), match="equals")
    changes = {
        "split_by": (time_key_field(focus.grain), name),
        "filters": (*other_filters(focus.query, name), exact),
        "data_fields": (focus.field.name,),
    }
    query = focus.over_time().model_copy(update=changes)
    colors = line_colors(focus.value_lines)
    _begin_lines(focus, query)
    now = ask.estimate(focus.context, query)
    labels = {value: _label(now, name, value) for value in values}
    return fetch_lines(focus, query, labels, {value: colors[name, value] for value in values})


def fetch_lines(
    focus: Focus, query: AudienceQuery, labels: Mapping[str, str], colors: Mapping[str, str]
) -> list[ValueLine]:
    """The courses of these values, in their order; the query is split by time and then their key field."""
    _begin_lines(focus, query)
    now = ask.estimate(focus.context, query)
    other = focus.comparison.before if focus.comparison else None
    before = ask.estimate(focus.context, focus.in_days(query, other)) if other else None
    return [
        ValueLine(
            label=label,
            color=colors[value],
            now=_course(focus, now, value, focus.period, None),
            before=None
            if before is None or focus.compared_days is None
            else _course(focus, before, value, focus.compared_days, other),
        )
        for value, label in labels.items()
    ]


def _begin_lines(focus: Focus, query: AudienceQuery) -> None:
    """Start both queries of the comparison in parallel."""
    earlier = [focus.in_days(query, focus.comparison.before)] if focus.comparison else []
    ask.prefetch(focus.context, [query, *earlier])


def _course(focus: Focus, answer: Audience, value: str, period: Days, days: Days | None) -> Series:
    indices = [index for index, code in enumerate(answer.names.iloc[:, 1]) if code == value]
    rows = split_levels.take(answer, indices)
    clock = dates.clock(focus.zone)
    return series.over(
        rows, focus.field.name, focus.grain or "day", period, clock, days, focus.zone, focus.query
    )


def _label(answer: Audience, name: str, value: str) -> str:
    frame = answer.descriptions
    is_value = answer.names[name] == value
    if frame is None or not is_value.any():
        return value or NOT_SET
    return str(frame.loc[is_value, name].iloc[0]) or NOT_SET


def second(focus: Focus) -> Focus | None:
    """The second metric, on an axis of its own: added up where the first is, but never as a share."""
    if not focus.view.second or focus.grain is None:
        return None
    trend = EACH if TRENDS[focus.view.trend].has_total else focus.view.trend
    view = replace(focus.view, trend=trend, also=())
    return replace(focus, field=focus.slicer.data_field(focus.view.second), view=view)


def has_trend(focus: Focus, now: Audience) -> bool:
    """Whether the lines are not those of single buckets."""
    name = focus.field.name
    return focus.view.trend != EACH and name in now.percents and not now.total.withheld(name)


def _totals(focus: Focus) -> list[ChartLine]:
    """The lines of what shares are of: all values of the key field with lines, else all without filters."""
    filters = other_filters(focus.query, focus.value_lines[0]) if focus.value_lines else ()
    query = focus.over_time().model_copy(update={"filters": filters})
    now = ask.estimate(focus.context, query)
    return lines(focus, now, compared_answers.fetch_each(focus, query, now))


def alternative(focus: Focus, values: Sequence[ValueLine] = ()) -> str:
    """The chart in words, for screen readers, wherever it is shown: without the notes of colleagues."""
    other = second(focus)
    beside = "" if other is None else f", beside {numbers.title(other.field, with_unit=True)}"
    names = f" of {', '.join(line.label for line in values)}" if values else ""
    trend = "" if focus.view.trend == EACH else f", {TRENDS[focus.view.trend].label.lower()}"
    title = f"{numbers.title(focus.field, with_unit=True)} by {focus.grain}{trend}"
    return f"{title}{names}{beside}, {numbers.days(*focus.period)}"


def title(focus: Focus, now: Audience) -> str:
    """The name of what the lines say."""
    return TRENDS[focus.view.trend if has_trend(focus, now) else EACH].title(focus.field)


def text(focus: Focus, now: Audience, value: float) -> str:
    """A value of the lines."""
    return TRENDS[focus.view.trend if has_trend(focus, now) else EACH].write(
        focus.numbers, value, focus.field
    )


def notes_of(focus: Focus) -> tuple[Sequence[Note], TrancheError | None]:
    """The notes on the question's days, in the order of days, and why they can't be read, if they can't.

    If the database fails, the chart is drawn without notes.
    """
    context = focus.context
    try:
        notes = context.clients.view_store.notes.of(context.project, context.slicer_name, *focus.period)
    except TrancheError as error:
        return (), error
    return notes, None
