"""A data filter, which keeps the rows whose figures pass, as a form."""

from collections.abc import Callable

import streamlit as st

from lib.figures import amounts
from lib.figures.query.filters import SIGNS
from lib.figures.query.state import DATA_FILTER_LIMITS
from lib.reporting.links import digits
from lib.reporting.models import DataFilter
from lib.ui.kit.field_problems import beside
from lib.wire.filters import COMPARE, DataMatch

MATCHES: tuple[DataMatch, ...] = (*COMPARE,)


def draw(prefix: str, filter_: DataFilter | None = None, change: Callable[[], None] | None = None) -> None:
    """Draw the form: the comparison and the number, with what is wrong with it beside it.

    It shows `filter_`, unless what is typed in its place is no number yet; `change` is called after a change.
    """
    draft = st.session_state.get(f"{prefix}_value", "")
    st.session_state.setdefault(f"{prefix}_match", ">=")
    if filter_ is not None and not amounts.fault(draft, limits=DATA_FILTER_LIMITS):
        st.session_state[f"{prefix}_match"] = filter_.match
        st.session_state[f"{prefix}_value"] = digits(filter_.value)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.selectbox(
            "Comparison", MATCHES, format_func=lambda match: SIGNS.get(match, match), key=f"{prefix}_match",
            width=90, on_change=change,
        )  # fmt: skip
        text = st.text_input(
            "Threshold", placeholder="1000", key=f"{prefix}_value", live=change is None, width=160,
            on_change=change,
        )  # fmt: skip
    if wrong := amounts.fault(text, limits=DATA_FILTER_LIMITS):
        beside([wrong])


def read(prefix: str, name: str) -> DataFilter | None:
    """The filter in the form's inputs; None while there is no number in it."""
    try:
        value = amounts.read(st.session_state[f"{prefix}_value"], DATA_FILTER_LIMITS)
    except ValueError:
        return None
    match: DataMatch = st.session_state[f"{prefix}_match"]
    return None if value is None else DataFilter(name=name, match=match, value=float(value))
