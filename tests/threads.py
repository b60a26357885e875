"""Finds what runs on a thread without a session and asks for one: the rights and choices of whoever clicked.

Streamlit gives such a thread an empty session, without an error: nobody is signed in there, nothing chosen.
What a download, a cache or a wait is given to call runs on a thread of its own, some of it only where the
answer takes long; so it is held to that here wherever it runs.
"""

import logging
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from conftest import ROOT
from streamlit import runtime
from streamlit.runtime import context
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx
from streamlit.runtime.state import query_params_proxy, session_state_proxy

from lib.figures import waits
from lib.figures.caches import SessionCache
from lib.reporting import query_batch
from lib.ui.kit import downloads

log = logging.getLogger(__name__)
MARK = "THREAD FAULT"
LIB = f"{ROOT}/lib/"
OUTSIDE = ("ui/kit/sign_in.py", "__init__")
"""Streamlit-authenticator's object draws and fills a session as it is made: on a thread it has none."""
faults: list[str] = []
_calls = threading.local()


def _is_thread() -> bool:
    """Whether no script runs here, or a call does that may be any thread's. Tests run without a server."""
    if getattr(_calls, "depth", 0):
        return True
    is_test = threading.current_thread() is threading.main_thread() and not runtime.exists()
    return not is_test and get_script_run_ctx(suppress_warning=True) is None


def as_thread(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which may not ask for a session."""

    def call(*rest: Any, **more: Any) -> Any:
        _calls.depth = getattr(_calls, "depth", 0) + 1
        try:
            return function(*rest, **more)
        finally:
            _calls.depth -= 1

    return call


def _watched(function: Callable[..., Any]) -> Callable[..., Any]:
    """What gives the session, or the browser's request, and notes who asks for it on a thread."""

    def call(*rest: Any, **more: Any) -> Any:
        if _is_thread():
            lines = [line for line in traceback.extract_stack() if line.filename.startswith(LIB)]
            if lines and (lines[-1].filename.removeprefix(LIB), lines[-1].name) != OUTSIDE:
                places = [f"{line.filename.removeprefix(LIB)}:{line.lineno}" for line in lines[::-1]]
                name = threading.current_thread().name
                faults.append(f"{MARK}: asks for a session ({name}): {' < '.join(places[:6])}")
                log.error(faults[-1])
        return function(*rest, **more)

    return call


def _with(function: Callable[..., Any], index: int) -> Callable[..., Any]:
    """The same function; what it is given at this index, to call, is held to be a thread's."""

    def call(*rest: Any, **more: Any) -> Any:
        return function(*rest[:index], as_thread(rest[index]), *rest[index + 1 :], **more)

    return call


SESSIONS: tuple[tuple[Any, str], ...] = (
    (session_state_proxy, "get_session_state"),
    (query_params_proxy, "get_session_state"),
    (context, "get_script_run_ctx"),
)
TAKERS: tuple[tuple[Any, str, int], ...] = (
    (SessionCache, "begin", 2),
    (waits, "cached", 2),
    (waits, "call", 1),
    (waits, "track", 0),
    (downloads, "offer", 2),
    (waits, "on_thread", 0),
    (query_batch.QueryBatch, "__init__", 1),
)
"""What takes something to call on a thread, and at which index."""


@contextmanager
def watch() -> Iterator[None]:
    """Watch all threads of this process. The faults that are found are in `faults`, and in the log."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name in SESSIONS:
            patch.setattr(owner, name, _watched(getattr(owner, name)))
        for owner, name, index in TAKERS:
            patch.setattr(owner, name, _with(getattr(owner, name), index))
        yield
