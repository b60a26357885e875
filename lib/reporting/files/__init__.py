"""Export files: a table in, a file out (formats.py has the list of formats).

table       Column and Table, what a file is made from
delimited   csv, tsv, tsv2, streamed         numbers   their numbers
sheets      what xls and xlsx share          naming    names and headers
shown       what its cells say, for a preview
"""

import tempfile
from typing import IO

from lib.reporting.files.naming import content_disposition, filename, media_type
from lib.reporting.files.shown import shown
from lib.reporting.files.table import TOTAL, TOTAL_OF_ROWS, FileColumn, FileTable
from lib.reporting.formats import FORMATS, ExportFormat
from lib.wire.deadline import Deadline

__all__ = [
    "TOTAL",
    "TOTAL_OF_ROWS",
    "FileColumn",
    "FileTable",
    "content_disposition",
    "filename",
    "made",
    "media_type",
    "shown",
]

KEPT_IN_MEMORY = 4 * 1024 * 1024


def made(table: FileTable, export_format: ExportFormat, deadline: Deadline | None = None) -> IO[bytes]:
    """The complete file, positioned at its start: in memory if small, else a temporary file.

    A reader, however slow, keeps neither the table nor a thread, and its time is not the query's. Raises
    DeadlineExceeded, and BadRequest for what a spreadsheet can't hold (`sheets.fill`).
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
