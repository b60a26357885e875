"""Values of a key field that have lines of their own on the time chart, and the color of each."""

from collections.abc import Mapping

from lib.reporting.models import AudienceQuery
from lib.ui.charts import theme

ValueLines = tuple[str, ...]
"""A key field, then its values."""
MOST_LINES = len(theme.LINES)


def value_lines(query: AudienceQuery, selection: ValueLines | None) -> ValueLines:
    """The lines as chosen; without a choice the two to five values that one filter includes, or none."""
    if selection is not None:
        return selection
    few = {f.name: f.value for f in query.filters if f.match == "equals" and 2 <= len(f.value) <= MOST_LINES}
    return (name := next(iter(few)), *few[name]) if len(few) == 1 else ()


def with_line(before: ValueLines, name: str, value: str) -> ValueLines:
    """The lines with this value. Lines of another key field are dropped, as is the oldest of too many."""
    values = [other for other in before[1:] if other != value] if before[:1] == (name,) else []
    return (name, *[*values, value][-MOST_LINES:])


def without_line(before: ValueLines, name: str, value: str) -> ValueLines:
    """The lines without this value."""
    if before[:1] != (name,):
        return before
    values = [other for other in before[1:] if other != value]
    return (name, *values) if values else ()


def line_colors(lines: ValueLines) -> Mapping[tuple[str, str], str]:
    """The color of each value's line, by key field and value."""
    return {(lines[0], value): theme.LINES[index] for index, value in enumerate(lines[1:])}
