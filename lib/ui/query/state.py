"""The state of a page as one value, and its URL: the query, and the view of its answers.

The URL has the query as lib/reporting/links.py writes it, and the view beside it, without default values.
Reading is forgiving: what the slicer does not have is at its default, and `missing_in_view` names it.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal, Self, TypeVar, get_args

from lib.deals.values import Limits
from lib.reporting import dates, links, named_days
from lib.reporting.dates import Days
from lib.reporting.links import CODES, join_texts, split_texts
from lib.reporting.models import (
    GRANULARITIES,
    TIME_KEY_FIELDS,
    AudienceQuery,
    DataFilter,
    Direction,
    Granularity,
    Order,
    Slicer,
)
from lib.ui.charts import theme
from lib.ui.charts.series import EACH, TRENDS
from lib.ui.kit import amounts
from lib.ui.query.periods import COMPARISONS, PREVIOUS
from lib.wire.errors import BadRequest

Chart = Literal["table", "pivot", "bars", "lines", "heatmap"]
Changes = Literal["percent", "amount"]
Tab = Literal["cards", "split", "moved", "records"]
ComparedColumn = Literal["previous", "amount"]
Rule = Literal["first", "all", "none"]
Path = tuple[str, ...]
ValueLines = tuple[str, ...]
"""A key field, then its values that have lines of their own on the time chart."""
Option = TypeVar("Option")
Default = TypeVar("Default")

CHARTS: tuple[Chart, ...] = get_args(Chart)
CHANGES: tuple[Changes, ...] = get_args(Changes)
COMPARED_COLUMNS: tuple[ComparedColumn, ...] = get_args(ComparedColumn)
TABS: Mapping[Tab, str] = {
    "cards": "Leaderboards",
    "split": "Split",
    "moved": "What moved",
    "records": "Rows",
}
NONE = "none"
SLICER_PARAMS = ("project", "slicer")
VIEW_PARAMS = {
    "compare", "also", "field", "grain", "trend", "second", "chart", "top", "zoom", "cards", "lines",
    "changes", "across", "columns", "lower", "moved", "folds", "cross", "having", "explore", "beside",
    "records",
}  # fmt: skip
TOP_ROWS, MOST_ROWS = 20, 1000
ACROSS, DEFAULT_ACROSS, MOST_COLUMNS = (2, 3, 4, 5), 4, 3
MOST_LINES = len(theme.LINES)
MOST_EXCEPTIONS = 60
MOST_DATA_FILTERS = 10
DATA_FILTER_LIMITS = Limits(least=-(10**15), below=10**15, decimals=15)
CARD_ORDERS = ("volume", "value", "change", "name")
FIELD_ORDER = "."
DEFAULT_CARDS, MOST_CARDS = 4, 12
USEFUL_KEYS = (
    "advertiser", "publisher", "ssp", "country", "device", "domain", "site", "campaign", "browser",
)  # fmt: skip


@dataclass(frozen=True)
class Card:
    """The leaderboard of a key field: its order, and the search text.

    By `volume` is by the data field shown, or where that is a formula by the first that is none; by any
    other data field as FIELD_ORDER and its name. In a link `device!-change!tab` is name, order and text.
    """

    name: str
    by: str = "volume"
    direction: Direction = "desc"
    find: str = ""

    @property
    def text(self) -> str:
        """The leaderboard in a link."""
        order = "" if self.by == "volume" else f"{'-' * (self.direction == 'desc')}{self.by}"
        if "!" in self.name or not (order or self.find):
            return self.name
        return "!".join((self.name, order, self.find) if self.find else (self.name, order))


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

    @property
    def text(self) -> str:
        """The split, then the path of each exception, joined twice over, after the rule `all` or `none`."""
        if self._normalize() == Expansion():
            return ""
        rule = () if self.rule == "first" else ((self.rule,),)
        return join_texts(map(join_texts, (*rule, self.keys, *self.exceptions)))


@dataclass(frozen=True)
class Exploration:
    """The fields shown on Slicers, empty for the default ones; `order` is that of the top values."""

    key: str = ""
    data: str = ""
    order: Order | None = None

    @property
    def text(self) -> str:
        """The fields and the order in a link; empty where nothing was chosen."""
        if self == Exploration():
            return ""
        order = self.order
        by = () if order is None else (f"{'-' * (order.direction == 'desc')}{order.name}",)
        return join_texts((self.key, self.data, *by))


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

    def days(self, today: date, slicer: Slicer) -> Days:
        """The first and last day before the zoom."""
        return self.period or named_days.resolve(self.start, self.end, today, slicer)

    @property
    def text(self) -> str:
        """The origin in a link: start, end, granularity, and the days that these stood for."""
        days = [day.isoformat() for day in self.period or ()]
        return join_texts((self.start, self.end, self.grain or "", *days)).rstrip("~")


@dataclass(frozen=True)
class RecordsOf:
    """Whose records are shown: of the values of key fields beside the page's filters; without any, of all.

    Where `is_card` they are those of a leaderboard, in which no filter on its own key field holds.
    """

    values: tuple[tuple[str, str], ...] = ()
    is_card: bool = False

    @property
    def text(self) -> str:
        """It as a URL parameter."""
        parts = [text for value in self.values for text in value]
        return join_texts(["card" if self.is_card else "row", *parts]) if parts else ""


@dataclass(frozen=True)
class View:
    """How the answers to a query are shown.

    `compare` is `previous`, `weekdays`, `year`, a range of two dates, or empty; `also` are days compared
    beside these; `field` is the data field shown, `grain` the granularity (None: by the range). `trend` is
    what the lines over time say of their buckets (TRENDS); `second` a data field on an axis of its own
    beside them; `value_lines` values that have lines of their own (None: those that a filter keeps). `zoom`
    is what the query was about before it was zoomed in to its days; None without a zoom.

    `cards` are the leaderboards (None: those that the person chose, or the default ones), which show changes
    in percent or as amounts, `across` of them in a row, and have more data fields as `columns`.
    `compared_columns` stand beside the figures of leaderboards, split and pivot: the figure of before, and
    the difference. `tab` is the one in sight below the chart. The split is drawn as `chart`, with so many
    `rows`; `expansion` says which rows of its pivot are open, `cross` is the key field whose values are its
    columns (empty: these are metrics). `records` says whose rows the last tab shows. `data_filters` choose
    rows of leaderboards and split, never of totals, headline and time chart.
    """

    compare: tuple[str, ...] = (PREVIOUS,)
    also: tuple[str, ...] = ()
    field: str | None = None
    grain: Granularity | None = None
    trend: str = EACH
    second: str = ""
    chart: Chart = "table"
    rows: int = TOP_ROWS
    zoom: ZoomOrigin | None = None
    cards: tuple[Card, ...] | None = None
    changes: Changes = "percent"
    across: int = DEFAULT_ACROSS
    columns: tuple[str, ...] = ()
    compared_columns: tuple[ComparedColumn, ...] = ()
    tab: Tab = "cards"
    value_lines: ValueLines | None = None
    expansion: Expansion = Expansion()
    cross: str = ""
    data_filters: tuple[DataFilter, ...] = ()
    exploration: Exploration = Exploration()
    records: RecordsOf = RecordsOf()

    @property
    def params(self) -> dict[str, str]:
        """The view as URL parameters, without default values."""
        params = {
            "compare": "" if self.compare == (PREVIOUS,) else join_texts(self.compare) or NONE,
            "also": join_texts(self.also),
            "field": self.field or "",
            "grain": self.grain or "",
            "trend": "" if self.trend == EACH else self.trend,
            "second": self.second,
            "chart": "" if self.chart == "table" else self.chart,
            "top": "" if self.rows == TOP_ROWS else str(self.rows),
            "zoom": self.zoom.text if self.zoom else "",
            "cards": cards_text(self.cards or ()),
            "lines": "" if self.value_lines is None else join_texts(self.value_lines) or NONE,
            "changes": "" if self.changes == "percent" else self.changes,
            "across": "" if self.across == DEFAULT_ACROSS else str(self.across),
            "columns": join_texts(self.columns),
            "beside": join_texts(self.compared_columns),
            "lower": "" if self.tab == _default_tab(self.chart) else self.tab,
            "folds": self.expansion.text,
            "cross": self.cross,
            "having": links.having(self.data_filters),
            "explore": self.exploration.text,
            "records": self.records.text,
        }
        return {name: text for name, text in params.items() if text}

    def pivot_keys(self, split_by: tuple[str, ...]) -> tuple[str, ...]:
        """The key fields of a split that are rows of its pivot: all, or all but the one across."""
        rows = tuple(name for name in split_by if name != self.cross)
        return rows or split_by


@dataclass(frozen=True)
class PageState:
    """What a page shows: a query about a slicer, and the view of its answers."""

    query: AudienceQuery
    view: View = View()

    @property
    def params(self) -> dict[str, str]:
        """Its normalized URL parameters, without project and slicer."""
        return query_params(self.query) | self.view.params

    def with_query(self, **changes: object) -> Self:
        """The same with these fields of the query."""
        return replace(self, query=self.query.model_copy(update=changes))

    def with_view(self, **changes: object) -> Self:
        """The same with these fields of the view."""
        return replace(self, view=replace(self.view, **changes))  # type: ignore[arg-type]


def from_params(
    params: Mapping[str, str], slicer: Slicer, project: str, name: str, own_zone: str = ""
) -> PageState:
    """The state in URL parameters, about the slicer `name` of `project`.

    Parameters that ask nothing stand for the default query: the last complete week by the first key field,
    in the reader's `own_zone`.
    """
    query = links.from_params(params, slicer, project, name).query
    if not has_query(params):
        changes = {"split_by": default_split(slicer), "timezone": default_zone(slicer, own_zone)}
        query = query.model_copy(update=changes)
    return PageState(query, view_from_params(params, slicer))


def query_params(query: AudienceQuery) -> dict[str, str]:
    """The query's URL parameters, without those of the header's pickers."""
    return {name: text for name, text in links.to_params(query).items() if name not in SLICER_PARAMS}


def has_query(params: Mapping[str, str]) -> bool:
    """Whether URL parameters ask anything, and not only how the default query is shown."""
    return any(map(links.is_query_param, params))


def is_state_param(name: str) -> bool:
    """Whether a URL parameter of this name is part of the state."""
    return name in VIEW_PARAMS or links.is_query_param(name)


def default_zone(slicer: Slicer, own_zone: str) -> str | None:
    """The reader's `own_zone` where rows are of hours and the service knows names; else the slicer's own."""
    return own_zone or None if slicer.supports_timezone and slicer.knows("time_zones") else None


def default_split(slicer: Slicer) -> tuple[str, ...]:
    """The first plain key field."""
    return tuple(_plain_keys(slicer)[:1])


def view_from_params(params: Mapping[str, str], slicer: Slicer) -> View:
    """The view in URL parameters; parts that can't be shown are at their defaults."""
    return _ViewReader(params, slicer).view()


