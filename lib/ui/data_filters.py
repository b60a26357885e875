"""The editor of data filters: which rows of a file to keep, by the values of its data fields."""

import re
from typing import Literal, NamedTuple, get_args

import streamlit as st

from lib.reporting.models import DataFilter, DataMatch
from lib.ui.frame import Here
from lib.ui.numbers import title

MATCHES: tuple[DataMatch, ...] = get_args(DataMatch)
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}
LINES, USUAL_MATCH = "data_filters", ">="
NUMBER = r"\s*-?[0-9]+([.][0-9]+)?\s*"


class Wanted(NamedTuple):
    """The filters whose value is there, and whether a value is no number."""

    filters: tuple[DataFilter, ...]
    has_problem: bool


def draw(here: Here) -> Wanted:
    """One line per filter; one without a value is not used yet. What is typed stays while the session lasts.

    A value counts while it is typed: whoever clicks Download straight after gets the file with it.
    """
    where = f"{LINES}:{here.project}/{here.slicer_name}"
    lines: list[int] = st.session_state.setdefault(where, [])
    with st.container(gap="xsmall"):
        found = [_line(here, where, line) for line in lines]
        st.button(
            "Keep only rows where…",
            icon=":material/add:",
            type="tertiary",
            key=f"{where}:add",
            on_click=_add,
            args=(where,),
        )
    filters = tuple(wanted for wanted in found if isinstance(wanted, DataFilter))
    return Wanted(filters, has_problem="wrong" in found)


def _line(here: Here, where: str, line: int) -> DataFilter | Literal["unused", "wrong"]:
    key = f"{where}:{line}"
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        name, match = _field(here, f"{key}:name"), _match(f"{key}:match")
        text = _text(f"{key}:value").strip()
        st.button(
            "",
            icon=":material/close:",
            type="tertiary",
            key=f"{key}:remove",
            help="Remove this data filter",
            on_click=_remove,
            args=(where, line),
        )
    value = number(text)
    if value is None:
        if text:
            st.caption(":red[That is no number: write it like 1500 or 0.5]")
        return "wrong" if text else "unused"
    return DataFilter(name=name, match=match, value=value)


def _field(here: Here, key: str) -> str:
    names = {field.name: title(field, with_unit=True) for field in here.slicer.data_fields}
    return st.selectbox(
        "Data field",
        list(names),
        format_func=lambda name: names[name],
        key=key,
        label_visibility="collapsed",
        persist_state="session",
    )


def _match(key: str) -> DataMatch:
    return st.selectbox(
        "Match",
        MATCHES,
        index=MATCHES.index(USUAL_MATCH),
        format_func=lambda match: SIGNS.get(match, match),
        key=key,
        label_visibility="collapsed",
        width=72,
        persist_state="session",
    )


def _text(key: str) -> str:
    return st.text_input(
        "Value",
        placeholder="Value",
        key=key,
        label_visibility="collapsed",
        live=True,
        width=110,
        persist_state="session",
    )


def number(text: str) -> float | None:
    """What is written, as a number; None for anything but plain digits with a point, in any locale."""
    return float(text) if re.fullmatch(NUMBER, text) else None


def _add(where: str) -> None:
    lines: list[int] = st.session_state[where]
    st.session_state[where] = [*lines, max(lines, default=0) + 1]


def _remove(where: str, line: int) -> None:
    st.session_state[where] = [other for other in st.session_state[where] if other != line]
