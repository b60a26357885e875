"""A pivot as a sheet of xlsx: rows below rows, columns in groups under merged headers.

Labels are text, whatever they begin with; figures are numbers with all their digits, shown with the decimal
places of their column. A missing figure is an empty cell. The headers and the first column stay in view.
"""

import io
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import xlsxwriter

from lib.reporting.files.sheets import MAX_CELL_TEXT
from lib.wire.errors import BadRequest

HEADERS, LABEL_WIDTH, LEAST_WIDTH = 2, 34, 11


@dataclass(frozen=True)
class PivotColumn:
    """A column of figures: columns of the same `group` beside each other share a header above their own."""

    title: str
    number_format: str
    group: str = ""


@dataclass(frozen=True)
class PivotRow:
    """A row: its label, its figures by column, its level from 1, and whether it is the total."""

    label: str
    figures: Sequence[float | None]
    level: int = 1
    is_total: bool = False


@dataclass(frozen=True)
class PivotSheet:
    """The pivot; `corner` is the title of its labels, `about` are lines of a second sheet."""

    corner: str
    columns: Sequence[PivotColumn]
    rows: Sequence[PivotRow]
    about: Sequence[str] = ()


def write(pivot: PivotSheet) -> bytes:
    """The file. BadRequest for a text that no cell holds."""
    texts = [pivot.corner, *pivot.about, *(row.label for row in pivot.rows)]
    texts += [text for column in pivot.columns for text in (column.title, column.group)]
    if max(map(len, texts)) > MAX_CELL_TEXT:
        raise BadRequest(f"A cell of a spreadsheet holds {MAX_CELL_TEXT:,} characters; ask for CSV")
    file = io.BytesIO()
    book = _Book(file)
    book.draw_headers(pivot)
    for number, row in enumerate(pivot.rows):
        book.draw_row(HEADERS + number, row, pivot.columns)
    book.draw_about(pivot.about)
    book.close()
    return file.getvalue()


class _Book:
    def __init__(self, file: io.BytesIO) -> None:
        self._book = xlsxwriter.Workbook(file, {"in_memory": True})
        self._sheet = self._book.add_worksheet("Pivot")
        self._formats: dict[tuple[tuple[str, Any], ...], Any] = {}

    def draw_headers(self, pivot: PivotSheet) -> None:
        """Two lines: groups over their columns; what has no group goes over both."""
        self._sheet.freeze_panes(HEADERS, 1)
        self._sheet.set_column(0, 0, LABEL_WIDTH)
        self._merge(0, 0, 1, 0, pivot.corner, align="left")
        for group, columns in itertools.groupby(enumerate(pivot.columns, 1), lambda pair: pair[1].group):
            group_columns = list(columns)
            for index, column in group_columns:
                self._sheet.set_column(index, index, max(LEAST_WIDTH, len(column.title) + 2))
                if group:
                    self._text(1, index, column.title, bold=True, align="right")
                else:
                    self._merge(0, index, 1, index, column.title, align="right")
            if group:
                self._merge(0, group_columns[0][0], 0, group_columns[-1][0], group, align="center")

    def draw_row(self, row_number: int, row: PivotRow, columns: Sequence[PivotColumn]) -> None:
        """A label, indented by its level, and the figures that there are."""
        self._text(row_number, 0, row.label, bold=row.is_total, indent=row.level - 1)
        for across, (value, column) in enumerate(zip(row.figures, columns, strict=True), 1):
            if value is not None:
                style = self._format({"bold": row.is_total, "num_format": column.number_format})
                self._sheet.write_number(row_number, across, value, style)

    def draw_about(self, lines: Sequence[str]) -> None:
        """A second sheet: what was asked, and how precise the figures are."""
        self._sheet = self._book.add_worksheet("About")
        for row_number, line in enumerate(lines):
            self._text(row_number, 0, line)

    def close(self) -> None:
        self._book.close()

    def _merge(self, top: int, left: int, bottom: int, right: int, text: str, align: str) -> None:
        style = self._format({"bold": True, "align": align, "valign": "bottom"})
        if (top, left) != (bottom, right):
            self._sheet.merge_range(top, left, bottom, right, "", style)
        self._sheet.write_string(top, left, text, style)

    def _text(self, row: int, column: int, text: str, **style: Any) -> None:
        self._sheet.write_string(row, column, text, self._format(style))

    def _format(self, style: Mapping[str, Any]) -> Any:
        key = tuple(sorted(style.items()))
        if key not in self._formats:
            self._formats[key] = self._book.add_format(dict(style))
        return self._formats[key]
