"""A file to import: its format, compression and digest; and what a reader gives of its rows."""

import gzip
import hashlib
import io
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.wire.errors import ImportRefused

Format = Literal["csv", "tsv", "ndjson", "parquet", "arrow", "orc", "xlsx", "html"]
Compression = Literal["gzip", "zstd", "zip"]
Ints = npt.NDArray[np.int64]
Names = Collection[str]
Progress = Callable[[int], None]
CHUNK = 4 << 20
MOST_COLUMNS = 5_000
_EXAMPLE_NAMES = 3
_PACKED_SUFFIXES = (".gz", ".gzip", ".zst", ".zstd", ".zip")
_SUFFIXES: dict[str, Format] = {
    ".csv": "csv", ".tsv": "tsv", ".tab": "tsv", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "ndjson",
    ".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx", ".xlsm": "xlsx", ".xls": "xlsx",
    ".html": "html", ".htm": "html", ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow", ".orc": "orc",
}  # fmt: skip
WORKBOOK_SUFFIXES = {suffix for suffix, kind in _SUFFIXES.items() if kind == "xlsx"}
_MARKUP = re.compile(rb"<(?:!doctype html|html|head|body|table|\?xml\b|!--)", re.IGNORECASE)
_CONTROLS = {*range(1, 32)} - {*b"\t\n\v\f\r\x1a\x1b"}
_OLE = b"\xd0\xcf\x11\xe0"
# Beginnings of files of columns: Parquet; Arrow's file and its stream (its format's "Encapsulated message
# format"); ORC.
_COLUMNAR: dict[bytes, Format] = {
    b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow", b"ORC": "orc",
}  # fmt: skip
COLUMNAR = frozenset(_COLUMNAR.values())
_COMPRESSIONS: dict[bytes, Compression] = {
    b"\x1f\x8b": "gzip",  # RFC 1952, 2.3.1
    b"\x28\xb5\x2f\xfd": "zstd",  # RFC 8878, 3.1.1
    b"PK\x03\x04": "zip",  # APPNOTE.TXT, 4.3.7
}
_ARCHIVES = {
    b"BZh": "a bzip2 file", b"\xfd7zXZ": "an xz file", b"7z\xbc\xaf": "a 7z archive",
    b"Rar!": "a RAR archive",
}  # fmt: skip
_FOREIGN = {
    b"%PDF": "a PDF document", b"SQLite format 3": "an SQLite database", b"Obj\x01": "an Avro file",
    b"FEA1": "a Feather file of version 1",
}  # fmt: skip
_TAR_MARK, _TAR_OFFSET = b"ustar", 257
_WORKBOOK_FOLDERS = ("_rels/", "docProps/", "xl/", "META-INF/", "customXml/")
_WORKBOOK_PARTS = {"[Content_Types].xml", "mimetype", "content.xml"}
_DAMAGE_ERRORS = (EOFError, OSError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)


@dataclass(frozen=True)
class DataFile:
    """A file to import, or one sheet of a workbook; `size` is in bytes as it lies on disk."""

    path: Path
    format: Format
    compression: Compression | None
    size: int
    sheet: str | None = None

    @property
    def name(self) -> str:
        """The file's name, without its folder; with its sheet, where that was named."""
        return self.path.name if self.sheet is None else f"{self.path.name}, sheet '{self.sheet}'"

    @contextmanager
    def open(self, progress: Progress | None = None) -> Iterator[BinaryIO]:
        """The file's content, uncompressed; `progress` is told the bytes on disk as they are read.

        ImportRefused when the compressed content is damaged or cut off.
        """
        with self.path.open("rb") as raw:
            source = cast(BinaryIO, _ProgressFile(raw, progress)) if progress else raw
            if self.compression is None:
                yield source
            else:
                with _UnpackedContent(source, self.compression, self.name) as content:
                    yield cast(BinaryIO, io.BufferedReader(content))

    def chunks(self, progress: Progress | None = None) -> Iterator[bytes]:
        """The content in pieces."""
        with self.open(progress) as content:
            while chunk := content.read(CHUNK):
                yield chunk

    def digest(self, progress: Progress | None = None) -> str:
        """The SHA-256 digest of the file on disk (with the name of its sheet), in hexadecimal digits."""
        hash = hashlib.sha256((self.sheet or "").encode())
        with self.path.open("rb") as raw:
            while chunk := raw.read(CHUNK):
                hash.update(chunk)
                if progress:
                    progress(len(chunk))
        return hash.hexdigest()


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


