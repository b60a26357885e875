"""The screen Access: own tokens, links and mails; for administrators all of them, people and the log."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import pandas as pd
import streamlit as st

from lib.people import Person
from lib.people.tokens.access import Access
from lib.people.tokens.audit import EVENTS, Entry
from lib.serving import connect
from lib.settings import Settings
from lib.ui.admin import mails, new_person, person_drawer, row_filters, share_list, token_list
from lib.ui.kit import notes, sign_in, widgets
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain, straighten
from lib.ui.kit.problems import draw_problem
from lib.ui.query import share
from lib.wire.errors import TrancheError
from lib.wire.text import has_words

NAME, SERVICE, EXPIRY, OPENS = "token_name", "token_service", "token_expiry", "token_opens"
DEALS, NEW_TOKEN, PROBLEM = "token_deals", "token_made", "token_problem"
LIFETIMES: dict[str, timedelta | None] = {
    "30 days": timedelta(days=30),
    "90 days": timedelta(days=90),
    "1 year": timedelta(days=365),
    "Never": None,
}
USUAL = "90 days"
SERVICES = {"reporting": "Reporting", "deals": "Deals"}
SYNC, TOKEN = "deal sync", "token"
ADDRESSES = {"deals": "supply_deals", SYNC: "deal_sync"}
OPEN, CLICK, SEARCH = "person_open", "person_clicked", "people_search"
NEW = "+"
PERSON, EVENT, PAGE = "log_person", "log_event", "log_page"
PAGE_SIZE = 200
TOKENS, LINKS, PEOPLE, MAILS, LOG = "Tokens", "Share links", "People", "Mails", "Log"


def draw_token_form(context: PageContext, access: Access, settings: Settings) -> None:
    """Draw the form; a new token is shown in a dialog until the person confirms having copied it."""
    services = [name for name in context.clients.own if name != "deals" or context.person.deals.opens]
    if not services:
        st.caption("You have no permission for deals, so you can't create a token for them.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("What it is for", key=NAME, placeholder="Nightly report", width=260)
        st.selectbox("Service", services, format_func=SERVICES.__getitem__, key=SERVICE, width=140)
        names = list(LIFETIMES)
        st.selectbox("Expires after", names, names.index(USUAL), key=EXPIRY, width=130)
        if st.session_state[SERVICE] == "reporting":
            options = grant_options(context.person, context.clients.slicers)
            st.multiselect("Opens", options, key=OPENS, placeholder="Everything that you can see", width=300)
        else:
            most = context.person.deals
            grant = new_person.draw_deals_grant(context, "token_deals", most, most, "It may", "sync", 300)
            st.session_state[DEALS] = grant
        st.button(
            "Create token", type="primary", icon=":material/key:", key="token_make", on_click=_make,
            args=(access, settings),
        )  # fmt: skip
    if st.session_state[SERVICE] == "reporting":
        row_filters.draw(context, TOKEN, st.session_state[OPENS])
    draw_problem(PROBLEM)
    if NEW_TOKEN in st.session_state:
        _show(st.session_state[NEW_TOKEN])


def grant_options(person: Person, slicers: tuple[tuple[str, str], ...]) -> list[str]:
    """The grants to choose from for a token: projects and slicers that the person may see."""
    projects = dict.fromkeys(project for project, _ in slicers if person.may_see(project))
    return [*projects, *(f"{project}/{slicer}" for project, slicer in slicers)]


def _make(access: Access, settings: Settings) -> None:
    """Issue the token. A second click before it is copied issues none."""
    person, state = sign_in.person(), st.session_state
    if person is None or NEW_TOKEN in state:
        return
    service, lifetime = state[SERVICE], LIFETIMES[state[EXPIRY]]
    opens = row_filters.grants_with_filters(TOKEN, state.get(OPENS, ())) if service == "reporting" else ()
    deals = state.get(DEALS) if service == "deals" and state.get(DEALS) != person.deals else None
    if not state[NAME].strip():
        state[PROBLEM] = "Name what the token is for, so that you can recognize it later."
        return
    about = person.username, settings.services[service], state[NAME]
    try:
        text = access.issue(*about, lifetime, tuple(opens), deals=deals)
    except TrancheError as error:
        state[PROBLEM] = f"{error.reason}."
        return
    path = SYNC if deals is not None and deals.syncs else service
    state[NEW_TOKEN] = {"text": text, "name": state[NAME].strip(), "service": path, "ends": ends(lifetime)}
    state[NAME] = ""
    row_filters.forget()


def ends(lifetime: timedelta | None, now: datetime | None = None) -> str:
    """When a token of that lifetime ends, as the end of a sentence."""
    if lifetime is None:
        return "until it is revoked"
    return f"until {(now or datetime.now(UTC)) + lifetime:%-d %B %Y}"


@st.dialog("Your token", width="medium", dismissible=False, icon=":material/key:")
def _show(token: dict[str, str]) -> None:
    st.markdown(
        f"**{plain(token['name'])}**, for the {plain(token['service'])} API, works {plain(token['ends'])}."
    )
    widgets.text_to_copy(token["text"])
    st.caption(
        "The token is shown only now: copy it, and keep it like a password. It lets a script do what "
        "you can do there."
    )
    with st.expander("Use it in a script"):
        st.code(usage(token["service"], share.own_address()), language="bash", wrap_lines=True)
    if st.button("I have copied it", type="primary", key="token_copied"):
        del st.session_state[NEW_TOKEN]
        st.rerun()


def usage(service: str, address: str) -> str:
    """A first call with the token in the shell's variable TRANCHE_TOKEN."""
    if service in ADDRESSES:
        return f'curl -H "Authorization: Bearer $TRANCHE_TOKEN" {address}/api/{ADDRESSES[service]}/'
    body = r'"{\"project_name\": \"PROJECT\", \"slicer_name\": \"SLICER\", \"token\": \"$TRANCHE_TOKEN\"}"'
    return f"curl -H 'Content-Type: application/json' -d {body} {address}/API/v2/info"


