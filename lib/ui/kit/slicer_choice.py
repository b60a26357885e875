"""The project and slicer of every screen: picked in the header, named by a link, or missing.

A slicer that a link names in vain, or that was removed while it was open, stays in the pickers and in the
URL until somebody chooses another one; no other is shown in its place.
"""

from collections.abc import Sequence

import streamlit as st

from lib.ui import streamlit_compat
from lib.ui.kit.markdown import plain

PARTS = ("project", "slicer")
LABELS = {"project": "Project", "slicer": "Slicer"}
WIDTHS = {"project": 110, "slicer": 150}
NEXT, PICKED = "picked_next", "picked_before"
MOST = 20
Pair = tuple[str, str]


def first_of(slicers: Sequence[Pair], project: str | None, slicer: str | None) -> Pair | None:
    """The first slicer (project, name) that a request means; None where it names one that is not there.

    None for project or slicer: the request leaves it open. `slicers` are those that the person may see, so
    that one that is not visible and one that does not exist are the same to them.
    """
    return next(
        (pair for pair in slicers if project in (None, pair[0]) and slicer in (None, pair[1])),
        None,
    )


def missing_sentence(project: str, slicer: str) -> str:
    """That a slicer is missing: the same words whether it does not exist or is not visible. Not escaped."""
    whole = f"The slicer “{slicer}” of the project “{project}”" if project and slicer else ""
    name = whole or (f"The slicer “{slicer}”" if slicer else f"The project “{project}”")
    return (
        f"{name} does not exist or is not visible to you, so no figures are shown. Choose a slicer above; "
        "the question stays in the address of this page."
    )


def pick(project: str, slicer: str) -> None:
    """Make the pickers of the next run show these, whatever the URL says. From a callback."""
    st.session_state[NEXT] = {"project": project, "slicer": slicer}


def draw(slicers: Sequence[Pair]) -> tuple[Pair, bool]:
    """Draw the two pickers; what they show, and whether that is missing.

    Both are bound to their query parameters, so that a link shows the same to somebody else.
    """
    in_order = sorted(slicers, key=lambda pair: pair[0])
    choice: dict[str, str] = st.session_state.pop(NEXT, {})
    project, slicer = (choice.get(part) or _slicer_of_link(part, slicers) for part in PARTS)
    match = first_of(in_order, project, slicer)
    current = match or (project or "", slicer or "")
    _remember(current)
    projects = [*dict.fromkeys(pair[0] for pair in in_order)]
    names = [pair[1] for pair in in_order if pair[0] == current[0]]
    for part, options, value in zip(PARTS, (projects, names), current, strict=True):
        _picker(part, options, value, slicers)
    return current, match is None


def _slicer_of_link(part: str, slicers: Sequence[Pair]) -> str | None:
    """The project or slicer of the URL, or else the one picked last.

    After a choice a browser may still send the address of a missing slicer: that is passed over, unless the
    person went back there.
    """
    linked, picked, place = st.query_params.get(part), st.session_state.get(part), PARTS.index(part)
    page, pairs = st.session_state.get(PICKED, ("", ()))
    was_shown = page == streamlit_compat.page() and linked in {pair[place] for pair in pairs}
    is_old = was_shown and linked not in {pair[place] for pair in slicers} and not streamlit_compat.is_back()
    return picked if linked is None or (is_old and picked) else linked


def _remember(current: Pair) -> None:
    """Note what the pickers have shown on this page."""
    page, pairs = st.session_state.get(PICKED, ("", ()))
    before = pairs if page == streamlit_compat.page() else ()
    others = (pair for pair in before if pair != current)
    st.session_state[PICKED] = (streamlit_compat.page(), (*others, current)[-MOST:])


def _picker(part: str, options: list[str], value: str, slicers: Sequence[Pair]) -> None:
    """Draw one picker; a value that is missing is the first of its options."""
    if part not in st.session_state and value and st.query_params.get(part) != value:
        st.query_params[part] = value  # later on the widget does so itself, and nobody else may
    if st.session_state.get(part) != value or part not in st.query_params:
        st.session_state[part] = value or None
    st.selectbox(
        LABELS[part],
        [value, *options] if value and value not in options else options,
        index=None,
        key=part,
        bind="query-params",
        required=True,
        placeholder=f"Choose a {part}",
        label_visibility="collapsed",
        width=WIDTHS[part],
        on_change=_pick,
        args=(slicers,),
    )


def _pick(slicers: Sequence[Pair]) -> None:
    """Show what was picked; of another project the slicer of the same name, or else its first."""
    project, slicer = (st.session_state.get(part) for part in PARTS)
    match = first_of(slicers, project, slicer) or first_of(slicers, project, None)
    if match is not None and not streamlit_compat.is_back():
        pick(*match)


def explain(project: str, slicer: str) -> None:
    """Draw that the slicer is missing."""
    st.warning(plain(missing_sentence(project, slicer)), icon=":material/link_off:")
