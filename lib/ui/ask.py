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

ANSWERS = "answers"
SECONDS, MOST = 120, 100
Key = tuple[str, date, AudienceQuery]


def audience(here: Here, query: AudienceQuery) -> Audience:
    """The answer to the question: as kept, or from the service. Raises the service's errors."""
    if ANSWERS not in st.session_state:
        st.session_state[ANSWERS] = Answers()
    answers: Answers = st.session_state[ANSWERS]
    reporting = here.reporting
    key = (here.person.username, today(here, query), query)
    return answers.get(key, lambda: reporting.audience(query, here.slicer))


def today(here: Here, query: AudienceQuery) -> date:
    """Today, in the zone that the question is asked in."""
    return dates.today(here.slicer.timezone if query.timezone is None else query.timezone)


class Answers:
    """Answers by question, for two minutes, the latest hundred. Who asks what is on its way waits for it."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._lock = now, threading.Lock()
        self._kept: dict[Key, tuple[float, Future[Audience]]] = {}

    def get(self, key: Key, fetch: Callable[[], Audience]) -> Audience:
        """The kept answer, or what `fetch` gives. An error is raised to all who wait, and not kept."""
        with self._lock:
            since, future = self._kept.get(key, (0.0, None))
            is_new = future is None or self._now() - since > SECONDS
            if is_new or future is None:
                future = Future()
                self._keep(key, future)
        if is_new:
            self._settle(key, future, fetch)
        return future.result()

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
