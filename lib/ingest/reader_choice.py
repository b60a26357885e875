"""Which reader reads a file: by its format, and its definition where there is one."""

from pathlib import Path

from lib.ingest.files import Format, Reader, data_file
from lib.ingest.json_rows import Ndjson
from lib.ingest.markup import MarkupFile
from lib.ingest.parquet import Parquet
from lib.ingest.records import UTF_8, find_encoding, recognize_encoding
from lib.ingest.text import delimited_text
from lib.ingest.unpivot import UnpivotReader
from lib.ingest.workbook import workbooks
from lib.slicers.definition import Definition
from lib.slicers.definition.reading import Sheets


def readers(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
    sheets: Sheets = None,
    unpivot: bool = False,
) -> list[Reader]:
    """The readers of the file at `path`, one unless it is a workbook with several `sheets` to import.

    `unpivot` makes a row of each column that is a day. What is not given is recognized; ImportRefused when it
    can't be. `definition`, where there is one already, says which columns to look for, and which sheets.
    """
    file = data_file(path, format)
    if file.format == "parquet":
        return [Parquet(file)]
    if file.format == "ndjson":
        return [Ndjson(file, find_encoding(encoding) if encoding else recognize_encoding(file.chunks()))]
    columns: list[str] = []
    names: tuple[str, ...] = ()
    if definition is not None:
        columns, names, header = definition.source_columns(), definition.names, definition.header
        sheets, unpivot = sheets or definition.sheets, unpivot or definition.unpivot
    columns = [] if unpivot else columns
    if file.format == "xlsx":
        tables = workbooks(file, columns, header, names, sheets)
    elif file.format == "html":
        markup = MarkupFile(file.path, "html", file.compression, file.size)
        tables = [delimited_text(markup, UTF_8, ",", columns, header, names)]
    else:
        tables = [delimited_text(file, encoding, delimiter, columns, header, names)]
    return [UnpivotReader(table) for table in tables] if unpivot else tables


def reader(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
) -> Reader:
    """The reader of a file of one table; see readers()."""
    return readers(path, format, encoding, delimiter, header, definition)[0]
