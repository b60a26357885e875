"""The Audience page's figures for one question as plain values, without Streamlit.

`lib/serving/front/overview_route.py` says what is in them. The page draws the same figures, texts and tables.
"""

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime, time
from typing import Any

import numpy as np
import numpy.typing as npt

from lib.figures import numbers, palette, rows, series
from lib.figures.overview import headline, leaderboards, over_time, split_tables
from lib.figures.query import ask, compared_answers, periods, precision, state
from lib.figures.query.focus import Focus
from lib.figures.series import EACH, TRENDS, ChartLine, Series, ValueLine
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.slicers import zones
from lib.slicers.dates import Days
from lib.slicers.models import DataField
from lib.views import Note
from lib.wire.text import straight, write_day

FEWEST_POINTS, MOST_POINTS, MOST_NOTES = 2, 400, 20
Json = dict[str, Any]
Params = Mapping[str, str]
Make = Callable[[Focus, Params], Json | list[Json]]


def head(focus: Focus, params: Params) -> Json:
    """Headline and time chart. `params` are those of the question. Raises the errors of the service."""
    query = focus.over_time()
    ask.prefetch(focus.context, [query, *(focus.in_days(query, days) for days in focus.other_days)])
    now = ask.estimate(focus.context, query)
    comparisons = compared_answers.fetch_each(focus, query, now)
    if not headline.is_there(now):
        return _about(focus) | _empty() | {"nothing": _way_on(params, *headline.no_data(focus))}
    values = over_time.value_trends(focus, over_time.fetch_value_lines(focus), now)
    notes, _ = over_time.notes_of(focus)
    # The same with each data field in front, in the currency of the answer where it has one.
    headline_fields = {name: focus.slicer.data_field(name) for name in focus.headline}
    sides = {
        name: replace(focus, field=numbers.in_currency(field, now.total.currencies.get(name, "")))
        for name, field in headline_fields.items()
    }
    lines = {name: over_time.lines(side, now, comparisons) for name, side in sides.items()}
    front = lines[focus.field.name]
    return _about(focus) | {
        "metrics": list(focus.metrics),
        "figures": [
            headline.figure(side, now, comparisons, [line.series for line in lines[name]])
            for name, side in sides.items()
        ],
        "nothing": None,
        "fields": {
            name: _field(side, lines[name], now, values)
            | {"nothing": _way_on({**params, "field": name}, *headline.several_currencies(side, now))}
            for name, side in sides.items()
        },
        "other_precision": headline.other_precision(focus, now),
        **_buckets(front),
        "values": [
            {
                "label": straight(line.label),
                "color": line.color,
                "now": _line(line.now, focus, now),
                "before": line.before and _line(line.before, focus, now),
            }
            for line in values
        ],
        "second": _second(focus, now),
        "alt_end": straight(f"; its values are in Split, by {focus.grain or 'day'}{_notes_text(notes)}"),
        "date_notes": [
            *(_mark(note.day, note.text, note.owner, front) for note in notes),
            *(
                _mark(day, f"{hours} hours: the clocks of {focus.zone} change", "", front)
                for day, hours in zones.odd_days(focus.zone, focus.period).items()
            ),
        ],
    }


def _second(focus: Focus, now: Audience) -> Json | None:
    second = over_time.second(focus)
    if second is None:
        return None
    line = over_time.trends(second, over_time.lines(second, now, [None]), now)[0]
    about = {
        "name": second.field.name,
        "label": straight(over_time.title(second, now)),
        "color": palette.SECOND,
    }
    return about | {"has_zero": second.field.formula is None, **_line(line.series, second, now)}


def _about(focus: Focus) -> Json:
    year = focus.period[1].year
    # The granularities that draw some points, but not more than can be told apart; and the one in use.
    return {
        "field": focus.field.name,
        "grain": focus.grain,
        "grains": [
            grain
            for grain in periods.granularities(focus.slicer)
            if grain == focus.grain
            or FEWEST_POINTS <= len(series.buckets(grain, focus.period, focus.zone)) <= MOST_POINTS
        ],
        "trend": focus.view.trend,
        "trends": [[name, trend.label] for name, trend in TRENDS.items()],
        "period": _days(focus.period),
        "before": [_days(side.comparison.before, year) for side in focus.comparisons if side.comparison],
        "engine": straight(precision.source(focus.slicer)),
        "is_zoomed": bool(focus.view.zoom),
        "separators": [focus.numbers.group, focus.numbers.decimal],
    }


def _days(days: Days, year: int | None = None) -> Json:
    first, last = days
    return {"first": first.isoformat(), "last": last.isoformat(), "label": numbers.span(*days, year)}


