"""The state of a page as one value, and its URL: the query, and the view of its answers.

The URL has the query as lib/reporting/links.py writes it, and the view beside it, without default values.
Reading is forgiving: what the slicer does not have is at its default, and is named.
"""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Literal, Self, TypeVar, get_args

from lib.deals.values import Limits
from lib.figures import amounts
from lib.figures.query.card import Card, cards_from_text, cards_text, plain_keys
from lib.figures.query.periods import COMPARISONS, PREVIOUS, granularities
from lib.figures.query.view_parts import MOST_LINES, Expansion, Exploration, RecordsOf, ValueLines, ZoomOrigin
from lib.figures.series import EACH, TRENDS
from lib.reporting import links, named_days
from lib.reporting.links import CODES, join_texts, split_texts
from lib.reporting.models import AudienceQuery, DataFilter
from lib.slicers import dates
from lib.slicers.granularities import Granularity
from lib.slicers.models import Slicer
from lib.wire.errors import BadRequest

Chart = Literal["table", "pivot", "bars", "lines", "heatmap"]
Changes = Literal["percent", "amount"]
Tab = Literal["cards", "split", "moved", "records"]
ComparedColumn = Literal["previous", "amount"]
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
TOP_ROWS, MOST_ROWS = 20, 1000
ACROSS, DEFAULT_ACROSS, MOST_COLUMNS = (2, 3, 4, 5), 4, 3
MOST_DATA_FILTERS = 10
DATA_FILTER_LIMITS = Limits(least=-(10**15), below=10**15, decimals=15)


