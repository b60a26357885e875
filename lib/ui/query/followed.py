"""Widget keys of pickers whose value can also change by a brush, a link or the browser's Back.

A picker in a closed popover, or one behind a slow network, is not told of the new value at once. The browser
goes on sending the one that was picked there last, which looks like a fresh choice and would undo the change.
So such a picker gets a new key, under which the browser has no value to send.
"""

import streamlit as st

FOLLOWED = "followed_pickers"


def key(name: str, value: object) -> str:
    """The widget key for `value`; it stays the same while the value is the one picked there."""
    counts: dict[str, int] = st.session_state.get(FOLLOWED, {})
    known = _numbered(name, counts.get(name, 0))
    if st.session_state.get(known, value) != value:
        counts = {**counts, name: counts.get(name, 0) + 1}
        st.session_state[FOLLOWED] = counts
        known = _numbered(name, counts[name])
    st.session_state[known] = value
    return known


def _numbered(name: str, count: int) -> str:
    return f"{name}_{count}" if count else name