class Reject(NamedTuple):
    """A row that can't be read: its line (of Parquet: its row, from 1), why, and what it looks like.

    `at_end` is the reason instead, where no good row follows in the file: what is below a table is no row.
    """

    line: int
    reason: str
    value: str
    text: str
    at_end: str | None = None


Refuse = Callable[[Reject], None]


Kind = Literal["number", "text"]
Kinds = Mapping[str, Kind]
"""The columns of which nothing but numbers, or nothing but texts, is made."""
ANY: Kinds = MappingProxyType({})


class Reader(Protocol):
    """Reads a file of one format.

    `context` are texts that say something of all rows, such as their month: the file's name, lines above the
    table.
    `columns` are the file's columns, where they are known before its rows are read; else None, and `names`
    fills while they are. Without a header the names are made up.
    """

    file: DataFile
    context: str
    columns: tuple[str, ...] | None
    names: dict[str, None]
    has_header: bool

    @property
    def description(self) -> str:
        """The format found, in a few words."""
        ...

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, kinds: Kinds = ANY
    ) -> Iterator[RawRows]:
        """All rows, in batches, with the wanted columns (None: all); what can't be read goes to `refuse`.

        A column of numbers may come as float64 where each of its cells in a batch is a number as computers
        write it, a column of texts dictionary-encoded.
        """
        ...


def data_file(path: Path, format: Format | None = None) -> DataFile:
    """The file at `path`. Its format is the one given, else that of its content and name.

    ImportRefused for what is no file, is empty, or is of a kind that can't be imported.
    """
    try:
        size, (beginning, compression, name) = path.stat().st_size, _beginning(path)
    except OSError as error:
        raise ImportRefused(f"{path} can't be read: {error.strerror}") from None
    if not beginning.strip():
        raise ImportRefused(f"{path.name} is empty")
    for marks, advice in ((_ARCHIVES, "unpack it"), (_FOREIGN, "save its table as CSV or Parquet")):
        for mark, kind in marks.items():
            if beginning.startswith(mark):
                raise ImportRefused(f"{path.name} is {kind}; {advice}")
    if beginning[_TAR_OFFSET:].startswith(_TAR_MARK):
        raise ImportRefused(f"{path.name} is a tar archive; unpack it")
    inner = next((kind for mark, kind in _COMPRESSIONS.items() if beginning.startswith(mark)), None)
    # A zip in another one may be a workbook, by its name or its first part's (APPNOTE.TXT, 4.3.7).
    part = beginning[30 : 30 + int.from_bytes(beginning[26:28], "little")].decode(errors="replace")
    is_workbook = Path(name).suffix.lower() in WORKBOOK_SUFFIXES or part in _WORKBOOK_PARTS
    is_archive = inner is not None and not (
        inner == "zip" and (is_workbook or part.startswith(_WORKBOOK_FOLDERS))
    )
    if compression and is_archive:
        raise ImportRefused(f"{path.name} is packed twice, {inner} in {compression}; unpack it once")
    return DataFile(path, format or _format(path.with_name(name), beginning), compression, size)


def check_width(name: str, columns: Collection[str]) -> None:
    """ImportRefused for a file with more than 5,000 columns: each is inferred and held by itself."""
    if len(columns) > MOST_COLUMNS:
        raise ImportRefused(
            f"{name} has {len(columns):,} columns, more than the {MOST_COLUMNS:,} that can be imported; "
            "leave out what no slicer needs"
        )


