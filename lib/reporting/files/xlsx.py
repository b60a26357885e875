"""xlsx, an extension of ours. XlsxWriter makes it; the rows, which it would write cell by cell, Arrow does.

A row is XML as in ECMA-376, part 1, 18.3.1.73; texts stand in their cells. What XML can't hold is written as
Excel does it (22.9.2.19): _x0001_ for a control character, _x005F_x0001_ for the text "_x0001_".
"""

import re
from collections.abc import Sequence
from typing import IO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xlsxwriter
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet

from lib.reporting import formats
from lib.reporting.files.numbers import exact
from lib.reporting.files.sheets import SheetCells, cells, number_format
from lib.reporting.files.table import FileColumn, FileTable

_UNHOLDABLE = re.compile("[\0-\b\v-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_MAYBE_UNHOLDABLE = r"[\x00-\x08\x0b-\x1f\x{fffe}\x{ffff}]|_x"
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))


class XlsxBook:
    """An xlsx file in the making (a `sheets.Book`)."""

    limits = formats.XLSX

    def __init__(self, file: IO[bytes], columns: Sequence[FileColumn]) -> None:
        self._book = xlsxwriter.Workbook(file, {"constant_memory": True})
        self._bold: int = self._book.add_format({"bold": True})._get_xf_index()
        formats = [self._book.add_format({"num_format": number_format(column)}) for column in columns]
        self._styles: list[int] = [number._get_xf_index() for number in formats]

    def add_sheet(self, name: str, titles: Sequence[str], widths: Sequence[int]) -> None:
        """Begin a sheet with its header."""
        self._sheet = self._book.add_worksheet(name, _Sheet)
        self._sheet.freeze_panes(1, 0)
        for index, width in enumerate(widths):
            self._sheet.set_column(index, index, width)
        header = [SheetCells(np.array([np.nan]), pa.array([title], pa.string())) for title in titles]
        self._sheet.write_rows(header, text_style=self._bold, number_styles=self._styles)

    def append(self, piece: FileTable) -> None:
        """Write these rows below the last."""
        columns = [cells(column) for column in piece.columns]
        self._sheet.write_rows(columns, text_style=0, number_styles=self._styles)

    def close(self) -> None:
        """Write the finished file."""
        self._book.close()


class _Sheet(Worksheet):  # type: ignore[misc]
    """A worksheet in XlsxWriter's mode of constant memory that takes many rows at once, as columns."""

    _rows_written = 0

    def write_rows(
        self, columns: Sequence[SheetCells], text_style: int, number_styles: Sequence[int]
    ) -> None:
        """Write rows below the last; the styles are indices of cell formats."""
        rows = len(columns[0].numbers)
        numbers = pa.array(np.arange(1, rows + 1) + self._rows_written).cast(pa.string())
        row_texts = [
            _cells_as_xml(xl_col_to_name(index), numbers, column, text_style, number_style)
            for index, (column, number_style) in enumerate(zip(columns, number_styles, strict=True))
        ]
        lines = pc.binary_join_element_wise('<row r="', numbers, '">', *row_texts, "</row>", "")
        self.fh.write("".join(lines.to_pylist()))
        self._check_dimensions(self._rows_written, 0)
        self._rows_written += rows
        self._check_dimensions(self._rows_written - 1, len(columns) - 1)


def _cells_as_xml(
    letters: str, rows: pa.StringArray, column: SheetCells, text_style: int, number_style: int
) -> pa.StringArray:
    texts_of_rows = pa.nulls(len(rows), pa.string()).fill_null("")
    is_number = ~np.isnan(column.numbers)
    if is_number.any():
        numbers = exact(column.numbers)
        opening = f'" s="{number_style}"><v>'
        as_xml = pc.binary_join_element_wise(f'<c r="{letters}', rows, opening, numbers, "</v></c>", "")
        texts_of_rows = pc.if_else(is_number, as_xml, texts_of_rows)
    if pc.any(pc.not_equal(column.texts, "")).as_py():
        opening = f'" s="{text_style}" t="inlineStr"><is><t xml:space="preserve">'
        texts = _escape(column.texts)
        as_xml = pc.binary_join_element_wise(f'<c r="{letters}', rows, opening, texts, "</t></is></c>", "")
        texts_of_rows = pc.if_else(pc.not_equal(column.texts, ""), as_xml, texts_of_rows)
    return texts_of_rows


def _escape(texts: pa.StringArray) -> pa.StringArray:
    if pc.any(pc.match_substring_regex(texts, _MAYBE_UNHOLDABLE)).as_py():
        safe = [_UNHOLDABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text) for text in texts.to_pylist()]
        texts = pa.array(safe, pa.string())
    for character, entity in _ENTITIES:
        texts = pc.replace_substring(texts, character, entity)
    return texts
