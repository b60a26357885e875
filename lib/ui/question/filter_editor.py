"""One filter's form: match, values, case, descriptions. While it is edited, it is the widgets' state."""

from collections.abc import Callable

import streamlit as st

from lib.reporting.matches import MATCHES, RULES, Match
from lib.reporting.models import AudienceQuery, Filter
from lib.ui.charts.numbers import Numbers
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.question import filter_words, values

WIDTH, TEXTS_HEIGHT = 340, 90
Changed = Callable[[], None] | None


def fill(prefix: str, wanted: Filter) -> None:
    """Let the form show this filter."""
    st.session_state[f"{prefix}_match"] = wanted.match
    st.session_state[f"{prefix}_values"] = list(wanted.value)
    st.session_state[f"{prefix}_texts"] = "\n".join(wanted.value)
    st.session_state[f"{prefix}_any_case"] = bool(wanted.case_insensitive)
    st.session_state[f"{prefix}_descriptions"] = bool(wanted.search_mappings)


def read(prefix: str, name: str) -> Filter:
    """The filter that the form shows; without values it is not to be asked."""
    state = st.session_state
    match: Match = state.get(f"{prefix}_match", "equals")
    texts = [line for line in state.get(f"{prefix}_texts", "").splitlines() if line]
    return Filter(
        name=name,
        value=tuple(state.get(f"{prefix}_values", ()) if RULES[match].is_whole else texts),
        match=match,
        case_insensitive=bool(state.get(f"{prefix}_any_case")),
        search_mappings=bool(state.get(f"{prefix}_descriptions")),
    )


def draw(here: Here, query: AudienceQuery, prefix: str, name: str, changed: Changed) -> None:
    """Draw the form of a filter on the key field `name`; `changed` is what its widgets do on a change."""
    field = here.slicer.key_field(name)
    st.selectbox(
        "Match",
        MATCHES,
        format_func=lambda match: RULES[match].words,
        key=f"{prefix}_match",
        width=WIDTH,
        on_change=changed,
    )
    if RULES[st.session_state[f"{prefix}_match"]].is_whole:
        with problems.told("The values"):
            _whole_values(here, query, prefix, name, changed)
    else:
        st.text_area(
            "Texts, one per line", key=f"{prefix}_texts", width=WIDTH, height=TEXTS_HEIGHT, on_change=changed
        )
    with st.container(horizontal=True):
        st.checkbox("Any case", key=f"{prefix}_any_case", on_change=changed)
        if field.mapping:
            st.checkbox("Descriptions too", key=f"{prefix}_descriptions", on_change=changed)


def _whole_values(here: Here, query: AudienceQuery, prefix: str, name: str, changed: Changed) -> None:
    found, figures = values.offered(here, query, name), Numbers.of(st.context.locale)
    if found.has_more:
        text = st.text_input(
            "Search", type="search", live=True, key=f"{prefix}_search", width=WIDTH,
            placeholder=found.searched(figures), label_visibility="collapsed",
        )  # fmt: skip
        found = values.offered(here, query, name, text or "")
    chosen = st.session_state.get(f"{prefix}_values", [])
    described = values.words(here, query, name, chosen) | found.described
    st.multiselect(
        "Values",
        list(dict.fromkeys([*chosen, *found.described])),
        format_func=lambda code: filter_words.both(code, described.get(code)),
        key=f"{prefix}_values",
        filter_mode="contains",
        accept_new_options=True,
        select_all=False,
        placeholder="Most frequent first; type to find",
        width=WIDTH,
        on_change=changed,
    )