def _beginning(path: Path) -> tuple[bytes, Compression | None, str]:
    """The first unpacked bytes, how they are packed, and the name of what is unpacked."""
    with path.open("rb") as raw:
        first = raw.read(4096)
    compression = next((kind for mark, kind in _COMPRESSIONS.items() if first.startswith(mark)), None)
    is_workbook = compression == "zip"  # even one too damaged to say
    if is_workbook:
        with suppress(zipfile.BadZipFile), zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            has_parts = not _WORKBOOK_PARTS.isdisjoint(names)
            is_workbook = has_parts or any(name.startswith("xl/") for name in names)
    if compression is None or is_workbook:
        return first, None, path.name
    with path.open("rb") as raw, _UnpackedContent(raw, compression, path.name) as content:
        return content.read(4096), compression, content.name.rpartition("/")[2] or path.name


def _format(path: Path, beginning: bytes) -> Format:
    columnar = next((kind for mark, kind in _COLUMNAR.items() if beginning.startswith(mark)), None)
    if columnar and (columnar != "orc" or any(byte in _CONTROLS | {0} for byte in beginning)):
        return columnar
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in _PACKED_SUFFIXES]
    by_name = _SUFFIXES.get(suffixes[-1]) if suffixes else None
    text = beginning.lstrip(b"\xef\xbb\xbf \t\r\n")
    if by_name in COLUMNAR:
        title = {"parquet": "a Parquet", "arrow": "an Arrow", "orc": "an ORC"}[str(by_name)]
        raise ImportRefused(f"{path.name} is named as {title} file, but is not {title} file")
    if beginning.startswith((b"PK\x03\x04", _OLE)):
        return "xlsx"
    if _MARKUP.match(text.lstrip(b"\xff\xfe").replace(b"\0", b"")):  # of UTF-16 too
        return "html"
    if by_name == "xlsx":
        by_name = None  # text, as many ad servers send under the name of a workbook
        # Whether a file has bytes of no text; every other byte of UTF-16 may be zero.
        is_wide = (
            beginning.startswith((b"\xff\xfe", b"\xfe\xff")) or beginning[1::2].count(0) > len(beginning) / 4
        )
        controls = _CONTROLS if is_wide else _CONTROLS | {0}
        if any(byte in controls for byte in beginning):
            raise ImportRefused(f"{path.name} is named as a workbook, but is not one")
    return by_name or ("ndjson" if text.startswith((b"{", b"[{")) else "csv")


class _ProgressFile(io.RawIOBase):
    """The same file, which tells `progress` the bytes of each read."""

    def __init__(self, raw: BinaryIO, progress: Progress) -> None:
        self._raw, self._progress = raw, progress

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._raw.read(size)
        self._progress(len(data))
        return data

    def seekable(self) -> bool:
        return self._raw.seekable()

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()


class _UnpackedContent(io.RawIOBase):
    """The content of a packed file; `name` is that of an archive's only file.

    ImportRefused for an archive that does not hold exactly one, and for what is damaged or cut off.
    """

    def __init__(self, source: BinaryIO, compression: Compression, name: str) -> None:
        self._compression, self._file, self.name = compression, name, ""
        with self._refusing():
            if compression == "gzip":
                self._content: Any = gzip.GzipFile(fileobj=source)
            elif compression == "zstd":
                self._content = pa.CompressedInputStream(pa.PythonFile(source, "r"), "zstd")
            else:
                archive = zipfile.ZipFile(source)
                files = [
                    part
                    for part in archive.infolist()
                    if not part.is_dir()
                    and not part.filename.startswith("__MACOSX/")
                    and not part.filename.rpartition("/")[2].startswith(".")
                ]
                if len(files) != 1:
                    names = ", ".join(part.filename for part in files[:_EXAMPLE_NAMES]) or "none"
                    raise ImportRefused(
                        f"{name} holds {len(files):,} files ({names}), not one; unpack it first"
                    )
                self.name = files[0].filename
                self._content = archive.open(self.name)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        with self._refusing():
            piece = self._content.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    @contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except _DAMAGE_ERRORS as error:
            raise ImportRefused(
                f"{self._file} is a damaged or cut-off {self._compression} file: {error}"
            ) from None
