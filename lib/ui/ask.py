"""Asking the service: what one person was told in this session is kept for a moment.

Nothing is shared between sessions, so that no answer reaches somebody who may not have it.
"""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from datetime import date

import streamlit as st

from lib.reporting import dates
from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.ui.frame import Here
from lib.wire.errors import TrancheError

ANSWERS = "answers"
SECONDS, MOMENT_SECONDS, MOST = 120, 2.0, 100
Key = tuple[str, date, AudienceQuery]


def audience(here: Here, query: AudienceQuery) -> Audience:
    """The answer to the question: as kept, or from the service. Raises the service's errors."""
    answers, reporting = _answers(), here.reporting
    key = (here.person.username, today(here, query), query)
    return answers.get(key, lambda: reporting.audience(query, here.slicer))


def soon(here: Here, query: AudienceQuery) -> Audience | None:
    """The answer if it comes in a moment; None where it takes longer or fails: the screen does without.

    It goes on being asked for, so that it may be there next time.
    """
    answers, reporting = _answers(), here.reporting
    key = (here.person.username, today(here, query), query)
    return answers.soon(key, lambda: reporting.audience(query, here.slicer))


def today(here: Here, query: AudienceQuery) -> date:
    """Today, in the zone that the question is asked in."""
    return dates.today(here.slicer.timezone if query.timezone is None else query.timezone)


def _answers() -> "Answers":
    answers: Answers = st.session_state.setdefault(ANSWERS, Answers())
    return answers


class Answers:
    """Answers by question, for two minutes, the latest hundred. Who asks what is on its way waits for it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._lock = now, threading.Lock()
        self._kept: dict[Key, tuple[float, Future[Audience]]] = {}

    def get(self, key: Key, fetch: Callable[[], Audience]) -> Audience:
        """The kept answer, or what `fetch` gives. An error is raised to all who wait, and not kept."""
        future, is_new = self._future(key)
        if is_new:
            self._settle(key, future, fetch)
        return future.result()

    def soon(self, key: Key, fetch: Callable[[], Audience]) -> Audience | None:
        """The same if it comes in a moment; what is on its way already is not waited for."""
        future, is_new = self._future(key)
        if is_new:
            settling = (key, future, fetch)
            threading.Thread(target=self._settle, args=settling, name="answer", daemon=True).start()
        try:
            return future.result(MOMENT_SECONDS if is_new else 0)
        except (TimeoutError, TrancheError):
            return None

    def _future(self, key: Key) -> "tuple[Future[Audience], bool]":
        """What is kept or on its way; whether it is new, and has to be settled."""
        with self._lock:
            since, future = self._kept.get(key, (0.0, None))
            is_new = future is None or self._now() - since > SECONDS
            if is_new or future is None:
                future = Future()
                self._keep(key, future)
        return future, is_new

    def _keep(self, key: Key, future: "Future[Audience]") -> None:
        self._kept.pop(key, None)
        self._kept[key] = (self._now(), future)
        while len(self._kept) > MOST:
            del self._kept[next(iter(self._kept))]

    def _settle(self, key: Key, future: "Future[Audience]", fetch: Callable[[], Audience]) -> None:
        try:
            future.set_result(fetch())
        except BaseException as error:
            with self._lock:
                self._kept.pop(key, None)
            future.set_exception(error)
