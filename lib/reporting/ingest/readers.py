"""The reader of a file, by its format."""

from pathlib import Path

from lib.reporting.definition import Definition
from lib.reporting.ingest.delimited import delimited
from lib.reporting.ingest.files import Format, Reader, data_file
from lib.reporting.ingest.ndjson import ndjson
from lib.reporting.ingest.parquet import Parquet
from lib.reporting.ingest.workbook import Workbook


def reader(
    path: Path,
    format: Format | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    definition: Definition | None = None,
) -> Reader:
    """The reader of the file at `path`; what is not given is recognised. ImportRefused when it can't be.

    `definition`, where there is one already, says which columns to look for.
    """
    file = data_file(path, format)
    if file.format == "parquet":
        return Parquet(file)
    if file.format == "ndjson":
        return ndjson(file, encoding)
    wanted: list[str] = []
    names: tuple[str, ...] = ()
    if definition is not None:
        wanted, names, header = definition.source_columns(), definition.names, definition.header
    if file.format == "xlsx":
        return Workbook(file, wanted, header, names)
    return delimited(file, encoding, delimiter, wanted, header, names)
