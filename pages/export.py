"""The same question as a file: what it will hold, how to make it, and how a script asks for it."""

import streamlit as st

from lib.ui import export_form, export_result, frame, question, question_bar

here = frame.with_slicer(frame.signed_in())
asked = question.current(here)
for sentence in question.left_out():
    st.warning(sentence, icon=":material/link_off:")
question_bar.draw(here, with_comparison=False)
form, result = st.columns([9, 20], gap="medium")
with form:
    wish = export_form.draw(here, asked)
with result:
    export_result.draw(here, asked, wish)