def missing_in_view(params: Mapping[str, str], slicer: Slicer, name: str) -> list[str]:
    """A sentence for each field in the view's parameters that the slicer `name` does not have, and for days
    to compare with that are none."""
    reader = _ViewReader(params, slicer)
    reader.view()
    missing = [f"Left out {field}: {name} has none of that name." for field in reader.missing_fields]
    return [
        *missing,
        *(f"Left out comparing with '{days[:40]}': no such days." for days in reader.wrong_days),
    ]


def compared_columns(names: Iterable[str]) -> tuple[ComparedColumn, ...]:
    """Those of COMPARED_COLUMNS that are named, in their order."""
    selection = {*names}
    return tuple(name for name in COMPARED_COLUMNS if name in selection)


def tab(params: Mapping[str, str]) -> Tab:
    """The tab in sight of these URL parameters."""
    # Links of before there were tabs name none: `moved=1` is one of them, and so is a chart of the split.
    old: Tab = (
        "moved" if params.get("moved") == "1" else _default_tab(_option(params, "chart", CHARTS, "table"))
    )
    return _option(params, "lower", TABS, old)


def _default_tab(chart: Chart) -> Tab:
    return "cards" if chart == "table" else "split"


def _option(
    params: Mapping[str, str], param: str, options: Iterable[Option], default: Default
) -> Option | Default:
    """The option that a parameter names; the default where it names none of them."""
    return next((option for option in options if str(option) == params.get(param)), default)


