"""Buttons of toolbars and texts to copy; values that the desk sets, over what the person has chosen."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from lib.wire.text import straight


def set_value(key: str, value: object) -> None:
    """Set the value of the widget with this key, unless it has that value.

    Streamlit sends a value that a run has set to the browser, also where it is the same. There it replaces a
    choice that is still on its way, and the next message brings the old one back: the choice would be lost.
    Not for widgets in popovers: the browser has nothing of one that was never open, and takes the values that
    the last run has set.
    """
    if key not in st.session_state or st.session_state[key] != value:
        st.session_state[key] = value


def icon_button(
    label: str, icon: str, key: str, act: Callable[[], Any], help: str | None = None, disabled: bool = False
) -> None:
    """Draw a button without a frame, with one of Material's icons; `act` is its callback."""
    st.button(
        label, icon=f":material/{icon}:", type="tertiary", key=key, help=help, disabled=disabled, on_click=act
    )


def text_to_copy(text: str, name: str = "") -> None:
    """Draw the text with a copy button that is always in sight; `name` tells it from others on the screen."""
    with st.container(key=f"to_copy{name}"):  # for style.css
        st.code(straight(text), language=None, wrap_lines=True)
