"""What can be asked of the chosen slicer."""

import streamlit as st

from lib.ui import frame

here = frame.signed_in()
slicer = here.slicer

st.subheader(here.slicer_name, anchor=False)
if slicer.annotation:
    st.write(slicer.annotation)
st.caption(
    f"{slicer.first_date} to {slicer.last_date} · {len(slicer.key_fields)} key fields · "
    f"{len(slicer.data_fields)} data fields"
)
keys, data = st.columns(2)
with keys:
    st.dataframe(
        [
            {"Key field": field.name, "Description": field.description, "Type": field.type}
            for field in slicer.key_fields
        ],
        alt="Key fields of the slicer",
    )
with data:
    st.dataframe(
        [{"Data field": field.name, "Description": field.description} for field in slicer.data_fields],
        alt="Data fields of the slicer",
    )
