"""Choosing which packages or deals something is linked with."""

from collections.abc import Mapping

import streamlit as st


def choose(label: str, key: str, titles: Mapping[int, str], noun: str) -> None:
    """A choice of several by id, with these titles; what is chosen already is offered, known or not."""
    st.multiselect(
        label,
        list(dict.fromkeys([*titles, *st.session_state[key]])),
        format_func=lambda one: titles.get(one, f"{noun} {one}"),
        key=key,
        persist_state="session",
        filter_mode="contains",
        select_all=False,
    )
