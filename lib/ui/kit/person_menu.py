"""The menu of the person: their tokens, the colors of the desk, what is new, and the way out."""

import re
from pathlib import Path

import streamlit as st

from lib.people import Person
from lib.ui.kit import page_scripts, screens, sign_in
from lib.ui.kit.markdown import plain

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
KEY = "person_menu"
TOKENS, NEWS, SIGN_OUT = "Your tokens", "What's new", "Sign out"
THEMES = {"Light colors": "Light", "Dark colors": "Dark", "Colors of the system": ""}


def draw(person: Person) -> None:
    """Draw it, and do what was chosen."""
    choice = st.menu_button(
        plain(person.name),
        [TOKENS, *THEMES, NEWS, SIGN_OUT],
        icon=":material/person:",
        type="tertiary",
        key=KEY,
        on_click=_sign_out,
    )
    if choice == TOKENS:
        st.switch_page(screens.ACCESS, query_params={})
    if choice == NEWS:
        _show_news()
    if choice in THEMES:
        page_scripts.set_theme(THEMES[choice])


def _sign_out() -> None:
    """In the callback: the script that follows shows the sign-in."""
    if st.session_state[KEY] == SIGN_OUT:
        sign_in.sign_out()


@st.dialog(NEWS, width="large")
def _show_news() -> None:
    """The newest part of the changelog; without its links, which lead to files of the project."""
    parts = CHANGELOG.read_text("utf-8").split("\n## ")
    st.markdown("#### " + LINK.sub(r"\1", parts[1]).replace("\n### ", "\n##### "))
