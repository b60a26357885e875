"""The audience question: totals of the last complete week."""

import streamlit as st

from lib.reporting.models import DESK_ROWS_LIMIT, AudienceQuery
from lib.ui import frame

here = frame.signed_in()
query = AudienceQuery(
    project_name=here.project,
    slicer_name=here.slicer_name,
    start_date="-7d",
    end_date="yesterday",
    audience_rows_limit=DESK_ROWS_LIMIT,
)
answer = here.reporting.audience(query, here.slicer)
st.subheader("Last 7 days", anchor=False)
st.write(answer)
