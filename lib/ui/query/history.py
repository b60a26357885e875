"""The states of the pages in this tab: the current one, those before it, and those that were undone.

Audience, Export and Slicers share them. They are kept in the session, and the current one is in the URL.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn

import streamlit as st

from lib.figures.context import RequestContext
from lib.figures.query import state
from lib.figures.query.state import PageState
from lib.figures.rows import NO_RECEIPT, ActReceipt
from lib.reporting import links
from lib.slicers.models import Slicer
from lib.ui import streamlit_compat
from lib.ui.kit import address, slicer_info

PAGE_STATE, ABOUT, LEFT_OUT = "page_state", "page_state_about", "page_state_left_out"
STATE_ENTRY = "state_entry"
SCREEN, MEANINGS = "screen", "states_without_parameters"
EXPLORATION, EXPLORATION_BEFORE = "explore", "exploration_before"
MOST_STEPS, MOST_ADDRESSES = 50, 50
ACTS = "acts"  # the parameter with clicks that are on their way (desk.js)
Params = Mapping[str, str]
NO_ACTS: Mapping[str, ActReceipt] = {}
HistoryDirection = Literal["undo", "redo"]


@dataclass(frozen=True)
class Steps:
    """States as URL parameters: those that undo leads to, from the oldest to the latest, and those that redo
    leads to, nearest first."""

    undo: tuple[Params, ...] = ()
    redo: tuple[Params, ...] = ()

    def after(self, old: Params) -> "Steps":
        """The steps after a change from `old`. Steps undone before can no longer be redone."""
        return Steps((*self.undo, old)[-MOST_STEPS:])

    def change(self, old: Params, new: Params) -> "Steps":
        """The steps after a change from `old` to `new`, which may be the same."""
        return self.after(old) if new != old else self

    def go(self, direction: HistoryDirection, old: Params, target: object = None) -> tuple[Params, "Steps"]:
        """The state that undo or redo leads to from `old`, and the steps as seen from there.

        Without one it is `target`, where a page that was loaded again says that it led; else `old` itself.
        """
        if direction == "undo" and self.undo:
            return self.undo[-1], Steps(self.undo[:-1], (old, *self.redo))
        if direction == "redo" and self.redo:
            return self.redo[0], Steps((*self.undo, old), self.redo[1:])
        if isinstance(target, Mapping):
            old = {str(name): text for name, text in target.items() if isinstance(text, str)}
        return old, self

    def after_navigation(self, old: Params, new: Params) -> "Steps":
        """After the browser went from `old` to `new`.

        To a state of these steps it undoes or redoes what lies between; to another it is a step.
        """
        if new == old:
            return self
        if new in self.redo:
            index = self.redo.index(new)
            return Steps((*self.undo, old, *self.redo[:index]), self.redo[index + 1 :])
        if new in self.undo:
            index = len(self.undo) - 1 - self.undo[::-1].index(new)
            return Steps(self.undo[:index], (*self.undo[index + 1 :], old, *self.redo))
        return self.after(old)


@dataclass(frozen=True)
class HistoryEntry:
    """The current state as URL parameters, on a screen (None: decided when the screen opens).

    `addresses` are the parameters that the browser was sent to, and may still show; `receipts` has the last
    act applied of each component with rows.
    """

    # All in one value: every touch of the session is a place where Streamlit may break a run off for a newer
    # one, and of two writes the second would be missing.
    screen: str | None = None
    params: Params = field(default_factory=dict)
    addresses: tuple[Params, ...] = ()
    receipts: Mapping[str, ActReceipt] = field(default_factory=dict)
    steps: Steps = field(default_factory=Steps)


class StateEntry(NamedTuple):
    """A state, and what it was read from: the slicer; project, name, parameters and the reader's zone."""

    slicer: Slicer
    source: tuple[tuple[str, str], Params, str]
    page_state: PageState


def arrive(screen: str) -> None:
    """Start drawing the screen of that name, which is also its URL without parameters."""
    if st.session_state.get(SCREEN) != screen:
        st.session_state[SCREEN] = screen
        st.session_state[PAGE_STATE] = replace(_entry(), screen=None)


def current(context: RequestContext) -> PageState:
    """The current state, about the slicer chosen in the header.

    Where nothing is asked yet, it is the last complete week by the first key field: a screen opens on an
    answer, not on an empty form. On the way to another slicer all goes along that it has by its meaning, and
    `left_out` says the rest. The default state needs no parameters: a URL without any asks for it.
    """
    about, url = (context.project, context.slicer_name), _in_url()
    params = _params(url)
    is_moved = st.session_state.get(ABOUT, about) != about
    if is_moved and params.get(EXPLORATION) == st.session_state.get(EXPLORATION_BEFORE):
        params = {name: text for name, text in params.items() if name != EXPLORATION}
    # A run asks a dozen times with one context.
    source = (about, params, context.own_zone)
    cached_state: StateEntry | None = None if is_moved else context.caches.get(STATE_ENTRY)
    if cached_state is not None and cached_state.slicer is context.slicer and cached_state.source == source:
        page_state = cached_state.page_state
    else:
        origin = None
        if is_moved:
            origin = slicer_info.open_slicer(
                context.clients, context.person.username, *st.session_state[ABOUT]
            ).slicer
        page_state, left_out = state.read(params, context.slicer, *about, origin)
        if "split" not in params and (is_moved or not state.has_query(params)):
            page_state = page_state.with_query(split_by=state.default_split(context.slicer))
        if not state.has_query(params):
            page_state = page_state.with_query(timezone=state.default_zone(context.slicer, context.own_zone))
        if is_moved or left_out:
            st.session_state[LEFT_OUT] = left_out
        st.session_state[ABOUT], st.session_state[EXPLORATION_BEFORE] = about, params.get(EXPLORATION)
        if not is_moved:
            context.caches[STATE_ENTRY] = StateEntry(context.slicer, source, page_state)
    if params or is_moved:
        _write(page_state.params if params else {}, steps=Steps() if is_moved else steps(), url=url)
    return page_state


