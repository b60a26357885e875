"""One look at a sign-in per run of the script: parts of a page are drawn beside each other, and each asks.

No `SessionCache`: what was found serves one run alone, and callbacks always look.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from weakref import ref

import streamlit as st

from lib.people import Person
from lib.ui import streamlit_compat

SEEN, ENDS = "person_seen", "session_ends"
SHARED_SECONDS = 0.5


@dataclass(frozen=True)
class SignInCheck:
    """Who was signed in at `at` (seconds of the monotonic clock), and in which run of the script."""

    run: ref[object]
    username: str
    ends: float
    at: float
    person: Person


def is_signed_in(session: Any) -> bool:
    """Whether somebody is signed in with this session of Streamlit's."""
    return streamlit_compat.has_state(session, ENDS)


def once(look: Callable[[], Person | None], username: str, ends: float) -> Person | None:
    """The person of this sign-in: found by `look`, or by this run of the script half a second ago at most.

    A callback, which may change what is found, always looks.
    """
    run = streamlit_compat.drawing()
    if run is None:
        return look()
    check: SignInCheck | None = st.session_state.get(SEEN)
    if (
        check is not None
        and check.run() is run
        and (check.username, check.ends) == (username, ends)
        and time.monotonic() - check.at < SHARED_SECONDS
    ):
        return check.person
    person = look()
    if person is not None:
        st.session_state[SEEN] = SignInCheck(ref(run), username, ends, time.monotonic(), person)
    return person
