"""The digests of files, computed in a thread of its own while their rows are read."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future

from lib.reporting.ingest.rows import Reader
from lib.wire.errors import ImportRefused


class Digests:
    """SHA-256 digests of the files of an import, in order. `close` ends the thread, done or not."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._closed = threading.Event()
        self._result: Future[list[str]] = Future()
        self._is_told = False
        self._thread = threading.Thread(target=self._run, name="digests", daemon=True)
        self._thread.start()

    @property
    def are_new(self) -> bool:
        """Whether all are known and nobody has asked for them yet."""
        return self._result.done() and not self._is_told

    def found(self) -> list[str]:
        """Each file's digest, once all are known. ImportRefused when two files are the same."""
        self._is_told = True
        return self._result.result()

    def close(self) -> None:
        """End the thread, after the piece that it is reading."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._result.set_result(self._computed())
        except BaseException as error:
            self._result.set_exception(error)

    def _computed(self) -> list[str]:
        found: dict[str, str] = {}
        for reader in self._readers:
            digest = reader.file.digest(self._go_on)
            if digest in found:
                raise ImportRefused(f"{reader.file.name} and {found[digest]} are the same file")
            found[digest] = reader.file.name
        return list(found)

    def _go_on(self, size: int) -> None:
        if self._closed.is_set():
            raise _Stopped


class _Stopped(Exception):
    """Nobody wants the digests any more."""
