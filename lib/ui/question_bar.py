"""The question in one row: days, what they are compared with, filters, and the link to it."""

import streamlit as st

from lib.ui import dates_picker, filter_picker, share
from lib.ui.frame import Here


@st.fragment
def draw(here: Here, with_comparison: bool = True, page: str = "audience") -> None:
    """The row of pickers. What is only opened or typed in redraws this row alone, a choice all."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        dates_picker.draw(here)
        if with_comparison:
            dates_picker.draw_comparison(here)
        filter_picker.draw(here)
        st.space("stretch")
        share.draw(here, page)
