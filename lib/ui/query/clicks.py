"""Clicks on the board, in tables and in charts, and the state of the page after them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, NoReturn

import numpy as np
import orjson
import streamlit as st

from lib.reporting.models import API_ROWS_LIMIT, ROWS_LIMITS
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.models import Order, Slicer
from lib.ui.charts.series import TRENDS
from lib.ui.kit import rows, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.rows import Act, ActReceipt
from lib.ui.query import card, filters, history, state
from lib.ui.query.card import Card
from lib.ui.query.periods import granularities
from lib.ui.query.state import PageState
from lib.ui.query.view_parts import RecordsOf, ZoomOrigin, value_lines, with_line, without_line

BOARD, CARDS, MOVERS = "split_rows", "leaderboards", "moved_rows"
COMPONENTS = (BOARD, CARDS, MOVERS)
MODE, COUNT = "drill_mode", "drills"
KEEP, EXCLUDE = "keep", "exclude"
LABELS = {KEEP: "Click keeps", EXCLUDE: "Click excludes"}
ICONS = {KEEP: ":material/filter_alt:", EXCLUDE: ":material/block:"}
FILTER_CHANGES = {
    "include": filters.include,
    "add": filters.add,
    "exclude": filters.exclude,
    "release": filters.release,
}
LINE_CHANGES = {"draw": with_line, "undraw": without_line}
EXPANSIONS = {"expand": True, "collapse": False}


def catch_up(context: PageContext, *more: Act) -> None:
    """Apply the clicks on rows that are not applied yet, then these acts; where there are any, the page is
    drawn anew by them.

    To be called before a screen reads the state, and as the callback of a component.
    """
    # The callback that followed a click may have broken off, as any run that a newer click overtakes.
    clicks = {name: rows.new_acts(_message_of(name), history.receipt(name)) for name in COMPONENTS}
    acts = [*(act for new_acts, _ in clicks.values() for act in new_acts), *more]
    if acts:
        take(context, acts, {name: last for name, (_, last) in clicks.items()})


def _message_of(component: str) -> Mapping[str, Any]:
    """What a component says was clicked; before it says anything, what the address has of it.

    That is of a page that was loaded again while its clicks were on their way (desk.js).
    """
    message = st.session_state.get(component)
    if isinstance(message, Mapping) and message.get("acts"):
        return message
    try:
        address = orjson.loads(st.query_params.get(history.ACTS, "{}"))
    except orjson.JSONDecodeError:
        return {}
    return {"acts": address.get(component)} if isinstance(address, dict) else {}


def take(context: PageContext, acts: Iterable[Act], last_acts: Mapping[str, ActReceipt]) -> NoReturn:
    """Go through these clicks, all or none. Each is a step of its own to undo, or undoes or redoes one;
    `reset` leads to the slicer's default state.

    `last_acts` is the last act of each component that they come from.
    """
    page_state, steps = history.current(context), history.steps()
    params: Mapping[str, str] = history.params()
    about = context.slicer, context.project, context.slicer_name, context.own_zone
    default_cards = card.own_cards(context)
    for act in acts:
        match act:
            case ["undo" | "redo" as direction, *targets]:
                params, steps = steps.go(direction, params, *targets[:1])
                page_state = state.from_params(params, *about)
                continue
            case ["reset"]:
                page_state = state.from_params({}, *about)
            case _:
                page_state = apply(page_state, act, context.slicer, default_cards)
        params, steps = page_state.params, steps.change(params, page_state.params)
    history.change(params, last_acts, steps)


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
            return _set(page_state, name, value, slicer)
        case [str(kind), list(values)]:
            return _choose(page_state, kind, _pairs(values), slicer)
        case ["records", str(table), list(values)]:
            keys = {field.name for field in slicer.key_fields}
            records = tuple((name, _time_value(name, value)) for name, value in _pairs(values))
            if keys.issuperset(name for name, _ in records):
                return page_state.with_view(tab="records", records=RecordsOf(records, is_card=table in keys))
        case ["order" | "find" | "open" | "card", str(_), *_]:
            cards = page_state.view.cards or default_cards or card.default_cards(slicer)
            return _change_table(page_state, act, slicer, {card.name: card for card in cards})
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


def _set(page_state: PageState, name: str, value: str, slicer: Slicer) -> PageState:
    """The state with another data field, granularity, trend, second field, or tab below the chart."""
    data = {field.name for field in slicer.data_fields}
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


def _choose(page_state: PageState, kind: str, pairs: list[tuple[str, str]], slicer: Slicer) -> PageState:
    """After a click on values: their filters, their lines, or the rows of the pivot below them."""
    keys = {field.name for field in slicer.key_fields}
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


def draw_mode() -> None:
    """Draw the control that chooses what a click on a chart does."""
    widgets.set_value(MODE, st.session_state.get(MODE) or KEEP)
    st.segmented_control(
        "A click on a value", [KEEP, EXCLUDE], format_func=lambda mode: f"{ICONS[mode]} {LABELS[mode]}",
        key=MODE, required=True, label_visibility="collapsed",
    )  # fmt: skip


def key(name: str) -> str:
    """A widget key that changes after each click, so that the same spot can be clicked again."""
    # Plotly selects what is clicked, and a second click on it would only clear the selection.
    return f"{name}_{st.session_state.get(COUNT, 0)}"


def into(context: PageContext, values: Iterable[tuple[str, str]]) -> NoReturn:
    """Keep or leave out these values of key fields. A callback of a chart."""
    change = filters.exclude if st.session_state.get(MODE) == EXCLUDE else filters.include
    page_state = history.current(context)
    query = page_state.query
    for name, value in values:
        query = change(query, name, value)
    st.session_state[COUNT] = st.session_state.get(COUNT, 0) + 1
    history.change(replace(page_state, query=query))
