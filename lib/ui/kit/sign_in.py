"""Signing in and out: streamlit-authenticator's form and session state, over our people, sign-ins and cookie.

Ours are the check of a password (that of the token service), the sign-ins in the database, and a cookie that
the server sets and no script reads. None of its files, mails, captchas and second factors is used.
"""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import ref

import streamlit as st
import streamlit_authenticator as stauth
from streamlit.delta_generator import DeltaGenerator
from streamlit.errors import StreamlitAPIException

from lib.people import Person
from lib.people.cookies import CODE_SECONDS, SignIn
from lib.serving import connect
from lib.serving.front import ADDRESS_HEADER, LOGOUT, SESSION, note_sign_in
from lib.settings import Settings
from lib.ui import streamlit_compat
from lib.ui.kit import problems, session_cache
from lib.ui.kit.sign_in_methods import CompanyAccount, DemoButtons, PasswordForm, SignInMethod, Visit, problem
from lib.wire.errors import RightsChanged, StoreUnavailable, TrancheError

MARK = Path(__file__).with_name("mark.svg")
SIGNED_OUT = "You are signed out. Sign in again, then repeat this"
CHANGED = "Your permissions changed while this page was open. Check what it shows now, then try again"
COOKIE, COOKIE_SLOT = "cookie_request_open", "cookies"
CHECK, ENDS, AUTHENTICATOR = "person_seen", "session_ends", "authenticator"
STATUS, OUT = "authentication_status", "logout"
STAYS = {AUTHENTICATOR, STATUS, OUT, "name", "username", "email", "roles"}
SHARED_SECONDS = 0.5
METHODS: tuple[SignInMethod, ...] = (DemoButtons(), PasswordForm(), CompanyAccount())
_COOKIE_REQUEST = st.components.v2.component(
    "cookie_request", js=Path(__file__).with_name("cookie_request.js").read_text("utf-8")
)


@dataclass(frozen=True)
class CookieRequest:
    """A request that the browser sends once: its path at the server, and the code that it brings.

    The code is of use in this browser alone, and once. `until` is in seconds since 1970.
    """

    path: str
    code: str = ""
    number: str = field(default_factory=lambda: uuid4().hex)
    until: float = field(default_factory=lambda: time.time() + CODE_SECONDS)


@dataclass(frozen=True)
class SignInCheck:
    """Whose sign-in it was at `at` (seconds of the monotonic clock), and in which run of the script."""

    run: ref[object]
    sign_in: SignIn
    at: float
    person: Person


class ServerCookie:
    """The cookie of a sign-in, in place of streamlit-authenticator's, which scripts set and read."""

    def get_cookie(self) -> dict[str, Any] | None:
        """The valid sign-in of this browser; None without one, and in a tab in which somebody signed out.

        After a reload right after the sign-in the cookie may not be there yet: it is requested again.
        """
        cookies = _installation().cookies
        for find in () if st.session_state[OUT] else (cookies.sign_in, cookies.fresh_sign_in):
            sign_in = find(st.context.cookies)
            person = None if sign_in is None else _valid(sign_in)
            if sign_in is not None and person is not None:
                if find == cookies.fresh_sign_in:
                    self._request(sign_in)
                return {"username": person.username, "exp_date": sign_in.ends, "person": person}
        return None

    def set_cookie(self) -> None:
        """Let the browser fetch the cookie of who is signed in with this tab. See `keep_cookie`."""
        sign_in = SignIn(st.session_state["username"], st.session_state[ENDS])
        _installation().cookies.remember(st.context.cookies, sign_in)
        self._request(sign_in)

    def delete_cookie(self) -> None:
        """Let the browser fetch the deletion of its cookies, also of those of a company sign-in."""
        st.session_state[COOKIE] = CookieRequest(LOGOUT)

    def _request(self, sign_in: SignIn) -> None:
        if code := _installation().cookies.code(st.context.cookies, sign_in):
            st.session_state[COOKIE] = CookieRequest(SESSION, code)


class Authenticator(stauth.Authenticate):  # type: ignore[misc]
    """The form, the sign-out and the session state of one tab. It knows nobody but who is signing in."""

    def __init__(self) -> None:
        super().__init__({"usernames": {}}, auto_hash=False, login_sleep_time=0)
        self.cookie_controller = ServerCookie()
        self.authentication_controller.login = self._login

    def begin(self, person: Person) -> bool:
        """Begin a session of this person, with its cookie; False, and `problem`, without the database."""
        installation = _installation()
        ends = time.time() + installation.settings.session_hours * 3600
        try:
            installation.sessions.begin(person.username, ends)
        except TrancheError as error:
            problem(error.reason)
            return False
        _empty()
        self._fill(person, ends)
        self.cookie_controller.set_cookie()  # once more after the form, by the library, to the same effect
        return True

    def forget(self) -> None:
        """Remove all data of the person from this tab: answers, drafts, new tokens."""
        _empty()
        self.authentication_controller.logout()
        note_sign_in(st.context.headers, is_signed_in=False)

    def _login(self, username: str = "", password: str = "", *_: Any, token: Any = None, **__: Any) -> bool:
        """In place of the controller's, which strips the password; `token` is the answer of `get_cookie`."""
        if token:
            self._fill(token["person"], token["exp_date"])
            return True
        st.session_state[STATUS], installation = False, _installation()
        if not username or not password:
            problem("Type your name and your password.")
            return False
        try:
            device = installation.cookies.device(username, st.context.cookies)
            person = installation.access.sign_in(username, password, _address(), device)
        except TrancheError as error:
            problem(error.reason)
            return False
        if person is None:
            problem("Incorrect name or password.")
        return person is not None and self.begin(person)

    def _fill(self, person: Person, ends: float) -> None:
        """Let streamlit-authenticator fill its session state, and store which sign-in this is."""
        model = self.authentication_controller.authentication_model
        profile = {"name": person.name, "email": person.email, "roles": [person.role]}
        model.credentials = {"usernames": {person.username: profile}}
        model.login(None, None, token={"username": person.username})
        model.credentials = {"usernames": {}}
        st.session_state.update({ENDS: ends, OUT: None})
        note_sign_in(st.context.headers, is_signed_in=True)


