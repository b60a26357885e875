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


def asked(seen: Focus) -> list[ValueLine]:
    """A line per chosen value, with the line of the days compared; none if no value is chosen."""
    if not seen.lines or seen.grain is None:
        return []
    name, *values = seen.lines
    query, colors = _question(seen), lines.colors(seen.lines)
    _begin(seen, query)
    now = ask.quickly(seen.here, query)
    labels = {value: _label(now, name, value) for value in values}
    return courses(seen, query, labels, {value: colors[name, value] for value in values})


def courses(
    seen: Focus, query: AudienceQuery, labels: Mapping[str, str], colors: Mapping[str, str]
) -> list[ValueLine]:
    """The courses of these values, in their order; the query is split by time and then their key field."""
    _begin(seen, query)
    now = ask.quickly(seen.here, query)
    other = seen.comparison.before if seen.comparison else None
    before = ask.quickly(seen.here, seen.in_days(query, other)) if other else None
    return [
        ValueLine(
            label=label,
            color=colors[value],
            now=_course(seen, now, value, seen.period, None),
            before=_earlier(seen, before, value, other),
        )
        for value, label in labels.items()
    ]


def _begin(seen: Focus, query: AudienceQuery) -> None:
    """Start both queries of the comparison in parallel."""
    earlier = [seen.in_days(query, seen.comparison.before)] if seen.comparison else []
    ask.ahead(seen.here, [query, *earlier])


def _question(seen: Focus) -> AudienceQuery:
    """The question about each value over time, without filters on their key field."""
    name, *values = seen.lines
    exact = Filter(name=name, value=tuple(values), match="equals")
    time = time_key_field(seen.grain or "day")
    filters = (*leaderboard_queries.others(seen.query, name), exact)
    changes = {"split_by": (time, name), "filters": filters, "data_fields": (seen.field.name,)}
    return seen.over_time().model_copy(update=changes)


def _earlier(seen: Focus, answer: Audience | None, value: str, there: Days | None) -> Series | None:
    if answer is None or seen.compared is None:
        return None
    return _course(seen, answer, value, seen.compared, there)


def _course(seen: Focus, answer: Audience, value: str, period: Days, there: Days | None) -> Series:
    places = [place for place, code in enumerate(answer.names.iloc[:, 1]) if code == value]
    rows = answer_rows.taken(answer, places)
    today = ask.today(seen.here, seen.query)
    return series.over(rows, seen.field.name, seen.grain or "day", period, today, there)


def _label(answer: Audience, name: str, value: str) -> str:
    described = answer.descriptions
    found = answer.names[name] == value
    if described is None or not found.any():
        return value or NOT_SET
    return str(described.loc[found, name].iloc[0]) or NOT_SET
