"""An uploaded file: its format, compression and digest; never its rows."""

import gzip
import hashlib
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, cast, get_args

from lib.wire.errors import ImportRefused

Format = Literal["csv", "tsv", "ndjson", "parquet", "xlsx"]
FORMATS: tuple[Format, ...] = get_args(Format)
Progress = Callable[[int], None]
CHUNK = 4 << 20
_SUFFIXES: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson",
    ".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xlsx",
}  # fmt: skip
_GZIP, _PARQUET, _ZIP, _OLE = b"\x1f\x8b", b"PAR1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0"


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
        found = hashlib.sha256()
        with self.path.open("rb") as raw:
            while chunk := raw.read(CHUNK):
                found.update(chunk)
                if progress:
                    progress(len(chunk))
        return found.hexdigest()


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
