"""The state of a download, shared between the thread that makes the file and the screen."""

import time
from collections.abc import Callable
from typing import Literal

from lib.reporting.client import Reporting
from lib.reporting.models import ExportQuery, Slicer
from lib.wire.errors import DeadlineExceeded, TrancheError

State = Literal["nothing", "making", "made", "failed"]
TOO_LONG = "It took longer than the service allows: choose csv, fewer data fields or fewer days"


class Making:
    """The last requested file. Written by the thread of the download, read by the script's thread."""

    def __init__(self) -> None:
        self.state: State = "nothing"
        self.query: ExportQuery | None = None
        self.filename, self.size, self.reason = "", 0, ""
        self._began = self._ended = 0.0

    def make(
        self,
        reporting: Reporting,
        query: ExportQuery,
        slicer: Slicer | None = None,
        check: Callable[[], None] = lambda: None,
    ) -> bytes:
        """The bytes of the file. An error is stored as a sentence and raised. `slicer` as in the client.

        `check` raises where the file is not for whoever asks any more: before it is made, and before it is
        handed out.
        """
        self.query, self._began, self.state = query, time.monotonic(), "making"
        try:
            check()
            download = reporting.export(query, slicer)
            content = download.content.read()
            check()
        except DeadlineExceeded:
            self._end("failed", reason=TOO_LONG)
            raise
        except TrancheError as error:
            self._end("failed", reason=error.reason)
            raise
        except Exception:
            self._end("failed", reason="The file could not be made; the server's log has the details")
            raise
        self._end("made", filename=download.filename, size=len(content))
        return content

    @property
    def seconds(self) -> float:
        """The seconds since the start, or until the end."""
        return (time.monotonic() if self.state == "making" else self._ended) - self._began

    def _end(self, state: State, filename: str = "", size: int = 0, reason: str = "") -> None:
        self.filename, self.size, self.reason, self._ended = filename, size, reason, time.monotonic()
        self.state = state
