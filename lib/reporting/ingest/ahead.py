"""Reading ahead: the next batch is read while the one before is normalised and written."""

import threading
from collections.abc import Callable, Generator, Iterator
from queue import SimpleQueue
from typing import NamedTuple

from lib.reporting.ingest.rejects import Reject
from lib.reporting.ingest.rows import RawRows, Refuse

BATCHES = 2
_REJECTS = 1000


class _Part(NamedTuple):
    """A batch that was read: rejects, then rows (None: no rows yet); or the error that ended reading."""

    rejects: list[Reject]
    rows: RawRows | None = None
    is_last: bool = False
    error: BaseException | None = None


class _Stopped(Exception):
    """Nobody wants the rest."""


def read_ahead(read: Callable[[Refuse], Iterator[RawRows]], refuse: Refuse) -> Generator[RawRows, None, None]:
    """The batches of `read`, which runs in a thread of its own, at most BATCHES ahead.

    What it refuses goes to `refuse` here, in the order of reading; what it raises is raised here. Close the
    iterator when the rest is not wanted: the thread has ended then.
    """
    reading = _Reading(read)
    try:
        while True:
            part = reading.next()
            for reject in part.rejects:
                refuse(reject)
            if part.error is not None:
                raise part.error
            if part.is_last:
                return
            if part.rows is not None:
                yield part.rows
    finally:
        reading.stop()


class _Reading:
    """The thread, and what it has read so far."""

    def __init__(self, read: Callable[[Refuse], Iterator[RawRows]]) -> None:
        self._read, self._rejects = read, list[Reject]()
        self._parts: SimpleQueue[_Part] = SimpleQueue()
        self._room, self._is_stopped = threading.Semaphore(BATCHES), False
        self._thread = threading.Thread(target=self._run, name="reading", daemon=True)
        self._thread.start()

    def next(self) -> _Part:
        """The next part, as soon as there is one."""
        part = self._parts.get()
        self._room.release()
        return part

    def stop(self) -> None:
        """End the thread, after the batch that it is reading."""
        self._is_stopped = True
        self._room.release()
        self._thread.join()

    def _run(self) -> None:
        try:
            for rows in self._read(self._refuse):
                self._put(rows)
            self._put(None, is_last=True)
        except _Stopped:
            pass
        except BaseException as error:
            self._parts.put(_Part(self._rejects, error=error))

    def _refuse(self, reject: Reject) -> None:
        self._rejects.append(reject)
        if len(self._rejects) >= _REJECTS:
            self._put(None)

    def _put(self, rows: RawRows | None, is_last: bool = False) -> None:
        self._room.acquire()
        if self._is_stopped:
            raise _Stopped
        rejects, self._rejects = self._rejects, []
        self._parts.put(_Part(rejects, rows, is_last))