def granularities(slicer: Slicer) -> list[Granularity]:
    """The granularities that a slicer's rows allow, the finest first."""
    grains = {TIME_KEY_FIELDS.get(field.name) for field in slicer.key_fields}
    return [grain for grain in GRANULARITIES if grain in grains]


def default_cards(slicer: Slicer) -> tuple[Card, ...]:
    """The leaderboards that nobody chose: those of the key fields that people most often ask about."""
    return tuple(Card(name) for name in sorted(_plain_keys(slicer), key=usefulness)[:DEFAULT_CARDS])


def usefulness(name: str) -> int:
    """The rank of a key field by the parts of its name; lower is more useful."""
    parts = {part.removesuffix("_id") for part in name.lower().split(".")[-2:]}
    return next((rank for rank, part in enumerate(USEFUL_KEYS) if part in parts), len(USEFUL_KEYS))


def is_card_order(by: str, slicer: Slicer) -> bool:
    """Whether a leaderboard can be ordered by a column of this name."""
    return by in CARD_ORDERS or by in {FIELD_ORDER + field.name for field in slicer.data_fields}


def cards_text(cards: Iterable[Card]) -> str:
    """Leaderboards as one parameter: `country~device!-change!tab`."""
    return join_texts(card.text for card in cards)


def cards_from_text(text: str, slicer: Slicer) -> tuple[Card, ...] | None:
    """The leaderboards that a parameter asks for, each once, of the key fields that the slicer has."""
    return _ViewReader({"cards": text}, slicer).cards()


