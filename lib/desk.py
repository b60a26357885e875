"""The script that app.py serves: sign in, then the screens that this person may open."""

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from lib.people import ROLES, DealsGrant, Person, Role
from lib.ui.admin import firing
from lib.ui.deals import screen as deals
from lib.ui.deals.buyers import answer_panel
from lib.ui.deals.insight import health_view
from lib.ui.deals.list import proposals
from lib.ui.kit import frame, page_scripts, sign_in
from lib.ui.query import history, start_page

PAGES = Path(__file__).resolve().parent.parent / "pages"
SCREENS: tuple[tuple[str, str, str, tuple[Role, ...]], ...] = (
    ("slicers", "Slicers", ":material/dataset:", ROLES),
    ("audience", "Audience", ":material/monitoring:", ROLES),
    ("boards", "Boards", ":material/dashboard:", ROLES),
    ("export", "Export", ":material/download:", ROLES),
    ("deals", "Deals", ":material/handshake:", ROLES),
    ("new_package", "New package", ":material/add_box:", ROLES),
    ("lists", "Lists", ":material/list_alt:", ROLES),
    ("access", "Access", ":material/key:", ROLES),
    ("services", "Services", ":material/lan:", ("admin",)),
)
TITLES = {name: title for name, title, _, _ in SCREENS}
WITHOUT_SLICER = ("access", "boards", "lists", "services")
START_KEY = "start_page_opened"
DEALS: dict[str, Callable[[DealsGrant], bool]] = {
    "deals": lambda grant: grant.reads,
    "lists": lambda grant: grant.reads,
    "new_package": lambda grant: grant.proposes,
}
person = sign_in.person()
slot = st.container(key=sign_in.COOKIE_SLOT)


def title_of(name: str, title: str) -> str:
    """A screen's name in the navigation; that of the deals with how many need attention, or an answer."""
    if name != "deals" or person is None:
        return title
    counts = {"proposed": proposals.number(person), "answered": len(answer_panel.answered_ids(person))}
    parts = [str(attention)] if (attention := health_view.number(person)) else []
    parts += [f"{count} {what}" for what, count in counts.items() if count]
    return f"{title} ({', '.join(parts)})" if parts else title


def may_open(person: Person, name: str, roles: tuple[Role, ...]) -> bool:
    """Whether a screen is for this person: by their role, or by what they may do with deals."""
    return person.role in roles and (name not in DEALS or DEALS[name](person.deals))


screens = [
    st.Page(PAGES / f"{name}.py", title=title_of(name, title), icon=icon, url_path=name)
    for name, title, icon, roles in SCREENS
    if person is None or may_open(person, name, roles)
]
by_path = {screen.url_path: screen for screen in screens}
audience = by_path["audience"]


def first_screen() -> None:
    """The default screen has no address of its own, so it is none of them: it leads to Audience.

    To be called before the frame's pickers are drawn: parameters bound to widgets can't be passed on,
    and those of a screen that was open before still are.
    """
    params: dict[str, str | list[str]] = {
        name: st.query_params.get_all(name) for name in st.query_params if name not in st.session_state
    }
    if person is not None and not {"project", "slicer"} & {*params, *st.session_state}:
        params |= start_page.last_slicer(person)
    st.switch_page(audience, query_params=params)


def own_first_screen(person: Person) -> None:
    """Once after the sign-in, where the address asks for nothing: to the person's start page, if any.

    To be called before the frame's pickers are drawn, which put theirs into the address.
    """
    if START_KEY not in st.session_state:
        st.session_state[START_KEY] = True
        name, params = ("", {}) if st.query_params else start_page.opening(person)
        if params:
            st.session_state[firing.AT_START] = True
            st.switch_page(by_path[name], query_params=params)


start = st.Page(first_screen, title="Tranche", default=True, visibility="hidden")
# Without a file for it, Streamlit fetches the symbol of the page from outside as the icon of the tab.
st.set_page_config(page_icon=str(sign_in.MARK), layout="wide")
if person:
    st.logo(str(sign_in.MARK), size="small")
screen = st.navigation([start, *screens], position="top" if person else "hidden")
if person:
    history.arrive(screen.url_path)
title = TITLES.get(screen.url_path, screen.title)
st.set_page_config(page_title=f"{title if person else 'Sign in'} · Tranche")
sign_in.keep_cookie(slot)
if person is None and sign_in.arrive():
    st.rerun()
if person is None:
    sign_in.form()
else:
    with slot:
        page_scripts.close_after_choice()
    if screen is start:
        own_first_screen(person)
        first_screen()
    if screen.url_path not in ("", "audience"):
        firing.forget()
    if screen.url_path != "deals":
        deals.leave()  # a dialog that was left open would open by itself on the next visit
    frame.heading(title)
    frame.header(person, firing.mark, screen.url_path not in WITHOUT_SLICER)
    screen.run()
