"""The values with their own lines on the time chart: up to five values of one key field."""

from collections.abc import Mapping

from lib.reporting.models import AudienceQuery
from lib.ui.charts import theme

MOST = len(theme.LINES)
Lines = tuple[str, ...]


def value_lines(query: AudienceQuery, selection: Lines | None) -> Lines:
    """A key field, then its values: as chosen, or the two to five that one filter includes; else empty."""
    if selection is not None:
        return selection
    values = {f.name: f.value for f in query.filters if f.match == "equals" and 2 <= len(f.value) <= MOST}
    return (name := next(iter(values)), *values[name]) if len(values) == 1 else ()


def with_line(before: Lines, name: str, value: str) -> Lines:
    """The lines with this value. Lines of another key field are dropped, as is the oldest of too many."""
    values = [other for other in before[1:] if other != value] if before[:1] == (name,) else []
    return (name, *[*values, value][-MOST:])


def without_line(before: Lines, name: str, value: str) -> Lines:
    """The lines without this value."""
    if before[:1] != (name,):
        return before
    values = [other for other in before[1:] if other != value]
    return (name, *values) if values else ()


def colors(line_values: Lines) -> Mapping[tuple[str, str], str]:
    """The color of each value's line, by key field and value."""
    return (
        {(line_values[0], value): theme.LINES[place] for place, value in enumerate(line_values[1:])}
        if line_values
        else {}
    )
