"""The same question as a file: the totals of the last complete week as csv."""

import streamlit as st

from lib.reporting.models import ExportQuery
from lib.ui import frame

here = frame.signed_in()
reporting = here.reporting
query = ExportQuery(
    project_name=here.project,
    slicer_name=here.slicer_name,
    start_date="-7d",
    end_date="yesterday",
    export_format="csv",
)
st.subheader("Last 7 days", anchor=False)
st.download_button(
    "Download csv",
    data=lambda: reporting.export(query).content.read(),
    file_name=f"{here.slicer_name}.csv",
    on_click="ignore",
)
