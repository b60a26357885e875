"""A thread pool shared fairly between callers: no caller waits behind all the work of another."""

import asyncio
import threading
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.types import Receive

from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned
from lib.wire.request_ids import carry_id

Result = TypeVar("Result")
NOBODY = object()
IDLE_SECONDS = 30.0
SECONDS_UNWATCHED = 0.05  # most work is done by then, in less time than to watch for a disconnect
Work = tuple["Future[Any]", Callable[[], Any]]


async def answer(work: "Future[Result]", receive: Receive, deadline: Deadline) -> Result:
    """The result of `work`, which checks `deadline`; Abandoned once the caller has disconnected.

    The request's body must have been read: what `receive` gives after it is the news that the caller left.
    Over a socket that is a closed connection, embedded a closed or timed-out response.
    """
    result = asyncio.wrap_future(work)
    try:
        await asyncio.wait({result}, timeout=SECONDS_UNWATCHED)
        if not result.done():
            disconnect = asyncio.ensure_future(wait_for_disconnect(receive))
            either: set[asyncio.Future[Any]] = {result, disconnect}
            try:
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            finally:
                disconnect.cancel()
        if not result.done():
            raise Abandoned("The caller is gone")
        return result.result()
    finally:
        if not result.done():
            deadline.abandon()
            result.cancel()


async def wait_for_disconnect(receive: Receive) -> None:
    """Return once the caller has disconnected."""
    while (await receive())["type"] != "http.disconnect":
        pass


@dataclass(frozen=True)
class Ahead:
    """Stands for a caller in a FairPool, for work that may not be needed."""

    caller: Hashable


class FairPool:
    """Runs work on `threads` threads, at most `share` of them for one caller at the same time.

    Each caller has a queue of their own; callers whose work waits take turns (round robin). Work of
    `Ahead(caller)`, which may not be needed, runs one at a time, and only while no other work waits.
    A thread that has had nothing to do for `IDLE_SECONDS` ends: a pool that nobody uses any more keeps none.
    """

    def __init__(self, threads: int, share: int, name: str) -> None:
        self._threads, self._share, self._name = threads, share, name
        self._thread_count = 0
        self._waiting: OrderedDict[Hashable, deque[Work]] = OrderedDict()
        self._running: Counter[Hashable] = Counter()
        self._condition = threading.Condition()

    def submit(self, caller: Hashable, work: Callable[[], Result]) -> "Future[Result]":
        """The future of `work`. Work that is cancelled while it waits is never started."""
        future: Future[Result] = Future()
        with self._condition:
            self._waiting.setdefault(caller, deque()).append((future, carry_id(work)))
            busy = self._running.total()
            if self._thread_count < self._threads and self._thread_count <= busy + len(self._waiting):
                self._thread_count += 1
                name = f"{self._name}-{self._thread_count}"
                threading.Thread(target=self._serve, name=name, daemon=True).start()
            self._condition.notify()
        return future

    def _serve(self) -> None:
        while turn := self._next():
            caller, (future, work) = turn
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(work())
                except BaseException as error:
                    future.set_exception(error)
            # A thread that waits would keep the last answer in memory.
            del turn, future, work
            with self._condition:
                self._running[caller] -= 1
                if not self._running[caller]:
                    del self._running[caller]
                # This thread takes what waits; to wake another for nothing costs a small question its
                # interpreter.
                if self._waiting:
                    self._condition.notify()

    def _next(self) -> tuple[Hashable, Work] | None:
        """The first work of the caller whose turn it is; waits for it. None once the thread is to end."""
        with self._condition:
            while (caller := self._whose_turn()) is NOBODY:
                if not self._condition.wait(IDLE_SECONDS) and self._whose_turn() is NOBODY:
                    self._thread_count -= 1
                    return None
            queue = self._waiting.pop(caller)
            work = queue.popleft()
            if queue:
                self._waiting[caller] = queue
            self._running[caller] += 1
            return caller, work

    def _whose_turn(self) -> Hashable:
        ready = [caller for caller in self._waiting if self._running[caller] < self._share]
        is_ahead_idle = not any(isinstance(caller, Ahead) for caller in self._running)
        ahead = next((caller for caller in ready if is_ahead_idle), NOBODY)
        return next((caller for caller in ready if not isinstance(caller, Ahead)), ahead)
