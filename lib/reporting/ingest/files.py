"""An uploaded file: its format, compression and digest; never its rows."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, Protocol, cast, get_args

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.reporting.ingest.rejects import Reject
from lib.wire.errors import ImportRefused

Format = Literal["csv", "tsv", "ndjson", "parquet", "xlsx"]
FORMATS: tuple[Format, ...] = get_args(Format)
Progress = Callable[[int], None]
CHUNK = 4 << 20
MOST_COLUMNS = 5_000
_SUFFIXES: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson",
    ".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xlsx",
}  # fmt: skip
_GZIP, _PARQUET, _ZIP, _OLE = b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"  # RFC 8878, 3.1.1


Ints = npt.NDArray[np.int64]
Refuse = Callable[[Reject], None]


@dataclass(frozen=True)
class DataFile:
    """A file to import; `size` is in bytes as it lies on disk."""

    path: Path
    format: Format
    is_gzipped: bool
    size: int

    @property
    def name(self) -> str:
        """The file's name, without its folder."""
        return self.path.name

    @contextmanager
    def opened(self, progress: Progress | None = None) -> Iterator[BinaryIO]:
        """The file's content, uncompressed; `progress` is told the bytes on disk as they are read.

        ImportRefused when the compressed content is damaged or cut off.
        """
        with self.path.open("rb") as raw:
            told = cast(BinaryIO, _Told(raw, progress)) if progress else raw
            try:
                if self.is_gzipped:
                    with gzip.GzipFile(fileobj=told) as content:
                        yield cast(BinaryIO, content)
                else:
                    yield told
            except (EOFError, zlib.error, gzip.BadGzipFile) as error:
                raise ImportRefused(f"{self.name} is a damaged or cut-off gzip file: {error}") from None

    def chunks(self, progress: Progress | None = None) -> Iterator[bytes]:
        """The content in pieces."""
        with self.opened(progress) as content:
            while chunk := content.read(CHUNK):
                yield chunk

    def digest(self, progress: Progress | None = None) -> str:
        """The SHA-256 digest of the file as it lies on disk, in hexadecimal digits."""
        hash = hashlib.sha256()
        with self.path.open("rb") as raw:
            while chunk := raw.read(CHUNK):
                hash.update(chunk)
                if progress:
                    progress(len(chunk))
        return hash.hexdigest()


def data_file(path: Path, format: Format | None = None) -> DataFile:
    """The file at `path`. Its format is the one given, else that of its content and name.

    ImportRefused for what is no file, is empty, or is of a kind that can't be imported.
    """
    try:
        size, (beginning, is_gzipped) = path.stat().st_size, _beginning(path)
    except OSError as error:
        raise ImportRefused(f"{path} can't be read: {error.strerror}") from None
    if not beginning.strip():
        raise ImportRefused(f"{path.name} is empty")
    if beginning.startswith(_ZSTANDARD):
        raise ImportRefused(f"{path.name} is compressed by Zstandard: unpack it first, or use gzip")
    return DataFile(path, format or _format(path, beginning), is_gzipped, size)


def _beginning(path: Path) -> tuple[bytes, bool]:
    with path.open("rb") as raw:
        first = raw.read(4096)
    if not first.startswith(_GZIP):
        return first, False
    with DataFile(path, "csv", True, 0).opened() as content:
        return content.read(4096), True


def _format(path: Path, beginning: bytes) -> Format:
    if beginning.startswith(_PARQUET):
        return "parquet"
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in (".gz", ".gzip")]
    named = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    text = beginning.lstrip(b"\xef\xbb\xbf \t\r\n")
    if named == "parquet":
        raise ImportRefused(f"{path.name} is named as Parquet, but is not a Parquet file")
    if text.startswith(b"[") and named in (None, "ndjson"):
        raise ImportRefused(
            f"{path.name} is one JSON array; NDJSON has one object per line, without brackets"
        )
    if beginning.startswith((_ZIP, _OLE)):
        return "xlsx"
    if named == "xlsx":
        raise ImportRefused(f"{path.name} is named as a workbook, but is not one")
    return named or ("ndjson" if text.startswith(b"{") else "csv")


class _Told(io.RawIOBase):
    """A file that tells how much of it was read."""

    def __init__(self, raw: BinaryIO, progress: Progress) -> None:
        self._raw, self._progress = raw, progress

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(size)
        self._progress(len(data))
        return data


@dataclass(frozen=True)
class RawRows:
    """Some rows of a file: columns as they were found (of any Arrow type), and each row's line.

    `text` gives the row at a position as it stands in the file; `as_text` the table with the text of cells
    that were read as numbers (None: none were).
    """

    table: pa.Table
    lines: Ints
    text: Callable[[int], str]
    as_text: Callable[[], pa.Table] | None = None


class Reader(Protocol):
    """Reads a file of one format.

    `columns` are the file's columns, where they are known before its rows are read; else None, and `seen`
    fills while they are. Without a header the names are made up.
    """

    file: DataFile
    columns: tuple[str, ...] | None
    seen: dict[str, None]
    has_header: bool

    @property
    def description(self) -> str:
        """The format found, in a few words."""
        ...

    def rows(
        self,
        wanted: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches, with the wanted columns (None: all); what can't be read goes to `refuse`.

        Columns of `numbers` may come as float64 where each of their cells in a batch is a number as computers
        write it.
        """
        ...


def check_width(name: str, columns: Collection[str]) -> None:
    """ImportRefused for a file with more than 5,000 columns: each is inferred and held by itself."""
    if len(columns) > MOST_COLUMNS:
        raise ImportRefused(
            f"{name} has {len(columns):,} columns, more than the {MOST_COLUMNS:,} that can be imported; "
            "leave out what no slicer needs"
        )
