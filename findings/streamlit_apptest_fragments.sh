#!/usr/bin/env bash
# Streamlit 1.67.0: AppTest runs the whole script after each act; a browser runs the fragment alone.
#
# Guess: a test by AppTest shows what a person sees after pressing a button in a fragment.
# Seen: the value that stands outside of the fragment follows at once in AppTest, since every run of AppTest is
# one of the whole script (runs 2, 2). In the server only the fragment runs, and the value stays until something
# else runs the page: faults of this kind are green in every AppTest.
set -euo pipefail
folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/python" -m pip install -q --disable-pip-version-check streamlit==1.67.0
cd "$folder" && cat > act.py <<'PY'
import streamlit
from streamlit.testing.v1 import AppTest


def page():
    import streamlit as st

    st.session_state["page_runs"] = st.session_state.get("page_runs", 0) + 1
    st.text(st.session_state.get("filter", "none"))

    @st.fragment
    def bar():
        st.session_state["bar_runs"] = st.session_state.get("bar_runs", 0) + 1
        st.button("Filter", on_click=lambda: st.session_state.update(filter="US"))

    bar()


test = AppTest.from_function(page).run()
test.button[0].click().run()
runs = test.session_state["page_runs"], test.session_state["bar_runs"]
print(f"Streamlit {streamlit.__version__}: the text outside is {test.text[0].value}; runs of page and fragment {runs}")
assert (test.text[0].value, runs) == ("US", (2, 2))
PY
venv/bin/python act.py 2>/dev/null
