"""The seam of the sign-in: what a method has to do, and the two by name and password.

A method finds out who somebody is, nothing more. The session, its cookie and its end are `sign_in.py`, which
lists the methods in the order of the page; a company's accounts are in `company.py`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import streamlit as st

from lib import connect
from lib.people import Person
from lib.people.credentials import PASSWORD as DEMO_PASSWORD
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

DEMO_PEOPLE = {
    "viewer": "Reads reports",
    "manager": "Also sets up deals",
    "admin": "Manages people and permissions",
}
PROBLEM = "sign_in_problem"
NAME, PASSWORD = "sign_in_name", "sign_in_password"


class Problem(NamedTuple):
    """Why nobody is signed in, as a sentence, and the method that shows it (empty: that by password)."""

    sentence: str
    method: str = ""


@dataclass(frozen=True)
class Visit:
    """A visit to the sign-in page: the installation, and the address and cookies of the browser.

    `begin` signs a person in by their user name; `leave` has the browser delete its cookies. Both are for
    callbacks of buttons.
    """

    installation: connect.Installation
    address: str | None
    cookies: Mapping[str, str]
    begin: Callable[[str], object]
    leave: Callable[[], None]


class SignInMethod(Protocol):
    """A way to sign in. Each is asked on every run of a tab in which nobody is signed in."""

    def arrival(self, visit: Visit) -> Person | None:
        """Who comes with this page and has proved who they are; None if nobody does. `problem` says why."""

    def draw(self, visit: Visit) -> None:
        """Draw its part of the sign-in page; nothing where the installation has no such sign-in."""


def problem(sentence: str, method: str = "") -> None:
    """Show why nobody is signed in, in place of what was shown before; an empty sentence shows nothing."""
    st.session_state[PROBLEM] = Problem(sentence, method)


def problem_of(method: str) -> str:
    """What this method has to show; empty if nothing."""
    problem: Problem | None = st.session_state.get(PROBLEM)
    return problem.sentence if problem is not None and problem.method == method else ""


class PasswordForm:
    """Name and password."""

    def arrival(self, visit: Visit) -> Person | None:
        """Nobody: a password is typed here."""
        return None

    def draw(self, visit: Visit) -> None:
        """The form, and what was wrong with the last attempt."""
        with st.form("sign_in", border=False):
            st.text_input("Name", key=NAME, autocomplete="username")
            st.text_input("Password", key=PASSWORD, type="password", autocomplete="current-password")
            if sentence := problem_of(""):
                st.session_state.pop(PROBLEM)
                st.error(plain(sentence), icon=":material/error:")
            st.form_submit_button(
                "Sign in", type="primary", width="stretch", on_click=self._submit, args=(visit,)
            )

    def _submit(self, visit: Visit) -> None:
        username, password = st.session_state.get(NAME), st.session_state.get(PASSWORD)
        st.session_state[PASSWORD] = ""
        if username and password:
            check_password(visit, username, password)
        else:
            problem("Type your name and your password.")


class DemoButtons:
    """The people of the demo, with a click each."""

    def arrival(self, visit: Visit) -> Person | None:
        """Nobody: people click here."""
        return None

    def draw(self, visit: Visit) -> None:
        """A button for each; nothing outside of the demo."""
        if not visit.installation.settings.demo:
            return
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
                    on_click=check_password,
                    args=(visit, username, DEMO_PASSWORD),
                )


def check_password(visit: Visit, username: str, password: str) -> None:
    """Sign this person in if the password is theirs, otherwise show why not."""
    try:
        device = visit.installation.cookies.device(username, visit.cookies)
        person = visit.installation.access.sign_in(username, password, visit.address, device)
    except TrancheError as error:
        problem(error.reason)
        return
    if person is None:
        problem("Incorrect name or password.")
    else:
        visit.begin(person.username)
