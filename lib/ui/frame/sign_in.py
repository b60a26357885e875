"""Signing in and out: streamlit-authenticator's session and cookie, over our own people and sessions."""

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import jwt
import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException
from streamlit_authenticator.controllers import AuthenticationController, CookieController

from lib import connect
from lib.people import Person
from lib.people.demo import PASSWORD as DEMO_PASSWORD
from lib.settings import Settings
from lib.ui.frame import checked, company, problems
from lib.ui.frame.markdown import plain
from lib.wire.errors import AccessError, DeadlineExceeded, StoreUnavailable, TrancheError

MARK = Path(__file__).with_name("mark.svg")
DEMO_PEOPLE = {
    "viewer": "Reads reports",
    "manager": "Also sets up deals",
    "admin": "Manages people and permissions",
}
NOT_HERE = "You are signed out, or your permissions changed: reload this page"
NOT_ENDED = (
    "You are signed out in this tab, but not in others: the database can't be reached. "
    "Sign in again later, and sign out."
)
ENDS, PROBLEM, COOKIE, TOKEN = "session_ends", "sign_in_problem", "cookie_work", "cookie_token"
HIDDEN = "cookies"
NAME, PASSWORD = "sign_in_name", "sign_in_password"


def person() -> Person | None:
    """The person signed in, with their current role and grants, or None. Call it on every run.

    The parts of a page that are drawn beside each other share one look into the database. Where it can't say,
    the run ends with a sentence and a button to retry: the sign-in is kept.
    """
    username, ends = st.session_state.get("username"), st.session_state.get(ENDS)
    if not username or not ends:
        return None
    found = checked.once(lambda: _signed_in(username, ends), username, ends)
    if found is None:
        _forget()
    return found


def by_cookie(hidden: DeltaGenerator) -> bool:
    """Whether the browser's cookie belongs to a valid sign-in; if so, `person` returns it from now on."""
    if _here().cookie_name not in st.context.cookies or st.session_state.setdefault("logout", None):
        return False
    with hidden:
        cookies = _cookies()
    try:
        token = cookies.get_cookie()
    except jwt.PyJWTError:
        return False
    if not token or _signed_in(token["username"], token["exp_date"]) is None:
        return False
    _remember(token["username"], token["exp_date"])
    return True


def by_company() -> bool:
    """Whether somebody comes from the company's provider, and may sign in; then `person` returns them."""
    if st.session_state.setdefault("logout", None):
        return False
    found = company.arrived(_here(), _address())
    return found is not None and _begin(found.username)


def _signed_in(username: str, ends: float) -> Person | None:
    """Whose valid sign-in this is. Without the database the run ends with a sentence."""
    try:
        return _here().sessions.person(username, ends)
    except (StoreUnavailable, DeadlineExceeded) as error:
        problems.show(error, "Your sign-in", "You are still signed in.")
        st.stop()


def form() -> None:
    """The sign-in page."""
    settings = _here().settings
    with st.container(horizontal_alignment="center"), st.container(width=420):
        st.space(80)
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.image(str(MARK), width=36, alt="")
            st.title("Tranche", anchor=False)
        st.markdown("Slice your report data, and set up deals.")
        if settings.demo:
            _demo()
        _name_and_password()
        company.draw(_here())


def keep_cookie(hidden: DeltaGenerator) -> None:
    """Set or delete the cookie after a sign-in or sign-out, until the browser confirms it.

    Its script is drawn in `hidden`, a place that is always there: what comes and goes would move what follows
    it, and leave shadows of it while an answer is awaited.
    """
    work = st.session_state.get(COOKIE)
    if work is None:
        return
    if st.session_state.get(f"cookie_{work}"):
        del st.session_state[COOKIE]
        return
    with hidden:
        manager = _cookies().cookie_model.cookie_manager
        if work == "set":
            ends = datetime.fromtimestamp(st.session_state[ENDS])  # noqa: DTZ006
            secure = (st.context.url or "").startswith("https:")
            token = st.session_state[TOKEN]
            manager.set(_here().cookie_name, token, key="cookie_set", expires_at=ends, secure=secure or None)
        else:
            manager.cookies.setdefault(_here().cookie_name, "")
            manager.delete(_here().cookie_name, key="cookie_delete")


