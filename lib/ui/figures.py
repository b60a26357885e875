"""Headline and time chart: one question, shown twice."""

import streamlit as st

from lib.ui import ask, figure_controls, focus, headline, nothing, over_time, problems
from lib.ui.frame import Here
from lib.ui.waiting import awaited

HEIGHT = 420


@st.fragment(parallel=True)
def draw(here: Here) -> None:
    """Ask, then draw what came; while it is awaited, its place is kept."""
    if not here.slicer.data_fields:
        st.info("This slicer has no data fields to show.", icon=":material/info:")
        return
    seen = focus.of(here)
    with problems.told("The figures"):
        with awaited(HEIGHT, figure_controls.FIELD):
            asked = seen.over_time()
            now, earlier = ask.audience(here, asked), seen.before(asked)
            before = ask.audience(here, earlier) if earlier is not None else None
        if nothing.is_there(now):
            headline.draw(seen, now, before)
            lines = over_time.lines(seen, now, before)
            figure_controls.draw(seen, now, before, lines)
            if lines:
                over_time.draw(seen, lines)
        else:
            nothing.draw(seen)
