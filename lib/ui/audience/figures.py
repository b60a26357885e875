"""Headline and time chart: one question, shown twice."""

import streamlit as st

from lib.ui.audience import date_notes, figure_controls, headline, nothing, over_time, value_lines
from lib.ui.frame import problems
from lib.ui.frame.frame import Here
from lib.ui.frame.waiting import awaited
from lib.ui.question import ask, compared, focus
from lib.ui.question.view import granularities

HEIGHT, PLACE = 412, "figures"


def draw(here: Here) -> None:
    """Draw them in a place of their own, which has its height from the start where there is a time chart."""
    with st.container(key=PLACE if granularities(here.slicer) else None):
        _draw(here)


@st.fragment(parallel=True)
def _draw(here: Here) -> None:
    """Send the query and draw its answer."""
    if not here.slicer.data_fields:
        st.info("This slicer has no data fields to show.", icon=":material/info:")
        return
    seen = focus.of(here)
    with problems.reported("The figures"):
        with awaited(HEIGHT, figure_controls.FIELD):
            asked = seen.over_time()
            now = ask.quickly(here, asked)
            found = compared.asked(seen, asked, now)
            values = value_lines.asked(seen)
        if nothing.is_there(now):
            headline.draw(seen, now, found)
            lines = over_time.lines(seen, now, found)
            noted = date_notes.of(seen)
            figure_controls.draw(seen, now, over_time.named(values) or lines, noted)
            if lines:
                over_time.draw(seen, lines, values, noted.notes)
            figure_controls.draw_notes(seen, now, found)
            ask.refined()
        else:
            nothing.draw(seen)
