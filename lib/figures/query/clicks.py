"""Clicks on the overview, in tables and in charts, and the state of the page after them."""

from dataclasses import replace
from datetime import date

import numpy as np

from lib.figures import rows
from lib.figures.query import card, filters, state
from lib.figures.query.card import Card
from lib.figures.query.periods import granularities
from lib.figures.query.state import PageState
from lib.figures.query.view_parts import RecordsOf, ZoomOrigin, value_lines, with_line, without_line
from lib.figures.rows import Act
from lib.figures.series import TRENDS
from lib.reporting.models import API_ROWS_LIMIT, ROWS_LIMITS
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import Order, Slicer

FILTER_CHANGES = {
    "include": filters.include,
    "add": filters.add,
    "exclude": filters.exclude,
    "release": filters.release,
}
LINE_CHANGES = {"draw": with_line, "undraw": without_line}
EXPANSIONS = {"expand": True, "collapse": False}


def is_filtering(act: Act) -> bool:
    """Whether a click keeps, leaves out or releases values."""
    return isinstance(act[0], str) and act[0] in FILTER_CHANGES


def apply(
    page_state: PageState, act: Act, slicer: Slicer, default_cards: tuple[Card, ...] | None = None
) -> PageState:
    """The state after a click; the same where it names nothing that the slicer or the page has."""
    # An act comes from a browser: nothing of it is taken for granted.
    query = page_state.query
    match act:
        case ["zoom", str(first), str(last)]:
            return _zoom(page_state, first, last, slicer)
        case ["zoom_out"] if origin := page_state.view.zoom:
            before = page_state.with_query(start_date=origin.start, end_date=origin.end)
            return before.with_view(grain=origin.grain, zoom=None)
        case ["read", int(limit)] if limit in (API_ROWS_LIMIT, ROWS_LIMITS[1]):
            return page_state.with_query(audience_rows_limit=limit)
        case ["go", dict(params)]:
            texts = {str(name): text for name, text in params.items() if isinstance(text, str)}
            return state.read(texts, slicer, query.project_name, query.slicer_name)[0]
        case ["field" | "grain" | "trend" | "second" | "lower" as name, str(value)]:
            # The state with another data field, granularity, trend, second field, or tab below the chart.
            data = {*slicer.data_names}
            choices: dict[str, set[str]] = {
                "field": data,
                "grain": {*granularities(slicer)},
                "trend": {*TRENDS},
                "second": {"", *data},
                "lower": {*state.TABS},
            }
            if value not in choices[name]:
                return page_state
            return page_state.with_view(**{"tab" if name == "lower" else name: value})
        case [str(kind), list(values)]:
            return _choose(page_state, kind, _pairs(values), slicer)
        case ["records", str(table), list(values)]:
            keys = {*slicer.key_names}
            records = tuple((name, _time_value(name, value)) for name, value in _pairs(values))
            if keys.issuperset(name for name, _ in records):
                return page_state.with_view(tab="records", records=RecordsOf(records, is_card=table in keys))
        case ["order" | "find" | "open" | "card", str(_), *_]:
            cards = page_state.view.cards or default_cards or card.default_cards(slicer)
            return _change_table(page_state, act, slicer, {own.name: own for own in cards})
    return page_state


def _pairs(values: object) -> list[tuple[str, str]]:
    """Values of key fields, each by its field's name."""
    return [(str(pair[0]), str(pair[1])) for pair in rows.lists(values) if len(pair) == 2]


def _zoom(page_state: PageState, first: str, last: str, slicer: Slicer) -> PageState:
    """The state about these days; its view keeps dates and granularity from before the first zoom."""
    try:
        days = date.fromisoformat(first), date.fromisoformat(last)
    except ValueError:
        return page_state
    if days[0] > days[1]:
        return page_state
    origin = page_state.view.zoom or ZoomOrigin.of(page_state.query, page_state.view.grain, slicer)
    narrow = page_state.with_query(start_date=days[0].isoformat(), end_date=days[1].isoformat())
    return narrow.with_view(grain=None, zoom=origin)


def _choose(page_state: PageState, kind: str, pairs: list[tuple[str, str]], slicer: Slicer) -> PageState:
    """After a click on values: their filters, their lines, or the rows of the pivot below them."""
    keys = {*slicer.key_names}
    values = [(name, value) for name, value in pairs if name in keys]
    query, view = page_state.query, page_state.view
    if kind in FILTER_CHANGES:
        for name, value in values:
            query = FILTER_CHANGES[kind](query, name, value)
        return replace(page_state, query=query)
    if kind in LINE_CHANGES:
        before = after = value_lines(query, view.value_lines)
        for name, value in values:
            after = LINE_CHANGES[kind](after, name, value)
        return page_state.with_view(value_lines=after) if after != before else page_state
    if kind not in EXPANSIONS or not pairs:
        return page_state
    names, path = zip(*pairs, strict=True)
    pivot_keys = view.pivot_keys(query.split_by)
    if len(path) >= len(pivot_keys) or names != pivot_keys[: len(path)]:
        return page_state
    return page_state.with_view(expansion=view.expansion.with_row(pivot_keys, path, EXPANSIONS[kind]))


def _time_value(name: str, value: str) -> str:
    """The value of a time key field that begins at the moment `value`; any other value as it is."""
    if name not in TIME_KEY_FIELDS:
        return value
    try:
        hours = np.array([value], dtype="datetime64[h]").astype(np.int64)
    except ValueError:
        return value
    return str(TIME_KEY_FIELDS[name].write(hours)[0]) if "T" in value else value


def _change_table(page_state: PageState, act: Act, slicer: Slicer, cards: dict[str, Card]) -> PageState:
    """After a click on a header, in a card, or on the tabs: the order is the split's, or that of a card."""
    keys, data = ({field.name for field in fields} for fields in (slicer.key_fields, slicer.data_fields))
    after = dict(cards)
    match act:
        case ["open", table] if table in keys:
            page_state = page_state.with_query(split_by=(table,), order_by=())
            return page_state.with_view(tab="split") if table in cards else page_state
        case ["card", table] if table in keys:
            first = after.pop(table, Card(table))
            after = dict([*{table: first, **after}.items()][: card.MOST_CARDS])
        case ["find", table, str(text)] if table in cards:
            after[table] = replace(cards[table], find=text)
        case ["order", table, str(column), "asc" | "desc" as direction]:
            if table == "split" and column in {*page_state.query.split_by, *data}:
                page_state = page_state.with_query(order_by=(Order(name=column, direction=direction),))
            if table in cards:
                by = column if card.is_card_order(column, slicer) else cards[table].by
                after[table] = replace(cards[table], by=by, direction=direction)
    new_cards = tuple(after.values())
    return page_state.with_view(cards=new_cards) if new_cards != tuple(cards.values()) else page_state
