"""Clicks in tables and charts: a value is kept or left out, a header sorts the rows."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any

import streamlit as st

from lib.reporting import links
from lib.reporting.dates import Days
from lib.reporting.models import API_ROWS_LIMIT, ROWS_LIMITS, AudienceQuery, Order, Slicer
from lib.ui.charts.trends import TRENDS
from lib.ui.kit import rows, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.rows import (
    Act,
    CardChoice,
    Choice,
    Navigation,
    Opening,
    Ordering,
    RecordLimit,
    Search,
    Setting,
    Zoom,
)
from lib.ui.query import cards, filters, folds, lines, question
from lib.ui.query import view as views
from lib.ui.query.cards import Card
from lib.ui.query.view import View, granularities

BOARD, CARDS, MOVERS = "split_rows", "leaderboards", "moved_rows"
MODE, COUNT = "drill_mode", "drills"
BOARDS = (BOARD, CARDS, MOVERS)
KEEP, EXCLUDE = "keep", "exclude"
WORDS = {KEEP: "Click keeps", EXCLUDE: "Click excludes"}
ICONS = {KEEP: ":material/filter_alt:", EXCLUDE: ":material/block:"}
CHANGES = {
    "include": filters.include,
    "add": filters.add,
    "exclude": filters.exclude,
    "release": filters.release,
}
FOLDS = {"expand": True, "collapse": False}
DRAWS = {"draw": lines.with_line, "undraw": lines.without_line}


def catch_up(context: PageContext) -> None:
    """Apply the clicks on rows that are not applied yet.

    To be called before a screen reads the question: the callback that followed a click may have broken off.
    """
    clicks = {name: rows.new_acts(st.session_state.get(name), question.receipt(name)) for name in BOARDS}
    acts = [act for some, _ in clicks.values() for act in some]
    if not acts:
        return
    latest = {name: last for name, (_, last) in clicks.items()}
    after = states(question.current(context), question.view(context), acts, context.slicer)
    question.follow(context, after, latest)


def states(
    query: AudienceQuery, view: View, acts: Iterable[Act], slicer: Slicer
) -> Iterator[tuple[AudienceQuery, Mapping[str, Any]]]:
    """The question after each of these clicks, and what the click changes of the view."""
    for act in acts:
        if isinstance(act, Zoom):
            query, changes = _apply_zoom(query, view, act)
        elif isinstance(act, RecordLimit):
            query, changes = _read(query, act), {}
        elif isinstance(act, Navigation):
            query, changes = _go(query, slicer, act)
        else:
            changes = {**view_changes(view, [act], slicer), **apply_lines(query, view, [act], slicer)}
            changes |= apply_folds(query, view, [act])
            query = apply(query, [act], slicer)
        view = replace(view, **changes)
        yield query, changes


def zoom(query: AudienceQuery, view: View, days: Days) -> tuple[AudienceQuery, Mapping[str, Any]]:
    """The question about these days; its view keeps dates and granularity from before the first zoom."""
    start, end = (day.isoformat() for day in days)
    grain = [view.grain] if view.grain else []
    before = view.zoom or (query.start_date, query.end_date, *grain)
    return query.model_copy(update={"start_date": start, "end_date": end}), {"grain": None, "zoom": before}


def zoom_out(query: AudienceQuery, view: View) -> tuple[AudienceQuery, Mapping[str, Any]]:
    """The question about the days of before the zoom, at the granularity of then; the same without a zoom."""
    if not view.zoom:
        return query, {}
    start, end, *grain = view.zoom
    days = {"start_date": start, "end_date": end}
    return query.model_copy(update=days), {"grain": next(iter(grain), None), "zoom": ()}


def _apply_zoom(query: AudienceQuery, view: View, act: Zoom) -> tuple[AudienceQuery, Mapping[str, Any]]:
    """The question after a brush; the same where its days are none."""
    if not act.first and not act.last:
        return zoom_out(query, view)
    try:
        days = date.fromisoformat(act.first), date.fromisoformat(act.last)
    except ValueError:
        return query, {}
    return zoom(query, view, days) if days[0] <= days[1] else (query, {})


def _read(query: AudienceQuery, act: RecordLimit) -> AudienceQuery:
    """The question read from so many records; the same for a number that the desk does not offer."""
    is_offered = act.limit in (API_ROWS_LIMIT, ROWS_LIMITS[1])
    return query.model_copy(update={"audience_rows_limit": act.limit}) if is_offered else query


def _go(query: AudienceQuery, slicer: Slicer, act: Navigation) -> tuple[AudienceQuery, Mapping[str, Any]]:
    """The question of a link about the same slicer."""
    new_query = links.from_params(act.params, slicer, query.project_name, query.slicer_name).query
    view = views.from_params(act.params, slicer)
    return new_query, {name: getattr(view, name) for name in view.__dataclass_fields__}


def follow(context: PageContext) -> None:
    """The same, as the callback of the component."""
    catch_up(context)
    st.rerun()


def apply(query: AudienceQuery, acts: Iterable[Act], slicer: Slicer) -> AudienceQuery:
    """The question after these clicks. Clicks that name no field of the slicer are ignored."""
    keys = {field.name for field in slicer.key_fields}
    for act in acts:
        if isinstance(act, Ordering):
            query = _order(query, act, slicer)
        elif isinstance(act, Opening) and act.table in keys:
            query = query.model_copy(update={"split_by": (act.table,), "order_by": ()})
        elif isinstance(act, Choice) and act.kind in CHANGES:
            for name, value in act.values:
                query = CHANGES[act.kind](query, name, value) if name in keys else query
    return query


def view_changes(view: View, acts: Iterable[Act], slicer: Slicer) -> Mapping[str, Any]:
    """The changes of the view by these clicks: cards, their order and search text, and settings."""
    before = {card.name: card for card in view.cards or cards.usual(slicer)}
    after, settings = dict(before), dict[str, Any]()
    choices: dict[str, set[str]] = {
        "field": {field.name for field in slicer.data_fields},
        "grain": {*granularities(slicer)},
        "trend": {*TRENDS},
        "second": {"", *(field.name for field in slicer.data_fields)},
        "lower": {*views.LOWERS},
    }
    for act in acts:
        if isinstance(act, Ordering | Search) and act.table in after:
            after[act.table] = _card(after[act.table], act, slicer)
        elif isinstance(act, CardChoice) and act.table in {field.name for field in slicer.key_fields}:
            after = {card.name: card for card in cards.with_first(after.values(), act.table)}
        elif isinstance(act, Opening) and act.table in after:
            settings["lower"] = "split"
        elif isinstance(act, Setting) and act.value in choices[act.name]:
            settings[act.name] = act.value
    new_cards = tuple(after.values())
    return settings | ({"cards": new_cards} if new_cards != tuple(before.values()) else {})


def apply_lines(query: AudienceQuery, view: View, acts: Iterable[Act], slicer: Slicer) -> Mapping[str, Any]:
    """The values with their own lines after these clicks, if that changes."""
    keys = {field.name for field in slicer.key_fields}
    before = after = lines.value_lines(query, view.lines)
    for act in acts:
        if isinstance(act, Choice) and act.kind in DRAWS:
            for name, value in act.values:
                after = DRAWS[act.kind](after, name, value) if name in keys else after
    return {"lines": after} if after != before else {}


def apply_folds(query: AudienceQuery, view: View, acts: Iterable[Act]) -> Mapping[str, Any]:
    """The open rows of the pivot after these clicks, if that changes."""
    after = view.folds
    for act in acts:
        if isinstance(act, Choice) and act.kind in FOLDS:
            names, path = zip(*act.values, strict=True)
            keys = view.pivot_keys(query.split_by)
            if len(path) < len(keys) and names == keys[: len(path)]:
                after = folds.with_fold(after, keys, path, FOLDS[act.kind])
    return {"folds": after} if after != view.folds else {}


def _order(query: AudienceQuery, act: Ordering, slicer: Slicer) -> AudienceQuery:
    """The question with the split's rows in another order; the order of leaderboards is part of the view."""
    names = set(query.split_by) | {field.name for field in slicer.data_fields}
    if act.table != "split" or act.column not in names:
        return query
    order = (Order(name=act.column, direction=act.direction),)
    return query.model_copy(update={"order_by": order})


