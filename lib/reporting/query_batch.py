"""Several questions for one value, asked in the background side by side, that can be given up together."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, wait
from contextlib import suppress
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery
from lib.wire.deadline import CallGroup
from lib.wire.errors import Abandoned

CONCURRENCY = 3
Ask = Callable[[AudienceQuery], Audience]
T = TypeVar("T")


@dataclass(frozen=True)
class Lookup(Generic[T]):
    """Questions, and what their answers, in this order, are read as."""

    queries: Sequence[AudienceQuery]
    read: Callable[[Sequence[Audience]], T]


class QueryBatch:
    """Questions on their way: `ask` answers one, at most CONCURRENCY of them at a time.

    Nothing is waited for unless somebody calls `wait` or `answers`. After the first failure, or once given
    up, no further question is asked.
    """

    def __init__(self, ask: Ask, queries: Sequence[AudienceQuery]) -> None:
        self._ask, self._calls, self._is_over = ask, CallGroup(), threading.Event()
        unique = {query: Future[Audience]() for query in queries}
        self._futures = [unique[query] for query in queries]
        self._queue: SimpleQueue[tuple[AudienceQuery, Future[Audience]]] = SimpleQueue()
        for pair in unique.items():
            self._queue.put(pair)
        for _ in range(min(CONCURRENCY, len(unique))):
            threading.Thread(target=self._work, name="insight", daemon=True).start()

    def cancel(self) -> None:
        """Give up what has not come yet: nobody needs it any more."""
        self._end()
        self._calls.abandon()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether all have come, or one has failed, within so many seconds."""
        wait(self._futures, seconds, FIRST_EXCEPTION)
        return self.is_done

    @property
    def is_done(self) -> bool:
        """Whether all have come, or one has failed or was given up."""
        return self._is_over.is_set() or all(future.done() for future in self._futures)

    @property
    def progress(self) -> tuple[int, int]:
        """How many have come, of how many."""
        return sum(future.done() for future in self._futures), len(self._futures)

    def answers(self) -> list[Audience]:
        """All answers, in the order of the questions; waits for them. Raises what asking for one raised."""
        wait(self._futures, None, FIRST_EXCEPTION)
        errors = [future.exception() for future in self._futures if future.done()]
        for error in sorted(filter(None, errors), key=lambda error: isinstance(error, Abandoned)):
            raise error
        return [future.result() for future in self._futures]

    def _work(self) -> None:
        while not self._is_over.is_set():
            try:
                query, future = self._queue.get_nowait()
            except Empty:
                return
            try:
                with self._calls.tracking():
                    future.set_result(self._ask(query))
            except BaseException as error:
                future.set_exception(error)
                self._end()

    def _end(self) -> None:
        """Begin no further question; whoever waits for one waits no longer."""
        self._is_over.set()
        with suppress(Empty):
            while True:
                self._queue.get_nowait()[1].set_exception(Abandoned("The question was given up"))
