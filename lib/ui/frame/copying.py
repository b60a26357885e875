"""Text that is there to be copied: its button is always seen, also where no mouse is over it."""

import streamlit as st

_SEEN = "<style>.st-key-to_copy [data-testid=stCode] > div { opacity: 1; visibility: visible; }</style>"


def draw(text: str) -> None:
    """The text with its copy button; once on a screen."""
    with st.container(key="to_copy"):
        st.html(_SEEN)
        st.code(text, language=None, wrap_lines=True)
