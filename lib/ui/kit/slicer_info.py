"""A slicer's description from its service, refreshed from time to time and not on every click.

It is asked by a thread of its own. A screen waits a moment for it, and goes on without it where it can: Deals
and Access open while the reporting service hangs. No `SessionCache`: a description never raises, may be late,
and after a failure the service is left alone.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import nullcontext
from dataclasses import dataclass, replace

import streamlit as st

from lib.connect import Clients
from lib.reporting.models import InfoQuery, Slicer
from lib.ui.kit import retry
from lib.wire.errors import TrancheError

KNOWN, ASKED = "known_slicers", "asked_slicers"
NOTHING = Slicer()
BLINK_SECONDS, MOMENT_SECONDS, PAUSE_SECONDS, POLL_SECONDS = 0.2, 3.0, 10.0, 2
Key = tuple[str, str, str]


@dataclass(frozen=True)
class CachedSlicer:
    """The last description, its time, and the error of a failed refresh, if any.

    `is_awaited`: the service was asked, and has not answered yet.
    """

    slicer: Slicer = NOTHING
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
    is_fresh = now - cached_slicer.told_at < clients.slicer_seconds
    is_left_alone = now - cached_slicer.failed_at < PAUSE_SECONDS and not retry.is_wanted_since(
        cached_slicer.failed_at
    )
    if is_fresh or is_left_alone:
        return cached_slicer
    _requests()[key] = _asking(lambda: _answer(clients, cached_slicer, project, name))
    return _describe(key, MOMENT_SECONDS)


def wait_for_slicer(username: str, project: str, name: str) -> CachedSlicer:
    """The same for screens that need it: waits until the request is done."""
    return _describe((username, project, name), None)


def look_out(username: str, project: str, name: str) -> None:
    """Rerun the screen once the description has arrived that it was drawn without."""
    st.fragment(_look, run_every=POLL_SECONDS)((username, project, name))


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


def _asking(answer: Callable[[], CachedSlicer]) -> Future[CachedSlicer]:
    """The future of `answer`, run in a thread of its own so that no service delays another."""
    future: Future[CachedSlicer] = Future()

    def ask() -> None:
        try:
            future.set_result(answer())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=ask, name="slicer", daemon=True).start()
    return future


def _answer(clients: Clients, cached_slicer: CachedSlicer, project: str, name: str) -> CachedSlicer:
    try:
        slicer = clients.reporting.info(InfoQuery(project_name=project, slicer_name=name))
    except TrancheError as error:
        return replace(cached_slicer, trouble=error, failed_at=time.monotonic())
    return CachedSlicer(slicer, time.monotonic())


def _look(key: Key) -> None:
    future = _requests().get(key)
    if future is None or future.done():
        st.rerun()


def _cache() -> dict[Key, CachedSlicer]:
    slicers: dict[Key, CachedSlicer] = st.session_state.setdefault(KNOWN, {})
    return slicers


def _requests() -> dict[Key, Future[CachedSlicer]]:
    requests: dict[Key, Future[CachedSlicer]] = st.session_state.setdefault(ASKED, {})
    return requests
