"""The slicer: which one is chosen, and its description, refreshed from time to time and not on every click.

It is asked by a thread of its own. A screen waits a moment for it, and goes on without it where it can: Deals
and Access open while the reporting service hangs. No `SessionCache`: a description never raises, may be late,
and after a failure the service is left alone.
"""

import time
from collections.abc import Sequence
from concurrent.futures import Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace

import streamlit as st

from lib.figures import waits
from lib.figures.context import NO_SLICER
from lib.reporting.models import InfoQuery
from lib.serving.connect import Clients
from lib.slicers.models import Slicer
from lib.ui import streamlit_compat
from lib.ui.kit import redraw, retry
from lib.wire.errors import TrancheError

SLICERS, REQUESTS = "known_slicers", "asked_slicers"
BLINK_SECONDS, MOMENT_SECONDS, PAUSE_SECONDS = 0.2, 3.0, 10.0
Key = tuple[str, str, str]
PARTS = ("project", "slicer")
LABELS = {"project": "Project", "slicer": "Slicer"}
WIDTHS = {"project": 110, "slicer": 150}
NEXT, HISTORY = "picked_next", "picked_before"
MOST = 20
Pair = tuple[str, str]


@dataclass(frozen=True)
class CachedSlicer:
    """The last description, its time, and the error of a failed refresh, if any.

    `is_awaited`: the service was asked, and has not answered yet.
    """

    slicer: Slicer = NO_SLICER
    told_at: float = float("-inf")
    trouble: TrancheError | None = None
    failed_at: float = float("-inf")
    is_awaited: bool = False


def open_slicer(clients: Clients, username: str, project: str, name: str) -> CachedSlicer:
    """The slicer's current description; if it can't be loaded, the last one with the error.

    After a failure the service is left alone for some seconds: everybody would wait for it at every click.
    """
    key = (username, project, name)
    cached_slicer, now = _cache().get(key, CachedSlicer()), time.monotonic()
    if key in _requests():
        return _describe(key, 0)
    failed_at = cached_slicer.failed_at
    is_left_alone = now - failed_at < PAUSE_SECONDS and not retry.is_wanted_since(failed_at)
    if is_left_alone or now - cached_slicer.told_at < clients.slicer_seconds:
        return cached_slicer
    _requests()[key] = waits.on_thread(lambda: _answer(clients, cached_slicer, project, name), "slicer")
    return _describe(key, MOMENT_SECONDS)


def wait_for_slicer(username: str, project: str, name: str) -> CachedSlicer:
    """The same for screens that need it: waits until the request is done."""
    return _describe((username, project, name), None)


def look_out(username: str, project: str, name: str) -> None:
    """Rerun the screen once the description has arrived that it was drawn without."""
    key = (username, project, name)
    redraw.when(lambda: key not in _requests() or _requests()[key].done(), "slicer_info")


def _describe(key: Key, seconds: float | None) -> CachedSlicer:
    future = _requests().get(key)
    if future is None:
        return _cache().get(key, CachedSlicer())
    try:
        wait([future], timeout=0 if seconds == 0 else BLINK_SECONDS)
        with nullcontext() if future.done() else st.spinner("Calling the reporting service", show_time=True):
            cached_slicer = _cache()[key] = future.result(seconds)
    except TimeoutError:
        return replace(_cache().get(key, CachedSlicer()), is_awaited=True)
    finally:
        if future.done():
            _requests().pop(key, None)
    return cached_slicer


def _answer(clients: Clients, cached_slicer: CachedSlicer, project: str, name: str) -> CachedSlicer:
    try:
        slicer = clients.reporting.info(InfoQuery(project_name=project, slicer_name=name))
    except TrancheError as error:
        return replace(cached_slicer, trouble=error, failed_at=time.monotonic())
    return CachedSlicer(slicer, time.monotonic())


def _cache() -> dict[Key, CachedSlicer]:
    slicers: dict[Key, CachedSlicer] = st.session_state.setdefault(SLICERS, {})
    return slicers


def _requests() -> dict[Key, Future[CachedSlicer]]:
    requests: dict[Key, Future[CachedSlicer]] = st.session_state.setdefault(REQUESTS, {})
    return requests


