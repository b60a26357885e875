"""What was just done, in a line of its own: nothing lies over a control, and nothing moves when it goes."""

import time
from itertools import count

import streamlit as st

from lib.ui.frame.markdown import plain

SAID, SHOWN = "note_said", "note_shown"
SECONDS, LONGEST = 8, 30
_numbers = count(1)
_STYLE = f"""<style>
@keyframes note-over {{ to {{ opacity: 0; }} }}
[class*=st-key-note_] p {{ animation: note-over 0.6s {SECONDS}s forwards; }}
</style>"""


def say(text: str) -> None:
    """Let the next run say it."""
    st.session_state[SAID] = text


def draw() -> None:
    """The line, which is there with or without something to say; the text fades after some seconds."""
    if said := st.session_state.pop(SAID, None):
        st.session_state[SHOWN] = (next(_numbers), said, time.monotonic())
    number, text, since = st.session_state.get(SHOWN, (0, "", float("-inf")))
    if time.monotonic() - since > LONGEST:
        number, text = 0, ""
    with st.container(height=24, border=False, key=f"note_{number}"):
        if text:
            st.html(_STYLE)
            st.caption(f":green[{plain(text)}]")
