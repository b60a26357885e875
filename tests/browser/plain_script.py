"""A screen of hostile texts in widgets that read Markdown, for test_foreign_text.py."""

import streamlit as st
from hostile_texts import TEXTS

from lib.ui.kit.markdown import plain

for number, text in enumerate(TEXTS):
    with st.container(key=f"hostile-{number}"):
        st.markdown(plain(text))
        st.caption(plain(text))
        st.warning(plain(text))
        st.button(plain(text), key=f"button-{number}")
        st.checkbox(plain(text), key=f"checkbox-{number}")
        st.metric(plain(text), plain(text))
        st.segmented_control("x", [plain(text)], key=f"choice-{number}", label_visibility="collapsed")
