"""Finds what a fragment changes outside of itself without a run of the whole page.

After a click in a fragment or a dialog Streamlit runs that alone: whatever the rest of the page has read and
the click changes stays on the screen as it was. Here each read and each write of the session, of the
database's tables and of the deals service is noted with the fragment that it was in. A write in one fragment
of what another part of the page has read, which is not followed by `st.rerun()`, is a fault.

A callback, and the body after it, may ask for that run. An AppTest, which always runs the whole page, shows
faults too that only a browser would meet.
"""

import logging
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from conftest import ROOT
from sqlalchemy import Engine, event
from streamlit.runtime.scriptrunner import ScriptRunner
from streamlit.runtime.scriptrunner.script_runner import ScriptRunnerEvent
from streamlit.runtime.scriptrunner_utils.script_run_context import (
    RunLocation,
    ScriptRunContext,
    ThreadState,
    get_script_run_ctx,
)
from streamlit.runtime.state import SessionStateProxy
from streamlit.runtime.state.session_state import SessionState

from lib.deals.client import Deals
from lib.ui.query import history

log = logging.getLogger(__name__)
MARK = "FRAGMENT FAULT"
SQL = re.compile(r'\b(INSERT INTO|UPDATE|DELETE FROM|FROM|JOIN)\s+"?(\w+)', re.IGNORECASE)
WRITES = ("INSERT INTO", "UPDATE", "DELETE FROM")
LIB = f"{ROOT}/lib/"
BOOKKEEPING = ("ui/kit/session_cache.py", "ui/kit/sign_in.py")
FINISHED = (ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS, ScriptRunnerEvent.FRAGMENT_STOPPED_WITH_SUCCESS)
MISSING = object()
PARTS: dict[str, Callable[[Any], Any]] = {
    history.PAGE_STATE: lambda entry: (
        entry.params,
        entry.steps,
    )  # not the receipts: each is of one component
}
"""What of a value others draw, where that is not all of it."""
OWN_TABLES = {"sqlite_master", "alembic_version"}
"""Tables that no screen draws."""


@dataclass
class Reads:
    """What the page of one session has read, by fragment (None: the page itself), and what changed since."""

    readers: dict[str, dict[str | None, Any]] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    of_callback: dict[str, str] = field(default_factory=dict)
    of_body: dict[str, str] = field(default_factory=dict)

    def read(self, key: str, value: Any) -> None:
        """Note that a part of the page draws this. What a callback reads, it does not draw."""
        if ThreadState.get().run_location is not RunLocation.CALLBACK:
            self.readers.setdefault(key, {})[ThreadState.get().fragment_id] = value

    def write(self, ctx: ScriptRunContext, key: str, value: Any) -> None:
        """Note a change of what another part draws."""
        here = ThreadState.get()
        if here.fragment_id is None:
            return
        others = [
            reader
            for reader, drawn in self.readers.get(key, {}).items()
            if not _is_inside(ctx, reader, here.fragment_id) and _differ(key, drawn, value)
        ]
        if others:
            files = [line for line in traceback.extract_stack() if LIB in line.filename]
            places = [f"{line.filename.removeprefix(LIB)}:{line.lineno}" for line in files[::-1]]
            if not places[0].startswith(BOOKKEEPING):
                is_callback = here.run_location is RunLocation.CALLBACK
                (self.of_callback if is_callback else self.of_body)[key] = " < ".join(places[:5])

    def begin(self, ctx: ScriptRunContext) -> None:
        """Forget what the parts had read that are drawn anew now."""
        self.of_body.clear()
        for readers in self.readers.values():
            for reader in [*readers]:
                if not ctx.fragment_ids_this_run or any(
                    _is_inside(ctx, reader, fragment) for fragment in ctx.fragment_ids_this_run
                ):
                    del readers[reader]


def _is_inside(ctx: ScriptRunContext, reader: str | None, fragment: str) -> bool:
    return reader is not None and (
        reader == fragment or ctx.fragment_storage.has_ancestor_in(reader, {fragment})
    )


def _differ(key: str, drawn: Any, value: Any) -> bool:
    part = PARTS.get(key, lambda whole: whole)
    try:
        return bool(
            (drawn is MISSING) != (value is MISSING) or (drawn is not value and part(drawn) != part(value))
        )
    except Exception:  # values that can't be compared, as frames, are not those of the page's state
        return False


