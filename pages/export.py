"""The same question as a file: what it will hold, how to make it, and how a script asks for it."""

import streamlit as st

from lib.ui.export import form, result
from lib.ui.kit import frame
from lib.ui.query import bar, question

context = frame.with_slicer(frame.signed_in())
asked = question.current(context)
bar.draw(context, with_comparison=False)
left, right = st.columns([9, 20], gap="medium")
with left:
    query = form.draw(context, asked)
with right:
    result.draw(context, asked, query)
