"""The audience question: filters and split, as headline, time chart and split."""

import streamlit as st

from lib.ui import figures, frame, question, question_bar, split

here = frame.with_slicer(frame.signed_in())
question.current(here)
for sentence in question.left_out():
    st.warning(sentence, icon=":material/link_off:")
question_bar.draw(here)
figures.draw(here)
split.draw(here)
