"""While a database works on an answer: from the first second on words and Cancel, as on the board.

A block draws from the answers that it gets within `speaking`. One that is not there within a second ends the
block with NotReady, in whose place `draw` says what is computed by which database, for how long so far, and
how long that took lately; once the answer is there, the screen is run again. Cancel abandons the calls of
the block, and with them their statements.
"""

import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator
from concurrent import futures
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from statistics import median
from threading import Thread
from typing import Any, ParamSpec, TypeVar

import streamlit as st

from lib.reporting.models import AudienceQuery, ExportQuery
from lib.slicers.models import Slicer
from lib.ui.kit import redraw
from lib.ui.kit.markdown import plain
from lib.ui.kit.session_cache import Key, SessionCache
from lib.wire.deadline import CallGroup

SPEAK_SECONDS, LOOK_SECONDS, LATEST = 1.0, 0.5, 5
IMPORT_ENGINE = "imported"
CANCEL_TEXT = "Cancelled: nothing is computed for it any more. Your question is kept."
Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")
_current: ContextVar["Wait | None"] = ContextVar("wait", default=None)
_latest: dict[Hashable, deque[float]] = defaultdict(lambda: deque(maxlen=LATEST))


class NotReady(Exception):
    """An answer is not there yet, or was given up."""


class Wait:
    """A wait for the answers that `what` is drawn from; `about` is their question."""

    def __init__(self, what: str, about: Hashable, engine: str, usual_seconds: float | None) -> None:
        self.about, self._usual_seconds = about, usual_seconds
        self._name = f"{engine}: {what[0].lower()}{what[1:]}"
        self._group, self._calls = CallGroup(), dict[Hashable, Future[Any]]()
        self._began, self._future = time.monotonic(), Future[Any]()
        self.is_given_up, self.has_waited = False, False

    @property
    def seconds(self) -> float:
        """For how long so far."""
        return time.monotonic() - self._began

    @property
    def is_over(self) -> bool:
        """Whether there is something else to draw than words."""
        return self.is_given_up or self._future.done()

    @property
    def sentence(self) -> str:
        """What is computed by whom, for how long so far, and how long that took lately."""
        usual = "" if self._usual_seconds is None else f"; lately this took {self._usual_seconds:.1f} s"
        return f"{self._name} is being computed, for {self.seconds:.0f} s so far{usual}."

    def give_up(self) -> None:
        """Abandon the calls under way. A callback."""
        self.is_given_up = True
        self._group.abandon()

    def track(self, fetch: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
        """The same call, for any thread, as one that is given up with the others."""

        def call(*arguments: Arguments.args, **options: Arguments.kwargs) -> Value:
            with self._group.tracking():
                return fetch(*arguments, **options)

        return call

    def begin(self, key: Hashable, fetch: Callable[[], Value]) -> Future[Value]:
        """A call on a thread of its own; under way already, if one with this key is."""
        if key not in self._calls:
            self._calls[key] = Future()
            arguments = (self._calls[key], self.track(fetch))
            Thread(target=_settle, args=arguments, name="waiting", daemon=True).start()
        return self._calls[key]

    def result(self, future: Future[Value]) -> Value:
        """The result of a call under way, if it comes soon; otherwise NotReady."""
        if not future.done():
            self._future, self.has_waited = future, True
            futures.wait([future], max(0.0, SPEAK_SECONDS - self.seconds))
        if self.is_given_up or not future.done():
            raise NotReady
        return future.result()


@contextmanager
def speaking(
    what: str,
    query: AudienceQuery | ExportQuery,
    slicer: Slicer,
    view: Hashable = None,
    height: int = 0,
    widget: str = "",
) -> Iterator[None]:
    """Await the answers to a question about a slicer, which `view` shows, for the block `what`.

    A placeholder has a height in pixels; once there is a widget with the key `widget`, what was shown before
    stays, faded, until the new is there. Answers of imported slicers, and of remote services that don't name
    an engine, are awaited without words.
    """
    is_first = height > 0 and (not widget or widget not in st.session_state)
    with st.skeleton(height=height) if is_first else nullcontext(st.empty()):
        engine = slicer.engine or IMPORT_ENGINE
        if engine == IMPORT_ENGINE:
            yield
            return
        key, latest = _key(what), _latest[query.project_name, query.slicer_name, what]
        wait: Wait | None = st.session_state.get(key)
        if wait is None or wait.about != (query, view):
            if wait is not None:
                wait.give_up()
            wait = Wait(what, (query, view), engine, median(latest) if latest else None)
            st.session_state[key] = wait
        token = _current.set(wait)
        try:
            yield
        except NotReady:
            raise
        except Exception:
            st.session_state.pop(key, None)
            raise
        finally:
            _current.reset(token)
        st.session_state.pop(key, None)
    if wait.has_waited:
        latest.append(wait.seconds)


def track(fetch: Callable[Arguments, Value]) -> Callable[Arguments, Value]:
    """The same call, as one of the block that this thread is in, if that speaks."""
    wait = _current.get()
    return fetch if wait is None else wait.track(fetch)


def cached(cache: SessionCache[Value], key: Key, fetch: Callable[[], Value]) -> Value:
    """A value from a cache, or else from a call. NotReady within a block that speaks, if that takes long."""
    if (wait := _current.get()) is None:
        return cache.get(key, fetch)
    return wait.result(cache.begin(key, wait.track(fetch))[0])


def call(key: Hashable, fetch: Callable[[], Value]) -> Value:
    """What a call returns. NotReady within a block that speaks, if that takes long."""
    wait = _current.get()
    return fetch() if wait is None else wait.result(wait.begin(key, fetch))


def draw(what: str) -> None:
    """Draw, in the place of a block that is not there yet, what is computed; or that it was given up."""
    wait: Wait = st.session_state[_key(what)]
    if not wait.is_given_up:
        redraw.when(lambda: wait.is_over, f"over_{what}", lambda: _draw_words(wait, what), LOOK_SECONDS)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(CANCEL_TEXT)
        st.button("Compute", key=f"compute_{what}", on_click=st.session_state.pop, args=(_key(what), None))


def _draw_words(wait: Wait, what: str) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(plain(wait.sentence))
        st.button("Cancel", key=f"cancel_{what}", on_click=wait.give_up)


def _key(what: str) -> str:
    return f"waiting_{what}"


def _settle(future: Future[Value], fetch: Callable[[], Value]) -> None:
    try:
        future.set_result(fetch())
    except BaseException as error:
        future.set_exception(error)
