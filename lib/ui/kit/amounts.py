"""Text fields for numbers, which are shown and stored digit by digit as typed."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Literal

import streamlit as st

from lib.deals.values import AMOUNT, Limits
from lib.ui.kit.markdown import plain
from lib.wire import exact

DIGITS = re.compile(r"-?([0-9]+(\.[0-9]+)?|\.[0-9]+)")
IS_TYPED = "_typed"


def read(text: str, limits: Limits = AMOUNT) -> Decimal | None:
    """The exact number typed; None for an empty text.

    Plain digits with a point, in any locale. ValueError, with a sentence for the reader, for anything else.
    """
    digits = text.strip()
    if not digits:
        return None
    if not DIGITS.fullmatch(digits):
        raise ValueError(_no_number(digits))
    number = Decimal(digits)
    if number < limits.least:
        raise ValueError(f"Must be {limits.least:,} or more.")
    if number >= limits.below:
        raise ValueError(f"Must be less than {limits.below:,}.")
    if len(digits.partition(".")[2].rstrip("0")) > limits.decimals:
        raise ValueError(f"At most {limits.decimals} decimals." if limits.decimals else "A whole number.")
    return number


def fault(text: str, missing: str = "", limits: Limits = AMOUNT) -> str:
    """A typed number's error as a sentence, or empty. `missing` is for no number."""
    try:
        return missing if read(text, limits) is None else ""
    except ValueError as error:
        return str(error)


def to_text(number: Decimal | None) -> str:
    """A number as one would type it: all of its digits."""
    return "" if number is None else exact.plain(number)


def field(
    label: str,
    key: str,
    *,
    disabled: bool = False,
    placeholder: str = "",
    is_labeled: bool = True,
    width: int | Literal["stretch"] = "stretch",
    help: str = "",
) -> None:
    """Draw a text field for a number; the input is not rewritten."""
    st.text_input(
        plain(label), key=key, persist_state="session", disabled=disabled, placeholder=placeholder,
        autocomplete="off", label_visibility="visible" if is_labeled else "collapsed", width=width,
        on_change=_mark, args=(key,), help=help or None,
    )  # fmt: skip


def was_typed(key: str, state: Mapping[Any, Any]) -> bool:
    """Whether this field was ever edited, even if it is empty again."""
    return bool(state.get(f"{key}{IS_TYPED}"))


def _mark(key: str) -> None:
    """Note an edit. A callback."""
    st.session_state[f"{key}{IS_TYPED}"] = True


def _no_number(text: str) -> str:
    if re.fullmatch(r"-?[0-9.,'’\s]*,[0-9.,'’\s]*", text):
        return "Write decimals with a point and no other marks, like 1250.75."
    return "Not a number: write it like 12.50."
