"""The private parts of Streamlit that the desk relies on, and no other file has.

Streamlit promises none of them; all were last seen in version 1.67. Each function is one reach: it says what
it is for and what it does where the part is gone. `check` names at start what is gone, and what is lost with
it. What the server's side relies on is in lib/serving/front/streamlit_parts.py.
"""

import importlib
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit import config, logger

from lib.serving.front import Protocol
from lib.serving.front.streamlit_parts import Reach, reaches
from lib.wire.errors import Misconfigured

INSTALL = "Install what requirements.lock names"
STATIC = Path(st.__file__).parent / "static"
RUN_FIELDS = (
    "session_id",
    "page_script_hash",
    "is_history_navigation",
    "parallel_coordinator",
    "has_script_started",
)
MEDIA_LISTS = ("_file_metadata", "_deferred_callables")
BROWSER_FIELDS = ("rerun_script", "stop_script", "backend_operation_request")
SERVER_FIELDS = ("delta", "script_finished")
STATE = ("state.safe_session_state", "SafeSessionState")
CALLBACK_PARTS = (("scriptrunner.script_runner", "ScriptRunner"), STATE)
CALLBACK_CALLS = ("_maybe_handle_execution_control_request", "on_script_will_rerun")
RERUN_FIELDS = (
    "query_string",
    "widget_states",
    "page_script_hash",
    "page_name",
    "fragment_id",
    "cached_message_hashes",
    "context_info",
)


def check() -> list[str]:
    """A sentence for each private part that this version of Streamlit does not have."""
    missing = [reach for reach in (*_reaches(), *reaches(STATIC)) if not _holds(reach.is_there)]
    return [f"Streamlit {st.__version__} has no {reach.part}: {reach.loss}." for reach in missing]


def session_id() -> str:
    """The session for which this thread runs a script, to stop its queries when its tab is closed.

    Empty outside of a script, and without the script's context: queries then run to their end.
    """
    return str(_of_run("session_id", ""))


def is_script() -> bool:
    """Whether this thread runs a script, so that it has a session; without the context: False."""
    return _run() is not None


def page() -> str:
    """A name of the page for which a script runs, to know whether it was left; empty without it."""
    return str(_of_run("page_script_hash", ""))


def is_back() -> bool:
    """Whether the browser's Back or Forward caused this run: False for all without it.

    Then a step back to a slicer that is gone shows the slicer picked last.
    """
    return bool(_of_run("is_history_navigation", False))


def drawing() -> object | None:
    """An object that belongs to this run of the script, by which parts of a page share one look at a sign-in.

    None before the script's first line, and without it: then each part looks.
    """
    run = _of_run("parallel_coordinator", None)
    return run if _of_run("has_script_started", False) else None


def has_state(session: Any, key: str) -> bool:
    """Whether a session of Streamlit's has this key in its state; False without it: the session is ended."""
    return key in getattr(session, "session_state", ())


def is_stop(error: BaseException | None) -> bool:
    """Whether a thread ended because its run of the script did; without it, that is logged as an error."""
    stop = _part("streamlit.runtime.scriptrunner", "StopException")
    return stop is not None and isinstance(error, stop)


def store_closed_sessions(storage: Any) -> None:
    """Let this storage have the sessions of closed tabs, which Streamlit would never end by itself.

    Without it, up to 128 of them stay in memory on a quiet desk.
    """
    manager: Any = getattr(_runtime(), "_session_mgr", None)
    if hasattr(manager, "_session_storage"):
        manager._session_storage = storage


def knows_session(session_id: str) -> bool:
    """Whether a tab can go on with this session; True without the manager: then it starts an empty one."""
    manager: Any = getattr(_runtime(), "_session_mgr", None)
    look = getattr(manager, "get_session_info", None)
    return look is None or look(session_id) is not None


def replace_media(make: Callable[[Any], Any]) -> None:
    """Let this stand in front of Streamlit's media files, which it hands to whoever has the address.

    Without it no file can be told to be somebody's, so that nobody gets any: see `media`.
    """
    running = _runtime()
    if hasattr(running, "_media_file_mgr"):
        running._media_file_mgr = make(running._media_file_mgr)


def media() -> Any:
    """What has Streamlit's media files; None without it."""
    return getattr(_runtime(), "media_file_mgr", None)


def media_ids(manager: Any) -> set[str] | None:
    """The identifiers of Streamlit's media files, to forget whose the others were.

    None without them: then owners are remembered until the desk ends.
    """
    files, later_files = (getattr(manager, name, None) for name in MEDIA_LISTS)
    return None if files is None or later_files is None else {*tuple(files), *tuple(later_files)}


