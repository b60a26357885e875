"""The queries for the lines of chosen values."""

from collections.abc import Mapping

from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, Filter, time_key_field
from lib.ui.audience import answer_rows, leaderboard_queries
from lib.ui.charts import series
from lib.ui.charts.numbers import NOT_SET
from lib.ui.charts.series import Series
from lib.ui.charts.value_lines import ValueLine
from lib.ui.query import ask, lines
from lib.ui.query.focus import Focus


def asked(focus: Focus) -> list[ValueLine]:
    """A line per chosen value, with the line of the days compared; none if no value is chosen."""
    if not focus.lines or focus.grain is None:
        return []
    name, *values = focus.lines
    query, colors = _question(focus), lines.colors(focus.lines)
    _begin(focus, query)
    now = ask.quickly(focus.here, query)
    labels = {value: _label(now, name, value) for value in values}
    return courses(focus, query, labels, {value: colors[name, value] for value in values})


def courses(
    focus: Focus, query: AudienceQuery, labels: Mapping[str, str], colors: Mapping[str, str]
) -> list[ValueLine]:
    """The courses of these values, in their order; the query is split by time and then their key field."""
    _begin(focus, query)
    now = ask.quickly(focus.here, query)
    other = focus.comparison.before if focus.comparison else None
    before = ask.quickly(focus.here, focus.in_days(query, other)) if other else None
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
    ask.ahead(focus.here, [query, *earlier])


def _question(focus: Focus) -> AudienceQuery:
    """The question about each value over time, without filters on their key field."""
    name, *values = focus.lines
    exact = Filter(name=name, value=tuple(values), match="equals")
    time = time_key_field(focus.grain or "day")
    filters = (*leaderboard_queries.others(focus.query, name), exact)
    changes = {"split_by": (time, name), "filters": filters, "data_fields": (focus.field.name,)}
    return focus.over_time().model_copy(update=changes)


def _earlier(focus: Focus, answer: Audience | None, value: str, there: Days | None) -> Series | None:
    if answer is None or focus.compared is None:
        return None
    return _course(focus, answer, value, focus.compared, there)


def _course(focus: Focus, answer: Audience, value: str, period: Days, there: Days | None) -> Series:
    places = [place for place, code in enumerate(answer.names.iloc[:, 1]) if code == value]
    rows = answer_rows.taken(answer, places)
    today = ask.today(focus.here, focus.query)
    return series.over(rows, focus.field.name, focus.grain or "day", period, today, there)


def _label(answer: Audience, name: str, value: str) -> str:
    frame = answer.descriptions
    found = answer.names[name] == value
    if frame is None or not found.any():
        return value or NOT_SET
    return str(frame.loc[found, name].iloc[0]) or NOT_SET
