"""The view of a question: what a link contains in addition to the question itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from lib.reporting import dates, links
from lib.reporting.links import join_texts, split_texts
from lib.reporting.models import GRANULARITIES, TIME_KEY_FIELDS, DataFilter, Granularity, Order, Slicer
from lib.ui.charts.trends import EACH, TRENDS
from lib.ui.query import cards, figure_filters, folds, lines
from lib.ui.query.cards import Card
from lib.ui.query.folds import Folds
from lib.ui.query.lines import Lines
from lib.ui.query.periods import COMPARISONS, PREVIOUS, resolve
from lib.wire.errors import BadRequest

Chart = Literal["table", "pivot", "bars", "lines", "heatmap"]
Changes = Literal["percent", "amount"]
Lower = Literal["cards", "split", "moved"]
CHARTS: tuple[Chart, ...] = get_args(Chart)
NONE = "none"
PARAMS = (
    "compare",
    "also",
    "field",
    "grain",
    "trend",
    "second",
    "chart",
    "top",
    "zoom",
    "cards",
    "changes",
    "lower",
    "moved",
    "across",
    "columns",
    "lines",
    "folds",
    "cross",
    "having",
    "explore",
)
CHANGES: tuple[Changes, ...] = get_args(Changes)
LOWERS: Mapping[Lower, str] = {"cards": "Leaderboards", "split": "Split", "moved": "What moved"}
ACROSS, USUAL_ACROSS, MOST_COLUMNS = (2, 3, 4, 5), 4, 3
TOP, MOST = 20, 1000


@dataclass(frozen=True)
class Exploration:
    """Names of fields, empty for the usual ones; `order` is that of the top values, None by volume."""

    key: str = ""
    data: str = ""
    order: Order | None = None


NO_EXPLORATION = Exploration()


def exploration_text(exploration: Exploration) -> str:
    """The fields and the order as one parameter; empty where nothing was chosen."""
    if exploration == NO_EXPLORATION:
        return ""
    order = exploration.order
    by = () if order is None else ("-" * (order.direction == "desc") + order.name,)
    return join_texts((exploration.key, exploration.data, *by))


def exploration_from_text(text: str, slicer: Slicer) -> Exploration:
    """The state in a URL parameter; the default if the slicer lacks one of the fields."""
    key, data, by = (*split_texts(text), "", "")[:3]
    keys = {field.name for field in slicer.key_fields}
    fields = {field.name for field in slicer.data_fields}
    if key not in keys or data not in fields:
        return NO_EXPLORATION
    name = by.removeprefix("-")
    order = Order(name=name, direction="desc" if by.startswith("-") else "asc")
    return Exploration(key, data, order if name in {key, *fields} else None)


@dataclass(frozen=True)
class View:
    """The comparison, the data field shown, the granularity (None: by the range), and the split's chart.

    `trend` is what the lines over time say of their buckets (TRENDS); `second` a data field on an axis of its
    own beside them.

    `compare` is `previous`, `weekdays`, `year`, a range of two dates, or empty; `also` are days compared
    beside these; `rows` is how many of the split; `zoom` is the start and end that the question had before
    it was zoomed in to its days, and after them its granularity where one was chosen; or it is empty.
    `cards` are the leaderboards (None: the usual ones), which show changes in percent or as amounts,
    `across` of them in a row, and have more data fields as `columns`. `lower` is the tab in sight below the
    chart; `lines` a key field and its values that have lines of their own (None: those that a filter keeps);
    `folds` the rows of a pivot that are not open or closed as usual; `cross` the key field of its split whose
    values are its columns (empty: these are metrics). `having` are filters by figures on the
    rows of leaderboards and split.
    """

    compare: tuple[str, ...] = (PREVIOUS,)
    also: tuple[str, ...] = ()
    field: str | None = None
    grain: Granularity | None = None
    trend: str = EACH
    second: str = ""
    chart: Chart = "table"
    rows: int = TOP
    zoom: tuple[str, ...] = ()
    cards: tuple[Card, ...] | None = None
    changes: Changes = "percent"
    across: int = USUAL_ACROSS
    columns: tuple[str, ...] = ()
    lower: Lower = "cards"
    lines: Lines | None = None
    folds: Folds = folds.AS_USUAL
    cross: str = ""
    having: tuple[DataFilter, ...] = ()
    exploration: Exploration = NO_EXPLORATION

    def pivot_keys(self, split_by: tuple[str, ...]) -> tuple[str, ...]:
        """The key fields of a split that are rows of its pivot: all, or all but the one across."""
        rows = tuple(name for name in split_by if name != self.cross)
        return rows or split_by


def to_params(view: View) -> dict[str, str]:
    """The view as URL parameters, without default values."""
    params = {
        "compare": "" if view.compare == (PREVIOUS,) else links.join_texts(view.compare) or NONE,
        "also": links.join_texts(view.also),
        "field": view.field or "",
        "grain": view.grain or "",
        "trend": "" if view.trend == EACH else view.trend,
        "second": view.second,
        "chart": "" if view.chart == "table" else view.chart,
        "top": "" if view.rows == TOP else str(view.rows),
        "zoom": links.join_texts(view.zoom),
        "cards": cards.to_text(view.cards or ()),
        "lines": "" if view.lines is None else links.join_texts(view.lines) or NONE,
        "changes": "" if view.changes == "percent" else view.changes,
        "across": "" if view.across == USUAL_ACROSS else str(view.across),
        "columns": links.join_texts(view.columns),
        "lower": "" if view.lower == _usual_lower(view.chart) else view.lower,
        "folds": folds.to_text(view.folds),
        "cross": view.cross,
        "having": links.having(view.having),
        "explore": exploration_text(view.exploration),
    }
    return {name: text for name, text in params.items() if text}


def from_params(params: Mapping[str, str], slicer: Slicer) -> View:
    """The view in URL parameters; parts that can't be shown are at their defaults."""
    field, second, grain, rows = (params.get(name, "") for name in ("field", "second", "grain", "top"))
    data = {one.name for one in slicer.data_fields}
    chart: Chart = next((one for one in CHARTS if one == params.get("chart")), "table")
    compare = _compare(params.get("compare", PREVIOUS), slicer, (PREVIOUS,))
    also = _compare(params.get("also", NONE), slicer, ())
    return View(
        compare=compare,
        also=also if compare and also != compare else (),
        field=field if field in data else None,
        trend=next((one for one in TRENDS if one == params.get("trend")), EACH),
        second=second if second in data else "",
        grain=next((one for one in granularities(slicer) if one == grain), None),
        chart=chart,
        rows=min(max(int(rows), 1), MOST) if rows.isascii() and rows.isdigit() else TOP,
        zoom=_zoom(params.get("zoom", ""), slicer),
        cards=cards.from_text(params.get("cards", ""), slicer),
        lines=_lines(params.get("lines", ""), slicer),
        changes=next((one for one in CHANGES if one == params.get("changes")), "percent"),
        across=next((many for many in ACROSS if str(many) == params.get("across")), USUAL_ACROSS),
        columns=_columns(params.get("columns", ""), slicer),
        lower=_lower(params, chart),
        folds=folds.from_text(params.get("folds", ""), slicer),
        cross=next((one.name for one in slicer.key_fields if one.name == params.get("cross")), ""),
        having=figure_filters.from_text(params.get("having", ""), slicer),
        exploration=exploration_from_text(params.get("explore", ""), slicer),
    )