def media_size(manager: Any, file_id: str) -> int:
    """The bytes of a media file; 0 for one that is gone, and without the look."""
    file = manager.read_file(file_id) if hasattr(manager, "read_file") else None
    return getattr(file, "content_size", 0)


def keep_media(manager: Any, file_ids: Iterable[str]) -> None:
    """Let the next removal of unused files leave these: the first marks a download, the second deletes it.

    Without it, a file that was just made may be gone before the browser requests it.
    """
    files = getattr(manager, MEDIA_LISTS[0], {})
    for file_id in file_ids:
        if file_id in files:
            files[file_id] = type(files[file_id])(files[file_id].kind)


def finish_callbacks() -> None:
    """Let the callbacks of a click run to their end before the next message of the browser is looked at.

    Without it, a run that is asked for meanwhile breaks them off where they touch the session, before their
    first line too: the click is lost, or half of it is done.
    """
    runner, state = (_part(f"streamlit.runtime.{module}", name) for module, name in CALLBACK_PARTS)
    look, take = (getattr(runner, CALLBACK_CALLS[0], None), getattr(state, CALLBACK_CALLS[1], None))
    if look is None or take is None:
        return
    running = threading.local()

    def take_whole(self: Any, *args: Any, **options: Any) -> None:
        running.callbacks = True
        try:
            take(self, *args, **options)
        finally:
            running.callbacks = False

    def look_later(self: Any) -> None:
        if not getattr(running, "callbacks", False):
            look(self)

    setattr(runner, CALLBACK_CALLS[0], look_later)
    setattr(state, CALLBACK_CALLS[1], take_whole)


def look_up_single_values() -> None:
    """Let an input look up its own value alone.

    Without it, each text field, picker and date of a screen copies all that the session holds, to see whether
    its own value is None: 400 fields take 2.8 ms each, where 25 take 0.3 (Streamlit 1.67, `filtered_state`).
    """
    state = _part(f"streamlit.runtime.{STATE[0]}", STATE[1])
    if hasattr(state, "filtered_state"):
        whole = state.filtered_state.fget
        state.filtered_state = property(lambda self: _Values(self._state, self._lock, partial(whole, self)))


def protocol() -> Protocol:
    """How the messages of the WebSocket are parsed, to refuse what no screen sends.

    Raises Misconfigured without it: who is not signed in could do with the desk what they like.
    """
    browser, server = _messages()
    if not _holds(_has_messages):
        raise Misconfigured(f"Streamlit {st.__version__} has other messages than Tranche knows. {INSTALL}")
    return Protocol(browser.FromString, server.FromString)


def replace_company_client(change: Callable[[type[Any]], type[Any]]) -> bool:
    """Let `change` derive the class that asks the company's provider, to check what it says; hands none in.

    False without it: then nobody may sign in with a company account.
    """
    make = _part("streamlit.web.server.starlette.starlette_auth_routes", "_create_streamlit_oauth_class")
    if make is None:
        return False
    oauth = make(importlib.import_module("authlib.integrations.starlette_client"))
    if not hasattr(oauth, "oauth2_client_cls"):
        return False
    oauth.oauth2_client_cls = change(oauth.oauth2_client_cls)
    return True


def set_option(name: str, value: object) -> None:
    """Set an option of Streamlit's server before it starts, which `st.set_option` refuses.

    Raises Misconfigured without it: sessions and company sign-ins would not be bound to a browser.
    """
    set_ = _part("streamlit.config", "set_option")
    if set_ is None:
        raise Misconfigured(f"Streamlit {st.__version__} takes no options. {INSTALL}")
    set_(name, value)


