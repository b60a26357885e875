"""Calls that a block of a screen waits for, and that are given up together."""

import time
from collections.abc import Callable, Hashable
from concurrent import futures
from concurrent.futures import Future
from contextvars import ContextVar
from threading import Thread
from typing import Any, ParamSpec, TypeVar

from lib.figures.caches import Key, SessionCache
from lib.wire.deadline import CallGroup

SPEAK_SECONDS = 1.0
Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")
_current: ContextVar["Wait | None"] = ContextVar("wait", default=None)


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
            self._calls[key] = on_thread(self.track(fetch), "waiting")
        return self._calls[key]

    def result(self, future: Future[Value]) -> Value:
        """The result of a call under way, if it comes soon; otherwise NotReady."""
        if not future.done():
            self._future, self.has_waited = future, True
            futures.wait([future], max(0.0, SPEAK_SECONDS - self.seconds))
        if self.is_given_up or not future.done():
            raise NotReady
        return future.result()


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


def on_thread(fetch: Callable[[], Value], name: str) -> Future[Value]:
    """What a call returns, or raises, on a daemon thread of its own that has this name."""
    future = Future[Value]()

    def settle() -> None:
        try:
            future.set_result(fetch())
        except BaseException as error:
            future.set_exception(error)

    Thread(target=settle, name=name, daemon=True).start()
    return future
