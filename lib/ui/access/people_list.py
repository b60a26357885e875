"""The list of people, for administrators: their roles and grants."""

from collections.abc import Iterable

import pandas as pd
import streamlit as st

from lib.people import Person
from lib.tokens.access import Access
from lib.ui.access import company_person, person_drawer
from lib.ui.access.deals_grant import words
from lib.ui.frame.frame import Here
from lib.ui.frame.straight import straightened

OPEN, CLICKED, SEARCH = "person_open", "person_clicked", "people_search"
NEW = "+"


def matching(people: Iterable[Person], text: str) -> list[Person]:
    """The people that match every word of `text`, ignoring case."""
    words = text.casefold().split()
    return [person for person in people if all(word in _searched(person) for word in words)]


def table(people: Iterable[Person]) -> pd.DataFrame:
    """A row per person; where some have company accounts, how each signs in."""
    listed = list(people)
    rows = [
        (
            p.name,
            p.username,
            p.role.capitalize(),
            person_drawer.sees(p),
            words(p.deals, {}),
            p.email or "",
            p.added,
        )
        for p in listed
    ]
    names = ["Name", "User name", "Role", "May see", "Deals", "E-mail", "Since"]
    frame = pd.DataFrame(rows, columns=names)
    with_company = frame.assign(**company_person.column(listed)) if company_person.any_of(listed) else frame
    return with_company.assign(Since=pd.to_datetime(frame["Since"], utc=True))


def draw(here: Here, access: Access) -> None:
    """Draw the list; a click on a name opens the person, a button adds one."""
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Search people", type="search", live=True, key=SEARCH, placeholder="Search", width=260,
            label_visibility="collapsed",
        )  # fmt: skip
        st.button("Add a person", icon=":material/person_add:", key="people_add", on_click=_add)
    listed = matching(access.people.everyone(), text or "")
    st.dataframe(
        straightened(table(listed)),
        key="people",
        hide_index=True,
        column_config={
            "Name": st.column_config.ButtonColumn(
                type="tertiary", alignment="left", key=CLICKED, on_click=_open, args=(listed,)
            ),
            "May see": st.column_config.TextColumn(width="large"),
            "Since": st.column_config.DatetimeColumn(format="D MMM YYYY"),
        },
        alt="People who may sign in",
    )
    opened = st.session_state.get(OPEN)
    found = access.people.get(opened) if opened else None
    if opened == NEW:
        person_drawer.add(here, access, close)
    elif found is not None:
        person_drawer.change(here, access, found, close)


def close() -> None:
    """Close the drawer."""
    st.session_state.pop(OPEN, None)


def _add() -> None:
    st.session_state[OPEN] = NEW


def _open(listed: list[Person]) -> None:
    st.session_state[OPEN] = listed[st.session_state[CLICKED]["row"]].username


def _searched(person: Person) -> str:
    return "\n".join(
        (person.username, person.name, person.role, person.email or "", person.company)
    ).casefold()