def _default_tab(chart: Chart) -> Tab:
    return "cards" if chart == "table" else "split"


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
        return {name: text for name, text in self.texts.items() if text}

    @property
    def texts(self) -> dict[str, str]:
        """All parameters of a view; empty where its value is the default."""
        return {
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

    def start_name(self, query: AudienceQuery) -> str:
        """What a link calls the first of the days compared: of a zoom those from which it began."""
        return self.zoom.start if self.zoom else query.start_date

    def pivot_keys(self, split_by: tuple[str, ...]) -> tuple[str, ...]:
        """The key fields of a split that are rows of its pivot: all, or all but the one across."""
        rows = tuple(name for name in split_by if name != self.cross)
        return rows or split_by


VIEW_PARAMS = frozenset(View().texts)


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
    page_state, _ = read(params, slicer, project, name)
    if has_query(params):
        return page_state
    return page_state.with_query(split_by=default_split(slicer), timezone=default_zone(slicer, own_zone))


def read(
    params: Mapping[str, str], slicer: Slicer, project: str, name: str, origin: Slicer | None = None
) -> tuple[PageState, list[str]]:
    """The state that URL parameters name, and a sentence for each part of them that is left out.

    Fields go by their meaning, where the parameters were about the slicer `origin`.

    Left out are parts of the query (lib/reporting/links.py), fields in the view that the slicer `name` does
    not have, and days to compare with that are none.
    """
    link = links.from_params(params, slicer, project, name, origin=origin)
    reader = _ViewReader(params, slicer, origin or slicer)
    view = reader.view()
    left_out = [f"Left out {field}: {name} has none of that name." for field in reader.missing_fields]
    left_out += [f"Left out comparing with '{days[:40]}': no such days." for days in reader.wrong_days]
    return PageState(link.query, view), [*link.left_out, *left_out]


def fixed_days(
    params: Mapping[str, str], slicer: Slicer, project: str, name: str, at: datetime, own_zone: str = ""
) -> dict[str, str]:
    """URL parameters of the same question with the days that its dates mean at this time, whenever they are
    asked; those that its days are compared with likewise.

    Days by name are those of the reader's `own_zone` where the question names no zone and can have one: so
    yesterday is over where they are. Days of daily data are the slicer's own.
    """
    page_state = from_params(params, slicer, project, name)
    query, view = page_state.query, page_state.view
    zone = default_zone(slicer, own_zone) if query.timezone is None else query.timezone
    today = dates.today(slicer.timezone if zone is None else zone, at)
    first, last = (
        day.isoformat() for day in named_days.resolve(query.start_date, query.end_date, today, slicer)
    )
    own_days = {"start": first, "end": last}
    if zone is not None and (first, last) != (query.start_date, query.end_date):
        own_days["tz"] = str(zone)
    comparisons = fixed_comparisons(page_state, slicer, today)
    own_days |= {param: join_texts(days) for param, days in comparisons.items() if len(days) == 2}
    if view.zoom is not None:
        start, end = (day.isoformat() for day in view.zoom.days(today, slicer))
        own_days["zoom"] = replace(view.zoom, start=start, end=end, period=None).text
    return {**(params if has_query(params) else page_state.params), **own_days}


def fixed_comparisons(page_state: PageState, slicer: Slicer, today: date) -> dict[str, tuple[str, ...]]:
    """The view's `compare` and `also`, with dates for days by name: fixed days have no name by which to find
    the same part of the month before."""
    query, view = page_state.query, page_state.view
    period = named_days.resolve(query.start_date, query.end_date, today, slicer)
    whole = view.zoom.days(today, slicer) if view.zoom else period
    part, plain = (
        named_days.part_before(start, whole, today, slicer).days for start in (view.start_name(query), "")
    )
    comparisons = {"compare": view.compare, "also": view.also}
    for param, days in comparisons.items():
        if len(days) == 2 or (days == (PREVIOUS,) and part != plain):
            before = dates.date_range(*days, today) if len(days) == 2 else part
            comparisons[param] = tuple(day.isoformat() for day in before)
    return comparisons


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
    return tuple(plain_keys(slicer)[:1])


def compared_columns(names: Iterable[str]) -> tuple[ComparedColumn, ...]:
    """Those of COMPARED_COLUMNS that are named, in their order."""
    selection = {*names}
    return tuple(name for name in COMPARED_COLUMNS if name in selection)


def tab(params: Mapping[str, str]) -> Tab:
    """The tab in sight of these URL parameters."""
    return _option(params, "lower", TABS, _default_tab(_option(params, "chart", CHARTS, "table")))


def _option(
    params: Mapping[str, str], param: str, options: Iterable[Option], default: Default
) -> Option | Default:
    """The option that a parameter names; the default where it names none of them."""
    return next((option for option in options if str(option) == params.get(param)), default)


class _ViewReader:
    """Reads the parts of a view. What they name and the slicer does not have it notes in `missing_fields`,
    and what are no days to compare with in `wrong_days`."""

    def __init__(self, params: Mapping[str, str], slicer: Slicer, origin: Slicer) -> None:
        self._params, self._slicer, self._names = params, slicer, links.FieldNames(slicer, origin)
        self._keys = {*slicer.key_names}
        self._data = {*slicer.data_names}
        self._today = dates.today(slicer.timezone)
        self.missing_fields: list[str] = []
        self.wrong_days: list[str] = []

    def view(self) -> View:
        """The view. To be called once."""
        params, slicer, rows = self._params, self._slicer, self._params.get("top", "")
        cards = [Card.read(text, slicer) for text in self._texts("cards")]
        self._among((card.name for card in cards), self._keys, "the leaderboard of")
        own_cards = cards_text(replace(card, name=self._own(card.name, self._keys)) for card in cards)
        compare, also = self._compared_days("compare", (PREVIOUS,)), self._compared_days("also", ())
        return View(
            columns=tuple(self._among(self._texts("columns"), self._data, "the column"))[:MOST_COLUMNS],
            field=self._field("field", self._data, "the data field") or None,
            second=self._field("second", self._data, "the data field"),
            cross=self._field("cross", self._keys, "the key field"),
            cards=cards_from_text(own_cards, slicer),
            data_filters=self._data_filters(),
            value_lines=self._value_lines(),
            compare=compare,
            also=also if compare and also != compare else (),
            trend=_option(params, "trend", TRENDS, EACH),
            grain=_option(params, "grain", granularities(slicer), None),
            chart=_option(params, "chart", CHARTS, "table"),
            rows=min(max(int(rows), 1), MOST_ROWS) if rows.isascii() and rows.isdigit() else TOP_ROWS,
            zoom=ZoomOrigin.read(params.get("zoom", ""), self._today, slicer),
            changes=_option(params, "changes", CHANGES, "percent"),
            across=_option(params, "across", ACROSS, DEFAULT_ACROSS),
            compared_columns=compared_columns(self._texts("beside")),
            tab=tab(params),
            expansion=Expansion.read(params.get("folds", ""), slicer),
            exploration=Exploration.read(params.get("explore", ""), slicer),
            records=RecordsOf.read(params.get("records", ""), slicer),
        )

    def _data_filters(self) -> tuple[DataFilter, ...]:
        """The data filters of `imps~ge~1000~ctr~lt~0.2` that can be read, each once."""
        parts, matches = self._texts("having"), {code: match for match, code in CODES.items()}
        filters = [
            DataFilter(name=name, match=matches[code], value=float(number))
            for name, code, number in zip(parts[::3], parts[1::3], parts[2::3], strict=False)
            if code in matches and not amounts.fault(number, "none", DATA_FILTER_LIMITS)
        ]
        names = self._among((filter_.name for filter_ in filters), self._data, "the filter by")
        own = (f.model_copy(update={"name": self._own(f.name, self._data)}) for f in filters)
        return tuple(dict.fromkeys(filter_ for filter_ in own if filter_.name in names))[:MOST_DATA_FILTERS]

    def _value_lines(self) -> ValueLines | None:
        """A key field with its values; empty for `none`, None where there are none or no such key field."""
        text = self._params.get("lines", "")
        name, *values = split_texts(text)
        if name in ("", NONE):
            return () if text == NONE else None
        fields = self._among([name], self._keys, "the lines of")
        return (fields[0], *dict.fromkeys(values[:MOST_LINES])) if fields and values else None

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

    def _texts(self, param: str) -> tuple[str, ...]:
        return split_texts(self._params[param]) if self._params.get(param) else ()

    def _field(self, param: str, fields: Set[str], what: str) -> str:
        """The field that a parameter names; empty without one that the slicer has."""
        text = self._params.get(param)
        return next(iter(self._among([text] if text else [], fields, what)), "")

    def _own(self, name: str, fields: Set[str]) -> str:
        """The slicer's name of a field; the name itself where it has none that means the same."""
        return name if name in fields else self._names.of(name)

    def _among(self, names: Iterable[str], fields: Set[str], what: str) -> list[str]:
        """The slicer's own names of those that are among these fields; the others are noted as `what`."""
        own_names = {name: self._own(name, fields) for name in names}
        missing = (name for name, own in own_names.items() if own not in fields)
        self.missing_fields += [f"{what} {self._names.title(name)}" for name in missing]
        return [*dict.fromkeys(own for own in own_names.values() if own in fields)]
