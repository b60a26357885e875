"""The script that app.py serves: sign in, then the screens that this person may open."""

from pathlib import Path

import streamlit as st

from lib.people import ROLES, Role
from lib.ui import frame, question, sign_in

PAGES = Path(__file__).resolve().parent.parent / "pages"
SCREENS: tuple[tuple[str, str, str, tuple[Role, ...]], ...] = (
    ("slicers", "Slicers", ":material/dataset:", ROLES),
    ("audience", "Audience", ":material/monitoring:", ROLES),
    ("export", "Export", ":material/download:", ROLES),
    ("deals", "Deals", ":material/handshake:", ROLES),
    ("new_package", "New package", ":material/add_box:", ("manager", "admin")),
    ("access", "Access", ":material/key:", ROLES),
    ("services", "Services", ":material/lan:", ("admin",)),
)

person = sign_in.person()
screens = [
    st.Page(PAGES / f"{name}.py", title=title, icon=icon, url_path=name)
    for name, title, icon, roles in SCREENS
    if person is None or person.role in roles
]


def first_screen() -> None:
    """The default screen has no address of its own, so it is none of them: it leads to the first."""
    st.switch_page(screens[0], query_params=st.query_params)


start = st.Page(first_screen, title="Tranche", default=True, visibility="hidden")
st.set_page_config(page_title="Tranche", page_icon=str(sign_in.MARK), layout="wide")
if person:
    st.logo(str(sign_in.MARK), size="small")
screen = st.navigation([start, *screens], position="top" if person else "hidden")
st.session_state[question.SCREEN] = screen.url_path
frame.style()
hidden = st.container(key=sign_in.HIDDEN)
sign_in.keep_cookie(hidden)
if person is None and sign_in.by_cookie(hidden):
    st.rerun()
if person is None:
    sign_in.form()
else:
    frame.header(person)
    screen.run()
