"""The screen Access: one's own tokens; for administrators also all tokens, the people and the audit log."""

import streamlit as st

from lib import connect
from lib.settings import Settings
from lib.tokens.access import Access
from lib.ui.access import log, people_list, token_form, token_list
from lib.ui.frame import notes
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain

TOKENS, PEOPLE, LOG = "Tokens", "People", "Log"


def draw(here: Here) -> None:
    """Draw the tokens; for administrators also the people and the log, as sections."""
    settings = Settings.current()
    access = connect.installation(settings).access
    notes.draw()
    if here.person.role != "admin":
        _tokens(here, access, settings)
        return
    shown = st.segmented_control(
        "Access", [TOKENS, PEOPLE, LOG], default=TOKENS, required=True, key="access_shown",
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    if shown == PEOPLE:
        people_list.draw(here, access)
    elif shown == LOG:
        log.draw(access)
    else:
        _tokens(here, access, settings)


def _tokens(here: Here, access: Access, settings: Settings) -> None:
    if here.clients.own:
        st.header("Create a token", anchor=False)
        st.caption("A token lets a script call the APIs in your name, without your password.")
        token_form.draw(here, access, settings)
        st.space("small")
    for api, address in here.clients.remote_addresses.items():
        where = f"{token_form.SERVICES[api]} is a remote service ({plain(address)})"
        st.caption(f"{where}: create its tokens there.")
    st.header("Everybody's tokens" if here.person.role == "admin" else "Your tokens", anchor=False)
    token_list.draw(access, here.person)
