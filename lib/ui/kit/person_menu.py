"""The menu of the person: tokens, colors, numbers and time zone, what is new, and the way out."""

import re
from pathlib import Path

import streamlit as st

from lib.figures.numbers import FORMATS
from lib.people import Person
from lib.serving.front.board_route import NUMBERS_COOKIE, ZONE_COOKIE
from lib.ui.kit import page_scripts, reader, screens, sign_in
from lib.ui.kit.markdown import plain

CHANGELOG = Path(__file__).parents[3] / "CHANGELOG.md"
LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
KEY = "person_menu"
TOKENS, READER, NEWS, SIGN_OUT = "Your tokens", "Numbers and time zone", "What's new", "Sign out"
NUMBERS, ZONE = "reader_numbers", "reader_zone"
THEMES = {"Light colors": "Light", "Dark colors": "Dark", "Colors of the system": ""}


def draw(person: Person) -> None:
    """Draw it, and do what was chosen."""
    choice = st.menu_button(
        plain(person.name), [TOKENS, READER, *THEMES, NEWS, SIGN_OUT], icon=":material/person:",
        type="tertiary", key=KEY, on_click=_sign_out,
    )  # fmt: skip
    if choice == TOKENS:
        st.switch_page(screens.ACCESS, query_params={})
    if choice == READER:
        _draw_reader()
    if choice == NEWS:
        _show_news()
    if choice in THEMES:
        page_scripts.set_theme(THEMES[choice])


def _sign_out() -> None:
    """In the callback: the script that follows shows the sign-in."""
    if st.session_state[KEY] == SIGN_OUT:
        sign_in.sign_out()


@st.dialog(READER)
def _draw_reader() -> None:
    """The choice of how figures are written, and of the zone in which new questions ask."""
    numbers = st.selectbox(
        "Numbers", ["", *FORMATS],
        ["", *FORMATS].index(reader.language()),
        format_func=lambda language: FORMATS.get(language, "As the browser's language writes them"),
        key=NUMBERS,
        help="How figures on screen are written. What you type and what you download stay as they are.",
    )  # fmt: skip
    titles = {"": "The slicer's own", **reader.zone_titles()}
    zone = st.selectbox(
        "Time zone of new questions", titles, [*titles].index(reader.own_zone()), key=ZONE,
        format_func=titles.__getitem__, filter_mode="contains", placeholder=reader.FIND_ZONE,
        help="For slicers whose rows are hours. Links and views keep the time zone that they were made in.",
    )  # fmt: skip
    if st.button("Save", type="primary", key="reader_save"):
        page_scripts.set_cookies({NUMBERS_COOKIE: numbers, ZONE_COOKIE: zone})


@st.dialog(NEWS, width="large")
def _show_news() -> None:
    """The newest part of the changelog; without its links, which lead to files of the project."""
    parts = CHANGELOG.read_text("utf-8").split("\n## ")
    st.markdown("#### " + LINK.sub(r"\1", parts[1]).replace("\n### ", "\n##### "))