def first_of(slicers: Sequence[Pair], project: str | None, slicer: str | None) -> Pair | None:
    """The first slicer (project, name) that a request means; None where it names one that is not there.

    None for project or slicer: the request leaves it open. `slicers` are those that the person may see, so
    that one that is not visible and one that does not exist are the same to them.
    """
    return next((pair for pair in slicers if project in (None, pair[0]) and slicer in (None, pair[1])), None)


def missing_sentence(project: str, slicer: str) -> str:
    """That a slicer is missing: the same words whether it does not exist or is not visible. Not escaped."""
    whole = f"The slicer “{slicer}” of the project “{project}”" if project and slicer else ""
    name = whole or (f"The slicer “{slicer}”" if slicer else f"The project “{project}”")
    return (
        f"{name} does not exist or is not visible to you, so no figures are shown. Choose a slicer above; "
        "the question stays in the address of this page."
    )


def pick(project: str, slicer: str) -> None:
    """Make the pickers of the next run show these, whatever the URL says. From a callback."""
    st.session_state[NEXT] = {"project": project, "slicer": slicer}


def draw_pickers(slicers: Sequence[Pair]) -> tuple[Pair, bool]:
    """Draw the two pickers, the project's in sight where there are several; what they show, and whether it is
    missing.

    Both are bound to their query parameters, so that a link shows the same to others. A parameter that no
    widget is bound to is left behind on the way to another screen; to put it back makes an entry of the
    browser's history of its own, and *Back* would have to be pressed twice.
    """
    in_order = sorted(slicers, key=lambda pair: pair[0])
    choice: dict[str, str] = st.session_state.pop(NEXT, {})
    project, slicer = (choice.get(part) or _slicer_of_link(part, slicers) for part in PARTS)
    match = first_of(in_order, project, slicer)
    current = match or (project or "", slicer or "")
    # Note what the pickers have shown on this page.
    page, pairs = st.session_state.get(HISTORY, ("", ()))
    before = pairs if page == streamlit_compat.page() else ()
    others = (pair for pair in before if pair != current)
    st.session_state[HISTORY] = (streamlit_compat.page(), (*others, current)[-MOST:])
    projects = [*dict.fromkeys(pair[0] for pair in in_order)]
    names = [pair[1] for pair in in_order if pair[0] == current[0]]
    with st.container(key="only_project") if projects == [current[0]] else nullcontext():
        _picker("project", projects, current[0], slicers)
    _picker("slicer", names, current[1], slicers)
    return current, match is None


def _slicer_of_link(part: str, slicers: Sequence[Pair]) -> str | None:
    """The project or slicer of the URL, or else the one picked last.

    After a choice a browser may still send the address of a missing slicer: that is passed over, unless the
    person went back there.
    """
    in_url, current, index = st.query_params.get(part), st.session_state.get(part), PARTS.index(part)
    page, pairs = st.session_state.get(HISTORY, ("", ()))
    was_shown = page == streamlit_compat.page() and in_url in {pair[index] for pair in pairs}
    is_old = was_shown and in_url not in {pair[index] for pair in slicers} and not streamlit_compat.is_back()
    return current if in_url is None or (is_old and current) else in_url


def _picker(part: str, options: list[str], value: str, slicers: Sequence[Pair]) -> None:
    """Draw one picker; a value that is missing is the first of its options."""
    if part not in st.session_state and value and st.query_params.get(part) != value:
        st.query_params[part] = value  # later on the widget does so itself, and nobody else may
    if st.session_state.get(part) != value or part not in st.query_params:
        st.session_state[part] = value or None
    st.selectbox(
        LABELS[part], [value, *options] if value and value not in options else options, index=None, key=part,
        bind="query-params", required=True, placeholder=f"Choose a {part}", label_visibility="collapsed",
        width=WIDTHS[part], on_change=_pick, args=(slicers,),
    )  # fmt: skip


def _pick(slicers: Sequence[Pair]) -> None:
    """Show what was picked; of another project the slicer of the same name, or else its first."""
    project, slicer = (st.session_state.get(part) for part in PARTS)
    match = first_of(slicers, project, slicer) or first_of(slicers, project, None)
    if match is not None and not streamlit_compat.is_back():
        pick(*match)