def sign_out() -> None:
    """End this sign-in, in every tab that shares it; without the database, in this one. For a button."""
    username, ends = st.session_state.get("username"), st.session_state.get(ENDS)
    is_ended = not (username and ends) or _is_ended(username, ends)
    _forget()
    if not is_ended:
        st.session_state[PROBLEM] = NOT_ENDED
    _leave_url()
    st.session_state[COOKIE] = "delete"
    company.leave(_here())


def _is_ended(username: str, ends: float) -> bool:
    try:
        _here().sessions.end(username, ends)
        _here().access.audit.note("signed out", username, username)
    except (StoreUnavailable, DeadlineExceeded):
        return False
    return True


def still_here() -> Callable[[], None]:
    """A check for threads outside of the script: whether this sign-in is still valid for the same person.

    It raises AccessError once they signed out in whichever tab, their password or permissions changed.
    """
    found, sessions, ends = person(), _here().sessions, st.session_state.get(ENDS, 0.0)

    def check() -> None:
        if found is None or sessions.person(found.username, ends) != found:
            raise AccessError(NOT_HERE)

    return check


def _name_and_password() -> None:
    with st.form("sign_in", border=False):
        st.text_input("Name", key=NAME, autocomplete="username")
        st.text_input("Password", key=PASSWORD, type="password", autocomplete="current-password")
        if problem := st.session_state.pop(PROBLEM, None):
            st.error(plain(problem), icon=":material/error:")
        st.form_submit_button("Sign in", type="primary", width="stretch", on_click=_typed)


def _demo() -> None:
    st.info(
        "This is a demo with made-up data. Sign in as one of three people with a click, or type "
        f"their name and the password `{DEMO_PASSWORD}`.",
        icon=":material/science:",
    )
    with st.container(horizontal=True):
        for username, does in DEMO_PEOPLE.items():
            st.button(
                username.capitalize(),
                key=f"demo_{username}",
                help=does,
                width="stretch",
                on_click=_sign_in,
                args=(username, DEMO_PASSWORD),
            )


def _typed() -> None:
    username, password = st.session_state[NAME], st.session_state[PASSWORD]
    st.session_state[PASSWORD] = ""
    st.session_state.pop(company.PROBLEM, None)
    if username and password:
        _sign_in(username, password)
    else:
        st.session_state[PROBLEM] = "Type your name and your password."


def _sign_in(username: str, password: str) -> None:
    try:
        found = _here().access.sign_in(username, password, _address())
    except TrancheError as error:
        st.session_state[PROBLEM] = error.reason
        return
    if found is None:
        st.session_state[PROBLEM] = "Incorrect name or password."
        return
    _begin(found.username)


def _begin(username: str) -> bool:
    """Begin a session of this person, with its cookie; False, with a sentence, without the database."""
    here = _here()
    ends = time.time() + here.settings.session_hours * 3600
    try:
        here.sessions.begin(username, ends)
    except TrancheError as error:
        st.session_state[PROBLEM] = error.reason
        return False
    _remember(username, ends)
    claims = {"username": username, "exp_date": ends}
    st.session_state[TOKEN] = jwt.encode(claims, here.cookie_key, algorithm="HS256")
    st.session_state[COOKIE] = "set"
    return True


def _remember(username: str, ends: float) -> None:
    """Let streamlit-authenticator fill its empty session state, and store which sign-in this is."""
    _empty()
    _authentication().login(token={"username": username})
    st.session_state[ENDS] = ends


def _forget() -> None:
    """Remove all data of the person from this tab: answers, drafts, new tokens."""
    _empty()
    _authentication().logout()


def _leave_url() -> None:
    """Remove the question from the URL, with the parameters that are bound to widgets."""
    for name in list(st.query_params):
        with suppress(StreamlitAPIException):
            del st.query_params[name]


def _empty() -> None:
    """Clear the session state, widget values included."""
    for key in list(st.session_state):
        del st.session_state[key]


def _authentication() -> AuthenticationController:
    return AuthenticationController(_here().people.credentials(), auto_hash=False)


def _cookies() -> CookieController:
    here = _here()
    return CookieController(here.cookie_name, here.cookie_key, here.settings.session_hours / 24)


def _here() -> connect.Installation:
    return connect.installation(Settings.current())


def _address() -> str | None:
    """The browser's IP address; None if Streamlit doesn't know it."""
    address = st.context.ip_address
    return address if isinstance(address, str) else None
