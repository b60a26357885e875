"""A person who signs in with a company account: where from, and whether they are blocked."""

from collections.abc import Iterable
from urllib.parse import urlsplit

import streamlit as st

from lib.people import Person
from lib.ui.admin.deals_grant import words
from lib.ui.kit.markdown import plain

REMOVED = (
    "With the next company sign-in they are added again, if a rule matches: to keep them out, block them."
)


def any_of(people: Iterable[Person]) -> bool:
    """Whether one of them has a company account."""
    return any(person.company for person in people)


def column(people: Iterable[Person]) -> dict[str, list[str]]:
    """The column that says how each of them signs in."""
    return {"Sign-in": [way_in(person) for person in people]}


def way_in(person: Person) -> str:
    """How a person signs in: with a password, or with an account of that host, unless they are blocked."""
    found = f"Company ({urlsplit(person.company).netloc})" if person.company else "Password"
    return f"{found}, blocked: {person.blocked}" if person.blocked else found


def draw(person: Person, *, is_oneself: bool) -> bool:
    """Draw where the person comes from and what they may do with deals; returns whether to (un)block them."""
    st.markdown(
        f"Signs in with an account of {plain(person.company)}. Role, grants and permission for deals come "
        "from the rules in the settings, at each sign-in."
    )
    st.caption(plain(f"{person.role.capitalize()} · deals: {words(person.deals, {})}"))
    if person.blocked:
        st.warning(plain(f"Blocked: {person.blocked}."), icon=":material/block:")
    if is_oneself:
        st.caption("Only another administrator can block or remove you.")
    elif person.is_shut_out:
        st.caption(f"{plain(person.name)} may then sign in again, if a rule matches.")
    else:
        st.caption(f"Blocking signs {plain(person.name)} out everywhere; their tokens stop working.")
    label, icon = ("Unblock", ":material/lock_open:") if person.is_shut_out else ("Block", ":material/block:")
    return st.button(label, icon=icon, key="person_block", disabled=is_oneself)
