"""Shared by the two spreadsheet formats: converts a table to sheets and cells.

Our own choices, where the specification is silent: each sheet begins with the same bold header, which stays
in view; a table with more rows than a sheet holds goes on in further ones; text is always a text cell,
whatever it begins with; numbers have a number format with their field's decimal places; missing values are
empty cells. Nothing is cut: a text longer than a cell holds is refused, with the formats that hold it.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.files.numbers import display
from lib.reporting.files.table import FileColumn, FileTable
from lib.reporting.formats import SheetLimits
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

MAX_CELL_TEXT = 32_767
_WIDTHS = (8, 60)
_ROWS_MEASURED = 1_000


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


def fill(book: Book, table: FileTable, deadline: Deadline) -> None:
    """Write a table into a book, on as many sheets as needed.

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
    sheets, used = 1, 0
    book.add_sheet("Report", titles, widths)
    for piece in table.pieces(book.limits.step):
        deadline.check()
        if used + piece.rows > book.limits.rows:
            sheets, used = sheets + 1, 0
            book.add_sheet(f"Report {sheets}", titles, widths)
        book.append(piece)
        used += piece.rows


def write(book: Book, table: FileTable, deadline: Deadline) -> None:
    """Write a table into a book, and the book into its file. BadRequest as `fill`."""
    fill(book, table, deadline)
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
    first = column.part(0, _ROWS_MEASURED)
    texts = display(first.numbers(), first.decimals) if first.is_number() else first.texts()
    longest = max(len(column.description), pc.max(pc.utf8_length(texts)).as_py() or 0)
    return min(max(longest + 2, _WIDTHS[0]), _WIDTHS[1])