def value_lines(query: AudienceQuery, selection: ValueLines | None) -> ValueLines:
    """The lines of values: as chosen, or the two to five values that one filter includes; else empty."""
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


class _ViewReader:
    """Reads the parts of a view. What they name and the slicer does not have it notes in `missing_fields`,
    and what are no days to compare with in `wrong_days`."""

    def __init__(self, params: Mapping[str, str], slicer: Slicer) -> None:
        self._params, self._slicer = params, slicer
        self._keys = {field.name for field in slicer.key_fields}
        self._data = {field.name for field in slicer.data_fields}
        self._today = dates.today(slicer.timezone)
        self.missing_fields: list[str] = []
        self.wrong_days: list[str] = []

    def view(self) -> View:
        """The view. To be called once."""
        params, rows = self._params, self._params.get("top", "")
        compare, also = self._compared_days("compare", (PREVIOUS,)), self._compared_days("also", ())
        return View(
            columns=tuple(self._among(self._texts("columns"), self._data, "the column"))[:MOST_COLUMNS],
            field=self._field("field", self._data, "the data field") or None,
            second=self._field("second", self._data, "the data field"),
            cross=self._field("cross", self._keys, "the key field"),
            cards=self.cards(),
            data_filters=self._data_filters(),
            value_lines=self._value_lines(),
            compare=compare,
            also=also if compare and also != compare else (),
            trend=_option(params, "trend", TRENDS, EACH),
            grain=_option(params, "grain", granularities(self._slicer), None),
            chart=_option(params, "chart", CHARTS, "table"),
            rows=min(max(int(rows), 1), MOST_ROWS) if rows.isascii() and rows.isdigit() else TOP_ROWS,
            zoom=self._zoom(),
            changes=_option(params, "changes", CHANGES, "percent"),
            across=_option(params, "across", ACROSS, DEFAULT_ACROSS),
            compared_columns=compared_columns(self._texts("beside")),
            tab=tab(params),
            expansion=self._expansion(),
            exploration=self._exploration(),
            records=self._records(),
        )

    def cards(self) -> tuple[Card, ...] | None:
        """The leaderboards, each once; None without any."""
        cards: dict[str, Card] = {}
        for item in self._texts("cards"):
            name, order, find = (item, "", "") if item in self._keys else (*item.split("!", 2), "", "")[:3]
            by = order.removeprefix("-") if is_card_order(order.removeprefix("-"), self._slicer) else "volume"
            direction: Direction = "desc" if order.startswith("-") or by == "volume" else "asc"
            for field in self._among([name], self._keys, "the leaderboard of"):
                cards.setdefault(field, Card(field, by, direction, find))
        return tuple(cards.values())[:MOST_CARDS] or None

    def _data_filters(self) -> tuple[DataFilter, ...]:
        """The data filters of `imps~ge~1000~ctr~lt~0.2` that can be read, each once."""
        parts, matches = self._texts("having"), {code: match for match, code in CODES.items()}
        filters = [
            DataFilter(name=name, match=matches[code], value=float(number))
            for name, code, number in zip(parts[::3], parts[1::3], parts[2::3], strict=False)
            if code in matches and not amounts.fault(number, "none", DATA_FILTER_LIMITS)
        ]
        names = self._among((filter_.name for filter_ in filters), self._data, "the filter by")
        return tuple(dict.fromkeys(filter_ for filter_ in filters if filter_.name in names))[
            :MOST_DATA_FILTERS
        ]

    def _value_lines(self) -> ValueLines | None:
        """A key field with its values; empty for `none`, None where there are none or no such key field."""
        text = self._params.get("lines", "")
        name, *values = split_texts(text)
        if name in ("", NONE):
            return () if text == NONE else None
        fields = self._among([name], self._keys, "the lines of")
        return (name, *dict.fromkeys(values[:MOST_LINES])) if fields and values else None

    def _compared_days(self, param: str, default: tuple[str, ...]) -> tuple[str, ...]:
        """The days to compare with, by a word or two dates; the default where these are none."""
        text = self._params.get(param, "")
        parts = split_texts(text)
        if text in ("", NONE):
            return () if text else default
        try:
            if len(parts) == 2:
                dates.date_range(*parts, self._today)
            if len(parts) == 2 or text in COMPARISONS:
                return parts
        except BadRequest:
            pass
        self.wrong_days.append(text)
        return default

    def _zoom(self) -> ZoomOrigin | None:
        start, end, grain, first, last = (*split_texts(self._params.get("zoom", "")), "", "", "", "", "")[:5]
        try:
            named_days.resolve(start, end, self._today, self._slicer)
            period = dates.date_range(first, last, self._today) if first and last else None
        except BadRequest:
            return None
        return ZoomOrigin(
            start, end, _option({"grain": grain}, "grain", granularities(self._slicer), None), period
        )

    def _expansion(self) -> Expansion:
        """The open rows; the default where they name a key field that the slicer lacks."""
        items = [split_texts(item) for item in split_texts(self._params.get("folds", ""))]
        rules: dict[Path, Rule] = {("all",): "all", ("none",): "none"} if len(items) > 1 else {}
        rule = rules.get(items[0], "first")
        split, *paths = items[rule != "first" :]
        if not self._keys.issuperset(split):
            return Expansion()
        exceptions = dict.fromkeys(path for path in paths if 0 < len(path) < len(split))
        return Expansion(split, tuple(exceptions)[:MOST_EXCEPTIONS], rule)._normalize()

    def _exploration(self) -> Exploration:
        """The fields on Slicers; the default ones if the slicer lacks one of them."""
        key, data, by = (*split_texts(self._params.get("explore", "")), "", "")[:3]
        if key not in self._keys or data not in self._data:
            return Exploration()
        order = Order(name=by.removeprefix("-"), direction="desc" if by.startswith("-") else "asc")
        return Exploration(key, data, order if order.name in {key, *self._data} else None)

    def _records(self) -> RecordsOf:
        """The values whose records are shown; none where the slicer lacks one of the key fields."""
        kind, *parts = split_texts(self._params.get("records", ""))
        values = tuple(zip(parts[::2], parts[1::2], strict=False))
        is_known = self._keys.issuperset(name for name, _ in values)
        return RecordsOf(values, kind == "card") if is_known else RecordsOf()

    def _texts(self, param: str) -> tuple[str, ...]:
        return split_texts(self._params[param]) if self._params.get(param) else ()

    def _field(self, param: str, fields: Set[str], what: str) -> str:
        """The field that a parameter names; empty without one that the slicer has."""
        text = self._params.get(param)
        return next(iter(self._among([text] if text else [], fields, what)), "")

    def _among(self, names: Iterable[str], fields: Set[str], what: str) -> list[str]:
        """The names that are among these fields, each once; the others are noted as `what`."""
        unique = dict.fromkeys(names)
        self.missing_fields += [f"{what} {name}" for name in unique if name not in fields]
        return [name for name in unique if name in fields]


def _plain_keys(slicer: Slicer) -> list[str]:
    return [f.name for f in slicer.key_fields if not f.is_segmented and f.name not in TIME_KEY_FIELDS]
