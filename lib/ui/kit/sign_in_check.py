"""One look at a sign-in per run of the script: parts of a page are drawn beside each other, and each asks.

No `SessionCache`: what was found serves one run alone, and callbacks always look.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from weakref import ref

import streamlit as st
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lib.people import Person

SEEN, ENDS = "person_seen", "session_ends"
SHARED_SECONDS = 0.5


@dataclass(frozen=True)
class Seen:
    """Who was signed in at `at` (seconds of the monotonic clock), and in which run of the script."""

    run: ref[object]
    username: str
    ends: float
    at: float
    person: Person


def is_signed_in(session: AppSession) -> bool:
    """Whether somebody is signed in with this session of Streamlit's."""
    return ENDS in session.session_state


def once(look: Callable[[], Person | None], username: str, ends: float) -> Person | None:
    """The person of this sign-in: found by `look`, or by this run of the script half a second ago at most.

    A callback, which may change what is found, always looks.
    """
    run = _drawing()
    if run is None:
        return look()
    seen: Seen | None = st.session_state.get(SEEN)
    if (
        seen is not None
        and seen.run() is run
        and (seen.username, seen.ends) == (username, ends)
        and time.monotonic() - seen.at < SHARED_SECONDS
    ):
        return seen.person
    found = look()
    if found is not None:
        st.session_state[SEEN] = Seen(ref(run), username, ends, time.monotonic(), found)
    return found


def _drawing() -> object | None:
    """An object that belongs to this run of the script; None before the script's first line."""
    run = get_script_run_ctx()
    return run.parallel_coordinator if run is not None and run.has_script_started else None
