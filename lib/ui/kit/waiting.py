"""Placeholders while an answer is loading."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def reserve(height: int, drawn: str) -> Iterator[None]:
    """Reserve a height in pixels for content that is loading for the first time on this screen.

    Once the widget with the key `drawn` is there, what was shown before stays, faded, until the new is there.
    """
    if drawn in st.session_state:
        st.empty()
        yield
    else:
        with st.skeleton(height=height):
            yield
