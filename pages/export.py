"""The same question as a file: what it will hold, how to make it, and how a script asks for it."""

import streamlit as st

from lib.ui.export import form, result
from lib.ui.kit import frame
from lib.ui.query import bar, history

context = frame.with_slicer(frame.signed_in())
query = history.current(context).query
with context.row:
    bar.draw(context, with_comparison=False)
left_side, right_side = st.columns([9, 20], gap="medium")
with left_side:
    export_query = form.draw(context, query)
with right_side:
    result.draw(context, query, export_query)
