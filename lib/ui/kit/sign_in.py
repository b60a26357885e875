"""Signing in and out, and who is signed in with this tab: on every run, and for threads outside of it."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from weakref import ref

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from lib.front import note_sign_in
from lib.people import Person
from lib.ui import streamlit_compat
from lib.ui.kit.authenticator import (
    COOKIE,
    ENDS,
    OUT,
    CookieRequest,
    address,
    authenticator,
    empty,
    installation,
    problem,
    valid_person,
)
from lib.ui.kit.sign_in_methods import CompanyAccount, DemoButtons, PasswordForm, SignInMethod, Visit
from lib.wire.errors import AccessError, DeadlineExceeded, StoreUnavailable

MARK = Path(__file__).with_name("mark.svg")
SIGNED_OUT = "You are signed out, or your permissions changed: reload this page"
OTHERS_OPEN = (
    "You are signed out in this tab, but not in others: the database can't be reached. "
    "Sign in again later, and sign out."
)
COOKIE_SLOT, CHECK = "cookies", "person_seen"
SHARED_SECONDS = 0.5
METHODS: tuple[SignInMethod, ...] = (DemoButtons(), PasswordForm(), CompanyAccount())
_COOKIE_REQUEST = st.components.v2.component(
    "cookie_request", js=Path(__file__).with_name("cookie_request.js").read_text("utf-8")
)


@dataclass(frozen=True)
class SignInCheck:
    """Who was signed in at `at` (seconds of the monotonic clock), and in which run of the script."""

    run: ref[object]
    username: str
    ends: float
    at: float
    person: Person


def person() -> Person | None:
    """The person signed in, with their current role and grants, or None. Call it on every run.

    The parts of a page that are drawn beside each other share one look into the database. Where it can't say,
    the run ends with a sentence and a button to retry: the sign-in is kept.
    """
    username, ends = st.session_state.get("username"), st.session_state.get(ENDS)
    if not username or not ends:
        return None
    person = _once(lambda: _still_signed_in(username, ends), username, ends)
    if person is None:
        authenticator().forget()
    return person


def arrive(slot: DeltaGenerator) -> bool:
    """Whether somebody signs in with this page, by the browser's cookie or a method; then `person` has them.

    A cookie is good for a valid sign-in alone. Nobody arrives in a tab in which somebody has signed out. What
    streamlit-authenticator draws for a moment is in `slot`.
    """
    with slot:
        own = authenticator()
    if st.session_state[OUT]:
        return False
    own.login("unrendered")
    if ENDS in st.session_state:
        return True
    note_sign_in(st.context.headers, is_signed_in=False)
    visit = _visit()
    arrivals = (method.arrival(visit) for method in METHODS)
    return any(person is not None and own.begin(person) for person in arrivals)


def is_signed_in(session: Any) -> bool:
    """Whether somebody is signed in with this session of Streamlit's."""
    return streamlit_compat.has_state(session, ENDS)


def _once(look: Callable[[], Person | None], username: str, ends: float) -> Person | None:
    """The person of this sign-in: found by `look`, or by this run of the script half a second ago at most.

    A callback, which may change what is found, always looks.
    """
    run = streamlit_compat.drawing()
    if run is None:
        return look()
    check: SignInCheck | None = st.session_state.get(CHECK)
    if (
        check is not None
        and check.run() is run
        and (check.username, check.ends) == (username, ends)
        and time.monotonic() - check.at < SHARED_SECONDS
    ):
        return check.person
    person = look()
    if person is not None:
        st.session_state[CHECK] = SignInCheck(ref(run), username, ends, time.monotonic(), person)
    return person


def _still_signed_in(username: str, ends: float) -> Person | None:
    """The same, for a session in use; notes that its socket belongs to a person."""
    person = valid_person(username, ends)
    if person is not None:
        note_sign_in(st.context.headers, is_signed_in=True)
    return person


def form() -> None:
    """The sign-in page."""
    visit = _visit()
    with st.container(horizontal_alignment="center"), st.container(width=420):
        st.space(80)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.image(str(MARK), width=36, alt="")
            st.title("Tranche", anchor=False)
        st.markdown("Slice your report data, and set up deals.")
        for method in METHODS:
            method.draw(visit)


def keep_cookie(slot: DeltaGenerator) -> None:
    """Let the browser fetch its session cookie after a sign-in, or its deletion after a sign-out.

    The script is drawn in `slot`, a place that is always there: what comes and goes would move what follows
    it, and leave shadows of it while an answer is awaited.
    """
    request: CookieRequest | None = st.session_state.get(COOKIE)
    if request is not None and time.time() < request.until:
        with slot:
            _COOKIE_REQUEST(key="cookie_request", data=asdict(request), height=0)


def sign_out() -> None:
    """End this sign-in, in every tab that shares it; without the database, in this one. For a button."""
    username, ends = st.session_state.get("username"), st.session_state.get(ENDS)
    is_ended = not (username and ends) or _is_ended(username, ends)
    empty()
    authenticator().logout(location="unrendered")
    note_sign_in(st.context.headers, is_signed_in=False)
    if not is_ended:
        problem(OTHERS_OPEN)
    _leave_url()


def _is_ended(username: str, ends: float) -> bool:
    try:
        installation().sessions.end(username, ends)
        installation().access.audit.note("signed out", username, username, address=address())
    except (StoreUnavailable, DeadlineExceeded):
        return False
    return True


def session_check() -> Callable[[], None]:
    """A check for threads outside of the script: whether this sign-in is still valid for the same person.

    It raises AccessError once they signed out in whichever tab, their password or permissions changed.
    """
    signed_in, sessions, ends = person(), installation().sessions, st.session_state.get(ENDS, 0.0)

    def check() -> None:
        if signed_in is None or sessions.person(signed_in.username, ends) != signed_in:
            raise AccessError(SIGNED_OUT)

    return check


def _visit() -> Visit:
    return Visit(installation(), address(), st.context.cookies, authenticator())


def _leave_url() -> None:
    """Remove the question from the URL, with the parameters that are bound to widgets."""
    for name in list(st.query_params):
        with suppress(StreamlitAPIException):
            del st.query_params[name]
