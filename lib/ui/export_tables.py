"""The preview and the receipt of a file as tables, and its request as text."""

from typing import Any

import pandas as pd
import streamlit as st

from lib.reporting.files import Column, Table
from lib.reporting.models import ExportQuery
from lib.ui import export_preview, precision, script
from lib.ui.export_preview import Preview
from lib.ui.numbers import NOTHING, Numbers, title
from lib.ui.receipt import Line, Receipt

ROW, HEADER = 33, 35
NO_TOOLBAR = "<style>.st-key-preview [data-testid=stElementToolbar] { display: none; }</style>"


def preview(file: Preview, table: Table) -> None:
    """The first rows of the file; marks between thousands are the screen's own."""
    shown, is_raw = export_preview.frame(table), file.query.export_format == "tsv2"
    columns = {str(place): _column(column, is_raw) for place, column in enumerate(table.columns)}
    with st.container(key="preview"):
        st.html(NO_TOOLBAR)
        _rows(file, shown, columns)


def _rows(file: Preview, shown: pd.DataFrame, columns: dict[str, Any]) -> None:
    st.dataframe(
        shown,
        height=HEADER + ROW * len(shown),
        hide_index=True,
        placeholder=NOTHING,
        column_config=columns,
        alt="First rows of the file",
    )
    if not file.is_exact:
        exact = "" if file.is_plain else ", those of the file are not"
        st.caption(f"Too many records to preview exactly: these rows are estimates{exact}.")


def _column(column: Column, is_raw: bool) -> Any:
    """How a column looks: as the field is shown, or with its name and all digits."""
    label = column.name if is_raw else column.description
    if column.role != "data":
        return st.column_config.TextColumn(label)
    if is_raw:
        return st.column_config.NumberColumn(label, format="plain")
    return st.column_config.NumberColumn(label, format="localized", step=10**-column.decimals)


def receipt(found: Receipt, numbers: Numbers) -> None:
    """The totals on the Audience screen beside those of the file."""
    st.caption(receipt_sentence(found, numbers))
    right = st.column_config.TextColumn(alignment="right")
    table = receipt_table(found, numbers)
    st.dataframe(
        table,
        height=HEADER + ROW * min(len(table), 8),
        hide_index=True,
        column_config=dict.fromkeys(map(str, list(table)[1:]), right),
        alt="Receipt: totals on the Audience screen and in the file",
    )


def receipt_sentence(found: Receipt, numbers: Numbers) -> str:
    """What the two columns of figures are."""
    estimated = next((line for line in found.lines if line.is_estimate), None)
    if estimated is None:
        return "The totals on the Audience screen are exact here: they are those of the file."
    read = precision.sentence(found.screen, estimated.field.name, numbers)
    beside = "Beside it: the totals of all records." if found.is_plain else "The file reads every record."
    return f"The Audience screen reads a sample: {title(estimated.field)} {read}. {beside}"


def receipt_table(found: Receipt, numbers: Numbers) -> pd.DataFrame:
    """A row per data field: name, on the screen, how far off it may be, in the file, the difference."""
    rows = [
        (
            title(line.field, with_unit=True),
            numbers.plain(line.shown, line.field),
            numbers.percent(precision.half_range(line.low, line.high, line.shown))
            if line.is_estimate
            else "exact",
            numbers.plain(line.exact, line.field),
            numbers.plain(line.difference, line.field),
            _relative(line, numbers),
        )
        for line in found.lines
    ]
    exact = "Of all records" if found.is_plain else "In the file"
    names = ["Data field", "On the Audience screen", "±", exact, "Difference", "Difference, %"]
    return pd.DataFrame(rows, columns=names)


def request(query: ExportQuery, address: str) -> None:
    """The request for whoever carries on in a script."""
    as_json, as_curl = st.tabs(["JSON", "curl"])
    as_json.code(script.as_json(query), language="json")
    as_curl.code(script.as_curl(query, address), language="bash", wrap_lines=True)
    st.caption(
        f"The token stands for one of your own: `export {script.VARIABLE}=…` in the shell before the command."
    )


def _relative(line: Line, numbers: Numbers) -> str:
    if line.difference is None or not line.exact:
        return NOTHING
    return numbers.change(line.difference / abs(line.exact)) if line.difference else "0"
