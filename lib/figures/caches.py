"""Values that are read once in some seconds, however many parts of a screen need them."""

import threading
import time
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from lib.wire.errors import TrancheError, is_passing

Value = TypeVar("Value")
Key = tuple[Hashable, ...]


@dataclass(eq=False)
class CacheEntry(Generic[Value]):
    """A value, or its computation, since when; `trouble` is why it could not be read again."""

    at: float
    future: Future[Value] = field(default_factory=Future)
    trouble: TrancheError | None = None


class SessionCache(Generic[Value]):
    """A value per key, for `seconds`; the latest `most` of them. A key begins with the person's username.

    Who needs a value while it is computed waits for it. Errors reach all who wait, and are not stored. With
    `serves_stale` a failure that may pass gives the value read before instead, and `trouble` says why, until
    it says that a retry was requested since the moment of the failure. With `fails_together` one failure then
    stands for all values: one call waits in vain, not one per value.
    """

    def __init__(
        self,
        seconds: float,
        most: int,
        now: Callable[[], float] = time.monotonic,
        serves_stale: Callable[[float], bool] | None = None,
        fails_together: bool = False,
    ) -> None:
        self.seconds, self._most, self._now = seconds, most, now
        self._serves_stale, self._fails_together = serves_stale, fails_together
        self._lock = threading.Lock()
        self._entries: dict[Key, CacheEntry[Value]] = {}

    def get(self, key: Key, fetch: Callable[[], Value]) -> Value:
        """The value, from the cache or from `fetch`."""
        entry, before, is_new = self._entry(key)
        if is_new:
            self._settle(key, entry, before, fetch)
        return entry.future.result()

    def begin(self, key: Key, fetch: Callable[[], Value]) -> tuple[Future[Value], bool]:
        """The value on its way, computed by a thread of its own; True if that was started now."""
        entry, before, is_new = self._entry(key)
        if is_new:
            arguments = (key, entry, before, fetch)
            threading.Thread(target=self._settle, args=arguments, name="cache", daemon=True).start()
        return entry.future, is_new

    def find(self, key: Key) -> Future[Value] | None:
        """The value that is stored or on its way, or None."""
        with self._lock:
            entry = self._entries.get(key)
            return None if entry is None or self._is_old(entry) else entry.future

    def trouble(self, username: str) -> TrancheError | None:
        """Why a value of this person's is the one read before; None where none is."""
        with self._lock:
            entries = [entry for key, entry in self._entries.items() if key[0] == username]
        return next((entry.trouble for entry in entries if entry.trouble is not None), None)

    def _entry(self, key: Key) -> tuple[CacheEntry[Value], CacheEntry[Value] | None, bool]:
        """The entry of a key, the one before it, and True if it is new: the caller has to settle it."""
        with self._lock:
            before = self._entries.get(key)
            if before is not None and not self._is_old(before):
                return before, None, False
            self._entries.pop(key, None)
            entry = self._entries[key] = CacheEntry[Value](self._now())
            while len(self._entries) > self._most:
                del self._entries[next(iter(self._entries))]
        return entry, before, True

    def _is_old(self, entry: CacheEntry[Value]) -> bool:
        if entry.trouble is not None and self._serves_stale is not None and self._serves_stale(entry.at):
            return True
        return self._now() - entry.at > self.seconds

    def _settle(
        self, key: Key, entry: CacheEntry[Value], before: CacheEntry[Value] | None, fetch: Callable[[], Value]
    ) -> None:
        stale = None
        if before is not None and self._serves_stale is not None and before.future.done():
            stale = before.future
        try:
            if stale is not None and (trouble := self._recent_trouble()) is not None:
                raise trouble
            value = fetch()
        except BaseException as error:
            if stale is not None and is_passing(error):
                entry.at, entry.trouble = self._now(), error
                entry.future.set_result(stale.result())
                return
            with self._lock:
                if self._entries.get(key) is entry:
                    del self._entries[key]
            entry.future.set_exception(error)
        else:
            with self._lock:  # the service answers again: every stale value is read again
                for other in self._entries.values():
                    if other.trouble is not None:
                        other.at, other.trouble = float("-inf"), None
            entry.future.set_result(value)

    def _recent_trouble(self) -> TrancheError | None:
        if not self._fails_together:
            return None
        with self._lock:
            entries = [entry for entry in self._entries.values() if entry.trouble and not self._is_old(entry)]
        return entries[0].trouble if entries else None