def person() -> Person | None:
    """The person signed in, with their current role and grants, or None. Call it on every run.

    The parts of a page that are drawn beside each other share one look into the database, for half a second.
    A callback, which may change what is found, always looks. Where the database can't say, the run ends with
    a sentence and a button to retry: the sign-in is kept.
    """
    username, ends = st.session_state.get("username"), st.session_state.get(ENDS)
    if not username or not ends:
        return None
    sign_in, run, now = SignIn(username, ends), streamlit_compat.drawing(), time.monotonic()
    check: SignInCheck | None = None if run is None else st.session_state.get(CHECK)
    if check and (check.run(), check.sign_in) == (run, sign_in) and now - check.at < SHARED_SECONDS:
        return check.person
    person = _valid(sign_in)
    if person is None:
        _authenticator().forget()
        return None
    note_sign_in(st.context.headers, is_signed_in=True)
    session_cache.belong_to(person)  # before the other parts share this look
    if run is not None:
        st.session_state[CHECK] = SignInCheck(ref(run), sign_in, time.monotonic(), person)
    return person


def arrive() -> bool:
    """Whether somebody signs in with this page, by the browser's cookie or a method; then `person` has them.

    A cookie is good for a valid sign-in alone. Nobody arrives in a tab in which somebody has signed out.
    """
    authenticator = _authenticator()
    if st.session_state[OUT]:
        return False
    authenticator.login("unrendered")
    if st.session_state[STATUS]:
        return True
    note_sign_in(st.context.headers, is_signed_in=False)
    visit = _visit()
    arrivals = (method.arrival(visit) for method in METHODS)
    return any(person is not None and authenticator.begin(person) for person in arrivals)


def is_signed_in(session: Any) -> bool:
    """Whether somebody is signed in with this session of Streamlit's."""
    return streamlit_compat.has_state(session, ENDS)


def _valid(sign_in: SignIn) -> Person | None:
    """Whose valid sign-in this is. Without the database the run ends with a sentence."""
    try:
        return _installation().sessions.person(sign_in.username, sign_in.ends)
    except StoreUnavailable as error:
        problems.show(error, "Your sign-in", "You are still signed in.")
        st.stop()


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
    username, ends, sentence = st.session_state.get("username"), st.session_state.get(ENDS), ""
    try:
        if username and ends:
            _installation().sessions.end(username, ends)
            _installation().access.audit.note("signed out", username, username, address=_address())
    except StoreUnavailable:
        sentence = (
            "You are signed out in this tab, but not in others: the database can't be reached. "
            "Sign in again later, and sign out."
        )
    _empty()
    _authenticator().logout(location="unrendered")
    note_sign_in(st.context.headers, is_signed_in=False)
    problem(sentence)
    for name in list(st.query_params):  # the question leaves the URL, with what is bound to widgets
        with suppress(StreamlitAPIException):
            del st.query_params[name]


def session_check() -> Callable[[], None]:
    """A check for threads outside of the script: whether this sign-in is still valid for the same person.

    It raises RightsChanged once they signed out in whichever tab, their password or permissions changed.
    """
    signed_in, sessions, ends = person(), _installation().sessions, st.session_state.get(ENDS, 0.0)

    def check() -> None:
        now = None if signed_in is None else sessions.person(signed_in.username, ends)
        if now is None or now != signed_in:
            raise RightsChanged(SIGNED_OUT if now is None else CHANGED)

    return check


def _visit() -> Visit:
    return Visit(_installation(), _address(), _authenticator())


def _authenticator() -> Any:
    """That of this tab, made outside of the run: in it the library would draw a frame that reads cookies."""
    if AUTHENTICATOR not in st.session_state:
        with ThreadPoolExecutor(1) as outside:
            authenticator = outside.submit(Authenticator).result()
        st.session_state.update(dict.fromkeys(STAYS - {*st.session_state}) | {AUTHENTICATOR: authenticator})
    return st.session_state[AUTHENTICATOR]


def _empty() -> None:
    """Clear the session state, widget values included, but for streamlit-authenticator's part."""
    for key in set(st.session_state) - STAYS:
        del st.session_state[key]


def _installation() -> connect.Installation:
    return connect.installation(Settings.current())


def _address() -> str | None:
    """The browser's IP address; None without a browser."""
    return st.context.headers.get(ADDRESS_HEADER) or None
