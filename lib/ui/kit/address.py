"""Parameters of the address that the desk itself changes: the open drawer, the order and the page of a list.

Each message of a browser brings the address that the browser has. One that was sent before it had the last
change would undo that: the order by a header would be lost to a click right after. For a moment a value that
was replaced is therefore read as the one in its place.
"""

import time
from dataclasses import dataclass

import streamlit as st

SECONDS, CHANGES = 1.0, "address_changes"


@dataclass(frozen=True)
class AddressChange:
    """The values before, the one now ("": none), and when it came, in seconds of the monotonic clock."""

    before: frozenset[str]
    now: str
    at: float

    @property
    def is_recent(self) -> bool:
        """Whether messages that don't know it may still arrive."""
        return time.monotonic() - self.at < SECONDS


def params() -> dict[str, str]:
    """All parameters of the address; a removed one, which Streamlit keeps without values until the next run,
    is none, while an empty text is a value (a filter on what is not set)."""
    url = st.query_params.to_dict()  # in one touch of the session; by name each value would be one
    return {name: text for name, text in url.items() if text or st.query_params.get_all(name)}


def read(name: str) -> str:
    """The value of a parameter; "" where the address has none."""
    value = st.query_params.get(name, "")
    change = _changes().get(name)
    if change is None or not change.is_recent or value not in change.before:
        return value
    _put(name, change.now)
    return change.now


def write(name: str, value: str = "") -> None:
    """Set a parameter; without a value, take it away."""
    before, change = read(name), _changes().get(name)
    if before == value:
        return
    earlier = change.before if change is not None and change.is_recent else frozenset()
    _changes()[name] = AddressChange((earlier | {before}) - {value}, value, time.monotonic())
    _put(name, value)


def _put(name: str, value: str) -> None:
    if value:
        st.query_params[name] = value
    else:
        st.query_params.pop(name, None)


def _changes() -> dict[str, AddressChange]:
    changes: dict[str, AddressChange] = st.session_state.setdefault(CHANGES, {})
    return changes