def _way_on(params: Params, sentence: str, label: str, query: AudienceQuery | None) -> Json | None:
    """Why there are no figures, and the question that leads on; None without a sentence."""
    view = {name: text for name, text in params.items() if name in state.VIEW_PARAMS}
    way_on = {
        "sentence": straight(sentence),
        "label": straight(label) if query else None,
        "params": state.query_params(query) | view if query else None,
    }
    return way_on if sentence else None


def _empty() -> Json:
    lists: Json = {name: [] for name in ("figures", "metrics", "values", "date_notes")}
    return lists | {"fields": {}, "alt_end": "", "second": None, "other_precision": None, **_buckets([])}


def of_nothing(name: str) -> Json | list[Json]:
    """A part about a slicer without data fields, about which nothing can be asked."""
    if name != "head":
        return []
    about = dict.fromkeys(("field", "grain", "trend", "period")) | {"before": []}
    sentences = {"sentence": "This slicer has no data fields to show.", "label": None, "params": None}
    more: Json = {
        "engine": "",
        "grains": [],
        "trends": [],
        "is_zoomed": False,
        "separators": [",", "."],
        "nothing": sentences,
    }
    return about | _empty() | more


def _field(focus: Focus, lines: Sequence[ChartLine], now: Audience, values: Sequence[ValueLine]) -> Json:
    """What the chart and the precision say while this data field is shown."""
    single = [_line(line.series, focus) for line in lines]
    has_trend, notes = over_time.has_trend(focus, now), [*headline.notes(focus, now)]
    trend_lines = (
        [_line(line.series, focus, now) for line in over_time.trends(focus, lines, now)]
        if has_trend and lines
        else []
    )
    if not (focus.view.trend == EACH or has_trend or now.total.withheld(focus.field.name)):
        notes.append(f"{numbers.title(focus.field)} does not add up: its value per bucket is drawn.")
    return {
        "title": straight(over_time.title(focus, now)),
        "precision": straight(precision.summary(now, headline.fields_in_sight(focus), focus.numbers)),
        "notes": [*map(straight, notes)],
        "alt": straight(over_time.alternative(focus, values)),
        "has_zero": focus.field.formula is None,
        **_sides(single),
        "drawn": _sides(trend_lines) if trend_lines else None,
    }


def _sides(lines: Sequence[Json]) -> Json:
    return {"now": lines[0] if lines else None, "before": [*lines[1:]]}


def _line(line: Series, focus: Focus, answer: Audience | None = None) -> Json:
    """A line: its values, what each says on hover, and the band of an estimate.

    That of the trend has its texts, by the answer that it is `answer` from.
    """
    field: DataField = focus.field

    def write(value: float) -> str:
        if answer is None:
            return focus.numbers.full(value, field)
        return over_time.text(focus, answer, value)

    low, high = line.low, line.high
    has_band = low is not None and high is not None and bool(np.any(high > low))
    return {
        "values": _plain(line.values),
        "texts": [write(value) for value in line.values.tolist()],
        "low": _plain(low) if has_band and low is not None else None,
        "high": _plain(high) if has_band and high is not None else None,
    }


def _plain(values: npt.NDArray[np.float64]) -> list[float | None]:
    """Numbers to six figures, which is finer than a screen."""
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in values.tolist()]


def _buckets(lines: Sequence[ChartLine]) -> Json:
    """The buckets of the chart, shared by all its lines."""
    if not lines:
        return {"buckets": {"names": [], "starts": [], "parts": [], "ticks": []}, "buckets_before": []}
    now = lines[0].series
    buckets = {
        "names": now.labels,
        "starts": [start.isoformat() for start in now.starts],
        "parts": list(now.parts),
        "ticks": now.ticks,
    }
    before = [{"names": line.series.labels, "parts": list(line.series.parts)} for line in lines[1:]]
    return {"buckets": buckets, "buckets_before": before}


def _notes_text(notes: Sequence[Note]) -> str:
    """The notes as the end of the chart's alternative text; empty without notes."""
    texts = [f"{write_day(note.day)}: {note.text}" for note in notes[:MOST_NOTES]]
    more = f"; and {len(notes) - MOST_NOTES} more" if len(notes) > MOST_NOTES else ""
    return f". Noted: {'; '.join(texts)}{more}" if texts else ""


def _mark(day: date, text: str, owner: str, lines: Sequence[ChartLine]) -> Json:
    starts = lines[0].series.starts if lines else ()
    index = bisect_right(starts, datetime.combine(day, time())) - 1  # -1 without a chart
    return {"day": day.isoformat(), "text": straight(text), "owner": straight(owner), "place": index}


PARTS: Mapping[str, Make] = {
    "head": head,
    "cards": lambda focus, _: [rows.as_json(table) for table in leaderboards.tables(focus)],
    "split": lambda focus, _: [rows.as_json(table) for table in split_tables.tables(focus)],
}
"""The parts of an answer; tables as the component with rows draws them. A leaderboard that fails says why."""