sessions: dict[int, Reads] = {}
faults: list[str] = []


def _of(ctx: ScriptRunContext) -> Reads:
    return sessions.setdefault(id(ctx.session_state._state), Reads())


def _report(changes: dict[str, str], place: str) -> None:
    for key, lines in changes.items():
        fault = f"{MARK}: {place} changes {key}, which others draw, without st.rerun(): {lines}"
        faults.append(fault)
        log.error(fault)
    changes.clear()


def _on_statement(connection: Any, cursor: Any, statement: str, *rest: Any) -> None:
    ctx = get_script_run_ctx(suppress_warning=True)
    if ctx is None:
        return
    reads = _of(ctx)
    for verb, table in SQL.findall(statement):
        if table.lower() in OWN_TABLES:
            continue
        if verb.upper() in WRITES:
            _change(ctx, reads, f"the table {table}")
        else:
            reads.read(f"the table {table}", reads.versions.get(f"the table {table}", 0))


def _change(ctx: ScriptRunContext, reads: Reads, what: str) -> None:
    reads.versions[what] = reads.versions.get(what, 0) + 1
    reads.write(ctx, what, reads.versions[what])


_get, _put, _remove = (getattr(SessionStateProxy, f"__{name}item__") for name in ("get", "set", "del"))
_start, _finish = ScriptRunContext.on_script_start, ScriptRunner._on_script_finished
_run_callback, _ask = SessionState._run_callback_and_record_rerun, Deals._ask


def _read_state(proxy: Any, key: Any) -> Any:
    value = MISSING
    try:
        value = _get(proxy, key)
        return value
    finally:
        if ctx := get_script_run_ctx(suppress_warning=True):
            _of(ctx).read(str(key), value)


def _write_state(proxy: Any, key: Any, value: Any) -> None:
    try:
        before = _get(proxy, key)
    except KeyError:
        before = MISSING
    _put(proxy, key, value)
    if (ctx := get_script_run_ctx(suppress_warning=True)) and _differ(str(key), before, value):
        _of(ctx).write(ctx, str(key), value)


def _delete_state(proxy: Any, key: Any) -> None:
    _remove(proxy, key)
    if ctx := get_script_run_ctx(suppress_warning=True):
        _of(ctx).write(ctx, str(key), MISSING)


def _begin(ctx: ScriptRunContext) -> None:
    _of(ctx).begin(ctx)
    _start(ctx)


def _end(runner: Any, ctx: ScriptRunContext, stopped: Any, *rest: Any) -> None:
    for changes, place in (
        (_of(ctx).of_callback, "A callback in a fragment"),
        (_of(ctx).of_body, "A fragment"),
    ):
        if stopped in FINISHED:
            _report(changes, place)
        changes.clear()
    _finish(runner, ctx, stopped, *rest)


def _call(state: Any, votes: Any, run: Callable[[], None]) -> None:
    count = len(votes.pending_reruns)
    _run_callback(state, votes, run)
    if (ctx := get_script_run_ctx(suppress_warning=True)) and len(votes.pending_reruns) > count:
        _of(ctx).of_callback.clear()


def _ask_deals(client: Any, method: str, *rest: Any, **more: Any) -> Any:
    if ctx := get_script_run_ctx(suppress_warning=True):
        reads = _of(ctx)
        if method == "GET":
            reads.read("deals", reads.versions.get("deals", 0))
        else:
            _change(ctx, reads, "deals")
    return _ask(client, method, *rest, **more)


PATCHES: tuple[tuple[type, str, Callable[..., Any]], ...] = (
    (SessionStateProxy, "__getitem__", _read_state),
    (SessionStateProxy, "__setitem__", _write_state),
    (SessionStateProxy, "__delitem__", _delete_state),
    (ScriptRunContext, "on_script_start", _begin),
    (ScriptRunner, "_on_script_finished", _end),
    (SessionState, "_run_callback_and_record_rerun", _call),
    (Deals, "_ask", _ask_deals),
)


@contextmanager
def watch() -> Iterator[None]:
    """Watch all scripts of this process. The faults that are found are in `faults`, and in the log."""
    with pytest.MonkeyPatch.context() as patch:
        for owner, name, function in PATCHES:
            patch.setattr(owner, name, function)
        event.listen(Engine, "before_cursor_execute", _on_statement)
        yield
        event.remove(Engine, "before_cursor_execute", _on_statement)