def _reaches() -> Iterator[Reach]:
    """The parts of the server's Python, each with what is lost without it."""
    manager = "runtime.websocket_session_manager", "WebsocketSessionManager"
    stop = partial(_has, "streamlit.runtime.scriptrunner", "StopException")
    parts = (
        partial(_names, "runtime.runtime", "Runtime", "_session_mgr"),
        partial(_names, *manager, "_session_storage"),
    )
    look = partial(_has, f"streamlit.{manager[0]}", manager[1], "get_session_info")
    media_files = partial(_names, "runtime.runtime", "Runtime", "_media_file_mgr")
    media_lists = partial(_names, "runtime.media_file_manager", "MediaFileManager", *MEDIA_LISTS)
    values = partial(_has, f"streamlit.runtime.{STATE[0]}", STATE[1], "filtered_state")
    state = partial(_has, "streamlit.runtime.app_session", "AppSession", "session_state")
    yield Reach("context of a script's run", "queries of closed tabs run on, and links lose a step", _has_run)
    yield Reach("StopException", "the log has errors that are none", stop)
    yield Reach(
        "storage of closed sessions to replace",
        "closed tabs stay in memory",
        lambda: all(is_there() for is_there in parts),
    )
    yield Reach("look for a session", "a tab whose desk ended does not load itself again", look)
    yield Reach("media files to replace", "nobody can download files", media_files)
    yield Reach("lists of media files", "downloads get lost on a busy desk", media_lists)
    yield Reach(
        "size of media files",
        "more than 128 MB of downloads are held",
        partial(_has, "streamlit.runtime.media_file_manager", "MediaFileManager", "read_file"),
    )
    yield Reach(
        "look for newer messages",
        "a click is lost where another follows soon",
        lambda: all(
            _has(f"streamlit.runtime.{module}", name, call)
            for (module, name), call in zip(CALLBACK_PARTS, CALLBACK_CALLS, strict=True)
        ),
    )
    yield Reach("values of a session", "screens with many fields are slow", values)
    yield Reach("state of a session", "a tab whose connection breaks starts again from its address", state)
    yield Reach("messages as Tranche knows them", "the desk does not start", _has_messages)
    yield Reach(
        "options that can be set at start",
        "the desk does not start",
        partial(_has, "streamlit.config", "set_option"),
    )
    loss = "nobody can sign in with a company account"
    yield Reach("class for the company's provider", loss, has_company_client)


def has_company_client() -> bool:
    """Whether `replace_company_client` can do its work."""
    return _has("streamlit.web.server.starlette.starlette_auth_routes", "_create_streamlit_oauth_class")


class _Values(Mapping[str, Any]):
    """What a session holds by key, each looked up when it is asked for."""

    def __init__(self, state: Any, lock: Any, whole: Callable[[], dict[str, Any]]) -> None:
        self._state, self._lock, self._whole = state, lock, whole

    def __getitem__(self, key: str) -> Any:
        with self._lock:
            return self._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole())

    def __len__(self) -> int:
        return len(self._whole())


def _part(module: str, name: str) -> Any:
    """A part of another program, or None."""
    try:
        return getattr(importlib.import_module(module), name, None)
    except ImportError:
        return None


def _has(module: str, name: str, attribute: str = "__name__") -> bool:
    """Whether a module has this part, and the part this attribute."""
    return hasattr(_part(module, name), attribute)


def _holds(is_there: Callable[[], bool]) -> bool:
    try:
        return is_there()
    except Exception:  # a part of another shape is gone too, and no reason not to start
        return False


def _run() -> Any:
    get = _part("streamlit.runtime.scriptrunner", "get_script_run_ctx")
    return get(suppress_warning=True) if get is not None else None


def _of_run(name: str, default: object) -> Any:
    return getattr(_run(), name, default)


def _runtime() -> Any:
    kind = _part("streamlit.runtime", "Runtime")
    return kind.instance() if kind is not None and kind.exists() else None


def _names(module: str, name: str, *attributes: str) -> bool:
    """Whether a class of Streamlit sets these attributes when it is made."""
    part = _part(f"streamlit.{module}", name)
    return part is not None and set(attributes) <= set(part.__init__.__code__.co_names)


def _has_run() -> bool:
    kind = _part("streamlit.runtime.scriptrunner_utils.script_run_context", "ScriptRunContext")
    return {*RUN_FIELDS} <= {*kind.__dataclass_fields__, *vars(kind)}


def _messages() -> tuple[Any, Any]:
    browser = _part("streamlit.proto.BackMsg_pb2", "BackMsg")
    return browser, _part("streamlit.proto.ForwardMsg_pb2", "ForwardMsg")


def _has_messages() -> bool:
    browser, server = (kind.DESCRIPTOR.fields_by_name for kind in _messages())
    rerun = browser["rerun_script"].message_type.fields_by_name
    return {*BROWSER_FIELDS} <= {*browser} and {*SERVER_FIELDS} <= {*server} and {*RERUN_FIELDS} <= {*rerun}


def log_errors_alone() -> None:
    """Let Streamlit be silent about having no page to draw on, for a command that only uses its caches.

    Reading its settings sets the level of its loggers: that comes first.
    """
    config.get_option("logger.level")
    logger.set_log_level("ERROR")