def change(
    new: PageState | Params,
    last_acts: Mapping[str, ActReceipt] = NO_ACTS,
    new_steps: Steps | None = None,
    page: Path | None = None,
    about: tuple[str, str] | None = None,
) -> NoReturn:
    """Go to another state, and draw the whole page by it; on another `page`, where one is given.

    The only way to change the state: from a callback, a fragment, a dialog or the page's own script, of which
    nothing runs after this. `new` is a state, or URL parameters as a link has them: parts that don't fit are
    reported and left out. `last_acts` is the last act of each component that led to it. Without `new_steps`
    it is one more step. `about` are project and slicer, where the pickers change too.
    """
    if about is not None:
        st.session_state[ABOUT] = about
    params = new.params if isinstance(new, PageState) else _state_params(new)
    if _query_part(params) != _query_part(_entry().params):
        st.session_state.pop(LEFT_OUT, None)
    _write(params, last_acts, new_steps)
    if page is not None:
        st.switch_page(page, query_params=params)
    # A fragment's callback would draw that fragment alone: what shows figures beside it would stay behind.
    st.rerun()


def change_view(context: RequestContext, **changes: object) -> NoReturn:
    """Change these fields of the view, and draw the whole page."""
    change(current(context).with_view(**changes))


def change_by(context: RequestContext, name: str, key: str) -> NoReturn:
    """Change this field of the view to what the widget of that key has. A callback."""
    value = st.session_state[key]
    change_view(context, **{name: tuple(value) if isinstance(value, list) else value})


def receive(last_acts: Mapping[str, ActReceipt]) -> None:
    """Note the last act of these components where none of them changes the state."""
    _write(_entry().params, last_acts)


def steps() -> Steps:
    """The states before this one, and those that were undone."""
    return _entry().steps


def is_default(context: RequestContext) -> bool:
    """Whether the state is the slicer's default one."""
    about = context.slicer, context.project, context.slicer_name
    return current(context).params == state.from_params({}, *about, context.own_zone).params


def receipt(component: str) -> ActReceipt:
    """The last click of this component that is part of the state."""
    return _entry().receipts.get(component, NO_RECEIPT)


def is_about(context: RequestContext) -> bool:
    """Whether the state is about the slicer of this context."""
    return bool(st.session_state.get(ABOUT) == (context.project, context.slicer_name))


def params() -> dict[str, str]:
    """The state's URL parameters, for links to other screens."""
    return dict(_entry().params)


def left_out() -> list[str]:
    """A sentence for each part of the link that was left out, until the query changes."""
    sentences: list[str] = st.session_state.get(LEFT_OUT, [])
    return sentences


def _entry() -> HistoryEntry:
    entry: HistoryEntry = st.session_state.get(PAGE_STATE, HistoryEntry())
    return entry


def _query_part(params: Params) -> Params:
    return {name: text for name, text in params.items() if links.is_query_param(name)}


def _params(url: Params) -> Params:
    """The state's parameters, from the session, or from the URL after a link or the browser's Back.

    On the way from another screen a URL without parameters stands for the state of that screen, and goes on
    to do so when the browser's Back leads to it; a screen opened without any asks for the default state.
    """
    entry, screen = _entry(), st.session_state.get(SCREEN)
    # A browser sends its URL along with every click. Behind a slow network that may be the URL of a moment
    # ago, which must not undo a click: it counts only where the person has gone there (a link, Back).
    if entry.screen == screen and url in entry.addresses and not streamlit_compat.is_back():
        return entry.params
    meanings: Mapping[str | None, Params] = st.session_state.get(MEANINGS, {})
    if not url and entry.screen != screen:
        meanings = {**meanings, screen: entry.params}
        st.session_state[MEANINGS] = meanings
    params = url or meanings.get(screen, {})
    steps = entry.steps.after_navigation(entry.params, params) if entry.addresses else entry.steps
    st.session_state[PAGE_STATE] = replace(entry, screen=screen, params=params, addresses=(url,), steps=steps)
    return params


def _in_url() -> dict[str, str]:
    return _state_params(address.params())


def _state_params(params: Params) -> dict[str, str]:
    return {name: text for name, text in params.items() if state.is_state_param(name)}


def _write(
    params: Params,
    last_acts: Mapping[str, ActReceipt] | None = None,
    steps: Steps | None = None,
    url: Params | None = None,
) -> None:
    """Store the parameters and put them into the URL in one step, as one entry of the browser's history.

    Without `steps`, another state is one more of them.
    """
    entry, url = _entry(), _in_url() if url is None else url
    if steps is None:
        steps = entry.steps.change(entry.params, params)
    addresses = (*entry.addresses, *(other for other in (url, params) if other not in entry.addresses))
    new = replace(
        entry,
        params=params,
        addresses=addresses[-MOST_ADDRESSES:],
        receipts={**entry.receipts, **(last_acts or {})},
        steps=steps,
    )
    # Where a run breaks off between the two, the next one finds an older address, and puts this right.
    if new != entry:
        st.session_state[PAGE_STATE] = new
    old = {**url, **({ACTS: ""} if last_acts and ACTS in st.query_params else {})}
    if old != params:
        # Each assignment would be an address of its own: Back would lead through states that nobody has seen.
        st.query_params.update({name: params.get(name, ()) for name in {**old, **params}})
