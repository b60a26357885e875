"""Making a token: for which service, for how long, for which slicers; its text is shown once."""

from datetime import UTC, datetime, timedelta

import streamlit as st

from lib.people import Grant, Person
from lib.settings import Settings
from lib.tokens.access import Access
from lib.ui import copying, sign_in
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.wire.errors import TrancheError

NAME, SERVICE, EXPIRY, OPENS = "token_name", "token_service", "token_expiry", "token_opens"
MADE, PROBLEM = "token_made", "token_problem"
LIFETIMES: dict[str, timedelta | None] = {
    "30 days": timedelta(days=30),
    "90 days": timedelta(days=90),
    "1 year": timedelta(days=365),
    "Never": None,
}
USUAL = "90 days"
SERVICES = {"reporting": "Reporting", "deals": "Deals"}


def draw(here: Here, access: Access, settings: Settings) -> None:
    """The form; once a token is made, its text in a dialog until it is said to be copied."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("What it is for", key=NAME, placeholder="Nightly report", max_chars=200, width=260)
        services = list(here.clients.own)
        st.selectbox("Service", services, format_func=SERVICES.__getitem__, key=SERVICE, width=140)
        names = list(LIFETIMES)
        st.selectbox("Expires after", names, names.index(USUAL), key=EXPIRY, width=130)
        if st.session_state[SERVICE] == "reporting":
            st.multiselect(
                "Opens",
                offered(here.person, here.clients.slicers),
                key=OPENS,
                placeholder="All that you may see",
                width=300,
            )
        st.button(
            "Make token",
            type="primary",
            icon=":material/key:",
            key="token_make",
            on_click=_make,
            args=(access, settings),
        )
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(problem, icon=":material/error:")
    if MADE in st.session_state:
        _show(st.session_state[MADE])


def offered(person: Person, slicers: tuple[tuple[str, str], ...]) -> list[str]:
    """What a token of this person may be cut to: whole projects that they may see, and single slicers."""
    projects = dict.fromkeys(project for project, _ in slicers if person.may_see(project))
    return [*projects, *(f"{project}/{slicer}" for project, slicer in slicers)]


def _make(access: Access, settings: Settings) -> None:
    """Issue the token as the form has it. A second click, before that one is copied, makes none."""
    person, state = sign_in.person(), st.session_state
    if person is None or MADE in state:
        return
    service, lifetime = state[SERVICE], LIFETIMES[state[EXPIRY]]
    opens = tuple(map(Grant.parse, state.get(OPENS, ()))) if service == "reporting" else ()
    if not state[NAME].strip():
        state[PROBLEM] = "Say what the token is for, so that it can be told from others later."
        return
    try:
        text = access.issue(person.username, settings.services[service], state[NAME], lifetime, opens)
    except TrancheError as error:
        state[PROBLEM] = f"{error.reason}."
        return
    state[MADE] = {"text": text, "name": state[NAME].strip(), "service": service, "ends": ends(lifetime)}
    state[NAME] = ""


def ends(lifetime: timedelta | None, now: datetime | None = None) -> str:
    """When a token of that lifetime ends, as the end of a sentence."""
    if lifetime is None:
        return "until it is revoked"
    return f"until {(now or datetime.now(UTC)) + lifetime:%-d %B %Y}"


@st.dialog("Your token", width="medium", dismissible=False, icon=":material/key:")
def _show(made: dict[str, str]) -> None:
    st.markdown(f"**{plain(made['name'])}**, for the {made['service']} API, works {made['ends']}.")
    copying.draw(made["text"])
    st.caption(
        "This is the only time that it is shown: copy it now, by the button at its end, and keep it like a "
        "password. In place of your name and password, it lets a script do what you may do there."
    )
    with st.expander("How a script uses it"):
        st.code(usage(made["service"], _address()), language="bash", wrap_lines=True)
    if st.button("I have copied it", type="primary", key="token_copied"):
        del st.session_state[MADE]
        st.rerun()


def usage(service: str, address: str) -> str:
    """A first call with the token in the shell's variable TRANCHE_TOKEN."""
    if service == "deals":
        return f'curl -H "Authorization: Bearer $TRANCHE_TOKEN" {address}/api/supply_deals/'
    body = r'"{\"project_name\": \"PROJECT\", \"slicer_name\": \"SLICER\", \"token\": \"$TRANCHE_TOKEN\"}"'
    return f"curl -H 'Content-Type: application/json' -d {body} {address}/API/v2/info"


def _address() -> str:
    scheme, _, rest = (st.context.url or "").partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if rest else "http://localhost:8501"
