"""A package or deal that does not exist any more: who deleted it, and what was typed in its form."""

import streamlit as st

from lib.ui.deals import change
from lib.ui.deals.edits import Fields
from lib.ui.frame import screens
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.new_package import state
from lib.ui.supply import catalogue, facts, prices
from lib.ui.supply.prices import Prices
from lib.ui.supply.rows import KINDS, Key
from lib.wire.errors import NotFound, TrancheError

KEPT = "gone_kept"


def draw(here: Here, key: Key) -> None:
    """Draw who deleted it and what becomes of unsaved edits, and let the list be read again.

    Those of a package become the draft of a new one, unless another draft would be lost: then it is asked.
    """
    catalogue.forget()
    said = sentence(here, key)
    st.warning(plain(said), icon=":material/link_off:")
    if key[0] == "demand_deals":
        _list(change.unsaved(here, key), prices.of(here))
    elif change.is_unsaved(here, key):
        if not state.is_held(here.clients.drafts, catalogue.named_lists(here)):
            _keep(here, key, said)
        else:
            st.markdown("New package holds an unfinished draft. What you typed here would replace it.")
            st.button(
                "Replace draft", type="primary", key="gone_replace", on_click=_keep, args=(here, key, said)
            )
    if st.session_state.get(KEPT) == key:
        st.markdown("What you typed is kept as the draft of a new package.")
        st.page_link(screens.NEW_PACKAGE, label="Open the draft", icon=":material/edit:", query_params={})


def sentence(here: Here, key: Key) -> str:
    """Why it can't be shown, by its history, which a service may keep after a deletion."""
    what = f"{KINDS[key[0]]} {key[1]:d}"
    try:
        changes = catalogue.client(here).history(*key)
    except NotFound:
        return f"{what} does not exist."
    except TrancheError:
        return f"{what} does not exist; it may have been deleted."
    if not changes or changes[0].action != "removed":
        return f"{what} does not exist; it may have been deleted."
    return f"{what} was deleted by {changes[0].who} on {facts.moment(changes[0].at)}."


def _keep(here: Here, key: Key, said: str) -> None:
    """Make the edit the draft of a new package. A callback."""
    draft = change.as_draft(here, key[1])
    state.fill(draft, f"{said} This draft has what you typed.")
    state.keep(here.clients.drafts, draft)
    change.forget(key)
    st.session_state[KEPT] = key


def _list(edited: Fields, money: Prices) -> None:
    """Draw the edits of a deal, which no form can take over."""
    if edited:
        lines = [
            f"- {plain(facts.title(name, money))}: {plain(facts.value(name, value))}"
            for name, value in edited.items()
        ]
        st.markdown("\n".join(["What you typed, and was not saved:\n", *lines]))
