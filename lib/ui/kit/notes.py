"""A line that confirms the last action. It covers no control, and nothing moves when it fades."""

import time
from itertools import count

import streamlit as st

from lib.ui.kit.markdown import plain

NEXT_NOTE, LAST_NOTE = "note_said", "note_shown"
SECONDS, LONGEST = 8, 30
_numbers = count(1)
_STYLE = f"""<style>
@keyframes note-over {{ to {{ opacity: 0; }} }}
[class*=st-key-note_] p {{ animation: note-over 0.6s {SECONDS}s forwards; }}
</style>"""


def say(text: str) -> None:
    """Show this text on the next run."""
    st.session_state[NEXT_NOTE] = text


def draw() -> None:
    """Draw the line, which takes its space even if empty; its text fades after some seconds."""
    if note := st.session_state.pop(NEXT_NOTE, None):
        st.session_state[LAST_NOTE] = (next(_numbers), note, time.monotonic())
    number, text, since = st.session_state.get(LAST_NOTE, (0, "", float("-inf")))
    if time.monotonic() - since > LONGEST:
        number, text = 0, ""
    with st.container(height=24, border=False, key=f"note_{number}"):
        if text:
            st.html(_STYLE)
            st.caption(f":green[{plain(text)}]")
