"""What a click on a value does: keep only its records, or leave them out."""

from collections.abc import Iterable

import streamlit as st

from lib.ui import filter_picker, question
from lib.ui.frame import Here

MODE, COUNT = "drill_mode", "drills"
KEEP, EXCLUDE = "keep", "exclude"
WORDS = {KEEP: "Click keeps", EXCLUDE: "Click excludes"}
ICONS = {KEEP: ":material/filter_alt:", EXCLUDE: ":material/block:"}


def draw_mode() -> None:
    """The control that says what a click does."""
    st.session_state[MODE] = st.session_state.get(MODE) or KEEP
    st.segmented_control(
        "A click on a value",
        [KEEP, EXCLUDE],
        format_func=lambda mode: f"{ICONS[mode]} {WORDS[mode]}",
        key=MODE,
        required=True,
        label_visibility="collapsed",
    )


def key(name: str) -> str:
    """A widget's key that is new after each click, so that the same place can be clicked again."""
    return f"{name}_{st.session_state.get(COUNT, 0)}"


def into(here: Here, values: Iterable[tuple[str, str]]) -> None:
    """Ask again, with or without these values of key fields; for a callback."""
    query = question.current(here)
    change = filter_picker.exclude if st.session_state.get(MODE) == EXCLUDE else filter_picker.include
    for name, value in values:
        query = change(query, name, value)
    st.session_state[COUNT] = st.session_state.get(COUNT, 0) + 1
    question.ask(query)
    st.rerun()
