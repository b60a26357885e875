"""The screen Access: one's tokens; for an administrator everybody's, and the people."""

import streamlit as st

from lib import connect
from lib.settings import Settings
from lib.tokens.access import Access
from lib.ui.access import people_list, token_form, token_list
from lib.ui.frame import Here
from lib.ui.markdown import plain

TOKENS, PEOPLE = "Tokens", "People"


def draw(here: Here) -> None:
    """Tokens alone, or tokens and people side by side as tabs."""
    settings = Settings.load()
    access = connect.installation(settings).access
    if here.person.role != "admin":
        _tokens(here, access, settings)
        return
    shown = st.segmented_control(
        "Access", [TOKENS, PEOPLE], default=TOKENS, required=True, key="access_shown",
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    if shown == PEOPLE:
        people_list.draw(here, access)
    else:
        _tokens(here, access, settings)


def _tokens(here: Here, access: Access, settings: Settings) -> None:
    if here.clients.own:
        st.subheader("Make a token", anchor=False)
        st.caption("With a token a script calls the APIs in your name, without your password.")
        token_form.draw(here, access, settings)
        st.space("small")
    for api, address in here.clients.elsewhere.items():
        where = f"{token_form.SERVICES[api]} is a service elsewhere ({plain(address)})"
        st.caption(f"{where}: its tokens are made there.")
    st.subheader("Tokens of everybody" if here.person.role == "admin" else "Your tokens", anchor=False)
    token_list.draw(access, here.person)
