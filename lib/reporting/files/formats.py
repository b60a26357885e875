"""The formats of export files: their writers, media types, limits and words on screen.

A new format is an entry here: the API, the form, previews and downloads read these. What writes workbooks is
imported when one is written.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import IO

from lib.reporting.files.delimited import CSV, TSV, TSV2, TextDialect, write_text
from lib.reporting.files.table import XLS, XLSX, FileTable, SheetLimits
from lib.reporting.models import ExportFormat
from lib.wire.deadline import Deadline

Write = Callable[[FileTable, IO[bytes], Deadline], None]
TAB_SEPARATED = "text/tab-separated-values; charset=utf-8"


@dataclass(frozen=True)
class Format:
    """One format; files end in its name.

    `words` are for the export form; `plain_words` for a service that knows the specification alone, which
    does not write a format without them. `limits` are those of a sheet, `dialect` has the marks of a text.
    """

    write: Write
    media_type: str
    words: str
    plain_words: str = ""
    limits: SheetLimits | None = None
    dialect: TextDialect | None = None


def _text(dialect: TextDialect, media_type: str, words: str, plain_words: str) -> Format:
    def write(table: FileTable, file: IO[bytes], deadline: Deadline) -> None:
        file.writelines(write_text(table, dialect, deadline))

    return Format(write, media_type, words, plain_words, dialect=dialect)


def _workbook(limits: SheetLimits, media_type: str, words: str, plain_words: str = "") -> Format:
    def write(table: FileTable, file: IO[bytes], deadline: Deadline) -> None:
        from lib.reporting.files import sheets

        book = sheets.XlsBook if limits is XLS else sheets.XlsxBook
        sheets.write(book(file, table.columns), table, deadline)

    return Format(write, media_type, words, plain_words, limits)


FORMATS: dict[ExportFormat, Format] = {
    "csv": _text(
        CSV,
        "text/csv; charset=utf-8",
        "Comma-separated text, numbers as shown. Opens everywhere.",
        "Comma-separated text. Opens everywhere.",
    ),
    "xlsx": _workbook(
        XLSX,
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "Excel workbook: text stays text, numbers are numbers.",
    ),
    "xls": _workbook(
        XLS,
        "application/vnd.ms-excel",
        "Workbook for old versions of Excel, with further sheets from 65,536 rows on.",
        "Excel workbook.",
    ),
    "tsv": _text(TSV, TAB_SEPARATED, "Tab-separated text, numbers as shown.", "Tab-separated text."),
    "tsv2": _text(
        TSV2,
        TAB_SEPARATED,
        "For programs: field names, raw values, full precision.",
        "Tab-separated text, this service's own variant.",
    ),
}
