"""Export files: a table in, chunks of bytes out.

table       Column and Table, what a file is made from
delimited   csv, tsv, tsv2, streamed         numbers   their numbers
sheets      what xls and xlsx share          naming    names and headers
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from typing import IO

from lib.reporting.files.delimited import CSV, TSV, TSV2, write_text
from lib.reporting.files.naming import content_disposition, filename, media_type
from lib.reporting.files.sheets import Book, fill
from lib.reporting.files.table import TOTAL, Column, Table
from lib.reporting.files.xls import XlsBook
from lib.reporting.files.xlsx import XlsxBook
from lib.reporting.models import ExportFormat
from lib.wire.deadline import Deadline

__all__ = ["TOTAL", "Column", "Table", "content_disposition", "filename", "media_type", "write"]

BYTES_PER_CHUNK = 2**18


def write(table: Table, export_format: ExportFormat, deadline: Deadline | None = None) -> Iterator[bytes]:
    """The file, in chunks.

    csv, tsv and tsv2 are made while they are read, in bounded memory. xls and xlsx are made whole, in a
    temporary file, before this returns. Raises DeadlineExceeded, for a text format while it is read, and
    BadRequest for what a spreadsheet can't hold (`sheets.fill`).
    """
    deadline = deadline or Deadline()
    match export_format:
        case "csv":
            return write_text(table, CSV, deadline)
        case "tsv":
            return write_text(table, TSV, deadline)
        case "tsv2":
            return write_text(table, TSV2, deadline)
        case "xls":
            return _write_book(table, XlsBook, deadline)
        case "xlsx":
            return _write_book(table, XlsxBook, deadline)


def _write_book(table: Table, make: type[XlsBook] | type[XlsxBook], deadline: Deadline) -> Iterator[bytes]:
    with ExitStack() as unless_finished:
        file = unless_finished.enter_context(tempfile.TemporaryFile())
        book: Book = make(file, table.columns)
        fill(book, table, deadline)
        book.close()
        file.seek(0)
        unless_finished.pop_all()
    return _chunks(file)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(BYTES_PER_CHUNK):
            yield chunk
