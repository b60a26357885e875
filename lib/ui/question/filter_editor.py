"""The content of a filter's popover: an editor of the key field's values, or a form of texts."""

from collections.abc import Callable
from functools import partial

import streamlit as st

from lib.reporting.matches import MATCHES, RULES, Match
from lib.reporting.models import AudienceQuery, Filter
from lib.ui.frame.frame import Here
from lib.ui.question import filter_paste, filter_values, filters, question

WIDTH, TEXTS_HEIGHT = 380, 90
LIST, PASTE = "List", "Paste"
TEXT_MATCHES = tuple(match for match in MATCHES if not RULES[match].is_whole)
Changed = Callable[[], None] | None


def draw_values(here: Here, prefix: str, name: str, way: str) -> None:
    """Draw the values of the key field `name` (a list, or pasted), and the controls for all chosen values."""
    with st.container(width=WIDTH):
        (filter_paste.draw if way == PASTE else filter_values.draw)(here, prefix, name)
        chosen = filters.about(question.current(here), name)
        if chosen:
            _options(here, prefix, name, chosen)


def _options(here: Here, prefix: str, name: str, chosen: tuple[Filter, ...]) -> None:
    st.session_state[f"{prefix}_any_case"] = any(found.case_insensitive for found in chosen)
    st.session_state[f"{prefix}_descriptions"] = any(found.search_mappings for found in chosen)
    _flags(here, prefix, name, partial(_flag, here, prefix, name))
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Swap",
            icon=":material/swap_horiz:",
            type="tertiary",
            help="Exclude what is included, and include what is excluded",
            key=f"{prefix}_swap",
            on_click=_ask,
            args=(here, name, filters.swap),
        )
        draw_removal(prefix, partial(_ask, here, name, filters.clear))


def _flag(here: Here, prefix: str, name: str) -> None:
    flags = _read_flags(prefix)
    question.ask(filters.change(question.current(here), name, lambda f: f.model_copy(update=flags)))
    st.rerun()


def _ask(here: Here, name: str, work: Callable[[AudienceQuery, str], AudienceQuery]) -> None:
    question.ask(work(question.current(here), name))
    st.rerun()


def draw_removal(prefix: str, remove: Callable[[], None]) -> None:
    """Draw the button that removes the filter; `remove` is its callback."""
    st.button("Remove", icon=":material/close:", type="tertiary", key=f"{prefix}_remove", on_click=remove)


def fill(prefix: str, wanted: Filter | None = None) -> None:
    """Fill the form of texts with this filter, or clear it."""
    st.session_state[f"{prefix}_match"] = wanted.match if wanted else TEXT_MATCHES[0]
    st.session_state[f"{prefix}_texts"] = "\n".join(wanted.value) if wanted else ""
    st.session_state[f"{prefix}_any_case"] = bool(wanted and wanted.case_insensitive)
    st.session_state[f"{prefix}_descriptions"] = bool(wanted and wanted.search_mappings)


def read(prefix: str, name: str) -> Filter:
    """The filter in the form of texts. A filter without texts is not applied."""
    match: Match = st.session_state.get(f"{prefix}_match", TEXT_MATCHES[0])
    texts = tuple(line for line in st.session_state.get(f"{prefix}_texts", "").splitlines() if line)
    return Filter(name=name, value=texts, match=match).model_copy(update=_read_flags(prefix))


def draw_texts(here: Here, prefix: str, name: str, changed: Changed) -> None:
    """Draw the form of a filter by texts on `name`; `changed` is the callback of its widgets."""
    st.selectbox(
        "Match",
        TEXT_MATCHES,
        format_func=lambda match: RULES[match].words,
        key=f"{prefix}_match",
        width=WIDTH,
        on_change=changed,
    )
    st.text_area(
        "Texts, one per line", key=f"{prefix}_texts", width=WIDTH, height=TEXTS_HEIGHT, on_change=changed
    )
    _flags(here, prefix, name, changed)


def _flags(here: Here, prefix: str, name: str, changed: Changed) -> None:
    with st.container(horizontal=True):
        st.checkbox("Any case", key=f"{prefix}_any_case", on_change=changed)
        if here.slicer.key_field(name).mapping:
            st.checkbox("Descriptions too", key=f"{prefix}_descriptions", on_change=changed)


def _read_flags(prefix: str) -> dict[str, int]:
    names = {"case_insensitive": "any_case", "search_mappings": "descriptions"}
    return {name: int(bool(st.session_state.get(f"{prefix}_{key}"))) for name, key in names.items()}
