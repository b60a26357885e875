"""The form of a new person. It shows all errors at once, each beside its field, and keeps the input."""

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from lib.people import SHORTEST_PASSWORD, Grant
from lib.people.credentials import BCRYPT_BYTES
from lib.people.person import Username, email_fault, name_fault
from lib.tokens.access import Access
from lib.ui.kit.field_problems import beside
from lib.wire.errors import BadRequest

USERNAME, NAME, EMAIL, PASSWORD = "person_username", "person_name", "person_email", "person_password"
LIVE = "100ms"
TRIED, WORST = "person_tried", "Lower-case letters, digits and . _ @ + -, beginning with a letter or digit."


@dataclass(frozen=True)
class Typed:
    """The input, stripped; the password unchanged."""

    username: str
    name: str
    email: str
    password: str


def typed() -> Typed:
    """The current input."""
    texts = [(st.session_state.get(key) or "").strip() for key in (USERNAME, NAME, EMAIL)]
    return Typed(texts[0].lower(), texts[1], texts[2], st.session_state.get(PASSWORD) or "")


def faults(access: Access, given: Typed) -> dict[str, str]:
    """The errors by field."""
    found = {
        USERNAME: _username(access, given.username),
        NAME: name_fault(given.name),
        EMAIL: email_fault(given.email),
        PASSWORD: password_fault(given.password),
    }
    return {field: sentence for field, sentence in found.items() if sentence}


def password_fault(password: str) -> str:
    """Why the password is not valid; empty if it is."""
    if len(password) < SHORTEST_PASSWORD:
        return f"At least {SHORTEST_PASSWORD} characters."
    if len(password.encode()) > BCRYPT_BYTES:
        return f"At most {BCRYPT_BYTES} bytes."
    return ""


def grants_fault(grants: Iterable[str]) -> str:
    """Why these grants are not valid; empty if they are."""
    try:
        for grant in grants:
            Grant.parse(grant)
    except BadRequest as error:
        return f"{error.reason}."
    return ""


def draw(access: Access) -> dict[str, str]:
    """Draw the fields; returns the errors. Missing fields are reported only after a click on Add.

    No field has a help icon: it would be where the Tab key goes next, and what is typed then is lost. The
    password is sent while it is typed: the Tab key goes to the button that shows it, inside of the field,
    and a field that is not left sends nothing.
    """
    found, given = faults(access, typed()), typed()
    is_tried = was_tried()
    values = {USERNAME: given.username, NAME: given.name, EMAIL: given.email, PASSWORD: given.password}
    for key, label, placeholder in (
        (USERNAME, "User name", "Used to sign in"),
        (NAME, "Name", "Shown on screen"),
        (EMAIL, "E-mail", "Optional"),
        (PASSWORD, "Password", f"At least {SHORTEST_PASSWORD} characters"),
    ):
        is_password = key == PASSWORD
        st.text_input(
            label, key=key, placeholder=placeholder, type="password" if is_password else "default",
            autocomplete="new-password" if is_password else "off", live=LIVE if is_password else False,
        )  # fmt: skip
        beside([found[key]] if key in found and (is_tried or values[key]) else [])
    return found


def named(wrong: Iterable[str], grants: str) -> list[str]:
    """The labels of the fields with errors; `grants` is the error of the grants, if any."""
    titles = {USERNAME: "User name", NAME: "Name", EMAIL: "E-mail", PASSWORD: "Password"}
    return [titles[key] for key in wrong] + (["May see"] if grants else [])


def tried() -> None:
    """Note a click on Add. A callback."""
    st.session_state[TRIED] = True


def was_tried() -> bool:
    """Whether Add was clicked."""
    return TRIED in st.session_state


def forget() -> None:
    """Forget that click. A callback."""
    st.session_state.pop(TRIED, None)


def _username(access: Access, username: str) -> str:
    if not username:
        return "Type a user name."
    if not Username.fullmatch(username):
        return WORST
    return f"There is a person '{username}' already." if access.people.get(username) else ""
