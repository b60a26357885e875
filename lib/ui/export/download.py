"""The download button, and the messages while the file is made and afterwards.

The file is made by a thread of its own, while the button turns. Why a file failed Streamlit does not say: the
thread notes it, and the screen looks for the note. It looks by itself where making takes long (and only
there: each look also clears away finished downloads), otherwise with the next thing that is done on it.
"""

import streamlit as st

from lib.ui.charts.numbers import Numbers
from lib.ui.export.preview import Preview, summary
from lib.ui.export.progress import Making
from lib.ui.frame import sign_in
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain

MAKING = "export_making"
MANY_ROWS, POLL_SECONDS = 20_000, 2
UNITS = ((1e6, "MB"), (1e3, "kB"))


def draw(here: Here, file: Preview, filename: str, media_type: str, problem: str | None) -> None:
    """Draw the button; it is disabled if there is a problem."""
    making: Making = st.session_state.setdefault(MAKING, Making())
    reporting, query, slicer = here.reporting, file.query, here.slicer
    check = sign_in.still_here()
    st.download_button(
        f"Download {query.export_format}",
        data=lambda: making.make(reporting, query, slicer, check),
        file_name=filename,
        mime=media_type,
        on_click="ignore",
        type="primary",
        icon=":material/download:",
        key="export_download",
        disabled=problem is not None,
        width="stretch",
    )


def news(file: Preview, filename: str) -> None:
    """Draw the state of the last download, as long as the question is the same."""
    takes_long = file.found >= MANY_ROWS
    st.fragment(_news, run_every=POLL_SECONDS if takes_long else None)(file, filename)


def _news(file: Preview, filename: str) -> None:
    making: Making = st.session_state[MAKING]
    if making.query != file.query:
        return
    figures = Numbers.of(st.context.locale)
    if making.state == "making":
        st.caption(
            f":material/hourglass_top: Making {plain(summary(file, figures))}, {making.seconds:.0f} s so far"
        )
    elif making.state == "made":
        size = _size(making.size, figures)
        st.caption(f":material/check: {plain(filename)} was made in {making.seconds:.1f} s, {size}")
    else:
        st.error(
            f"The file was not made. {plain(making.reason)}. Your choices are kept.", icon=":material/error:"
        )


def _size(count: int, figures: Numbers) -> str:
    for size, unit in UNITS:
        if count >= size:
            return f"{figures.number(count / size, 1)} {unit}"
    return f"{count} bytes"
