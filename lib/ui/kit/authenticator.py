"""streamlit-authenticator over our own people, sign-ins and cookie.

Its `Authenticate` draws the sign-in form, signs out, and sets the session state that its users know. Ours are
the check of a password (that of the token service), the sign-ins in the database, and a cookie that the
server sets and no script reads. None of its files, mails, captchas and second factors is used.
"""

import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast
from uuid import uuid4

import streamlit as st
import streamlit_authenticator as stauth

from lib import connect
from lib.front import ADDRESS_HEADER, LOGOUT, SESSION, note_sign_in
from lib.people import Person
from lib.people.cookies import CODE_SECONDS, SignIn
from lib.settings import Settings
from lib.ui.kit import problems
from lib.wire.errors import DeadlineExceeded, StoreUnavailable, TrancheError

KEY, COOKIE, ENDS, PROBLEM = "authenticator", "cookie_request_open", "session_ends", "sign_in_problem"
REFUSALS, STATUS, OUT = "sign_in_refusals", "authentication_status", "logout"
STAYS = {KEY, STATUS, OUT, "name", "username", "email", "roles"}


@dataclass(frozen=True)
class CookieRequest:
    """A request that the browser sends once: its path at the server, and the code that it brings.

    The code is of use in this browser alone, and once. `until` is in seconds since 1970.
    """

    path: str
    code: str = ""
    number: str = field(default_factory=lambda: uuid4().hex)
    until: float = field(default_factory=lambda: time.time() + CODE_SECONDS)


class Problem(NamedTuple):
    """Why nobody is signed in, as a sentence, and the method that shows it (empty: that by password)."""

    sentence: str
    method: str = ""


class ServerCookie:
    """The sign-in of this browser, with the three methods of streamlit-authenticator's cookie controller.

    Its own cookie is set by a script, so that every script could read it. This one is set by the server.
    """

    def get_cookie(self) -> dict[str, Any] | None:
        """The valid sign-in of this browser; None without one, and in a tab in which somebody signed out.

        After a reload right after the sign-in the cookie may not be there yet: it is requested again.
        """
        if st.session_state.get(OUT):
            return None
        cookies = installation().cookies
        for find in (cookies.sign_in, cookies.fresh_sign_in):
            sign_in = find(st.context.cookies)
            person = None if sign_in is None else valid_person(sign_in.username, sign_in.ends)
            if sign_in is not None and person is not None:
                token = {"username": person.username, "exp_date": sign_in.ends}
                return token | {"person": person, "is_fresh": find == cookies.fresh_sign_in}
        return None

    def set_cookie(self) -> None:
        """Let the browser fetch the cookie of the sign-in in the session state."""
        sign_in = SignIn(st.session_state["username"], st.session_state[ENDS])
        installation().cookies.remember(st.context.cookies, sign_in)
        self.request(sign_in)

    def request(self, sign_in: SignIn) -> None:
        """The same, for a sign-in that this browser is known to have."""
        if code := installation().cookies.code(st.context.cookies, sign_in):
            st.session_state[COOKIE] = CookieRequest(SESSION, code)

    def delete_cookie(self) -> None:
        """Let the browser fetch the deletion of its cookies, also of those of a company sign-in."""
        st.session_state[COOKIE] = CookieRequest(LOGOUT)


class Authenticator(stauth.Authenticate):  # type: ignore[misc]
    """The form, the sign-out and the session state of one tab. It knows nobody but who is signing in."""

    def __init__(self) -> None:
        slot = st.empty()
        with slot:  # its own cookie controller draws a frame that sends the cookies of scripts
            super().__init__({"usernames": {}}, auto_hash=False, login_sleep_time=0)
        slot.empty()
        self.cookie_controller = ServerCookie()
        self.authentication_controller.login = self._login

    def sign_in(self, username: str, password: str) -> None:
        """Sign this person in if the password is theirs; otherwise `problem` has the reason. For a button."""
        if person := self._check(username, password):
            self.begin(person)

    def begin(self, person: Person) -> bool:
        """Begin a session of this person; False, with the reason in `problem`, without the database."""
        is_begun = self._begin(person)
        if is_begun:
            self.cookie_controller.set_cookie()
        return is_begun

    def forget(self) -> None:
        """Remove all data of the person from this tab: answers, drafts, new tokens."""
        empty()
        self.authentication_controller.logout()
        note_sign_in(st.context.headers, is_signed_in=False)

    def _login(
        self, username: str = "", password: str = "", *_: object, token: Any = None, **__: object
    ) -> bool:
        """In place of the controller's, which checks no password but those of a file, and strips them.

        `token` is what `get_cookie` returned.
        """
        if token:
            self._fill(token["person"], token["exp_date"])
            if token["is_fresh"]:
                self.cookie_controller.request(SignIn(token["username"], token["exp_date"]))
            return True
        person = self._check(username, password)
        is_begun = person is not None and self._begin(person)
        if not is_begun:
            st.session_state.update({STATUS: False, REFUSALS: st.session_state.get(REFUSALS, 0) + 1})
        return is_begun

    def _check(self, username: str, password: str) -> Person | None:
        if not username or not password:
            problem("Type your name and your password.")
            return None
        own, person = installation(), None
        try:
            device = own.cookies.device(username, st.context.cookies)
            person = own.access.sign_in(username, password, address(), device)
            problem("" if person else "Incorrect name or password.")
        except TrancheError as error:
            problem(error.reason)
        return person

    def _begin(self, person: Person) -> bool:
        own = installation()
        ends = time.time() + own.settings.session_hours * 3600
        try:
            own.sessions.begin(person.username, ends)
        except TrancheError as error:
            problem(error.reason)
            return False
        self._fill(person, ends)
        return True

    def _fill(self, person: Person, ends: float) -> None:
        """Let streamlit-authenticator fill its session state, and note which sign-in this is."""
        empty()
        model = self.authentication_controller.authentication_model
        profile = {"name": person.name, "email": person.email, "roles": [person.role]}
        model.credentials = {"usernames": {person.username: profile}}
        model.login(None, None, token={"username": person.username})
        model.credentials = {"usernames": {}}
        st.session_state.update({ENDS: ends, OUT: None})
        note_sign_in(st.context.headers, is_signed_in=True)


def authenticator() -> Authenticator:
    """That of this tab. It is made once, since what its library draws meanwhile would move what follows."""
    if KEY not in st.session_state:
        st.session_state[KEY] = Authenticator()
    return cast(Authenticator, st.session_state[KEY])


def valid_person(username: str, ends: float) -> Person | None:
    """Whose valid sign-in this is. Without the database the run ends with a sentence."""
    try:
        return installation().sessions.person(username, ends)
    except (StoreUnavailable, DeadlineExceeded) as error:
        problems.show(error, "Your sign-in", "You are still signed in.")
        st.stop()


def problem(sentence: str, method: str = "") -> None:
    """Show why nobody is signed in, in place of what was shown before; an empty sentence shows nothing."""
    st.session_state[PROBLEM] = Problem(sentence, method)


def problem_of(method: str) -> str:
    """What this method has to show; empty if nothing."""
    problem: Problem | None = st.session_state.get(PROBLEM)
    return problem.sentence if problem is not None and problem.method == method else ""


def empty() -> None:
    """Clear the session state, widget values included, but for streamlit-authenticator's part."""
    for key in list(st.session_state):
        if key not in STAYS:
            del st.session_state[key]


def installation() -> connect.Installation:
    """That of the current settings."""
    return connect.installation(Settings.current())


def address() -> str | None:
    """The browser's IP address; None without a browser."""
    return st.context.headers.get(ADDRESS_HEADER) or None
