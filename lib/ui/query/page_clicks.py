"""Clicks on the page: those that are new lead to another state, and to another drawing of the page."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NoReturn

import orjson
import streamlit as st

from lib.figures import rows
from lib.figures.context import RequestContext
from lib.figures.query import filters, state
from lib.figures.query.clicks import apply
from lib.figures.rows import Act, ActReceipt
from lib.ui.kit import widgets
from lib.ui.query import current_focus, history

BOARD, CARDS, MOVERS = "split_rows", "leaderboards", "moved_rows"
COMPONENTS = (BOARD, CARDS, MOVERS)
MODE, COUNT = "drill_mode", "drills"
KEEP, EXCLUDE = "keep", "exclude"
LABELS = {KEEP: "Click keeps", EXCLUDE: "Click excludes"}
ICONS = {KEEP: ":material/filter_alt:", EXCLUDE: ":material/block:"}


def catch_up(context: RequestContext, *more: Act) -> None:
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


def take(context: RequestContext, acts: Iterable[Act], last_acts: Mapping[str, ActReceipt]) -> NoReturn:
    """Go through these clicks, all or none. Each is a step of its own to undo, or undoes or redoes one;
    `reset` leads to the slicer's default state.

    `last_acts` is the last act of each component that they come from.
    """
    page_state, steps = history.current(context), history.steps()
    params: Mapping[str, str] = history.params()
    about = context.slicer, context.project, context.slicer_name, context.own_zone
    default_cards = current_focus.own_cards(context)
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


def into(context: RequestContext, values: Iterable[tuple[str, str]]) -> NoReturn:
    """Keep or leave out these values of key fields. A callback of a chart."""
    change = filters.exclude if st.session_state.get(MODE) == EXCLUDE else filters.include
    page_state = history.current(context)
    query = page_state.query
    for name, value in values:
        query = change(query, name, value)
    st.session_state[COUNT] = st.session_state.get(COUNT, 0) + 1
    history.change(replace(page_state, query=query))
