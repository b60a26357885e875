"""The editor of data filters, which keep rows of a file by the values of its data fields."""

from typing import Literal, NamedTuple

import streamlit as st

from lib.reporting.matches import COMPARE, DataMatch
from lib.reporting.models import DataFilter
from lib.ui.charts.numbers import title
from lib.ui.frame.field_problems import beside
from lib.ui.frame.frame import Here
from lib.ui.typed import amounts

MATCHES: tuple[DataMatch, ...] = (*COMPARE,)
SIGNS = {"<=": "≤", ">=": "≥", "!=": "≠"}
LINES, USUAL_MATCH = "data_filters", ">="
ANY = amounts.Limits(least=-(10**15), below=10**15, decimals=15)


class ChosenFilters(NamedTuple):
    """The complete filters, and whether any value is not a number."""

    filters: tuple[DataFilter, ...]
    has_problem: bool


def draw(here: Here) -> ChosenFilters:
    """Draw one line per filter; filters without a value are ignored. The input is kept for the session.

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
    return ChosenFilters(filters, has_problem="wrong" in found)


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
    if wrong := amounts.fault(text, limits=ANY):
        beside([wrong])
        return "wrong"
    value = amounts.read(text, ANY)
    return "unused" if value is None else DataFilter(name=name, match=match, value=float(value))


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


def _add(where: str) -> None:
    lines: list[int] = st.session_state[where]
    st.session_state[where] = [*lines, max(lines, default=0) + 1]


def _remove(where: str, line: int) -> None:
    st.session_state[where] = [other for other in st.session_state[where] if other != line]
