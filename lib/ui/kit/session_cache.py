"""The caches of a person's session, which are emptied with their rights.

Nothing is shared between sessions, so that no value reaches somebody who may not have it.
"""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from lib.people import Person

Cache = TypeVar("Cache")
NAMES, OWNER = "cache_names", "cache_owner"


def of(name: str, make: Callable[[], Cache]) -> Cache:
    """The session's cache of this name; `make` creates an empty one."""
    st.session_state.setdefault(NAMES, set()).add(name)
    if name not in st.session_state:
        st.session_state[name] = make()
    cache: Cache = st.session_state[name]
    return cache


def belong_to(person: Person) -> None:
    """Empty the session's caches if their role or grants have changed: what was read may be hidden now."""
    if st.session_state.get(OWNER) != person:
        clear(*st.session_state.get(NAMES, ()))
        st.session_state[OWNER] = person


def clear(*names: str) -> None:
    """Forget all values of these caches: something was changed."""
    for name in names:
        st.session_state.pop(name, None)
