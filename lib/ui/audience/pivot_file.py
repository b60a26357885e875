"""The pivot as an xlsx file: the rows in sight with whole figures, and the question on a second sheet."""

from functools import partial

import streamlit as st

from lib.reporting.files import pivot_sheet
from lib.reporting.files.pivot_sheet import PivotColumn, PivotRow, PivotSheet
from lib.reporting.models import DataField
from lib.ui.audience import split_pivot, split_table
from lib.ui.audience.split_pivot import Pivot
from lib.ui.charts import numbers
from lib.ui.query import export_menu, filters, precision
from lib.ui.query.focus import Focus

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
CHANGE_FORMAT = "+0.0;-0.0;0.0"


def draw(focus: Focus, pivot: Pivot) -> None:
    """Draw the download button; the file is made on click."""
    st.download_button(
        "Download the pivot as XLSX",
        data=partial(content, focus, pivot),
        file_name=f"{export_menu.file(focus, 'pivot')}.xlsx",
        mime=MEDIA_TYPE,
        on_click="ignore",
        icon=":material/account_tree:",
        key="split_xlsx",
    )


def content(focus: Focus, pivot: Pivot) -> bytes:
    """The file's bytes."""
    corner = split_pivot.STEP.join(filters.field(name, focus.slicer) for name in pivot.query.split_by)
    rows = [
        PivotRow(line.label, [line.figures.get(name) for name in pivot.heads], line.level, not line.path)
        for line in split_pivot.lines(pivot)
    ]
    answer, fields = pivot.levels[0].split.answer, [pivot.front, *pivot.more]
    about = (
        f"Question: {export_menu.question(focus, focus.query.split_by)}",
        f"Precision: {precision.over(answer, fields, focus.numbers)}",
    )
    return pivot_sheet.write(PivotSheet(corner, _columns(pivot), rows, about))


def _columns(pivot: Pivot) -> list[PivotColumn]:
    """The field in front has its share and change beside it, or the values of the key field across."""
    fields = {field.name: field for field in pivot.more}
    across = {} if pivot.cross is None else dict.fromkeys(pivot.cross.names, pivot.cross.title)
    front = numbers.title(pivot.front, with_unit=True)
    columns = []
    for name, column in pivot.heads.items():
        if name in fields:
            columns.append(PivotColumn(column.title, _number_format(fields[name])))
        elif name in across:
            columns.append(PivotColumn(column.title, _number_format(pivot.front), across[name]))
        elif name == pivot.front.name:
            title, group = (front, "") if pivot.cross is not None else ("Value", front)
            columns.append(PivotColumn(title, _number_format(pivot.front), group))
        else:
            style = CHANGE_FORMAT if name == split_table.CHANGE else "0.0"
            columns.append(PivotColumn(column.title, style, front))
    return columns


def _number_format(field: DataField) -> str:
    places = field.display_precision
    return "#,##0" + ("." + "0" * places if places else "")
