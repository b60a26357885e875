"""Placeholders while an answer is loading."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def reserve(height: int, widget: str) -> Iterator[None]:
    """Reserve a height in pixels for content that is loading for the first time on this screen.

    Once there is a widget with the key `widget`, what was shown before stays, faded, until the new is there.
    """
    if widget in st.session_state:
        st.empty()
        yield
    else:
        with st.skeleton(height=height):
            yield
