"""The two spreadsheet formats, xls and xlsx: a table as sheets and cells.

Our own choices, where the specification is silent: each sheet begins with the same bold header, which stays
in view; a table with more rows than a sheet holds goes on in further ones; text is always a text cell,
whatever it begins with; numbers have a number format with their field's decimal places; missing values are
empty cells. Nothing is cut: a text longer than a cell holds is refused, with the formats that hold it.

XlsxWriter and xlwt make the files; the rows, which they would write cell by cell, are made by columns, three
and twelve times as fast. A row of xlsx is XML as in ECMA-376, part 1, 18.3.1.73, written by Arrow, with texts
in their cells. What XML can't hold is written as Excel does it (22.9.2.19): _x0001_ for a control character,
_x005F_x0001_ for the text "_x0001_". A row of xls is records of fixed size ([MS-XLS] 2.4: Row, Number,
LabelSst), the same that xlwt packs, so a column of them is one structured array. xlwt reads them from the
file that it keeps flushed rows in.
"""

import re
from collections.abc import Sequence
from typing import IO, Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xlsxwriter
import xlwt
from xlsxwriter.utility import xl_col_to_name
from xlsxwriter.worksheet import Worksheet
from xlwt.BIFFRecords import SharedStringTable
from xlwt.UnicodeUtils import upack2

from lib.reporting.files.table import XLS, XLSX, FileColumn, FileTable, SheetLimits, display, exact
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

