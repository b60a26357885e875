"""The company sign-in on screen: its button, who came back from the provider, and what failed there."""

from collections.abc import Callable

import streamlit as st

from lib import connect
from lib.front import OUTCOME
from lib.people import Person
from lib.tokens.company import PROVIDER
from lib.ui import streamlit_compat
from lib.ui.kit.markdown import plain
from lib.wire.errors import DeadlineExceeded, NotAdmitted, StoreUnavailable

PROBLEM, TRIED = "company_problem", "company_tried"
OUTCOMES = {
    "denied": "You cancelled the company sign-in, or your company refused it.",
    "unreachable": "The company sign-in can't be reached. Try again in a moment.",
    "failed": "The company sign-in could not be completed. Try again. If it fails again, ask an "
    "administrator: the log says why.",
}


def arrival(installation: connect.Installation, address: str | None) -> Person | None:
    """Who comes from the provider with this page; None if nobody does, or they may not sign in.

    Tried once per tab: what was refused is said until the tab is reloaded.
    """
    if installation.company is None or TRIED in st.session_state or not _claims().get("is_logged_in"):
        return None
    st.session_state[TRIED] = True
    try:
        return installation.access.sign_in_with(installation.company, _claims(), address)
    except (NotAdmitted, StoreUnavailable, DeadlineExceeded) as error:
        st.session_state[PROBLEM] = error.reason
    return None


def draw(installation: connect.Installation, leave: Callable[[], None]) -> None:
    """Draw the button, and what failed, with a button to `leave` the company account.

    Nothing without a provider.
    """
    settings = installation.settings.oidc
    if settings is None or not streamlit_compat.has_company_client():
        return
    if asked := st.query_params.get(OUTCOME):
        del st.query_params[OUTCOME]
        st.session_state[PROBLEM] = OUTCOMES.get(asked, OUTCOMES["failed"])
    if problem := st.session_state.get(PROBLEM):
        st.error(plain(problem), icon=":material/error:")
        if _claims().get("is_logged_in"):
            st.button("Sign out of the company account", key="company_leave", width="stretch", on_click=leave)
    st.button(
        plain(settings.button),
        icon=":material/domain:",
        key="company_sign_in",
        width="stretch",
        on_click=st.login,
        args=(PROVIDER,),
    )


def _claims() -> dict[str, object]:
    """What the provider said of who has this browser; Streamlit reads it when a tab is opened."""
    return dict(st.user.to_dict())
