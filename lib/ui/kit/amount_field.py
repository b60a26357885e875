"""Text fields for numbers, which are shown and stored digit by digit as typed."""

import streamlit as st

from lib.ui.kit.markdown import plain

PAUSE, IS_TYPED = "500ms", "_typed"


def field(label: str, key: str, placeholder: str = "") -> None:
    """Draw a text field for a number, which is sent while it is typed, after a pause, and not rewritten."""
    st.text_input(
        plain(label), key=key, persist_state="session", placeholder=placeholder, autocomplete="off",
        on_change=note_edit, args=(key,), live=PAUSE,
    )  # fmt: skip


def was_typed(key: str) -> bool:
    """Whether this field was ever edited, even if it is empty again."""
    return bool(st.session_state.get(f"{key}{IS_TYPED}"))


def note_edit(key: str) -> None:
    """Note an edit. A callback."""
    st.session_state[f"{key}{IS_TYPED}"] = True