def matching(people: Iterable[Person], text: str) -> list[Person]:
    """The people that match every word of `text`, ignoring case."""
    texts = [(who, (who.username, who.name, who.role, who.email or "", who.company)) for who in people]
    return [person for person, about in texts if has_words("\n".join(about), text)]


def people_table(people: Iterable[Person]) -> pd.DataFrame:
    """A row per person; where some have company accounts, how each signs in."""
    everyone = list(people)
    rows = [
        (
            person.name, person.username, person.role.capitalize(), person_drawer.sees(person),
            new_person.deals_grant_label(person.deals, {}), person.email or "", person.added,
        )
        for person in everyone
    ]  # fmt: skip
    names = ["Name", "User name", "Role", "May see", "Deals", "E-mail", "Since"]
    frame = pd.DataFrame(rows, columns=names)
    if any(person.company for person in everyone):
        frame = frame.assign(**{"Sign-in": [new_person.way_in(person) for person in everyone]})
    return frame.assign(Since=pd.to_datetime(frame["Since"], utc=True))


def draw_people_list(context: PageContext, access: Access) -> None:
    """Draw the list; a click on a name opens the person, a button adds one."""
    with st.container(horizontal=True, vertical_alignment="center"):
        text = st.text_input(
            "Search people", type="search", live=True, key=SEARCH, placeholder="Search", width=260,
            label_visibility="collapsed",
        )  # fmt: skip
        st.button(
            "Add a person", icon=":material/person_add:", key="people_add", on_click=st.session_state.update,
            args=({OPEN: NEW},),
        )  # fmt: skip
    people = matching(access.people.everyone(), text or "")

    def open_person() -> None:
        st.session_state[OPEN] = people[st.session_state[CLICK]["row"]].username

    names = st.column_config.ButtonColumn(type="tertiary", alignment="left", key=CLICK, on_click=open_person)
    st.dataframe(
        straighten(people_table(people)), key="people", hide_index=True, alt="People who may sign in",
        column_config={
            "Name": names,
            "May see": st.column_config.TextColumn(width="large"),
            "Since": st.column_config.DatetimeColumn(format="D MMM YYYY"),
        },
    )  # fmt: skip
    username = st.session_state.get(OPEN)
    person = access.people.get(username) if username else None
    if username == NEW:
        person_drawer.add(context, access, close)
    elif person is not None:
        person_drawer.change(context, access, person, close)