def left_out(params: Mapping[str, str], slicer: Slicer, name: str) -> list[str]:
    """A sentence for each field in these parameters that the slicer `name` does not have, and for days to
    compare with that are none."""
    keys = {field.name for field in slicer.key_fields}
    data = {field.name for field in slicer.data_fields}
    line = links.split_texts(params.get("lines", ""))[0]
    fields = [field for name in ("field", "second") if (field := params.get(name))]
    columns = links.split_texts(params["columns"]) if params.get("columns") else ()
    missing = [
        *(f"the column {one}" for one in columns if one not in data),
        *(f"the data field {field}" for field in fields if field not in data),
        *(f"the key field {name}" for name in [params.get("cross", "")] if name not in ("", *keys)),
        *(f"the leaderboard of {card}" for card in cards.missing(params.get("cards", ""), slicer)),
        *(f"the filter by {one}" for one in figure_filters.missing(params.get("having", ""), slicer)),
        *([f"the lines of {line}"] if line not in ("", NONE, *keys) else []),
    ]
    texts = (params.get(one) or NONE for one in ("compare", "also"))
    return [
        *(f"Left out {what}: {name} has none of that name." for what in missing),
        *(
            f"Left out comparing with '{text[:40]}': no such days."
            for text in texts
            if text != NONE and _days_of(text, slicer) is None
        ),
    ]


def _days_of(text: str, slicer: Slicer) -> tuple[str, ...] | None:
    """The days to compare with that a link names, by a word or two dates; None where these are none."""
    parts = links.split_texts(text)
    if len(parts) != 2:
        return parts if parts[0] in COMPARISONS and len(parts) == 1 else None
    try:
        resolve(*parts, dates.today(slicer.timezone))
    except BadRequest:
        return None
    return parts


def granularities(slicer: Slicer) -> list[Granularity]:
    """The granularities that a slicer's rows allow, the finest first."""
    grains = {TIME_KEY_FIELDS.get(field.name) for field in slicer.key_fields}
    return [grain for grain in GRANULARITIES if grain in grains]


def _usual_lower(chart: Chart) -> Lower:
    """The tab of a link that names none: links to a chart of the split are older than the tabs."""
    return "cards" if chart == "table" else "split"


def lower(params: Mapping[str, str]) -> Lower:
    """The tab in sight of these URL parameters."""
    chart: Chart = next((one for one in CHARTS if one == params.get("chart")), "table")
    return _lower(params, chart)


def _lower(params: Mapping[str, str], chart: Chart) -> Lower:
    """The tab in sight; `moved=1` is from links made before there were tabs."""
    old: Lower = "moved" if params.get("moved") == "1" else _usual_lower(chart)
    return next((one for one in LOWERS if one == params.get("lower")), old)


def _columns(text: str, slicer: Slicer) -> tuple[str, ...]:
    names = {field.name for field in slicer.data_fields}
    return tuple(name for name in dict.fromkeys(links.split_texts(text)) if name in names)[:MOST_COLUMNS]


def _compare(text: str, slicer: Slicer, usual: tuple[str, ...]) -> tuple[str, ...]:
    if text == NONE:
        return ()
    days = _days_of(text, slicer)
    return usual if days is None else days


def _lines(text: str, slicer: Slicer) -> Lines | None:
    """A key field with its values; empty for `none`, None where the slicer has no such key field."""
    if text == NONE:
        return ()
    name, *values = links.split_texts(text)
    if name not in {field.name for field in slicer.key_fields} or not values:
        return None
    return (name, *dict.fromkeys(values[: lines.MOST]))


def _zoom(text: str, slicer: Slicer) -> tuple[str, ...]:
    start, end, grain = (*links.split_texts(text), "", "", "")[:3]
    if not (start and end):
        return ()
    return (start, end, grain) if grain in granularities(slicer) else (start, end)
