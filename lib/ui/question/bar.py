"""The question in one row: dates, comparison, filters, and the link to it."""

from collections.abc import Callable, Sequence

import streamlit as st

from lib.ui.frame.frame import Here
from lib.ui.question import dates_picker, filter_picker, history, moved_button, saved, share

BAR = "question_bar"


@st.fragment
def draw(
    here: Here,
    with_comparison: bool = True,
    page: str = "audience",
    more: Sequence[Callable[[Here], None]] = (),
) -> None:
    """Draw the row of pickers; on a phone, two rows that scroll sideways.

    What is only opened or typed in redraws this row alone, a choice all. `more` draw what else there is to
    do with the question.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=BAR):
        dates_picker.draw(here)
        if with_comparison:
            dates_picker.draw_comparison(here)
            moved_button.draw(here)
        filter_picker.draw(here)
        st.space("stretch")
        history.draw(here)
        for one in more:
            one(here)
        saved.draw(here, page)
        share.draw(here, page)