def _card(card: Card, act: Ordering | Search, slicer: Slicer) -> Card:
    if isinstance(act, Search):
        return replace(card, find=act.text)
    by = act.column if cards.is_order(act.column, slicer) else card.by
    return replace(card, by=by, direction=act.direction)


def draw_mode() -> None:
    """Draw the control that chooses what a click on a chart does."""
    widgets.set_value(MODE, st.session_state.get(MODE) or KEEP)
    st.segmented_control(
        "A click on a value",
        [KEEP, EXCLUDE],
        format_func=lambda mode: f"{ICONS[mode]} {WORDS[mode]}",
        key=MODE,
        required=True,
        label_visibility="collapsed",
    )


def key(name: str) -> str:
    """A widget key that changes after each click, so that the same spot can be clicked again."""
    return f"{name}_{st.session_state.get(COUNT, 0)}"


def into(context: PageContext, values: Iterable[tuple[str, str]]) -> None:
    """Keep or leave out these values of key fields. A callback of a chart."""
    change = filters.exclude if st.session_state.get(MODE) == EXCLUDE else filters.include
    query = question.current(context)
    for name, value in values:
        query = change(query, name, value)
    question.ask(query)
    st.session_state[COUNT] = st.session_state.get(COUNT, 0) + 1
    st.rerun()
