"""What a reader sees while an answer is awaited."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st


@contextmanager
def awaited(height: int, drawn: str) -> Iterator[None]:
    """Keep the place of what is awaited, in pixels, on a screen that has not shown it yet.

    Once the widget with the key `drawn` is there, what was shown before stays, faded, until the new is there.
    """
    if drawn in st.session_state:
        st.empty()
        yield
    else:
        with st.skeleton(height=height):
            yield