def close() -> None:
    """Close the drawer."""
    st.session_state.pop(OPEN, None)
    row_filters.forget()


def table(entries: Iterable[Entry]) -> pd.DataFrame:
    """A row per entry, times in UTC."""
    rows = [
        (entry.at, entry.event.capitalize(), entry.about, entry.who, entry.address, entry.detail)
        for entry in entries
    ]
    frame = pd.DataFrame(rows, columns=["When", "Event", "Person", "By", "From", "Details"])
    return frame.assign(When=pd.to_datetime(frame["When"], utc=True))


def draw_log(access: Access) -> None:
    """Filters, then a page of the entries, the latest first."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        people = [person.username for person in access.people.everyone()]
        about = st.selectbox(
            "Person", people, None, key=PERSON, placeholder="Everybody", accept_new_options=True, width=220
        )
        events = st.multiselect(
            "Events", EVENTS, key=EVENT, format_func=str.capitalize, placeholder="All", width=420
        )
    filters = (about, None, tuple(events) or EVENTS)
    count, _ = access.audit.entries(0, 0, *filters)
    pages = max(1, -(-count // PAGE_SIZE))
    page = min(pages, int(st.session_state.get(PAGE) or 1))
    _, entries = access.audit.entries(PAGE_SIZE, PAGE_SIZE * (page - 1), *filters)
    if not count:
        st.info("There are no such entries yet.", icon=":material/history:")
        return
    when = st.column_config.DatetimeColumn(
        format="D MMM YYYY, HH:mm:ss", timezone=st.context.timezone, width=170
    )
    columns = {"When": when, "Details": st.column_config.TextColumn(width="large")}
    entries_table = straighten(table(entries))
    st.dataframe(entries_table, hide_index=True, column_config=columns, placeholder="", alt="Audit log")
    if pages > 1:
        st.pagination(pages, key=PAGE)
    label = "One entry" if count == 1 else f"{count:,} entries"
    st.caption(f"{label}. `tranche log` shows them on the command line.")


def draw(context: PageContext) -> None:
    """Draw tokens, share links and mails; for administrators also the people and the log, as sections."""
    settings = Settings.current()
    access = connect.installation(settings).access
    notes.draw()
    if context.person.role != "admin":
        _tokens(context, access, settings)
        if context.person.may_share:
            st.space("small")
            st.header("Your share links", anchor=False)
            share_list.draw(context)
        if settings.mail.smtp_host:
            st.space("small")
            st.header("Your mails", anchor=False)
            mails.draw(context)
        return
    parts = [TOKENS, LINKS, PEOPLE, *([MAILS] if settings.mail.smtp_host else []), LOG]
    part = st.segmented_control(
        "Access", parts, default=TOKENS, required=True, key="access_shown",
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    if part == LINKS:
        share_list.draw(context)
    elif part == PEOPLE:
        draw_people_list(context, access)
    elif part == MAILS:
        mails.draw(context)
    elif part == LOG:
        draw_log(access)
    else:
        _tokens(context, access, settings)


def _tokens(context: PageContext, access: Access, settings: Settings) -> None:
    if context.clients.own:
        st.header("Create a token", anchor=False)
        st.caption("A token lets a script call the APIs in your name, without your password.")
        draw_token_form(context, access, settings)
        st.space("small")
    for api, address in context.clients.remote_addresses.items():
        where = f"{SERVICES[api]} is a remote service ({plain(address)})"
        st.caption(f"{where}: create its tokens there.")
    st.header("Everybody's tokens" if context.person.role == "admin" else "Your tokens", anchor=False)
    token_list.draw(access, context.person)
