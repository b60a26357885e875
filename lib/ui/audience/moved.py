"""What moved: which values of which key fields explain the difference between the two periods."""

from functools import partial

import streamlit as st

from lib.ui.audience import moved_found, moved_rows, moved_words
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import drill, focus, question
from lib.ui.question.focus import Focus
from lib.ui.rows import rows

BLOCK, HEIGHT, MOST_RANKED, MOST_OVERLAPPING = "moved", 320, 5, 2


@st.fragment(parallel=True)
def draw(here: Here) -> None:
    """The block, where it is open: it asks its many questions only then."""
    drill.catch_up(here)
    if not here.slicer.data_fields or not question.view(here).moved:
        return
    seen = focus.of(here)
    with st.container(key=BLOCK, gap="xsmall"):
        st.subheader("What moved", anchor=False)
        if seen.comparison is None:
            st.caption("No days are compared: choose some beside the dates.")
            return
        with problems.told("What moved"):
            _draw(seen)


def _draw(seen: Focus) -> None:
    """A sentence on the whole, one per key field, and their values in tables."""
    with st.skeleton(height=HEIGHT):
        found = moved_found.found(seen)
    st.markdown(plain(moved_words.whole(seen, found)))
    ranked = [moves for moves in found.moves if not moves.is_overlapping][:MOST_RANKED]
    shown = [*ranked, *[moves for moves in found.moves if moves.is_overlapping][:MOST_OVERLAPPING]]
    if shown:
        lines = [f"- {plain(moved_words.sentence(seen, found, moves))}" for moves in shown]
        st.markdown("\n".join(lines))
        tables = [moved_rows.table(seen, found, moves) for moves in shown]
        rows.draw(drill.MOVED, tables, question.taken(drill.MOVED), partial(drill.follow, seen.here))
    st.caption(plain(moved_words.notes(seen, found)))
