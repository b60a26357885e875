"""The reader of a file, by its format."""

from pathlib import Path

from lib.reporting.ingest.delimited import delimited
from lib.reporting.ingest.files import Format, data_file
from lib.reporting.ingest.ndjson import ndjson
from lib.reporting.ingest.parquet import Parquet
from lib.reporting.ingest.rows import Reader


def reader(
    path: Path, format: Format | None = None, encoding: str | None = None, delimiter: str | None = None
) -> Reader:
    """The reader of the file at `path`; what is not given is recognised. ImportRefused when it can't be."""
    file = data_file(path, format)
    if file.format == "parquet":
        return Parquet(file)
    return ndjson(file, encoding) if file.format == "ndjson" else delimited(file, encoding, delimiter)
