"""The form of a new token: its service, lifetime and slicers; the token is shown once."""

from datetime import UTC, datetime, timedelta

import streamlit as st

from lib.people import Grant, Person
from lib.settings import Settings
from lib.tokens.access import Access
from lib.ui.access import deals_grant
from lib.ui.frame import copying, sign_in
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.wire.errors import TrancheError

NAME, SERVICE, EXPIRY, OPENS = "token_name", "token_service", "token_expiry", "token_opens"
DEALS, MADE, PROBLEM = "token_deals", "token_made", "token_problem"
LIFETIMES: dict[str, timedelta | None] = {
    "30 days": timedelta(days=30),
    "90 days": timedelta(days=90),
    "1 year": timedelta(days=365),
    "Never": None,
}
USUAL = "90 days"
SERVICES = {"reporting": "Reporting", "deals": "Deals"}
SYNC = "deal sync"
ADDRESSES = {"deals": "supply_deals", SYNC: "deal_sync"}


def draw(here: Here, access: Access, settings: Settings) -> None:
    """Draw the form; a new token is shown in a dialog until the person confirms having copied it."""
    services = [name for name in here.clients.own if name != "deals" or here.person.deals.opens]
    if not services:
        st.caption("You have no permission for deals, so you can't create a token for them.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("What it is for", key=NAME, placeholder="Nightly report", max_chars=200, width=260)
        st.selectbox("Service", services, format_func=SERVICES.__getitem__, key=SERVICE, width=140)
        names = list(LIFETIMES)
        st.selectbox("Expires after", names, names.index(USUAL), key=EXPIRY, width=130)
        if st.session_state[SERVICE] == "reporting":
            st.multiselect(
                "Opens",
                offered(here.person, here.clients.slicers),
                key=OPENS,
                placeholder="Everything that you can see",
                width=300,
            )
        else:
            most = here.person.deals
            picked = deals_grant.draw(here, "token_deals", most, most, "It may", "sync", 300)
            st.session_state[DEALS] = picked
        st.button(
            "Create token",
            type="primary",
            icon=":material/key:",
            key="token_make",
            on_click=_make,
            args=(access, settings),
        )
    if problem := st.session_state.pop(PROBLEM, None):
        st.error(plain(problem), icon=":material/error:")
    if MADE in st.session_state:
        _show(st.session_state[MADE])


def offered(person: Person, slicers: tuple[tuple[str, str], ...]) -> list[str]:
    """The grants to choose from for a token: projects and slicers that the person may see."""
    projects = dict.fromkeys(project for project, _ in slicers if person.may_see(project))
    return [*projects, *(f"{project}/{slicer}" for project, slicer in slicers)]


def _make(access: Access, settings: Settings) -> None:
    """Issue the token. A second click before it is copied issues none."""
    person, state = sign_in.person(), st.session_state
    if person is None or MADE in state:
        return
    service, lifetime = state[SERVICE], LIFETIMES[state[EXPIRY]]
    opens = tuple(map(Grant.parse, state.get(OPENS, ()))) if service == "reporting" else ()
    deals = state.get(DEALS) if service == "deals" and state.get(DEALS) != person.deals else None
    if not state[NAME].strip():
        state[PROBLEM] = "Name what the token is for, so that you can recognise it later."
        return
    try:
        text = access.issue(
            person.username, settings.services[service], state[NAME], lifetime, opens, deals=deals
        )
    except TrancheError as error:
        state[PROBLEM] = f"{error.reason}."
        return
    path = SYNC if deals is not None and deals.syncs else service
    state[MADE] = {"text": text, "name": state[NAME].strip(), "service": path, "ends": ends(lifetime)}
    state[NAME] = ""


def ends(lifetime: timedelta | None, now: datetime | None = None) -> str:
    """When a token of that lifetime ends, as the end of a sentence."""
    if lifetime is None:
        return "until it is revoked"
    return f"until {(now or datetime.now(UTC)) + lifetime:%-d %B %Y}"


@st.dialog("Your token", width="medium", dismissible=False, icon=":material/key:")
def _show(made: dict[str, str]) -> None:
    st.markdown(
        f"**{plain(made['name'])}**, for the {plain(made['service'])} API, works {plain(made['ends'])}."
    )
    copying.draw(made["text"])
    st.caption(
        "The token is shown only now: copy it, and keep it like a password. It lets a script do what "
        "you can do there."
    )
    with st.expander("Use it in a script"):
        st.code(usage(made["service"], _address()), language="bash", wrap_lines=True)
    if st.button("I have copied it", type="primary", key="token_copied"):
        del st.session_state[MADE]
        st.rerun()


def usage(service: str, address: str) -> str:
    """A first call with the token in the shell's variable TRANCHE_TOKEN."""
    if service in ADDRESSES:
        return f'curl -H "Authorization: Bearer $TRANCHE_TOKEN" {address}/api/{ADDRESSES[service]}/'
    body = r'"{\"project_name\": \"PROJECT\", \"slicer_name\": \"SLICER\", \"token\": \"$TRANCHE_TOKEN\"}"'
    return f"curl -H 'Content-Type: application/json' -d {body} {address}/API/v2/info"


def _address() -> str:
    scheme, _, rest = (st.context.url or "").partition("://")
    return f"{scheme}://{rest.partition('/')[0]}" if rest else "http://localhost:8501"
