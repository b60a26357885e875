"""Export files: a table in, a file out (formats.py has the list of formats)."""

import datetime as dt
import re
import tempfile
import unicodedata
from typing import IO
from urllib.parse import quote

import pandas as pd

from lib.reporting.files.delimited import cell_texts
from lib.reporting.files.formats import FORMATS
from lib.reporting.files.table import TOTAL, TOTAL_OF_ROWS, FileColumn, FileTable, display
from lib.reporting.models import ExportFormat
from lib.wire.deadline import Deadline

ROWS = 10_000
MAX_SLICER_CHARACTERS = 100
KEPT_IN_MEMORY = 4 * 1024 * 1024
__all__ = [
    "TOTAL",
    "TOTAL_OF_ROWS",
    "FileColumn",
    "FileTable",
    "content_disposition",
    "filename",
    "make_file",
    "media_type",
    "preview_cells",
]


def preview_cells(table: FileTable, export_format: ExportFormat) -> pd.DataFrame:
    """The cells of a file's lines as text, the total last; columns by their place.

    They come out of the functions that write the file: what quotes or a workbook's cells hold, and numbers
    with the digits that the format writes (a workbook: that it shows).
    """
    dialect, frames = FORMATS[export_format].dialect, []
    for piece in table.pieces(ROWS):
        cells = {}
        for at, column in enumerate(piece.columns):
            if dialect is not None:
                texts = cell_texts(column, dialect, piece)
            else:
                texts = display(column.numbers(), column.decimals) if column.is_number() else column.texts()
            cells[str(at)] = texts.to_pylist()
        frames.append(pd.DataFrame(cells, dtype="str"))
    return pd.concat(frames, ignore_index=True)


def media_type(export_format: ExportFormat) -> str:
    """The Content-Type of a file."""
    return FORMATS[export_format].media_type


def filename(slicer: str, start: dt.date, end: dt.date, export_format: ExportFormat) -> str:
    """`<slicer>_<start>_<end>.<format>`, without invisible characters or those that file systems reject."""
    safe = "".join("_" if unicodedata.category(character)[0] in "CZ" else character for character in slicer)
    name = re.sub(r'[\\/:*?"<>|]', "_", safe)[:MAX_SLICER_CHARACTERS].strip("._") or "report"
    return f"{name}_{start}_{end}.{export_format}"


def content_disposition(slicer: str, start: dt.date, end: dt.date, export_format: ExportFormat) -> str:
    """The Content-Disposition header of a file (RFC 6266): its name in ASCII, and whole in `filename*`."""
    name = filename(slicer, start, end, export_format)
    plain = re.sub(r"[^ -~]|[%;]", "_", name)
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"


def make_file(table: FileTable, export_format: ExportFormat, deadline: Deadline | None = None) -> IO[bytes]:
    """The complete file, positioned at its start: in memory if small, else a temporary file.

    A reader, however slow, keeps neither the table nor a thread, and its time is not the query's. Raises
    DeadlineExceeded, and BadRequest for what a spreadsheet can't hold (`sheets.write`).
    """
    deadline = deadline or Deadline()
    file: IO[bytes] = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY)  # noqa: SIM115
    try:
        FORMATS[export_format].write(table, file, deadline)
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return file
