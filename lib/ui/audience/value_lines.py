"""The chosen values over time: the questions behind their lines."""

from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery, Filter, time_key_field
from lib.ui.audience import answer_rows, leaderboard_queries
from lib.ui.charts import series
from lib.ui.charts.numbers import NOT_SET
from lib.ui.charts.series import Series
from lib.ui.charts.value_lines import ValueLine
from lib.ui.question import ask, lines
from lib.ui.question.focus import Focus


def asked(seen: Focus) -> list[ValueLine]:
    """A line per chosen value, beside the line of the days compared; none where no value is chosen."""
    if not seen.lines or seen.grain is None:
        return []
    query, colors = _question(seen), lines.colors(seen.lines)
    other = seen.comparison.before if seen.comparison else None
    earlier = seen.in_days(query, other) if other else None
    ask.ahead(seen.here, [query, *([earlier] if earlier else [])])
    now = ask.quickly(seen.here, query)
    before = ask.quickly(seen.here, earlier) if earlier else None
    return [
        ValueLine(
            label=_label(seen, now, value),
            color=colors[seen.lines[0], value],
            now=_course(seen, now, value, seen.period, None),
            before=_earlier(seen, before, value, other),
        )
        for value in seen.lines[1:]
    ]


def _question(seen: Focus) -> AudienceQuery:
    """The field of each value over time; its key field's own filters don't matter."""
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
    places = [place for place, code in enumerate(answer.names[seen.lines[0]]) if code == value]
    rows = answer_rows.taken(answer, places)
    today = ask.today(seen.here, seen.query)
    return series.over(rows, seen.field.name, seen.grain or "day", period, today, there)


def _label(seen: Focus, answer: Audience, value: str) -> str:
    described = answer.descriptions
    found = answer.names[seen.lines[0]] == value
    if described is None or not found.any():
        return value or NOT_SET
    return str(described.loc[found, seen.lines[0]].iloc[0]) or NOT_SET
