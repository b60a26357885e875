"""xls: a BIFF8 workbook. xlwt makes it; the rows, which it would build cell by cell, are laid out by numpy.

A sheet's rows are records of fixed size ([MS-XLS] 2.4: Row, Number, LabelSst), the same that xlwt packs, so a
column of them is one structured array. xlwt reads them from the file that it keeps flushed rows in.
"""

from collections.abc import Iterator, Sequence
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import xlwt
from xlwt.BIFFRecords import SharedStringTable
from xlwt.UnicodeUtils import upack2

from lib.reporting import formats
from lib.reporting.files.sheets import SheetCells, cells, number_format
from lib.reporting.files.table import FileColumn, FileTable

Records = npt.NDArray[np.void]
Rows = npt.NDArray[np.int64]

_HEAD = [("id", "<u2"), ("size", "<u2"), ("row", "<u2")]
_ROW = np.dtype(
    [*_HEAD, ("first", "<u2"), ("after", "<u2"), ("height", "<u2"), ("_", "<u4"), ("bits", "<u4")]
)
_NUMBER = np.dtype([*_HEAD, ("column", "<u2"), ("style", "<u2"), ("value", "<f8")])
_TEXT = np.dtype([*_HEAD, ("column", "<u2"), ("style", "<u2"), ("value", "<u4")])
_IDS = {_ROW: 0x0208, _NUMBER: 0x0203, _TEXT: 0x00FD}
_HEIGHT, _ROW_BITS = 0x00FF, 0x000F0100
_UNITS_PER_CHARACTER = 256
_MAX_RECORD = 0x2020


class XlsBook:
    """An xls file in the making (a `sheets.Book`)."""

    limits = formats.XLS

    def __init__(self, file: IO[bytes], columns: Sequence[FileColumn]) -> None:
        self._file = file
        self._book = xlwt.Workbook(encoding="utf-8")
        self._book._Workbook__sst = _Texts("utf-8")
        self._bold = xlwt.easyxf("font: bold on")
        self._text_style = self._book.add_style(xlwt.XFStyle())
        self._number_styles = [
            self._book.add_style(xlwt.easyxf(num_format_str=number_format(column))) for column in columns
        ]

    def add_sheet(self, name: str, titles: Sequence[str], widths: Sequence[int]) -> None:
        """Begin a sheet with its header."""
        self._sheet = self._book.add_sheet(name)
        self._sheet.set_panes_frozen(True)
        self._sheet.set_horz_split_pos(1)
        for index, (title, width) in enumerate(zip(titles, widths, strict=True)):
            self._sheet.row(0).set_cell_text(index, title, self._bold)
            self._sheet.col(index).width = width * _UNITS_PER_CHARACTER
        self._sheet.flush_row_data()

    def append(self, piece: FileTable) -> None:
        """Write these rows below the last."""
        rows = self._sheet.last_used_row + 1 + np.arange(piece.rows)
        parts = [self._rows(rows, len(piece.columns)), *self._cells(rows, piece)]
        records = np.hstack([part.view(np.uint8).reshape(piece.rows, -1) for part, _ in parts])
        present = np.hstack(
            [np.repeat(is_present[:, None], part.itemsize, axis=1) for part, is_present in parts]
        )
        self._sheet.row_tempfile.write(records[present].tobytes())
        self._sheet.last_used_row = int(rows[-1])

    def close(self) -> None:
        """Write the finished file."""
        self._book.save(self._file)

    def _rows(self, rows: Rows, columns: int) -> tuple[Records, npt.NDArray[np.bool_]]:
        fields = {"first": 0, "after": columns, "height": _HEIGHT, "bits": _ROW_BITS}
        return _records(_ROW, rows, fields), np.ones(len(rows), dtype=bool)

    def _cells(self, rows: Rows, piece: FileTable) -> Iterator[tuple[Records, npt.NDArray[np.bool_]]]:
        """For each column its records of numbers and of texts, and at which rows they are there."""
        for index, column in enumerate(piece.columns):
            encoded: SheetCells = cells(column)
            if not np.isnan(encoded.numbers).all():
                style = self._number_styles[index]
                fields = {"column": index, "style": style, "value": encoded.numbers}
                yield _records(_NUMBER, rows, fields), ~np.isnan(encoded.numbers)
            texts = encoded.texts.to_pylist()
            if any(texts):
                indices = [self._book.add_str(text) if text else 0 for text in texts]
                fields = {"column": index, "style": self._text_style, "value": indices}
                yield _records(_TEXT, rows, fields), np.array([text != "" for text in texts])


class _Texts(SharedStringTable):  # type: ignore[misc]
    """xlwt's table of texts, but a full record never ends inside a surrogate pair, which xlrd can't read."""

    _current_piece: bytes

    def _add_to_sst(self, text: str) -> None:
        packed = upack2(text, self.encoding)
        is_wide = bool(packed[2])
        first = 4 if text[:1] > "\uffff" else 1 + is_wide
        self._save_atom(packed[: 3 + first])
        self._save_split(packed[3 + first :], is_wide)

    def _save_split(self, rest: bytes, is_wide: bool) -> None:
        while len(rest) > (room := _MAX_RECORD - len(self._current_piece)):
            cut = room - room % 2 if is_wide else room
            if is_wide and cut and 0xD8 <= rest[cut - 1] < 0xDC:
                cut -= 2
            self._current_piece += rest[:cut]
            self._new_piece()
            self._current_piece = b"\x01" if is_wide else b"\x00"
            rest = rest[cut:]
        self._current_piece += rest


def _records(kind: np.dtype[Any], rows: Rows, fields: dict[str, Any]) -> Records:
    records = np.zeros(len(rows), dtype=kind)
    records["id"], records["size"], records["row"] = _IDS[kind], kind.itemsize - 4, rows
    for name, value in fields.items():
        records[name] = value
    return records