MAX_CELL_TEXT = 32_767
_WIDTHS = (8, 60)
_WIDTH_ROWS = 1_000
_UNHOLDABLE = re.compile("[\0-\b\v-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_MAYBE_UNHOLDABLE = r"[\x00-\x08\x0b-\x1f\x{fffe}\x{ffff}]|_x"
_ENTITIES = (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"))
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


class Book(Protocol):
    """A spreadsheet file that is being written."""

    @property
    def limits(self) -> SheetLimits:
        """The contents of its sheets."""

    def add_sheet(self, name: str, titles: Sequence[str], widths: Sequence[int]) -> None:
        """Begin a sheet with its header; widths are in characters."""

    def append(self, piece: FileTable) -> None:
        """Write these rows below the last of the current sheet."""

    def close(self) -> None:
        """Write the finished file; the book can't be used any more."""


class SheetCells(NamedTuple):
    """A column's cells: of each row a number (else NaN), a text (else empty), or neither."""

    numbers: npt.NDArray[np.float64]
    texts: pa.StringArray


def write(book: Book, table: FileTable, deadline: Deadline) -> None:
    """Write a table into a book, on as many sheets as needed, and the book into its file.

    BadRequest for too many columns or a text that no cell holds.
    """
    if len(table.columns) > book.limits.columns:
        raise BadRequest(
            f"A sheet of {book.limits.name} holds {book.limits.columns} columns, this file has "
            f"{len(table.columns)}; ask for fewer data_fields, or for csv, tsv or tsv2"
        )
    titles = [column.description for column in table.columns]
    _check_lengths("The titles", pa.array(titles, pa.string()))
    widths = [_width(column) for column in table.columns]
    sheets, row_count = 1, 0
    book.add_sheet("Report", titles, widths)
    for piece in table.pieces(book.limits.step):
        deadline.check()
        if row_count + piece.rows > book.limits.rows:
            sheets, row_count = sheets + 1, 0
            book.add_sheet(f"Report {sheets}", titles, widths)
        book.append(piece)
        row_count += piece.rows
    book.close()


def cells(column: FileColumn) -> SheetCells:
    """The cells of a column; a key of type int is a number where no digit of it would be lost."""
    if column.is_number():
        return SheetCells(column.numbers(), pa.array([""] * len(column.values), pa.string()))
    texts = column.texts()
    _check_lengths(f"The values of '{column.name}'", texts)
    if column.kind != "int":
        return SheetCells(np.full(len(texts), np.nan), texts)
    is_number = pc.match_substring_regex(texts, r"\A(0|-?[1-9][0-9]{0,14})\z")
    numbers = pc.if_else(is_number, texts, pa.scalar(None, pa.string())).cast(pa.float64())
    return SheetCells(numbers.to_numpy(zero_copy_only=False), pc.if_else(is_number, "", texts))


def number_format(column: FileColumn) -> str:
    """The number format of a spreadsheet that shows the column's decimal places."""
    return "0." + "0" * column.decimals if column.decimals else "0"


def _check_lengths(what: str, texts: pa.StringArray) -> None:
    """A cell's length is counted in UTF-16 units, of which there are never more than bytes of UTF-8."""
    if (pc.max(pc.binary_length(texts)).as_py() or 0) > MAX_CELL_TEXT:
        longest = max(len(text.encode("utf-16-le")) // 2 for text in texts.to_pylist())
        if longest > MAX_CELL_TEXT:
            raise BadRequest(
                f"{what} have up to {longest:,} characters, and a cell of a spreadsheet holds "
                f"{MAX_CELL_TEXT:,}; ask for csv, tsv or tsv2"
            )


def _width(column: FileColumn) -> int:
    """Characters: as wide as the title and the first rows need, within bounds."""
    first = column.part(0, _WIDTH_ROWS)
    texts = display(first.numbers(), first.decimals) if first.is_number() else first.texts()
    longest = max(len(column.description), pc.max(pc.utf8_length(texts)).as_py() or 0)
    return min(max(longest + 2, _WIDTHS[0]), _WIDTHS[1])


class XlsxBook:
    """An xlsx file in the making (a `sheets.Book`)."""

    limits = XLSX

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
        self._book.close()


class _Sheet(Worksheet):  # type: ignore[misc]
    """A worksheet in XlsxWriter's mode of constant memory that takes many rows at once, as columns."""

    _row_count = 0

    def write_rows(
        self, columns: Sequence[SheetCells], text_style: int, number_styles: Sequence[int]
    ) -> None:
        """Write rows below the last; the styles are indices of cell formats."""
        rows = len(columns[0].numbers)
        numbers = pa.array(np.arange(1, rows + 1) + self._row_count).cast(pa.string())
        row_texts = [
            _cells_as_xml(xl_col_to_name(index), numbers, column, text_style, number_style)
            for index, (column, number_style) in enumerate(zip(columns, number_styles, strict=True))
        ]
        lines = pc.binary_join_element_wise('<row r="', numbers, '">', *row_texts, "</row>", "")
        self.fh.write("".join(lines.to_pylist()))
        self._check_dimensions(self._row_count, 0)
        self._row_count += rows
        self._check_dimensions(self._row_count - 1, len(columns) - 1)


def _cells_as_xml(
    letters: str, rows: pa.StringArray, column: SheetCells, text_style: int, number_style: int
) -> pa.StringArray:
    texts_of_rows = pa.nulls(len(rows), pa.string()).fill_null("")
    is_number = ~np.isnan(column.numbers)
    if is_number.any():
        numbers = exact(column.numbers, exponents=True)
        opening = f'" s="{number_style}"><v>'
        as_xml = pc.binary_join_element_wise(f'<c r="{letters}', rows, opening, numbers, "</v></c>", "")
        texts_of_rows = pc.if_else(is_number, as_xml, texts_of_rows)
    if pc.any(pc.not_equal(column.texts, "")).as_py():
        opening = f'" s="{text_style}" t="inlineStr"><is><t xml:space="preserve">'
        texts = column.texts
        if pc.any(pc.match_substring_regex(texts, _MAYBE_UNHOLDABLE)).as_py():
            safe = [
                _UNHOLDABLE.sub(lambda match: f"_x{ord(match[0]):04X}_", text) for text in texts.to_pylist()
            ]
            texts = pa.array(safe, pa.string())
        for character, entity in _ENTITIES:
            texts = pc.replace_substring(texts, character, entity)
        as_xml = pc.binary_join_element_wise(f'<c r="{letters}', rows, opening, texts, "</t></is></c>", "")
        texts_of_rows = pc.if_else(pc.not_equal(column.texts, ""), as_xml, texts_of_rows)
    return texts_of_rows


class XlsBook:
    """An xls file in the making (a `sheets.Book`)."""

    limits = XLS

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
        fields: dict[str, Any] = {
            "first": 0,
            "after": len(piece.columns),
            "height": _HEIGHT,
            "bits": _ROW_BITS,
        }
        # Records, and at which rows they are there: of rows, then of each column's numbers and texts.
        parts = [(_records(_ROW, rows, fields), np.ones(len(rows), dtype=bool))]
        for index, column in enumerate(piece.columns):
            sheet_cells = cells(column)
            if not np.isnan(sheet_cells.numbers).all():
                style = self._number_styles[index]
                fields = {"column": index, "style": style, "value": sheet_cells.numbers}
                parts.append((_records(_NUMBER, rows, fields), ~np.isnan(sheet_cells.numbers)))
            texts = sheet_cells.texts.to_pylist()
            if any(texts):
                indices = [self._book.add_str(text) if text else 0 for text in texts]
                fields = {"column": index, "style": self._text_style, "value": indices}
                parts.append((_records(_TEXT, rows, fields), np.array([text != "" for text in texts])))
        records = np.hstack([part.view(np.uint8).reshape(piece.rows, -1) for part, _ in parts])
        present = np.hstack(
            [np.repeat(is_present[:, None], part.itemsize, axis=1) for part, is_present in parts]
        )
        self._sheet.row_tempfile.write(records[present].tobytes())
        self._sheet.last_used_row = int(rows[-1])

    def close(self) -> None:
        self._book.save(self._file)


class _Texts(SharedStringTable):  # type: ignore[misc]
    """xlwt's table of texts, but a full record never ends inside a surrogate pair, which xlrd can't read."""

    _current_piece: bytes

    def _add_to_sst(self, text: str) -> None:
        content = upack2(text, self.encoding)
        is_wide = bool(content[2])
        first = 4 if text[:1] > "\uffff" else 1 + is_wide
        self._save_atom(content[: 3 + first])
        rest = content[3 + first :]
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
