"""Parts of a view that are values of their own: `text` writes one in a link, `read` reads it.

Reading is forgiving: a text that names what the slicer does not have gives the part that nobody changed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, Self

from lib.figures import palette
from lib.figures.query.periods import granularities
from lib.reporting import named_days
from lib.reporting.links import join_texts, split_texts
from lib.reporting.models import AudienceQuery
from lib.slicers import dates
from lib.slicers.dates import Days
from lib.slicers.granularities import Granularity
from lib.slicers.models import Order, Slicer
from lib.wire.errors import BadRequest

Rule = Literal["first", "all", "none"]
Path = tuple[str, ...]
RULES: dict[Path, Rule] = {("all",): "all", ("none",): "none"}
MOST_EXCEPTIONS = 60
ValueLines = tuple[str, ...]
"""Values that have lines of their own on the time chart: a key field, then its values."""
MOST_LINES = len(palette.LINES)


@dataclass(frozen=True)
class ZoomOrigin:
    """The start and end of a query before it was zoomed in to fewer days, and the granularity chosen then.

    `period` are the days that they stood for at the zoom, if these move: what the zoomed days are compared
    with is counted from them, and stays when a link is opened later.
    """

    start: str
    end: str
    grain: Granularity | None = None
    period: Days | None = None

    @classmethod
    def of(cls, query: AudienceQuery, grain: Granularity | None, slicer: Slicer) -> Self:
        """The origin of a zoom that begins now."""
        days = named_days.days_of(query, slicer)
        is_fixed = (query.start_date, query.end_date) == tuple(day.isoformat() for day in days)
        return cls(query.start_date, query.end_date, grain, None if is_fixed else days)

    @classmethod
    def read(cls, text: str, today: date, slicer: Slicer) -> Self | None:
        """The origin in a link; None where it names no days."""
        if not text:
            return None
        start, end, grain, first, last = (*split_texts(text), "", "", "", "", "")[:5]
        try:
            named_days.resolve(start, end, today, slicer)
            period = dates.date_range(first, last, today) if first and last else None
        except BadRequest:
            return None
        grains = {str(name): name for name in granularities(slicer)}
        return cls(start, end, grains.get(grain), period)

    @property
    def text(self) -> str:
        """Start, end, granularity, and the days that these stood for."""
        days = [day.isoformat() for day in self.period or ()]
        return join_texts((self.start, self.end, self.grain or "", *days)).rstrip("~")

    def days(self, today: date, slicer: Slicer) -> Days:
        """The first and last day before the zoom."""
        return self.period or named_days.resolve(self.start, self.end, today, slicer)


@dataclass(frozen=True)
class RecordsOf:
    """Whose records are shown: of the values of key fields beside the page's filters; without any, of all.

    Where `is_card` they are those of a leaderboard, in which no filter on its own key field holds.
    """

    values: tuple[tuple[str, str], ...] = ()
    is_card: bool = False

    @classmethod
    def read(cls, text: str, slicer: Slicer) -> Self:
        """The values in a link; none where the slicer lacks one of the key fields."""
        kind, *parts = split_texts(text)
        values = tuple(zip(parts[::2], parts[1::2], strict=False))
        is_known = {*slicer.key_names}.issuperset(name for name, _ in values)
        return cls(values, kind == "card") if is_known else cls()

    @property
    def text(self) -> str:
        """`card` or `row`, then key field and value in turn; empty for all records."""
        parts = [text for value in self.values for text in value]
        return join_texts(["card" if self.is_card else "row", *parts]) if parts else ""


@dataclass(frozen=True)
class Exploration:
    """The fields shown on Slicers, empty for the default ones; `order` is that of the top values."""

    key: str = ""
    data: str = ""
    order: Order | None = None

    @classmethod
    def read(cls, text: str, slicer: Slicer) -> Self:
        """The fields in a link; the default ones if the slicer lacks one of them."""
        key, data, by = (*split_texts(text), "", "")[:3]
        keys, data_fields = ({f.name for f in fields} for fields in (slicer.key_fields, slicer.data_fields))
        if key not in keys or data not in data_fields:
            return cls()
        order = Order(name=by.removeprefix("-"), direction="desc" if by.startswith("-") else "asc")
        return cls(key, data, order if order.name in {key, *data_fields} else None)

    @property
    def text(self) -> str:
        """Both fields, and the order if one was chosen; empty where nothing was."""
        if self == Exploration():
            return ""
        order = self.order
        by = () if order is None else (f"{'-' * (order.direction == 'desc')}{order.name}",)
        return join_texts((self.key, self.data, *by))


@dataclass(frozen=True)
class Expansion:
    """The open rows of a pivot by `keys`: those of the first level, all or none, as `rule` says.

    `exceptions` are the rows for which the opposite holds, each as its values from the first level on.
    """

    keys: tuple[str, ...] = ()
    exceptions: tuple[Path, ...] = ()
    rule: Rule = "first"

    @classmethod
    def whole(cls, keys: Iterable[str], opens: bool) -> Self:
        """All rows open, or none."""
        split = tuple(keys)
        if opens and len(split) <= 2:
            return cls()
        return cls(split, rule="all" if opens else "none")

    @classmethod
    def read(cls, text: str, slicer: Slicer) -> "Expansion":
        """The open rows in a link; the default ones where it names a key field that the slicer lacks."""
        items = [split_texts(item) for item in split_texts(text)]
        rule: Rule = RULES.get(items[0], "first") if len(items) > 1 else "first"
        split, *paths = items[rule != "first" :]
        if not {*slicer.key_names}.issuperset(split):
            return cls()
        exceptions = dict.fromkeys(path for path in paths if 0 < len(path) < len(split))
        return cls(split, tuple(exceptions)[:MOST_EXCEPTIONS], rule)._normalize()

    @property
    def text(self) -> str:
        """The split, then the path of each exception, joined twice over, after the rule `all` or `none`."""
        if self._normalize() == Expansion():
            return ""
        rule = () if self.rule == "first" else ((self.rule,),)
        return join_texts(map(join_texts, (*rule, self.keys, *self.exceptions)))

    def is_open(self, keys: Iterable[str], path: Path) -> bool:
        """Whether the rows below this one are shown, in a pivot by these key fields."""
        expansion = self if self.keys == tuple(keys) else Expansion()
        return expansion._opens_by_rule(path) != (path in expansion.exceptions)

    def with_row(self, keys: Iterable[str], path: Path, opens: bool) -> "Expansion":
        """The same with this row open or closed; rows of another split go, and the first of too many."""
        split = tuple(keys)
        before = self if self.keys == split else Expansion(split)
        others = [other for other in before.exceptions if other != path]
        exceptions = others if opens == before._opens_by_rule(path) else [*others, path]
        return replace(before, exceptions=tuple(exceptions[-MOST_EXCEPTIONS:]))._normalize()

    def _normalize(self) -> "Expansion":
        return self if self.exceptions or self.rule != "first" else Expansion()

    def _opens_by_rule(self, path: Path) -> bool:
        return self.rule == "all" or (self.rule == "first" and len(path) == 1)


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
    return {(lines[0], value): palette.LINES[index] for index, value in enumerate(lines[1:])}
