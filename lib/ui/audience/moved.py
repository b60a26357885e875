"""The block "What moved": the values of key fields that explain the difference between two periods."""

from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.reporting.moved.explain import Moved
from lib.ui.audience import moved_csv, moved_found, moved_rows, moved_words
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import drill, export_menu, focus, question
from lib.ui.question.focus import Focus
from lib.ui.rows import rows

BLOCK, HEIGHT = "moved", 320


@st.fragment(parallel=True)
def draw(here: Here) -> None:
    """Draw the block if it is open; only then its many queries are sent."""
    drill.catch_up(here)
    if not here.slicer.data_fields or not question.view(here).moved:
        return
    seen = focus.of(here)
    with st.container(key=BLOCK, gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.subheader("What moved", anchor=False)
            st.space("stretch")
            taken = st.container(width="content")
        if seen.comparison is None:
            st.caption("No days are compared: choose some beside the dates.")
            return
        with problems.reported("What moved"):
            _draw(seen, taken)


def _draw(seen: Focus, taken: DeltaGenerator) -> None:
    """Draw a sentence on the total, then a sentence and a table per key field."""
    with st.skeleton(height=HEIGHT):
        found = moved_found.found(seen)
    st.markdown(plain(moved_words.whole(seen, found)))
    if sentences := moved_words.sentences(seen, found):
        st.markdown("\n".join(f"- {plain(one)}" for one in sentences))
    if found.shown:
        with taken:
            _export(seen, found)
        tables = [moved_rows.table(seen, found, moves) for moves in found.shown]
        rows.draw(drill.MOVED, tables, question.taken(drill.MOVED), partial(drill.follow, seen.here))
    st.caption(plain(moved_words.notes(seen, found)))


def _export(seen: Focus, found: Moved) -> None:
    """Draw the values as a download, and a link to Export."""
    menu = export_menu.opened(BLOCK)
    if menu is not None:
        with menu:
            text = partial(moved_csv.text, seen, found)
            export_menu.download(seen, BLOCK, text, "Download these values as CSV")
            export_menu.way_on()
