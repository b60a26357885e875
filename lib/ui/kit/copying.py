"""Text to copy, with a button that is always visible, not only on hover."""

import streamlit as st

from lib.wire.text import straight

_SEEN = "<style>.st-key-to_copy [data-testid=stCode] > div { opacity: 1; visibility: visible; }</style>"


def draw(text: str) -> None:
    """Draw the text with its copy button; once per screen."""
    with st.container(key="to_copy"):
        st.html(_SEEN)
        st.code(straight(text), language=None, wrap_lines=True)
