"""From what is shown to a file: the shown rows as CSV at once, or the whole question on the screen Export."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import DataField
from lib.ui.frame import screens
from lib.ui.question import answer_csv, precision
from lib.ui.question.focus import Focus

MEDIA_TYPE = "text/csv"


def draw(seen: Focus, name: str, answer: Audience, fields: Sequence[DataField]) -> None:
    """A popover for one block of a screen, `name` (letters): its rows with these data fields, and the way on.

    The file says on top what was asked and how precise it is.
    """
    labels = [
        f"Question: {answer_csv.question(seen, [str(key) for key in answer.names])}",
        f"Precision: {precision.over(answer, fields, seen.numbers)}",
    ]
    popover = st.popover(
        "Export", icon=":material/download:", type="tertiary", key=f"{name}_export", on_change="rerun"
    )
    if not popover.open:
        return
    with popover:
        st.download_button(
            "Download these rows as CSV",
            data=partial(answer_csv.text, answer, fields, seen.slicer, labels),
            file_name=f"{seen.query.slicer_name}_{name}_{seen.period[0]}_{seen.period[1]}.csv",
            mime=MEDIA_TYPE,
            on_click="ignore",
            icon=":material/table_rows:",
            key=f"{name}_csv",
        )
        st.page_link(screens.EXPORT, label="Open all rows in Export", icon=":material/arrow_forward:")
