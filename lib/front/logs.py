"""Logs on standard error: lines for people, or one JSON object a line."""

import json
import logging
from datetime import UTC, datetime
from typing import Literal

from lib.wire import request_ids

Format = Literal["text", "json"]
TEXT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
OTHERS = ("uvicorn", "streamlit")  # bring handlers of their own


class JsonLines(logging.Formatter):
    """`time` (UTC), `level`, `logger`, `message`; `request_id` and `traceback` where there are any."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        parts = {
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


OUTSIDE_A_RUN = "streamlit.runtime.scriptrunner_utils.script_run_context"
"""Warns of components that are declared before a page runs; streamlit-authenticator's are, at the start."""

MIGRATIONS = "alembic.runtime.migration"
"""Says at each start what it could do; only what it does is of interest."""


def log(level: str, shape: Format = "text") -> None:
    """Write messages of at least this level to standard error."""
    logging.getLogger("httpx").setLevel("WARNING")
    logging.getLogger(MIGRATIONS).addFilter(lambda record: str(record.msg).startswith("Running upgrade"))
    logging.getLogger(OUTSIDE_A_RUN).addFilter(lambda record: record.levelno > logging.WARNING)
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
