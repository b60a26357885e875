"""The export menu of a block: the rows shown as CSV, or the whole question on the screen Export."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.reporting.answers import Audience
from lib.reporting.models import AudienceQuery, DataField
from lib.ui.kit import screens
from lib.ui.query import answer_csv, link, picture, precision
from lib.ui.query.focus import Focus

MEDIA_TYPE = "text/csv"


def draw(
    focus: Focus,
    name: str,
    answer: Audience,
    fields: Sequence[DataField],
    chart: str | None = None,
    more: Callable[[], None] | None = None,
) -> None:
    """Draw the menu of the block `name` (letters): its rows with these data fields, and a link to Export.

    The file says on top what was asked and how precise it is. `chart` is how the key of the block's chart
    begins, where it has one; `more` draws what else the block has.
    """
    if (menu := opened(name)) is None:
        return
    with menu:
        rows(focus, name, answer, fields, "Download these rows as CSV")
        if chart is not None:
            picture.button(name, chart)
        way_on()
        if more is not None:
            more()


def opened(name: str) -> DeltaGenerator | None:
    """The popover of a block if it is open; its content is built only then."""
    popover = st.popover(
        "Export", icon=":material/download:", type="tertiary", key=f"{name}_export", on_change="rerun"
    )
    return popover if popover.open else None


def way_on(label: str = "Open all rows in Export", query: AudienceQuery | None = None) -> None:
    """Draw the link to the screen Export with this question, or with another one."""
    params = None if query is None else link.to_params(query)
    st.page_link(screens.EXPORT, label=label, icon=":material/arrow_forward:", query_params=params)


def rows(focus: Focus, name: str, answer: Audience, fields: Sequence[DataField], label: str) -> None:
    """Draw the download button for the rows of an answer to the question of `seen`."""
    labels = [
        f"Question: {answer_csv.question(focus, [str(key) for key in answer.names])}",
        f"Precision: {precision.over(answer, fields, focus.numbers)}",
    ]
    download(focus, name, partial(answer_csv.text, answer, fields, focus.slicer, labels), label)


def download(focus: Focus, name: str, text: Callable[[], str], label: str) -> None:
    """Draw the download button for a file whose text is built on click."""
    st.download_button(
        label,
        data=text,
        file_name=f"{focus.query.slicer_name}_{name}_{focus.period[0]}_{focus.period[1]}.csv",
        mime=MEDIA_TYPE,
        on_click="ignore",
        icon=":material/table_rows:",
        key=f"{name}_csv",
    )
