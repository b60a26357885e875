"""Logs on standard error: lines for people, or one JSON object a line; what callers cause is limited."""

import json
import logging
import threading
from datetime import UTC, datetime
from typing import Literal

from lib.wire import request_ids

Format = Literal["text", "json"]
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
OTHERS = ("uvicorn", "streamlit")  # bring handlers of their own
CALLERS = (
    "asyncio",
    "lib.serving.front.desk_socket",
    "lib.serving.front.request_timeout",
    "lib.serving.front.shared_route",
    "lib.serving.operations",
    "lib.wire.problems",
    "uvicorn.error",
)
"""Loggers of what anybody can cause without signing in."""
A_MINUTE = 60.0
OUTSIDE_A_RUN = ("scriptrunner_utils.script_run_context", "caching.cache_data_api")
"""Warn of components that are declared before a page runs; streamlit-authenticator's are, at its import."""
MIGRATIONS = "alembic.runtime.migration"
"""Says at each start what it could do; only what it does is of interest."""


class JsonLines(logging.Formatter):
    """`time` (UTC), `level`, `logger`, `message`; `request_id`, `traceback` where there are."""

    def format(self, record: logging.LogRecord) -> str:
        parts: dict[str, str | int] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if request_id := request_ids.current():
            parts["request_id"] = request_id
        if record.exc_info:
            parts["traceback"] = self.formatException(record.exc_info)
        return json.dumps(parts | getattr(record, "more", {}), ensure_ascii=False)


class OncePerMinute(logging.Filter):
    """Lets one record of a kind pass in `seconds`; further ones are counted, and written as one line.

    A kind is a logger, a message without its values, and where its exception was raised.
    """

    def __init__(self, seconds: float = A_MINUTE) -> None:
        super().__init__()
        self._seconds, self._lock = seconds, threading.Lock()
        self._counts: dict[object, tuple[int, logging.LogRecord]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        trace = record.exc_info[2] if record.exc_info else None
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        origin = None if trace is None else (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        kind = record.name, record.msg, origin
        with self._lock:
            if not self._counts:
                self._start_timer()
            is_first = kind not in self._counts
            count, _ = self._counts.get(kind, (-1, record))
            self._counts[kind] = count + 1, record
        return is_first

    def _start_timer(self) -> None:
        timer = threading.Timer(self._seconds, self.write)
        timer.daemon = True
        timer.start()

    def write(self) -> None:
        """Write how many have not passed, and count anew; of a kind that goes on none passes any more."""
        with self._lock:
            counts = {kind: (count, record) for kind, (count, record) in self._counts.items() if count}
            self._counts = {kind: (0, record) for kind, (_, record) in counts.items()}
            if counts:
                self._start_timer()
        for count, record in counts.values():
            text = f"{record.getMessage().strip()} ({count:,} more in {self._seconds:g} seconds)"
            summary = logging.LogRecord(record.name, record.levelno, "", 0, text, (), None)
            logging.getLogger(record.name).callHandlers(summary)


for name in OUTSIDE_A_RUN:
    logging.getLogger(f"streamlit.runtime.{name}").addFilter(lambda record: record.levelno > logging.WARNING)


def log(level: str, shape: Format = "text") -> None:
    """Write messages of at least this level to standard error."""
    logging.getLogger("httpx").setLevel("WARNING")
    logging.getLogger(MIGRATIONS).addFilter(lambda record: str(record.msg).startswith("Running upgrade"))
    once_per_minute = OncePerMinute()
    for name in CALLERS:
        logging.getLogger(name).addFilter(once_per_minute)
    if shape == "text":
        logging.basicConfig(level=level.upper(), format=TEXT)
        return
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=level.upper(), handlers=[handler])
    logging.captureWarnings(True)
    together()


def is_json() -> bool:
    """Whether messages are written as JSON."""
    return any(isinstance(handler.formatter, JsonLines) for handler in logging.root.handlers)


def together() -> None:
    """Let libraries that bring handlers of their own write as we do, where that is JSON."""
    if not is_json():
        return
    for name in list(logging.root.manager.loggerDict):
        if name.split(".")[0] in OTHERS:
            logger = logging.getLogger(name)
            logger.handlers.clear()
            logger.propagate = True
