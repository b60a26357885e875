"""NDJSON, or one JSON array → raw rows: objects in objects flattened with dots."""

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from lib.reporting.ingest.encodings import (
    UTF_8,
    find_encoding,
    recognize_encoding,
    shown_encoding,
    utf_8_chunks,
)
from lib.reporting.ingest.files import DataFile, Progress, RawRows, Refuse, check_width
from lib.reporting.ingest.numbers import is_ambiguous
from lib.reporting.ingest.records import MAX_LINE
from lib.reporting.ingest.rejects import Reject
from lib.wire.errors import ImportRefused

Row = dict[str, Any]
_BATCH_ROWS = 20_000
_SNIFF_BYTES = 4096
_MAX_DEPTH = 20
_MAX_ARRAY = 256 << 20


class Ndjson:
    """A file of one JSON object per line, or of one array of them; see Reader.

    Its columns are known when it was read: `names`. Of an array, lines are its elements, counted from 1.
    """

    columns: tuple[str, ...] | None = None

    def __init__(self, file: DataFile, encoding: str) -> None:
        self.file, self.has_header, self._encoding = file, True, encoding
        self._is_array = _is_array(file, encoding)
        self.description = f"{'JSON array' if self._is_array else 'NDJSON'}, {shown_encoding(encoding)}"
        self.names: dict[str, None] = {}

    def rows(
        self,
        selection: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches; lines that are no JSON object go to `refuse`."""
        lines: list[tuple[int, bytes]] = []
        rows: list[Row] = []
        chunks = utf_8_chunks(self.file.chunks(progress), self._encoding)
        texts = _elements(chunks, self.file.name) if self._is_array else _lines(chunks)
        for number, line in enumerate(texts, 1):
            if not line or line.isspace():
                continue
            row = self._row(number, line, refuse)
            if row is not None:
                lines.append((number, line))
                rows.append(row)
            if len(rows) >= _BATCH_ROWS:
                yield self._raw(rows, lines, selection)
                lines, rows = [], []
        if rows:
            yield self._raw(rows, lines, selection)

    def _row(self, number: int, line: bytes, refuse: Refuse) -> Row | None:
        try:
            row = orjson.loads(line)
            if not isinstance(row, dict):
                raise ValueError("not a JSON object")
            return flat(row) if dict in map(type, row.values()) else row
        except ValueError as error:
            text = line.decode(UTF_8, "replace")
            refuse(Reject(number, self._reason(line, error), "", text))
            return None

    def _reason(self, line: bytes, error: ValueError) -> str:
        try:
            line.decode(UTF_8)
        except UnicodeDecodeError:
            return f"bytes that are not valid in {shown_encoding(self._encoding)}; name another --encoding"
        return "not JSON" if isinstance(error, orjson.JSONDecodeError) else str(error)

    def _raw(
        self, rows: list[Row], lines: list[tuple[int, bytes]], selection: Collection[str] | None
    ) -> RawRows:
        for row in rows:
            if not row.keys() <= self.names.keys():
                self.names.update(dict.fromkeys(row))
                check_width(self.file.name, self.names)
        names = self.names if selection is None else [name for name in self.names if name in selection]
        columns = {name: column([row.get(name) for row in rows]) for name in names}
        numbers = np.array([number for number, _ in lines], np.int64)
        return RawRows(pa.table(columns), numbers, lambda position: lines[position][1].decode(UTF_8))


def ndjson(file: DataFile, encoding: str | None = None) -> Ndjson:
    """The reader of an NDJSON file; the encoding is recognized where it is not given."""
    return Ndjson(file, find_encoding(encoding) if encoding else recognize_encoding(file.chunks()))


def flat(row: Row) -> Row:
    """`{"a": {"b": 1}}` → `{"a.b": 1}`. ValueError for objects nested without reason."""
    cells: Row = {}
    _spread(row, "", cells, 0)
    return cells


def _spread(row: Row, prefix: str, cells: Row, depth: int) -> None:
    if depth > _MAX_DEPTH:
        raise ValueError("objects nested too deeply")
    for name, value in row.items():
        if type(value) is dict:
            _spread(value, f"{prefix}{name}.", cells, depth + 1)
        else:
            cells[prefix + name] = value


def column(values: list[Any]) -> pa.Array:
    """Values as a column: of their own type where they share one, else as text (or lists of text).

    A number among texts never looks like one with a thousands mark: 1.285 becomes 1.2850.
    """
    try:
        array = pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError):
        array = None
    if array is not None and not pa.types.is_nested(array.type):
        return array
    if any(isinstance(value, list) for value in values):
        lists = [value if isinstance(value, list) or value is None else [value] for value in values]
        return pa.array([value and [_text(item) for item in value] for value in lists], pa.list_(pa.string()))
    return pa.array([_text(value) for value in values], pa.string())


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dict | list):
        return orjson.dumps(value).decode()
    return f"{value}0" if isinstance(value, float) and is_ambiguous(str(value)) else str(value)


def _is_array(file: DataFile, encoding: str) -> bool:
    with file.open() as content:
        beginning = b"".join(utf_8_chunks([content.read(_SNIFF_BYTES)], encoding))
    return beginning.lstrip().startswith(b"[")


def _elements(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The elements of a JSON array, which is held in memory while it is read."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > _MAX_ARRAY:
            raise ImportRefused(
                f"{name} is one JSON array of more than {_MAX_ARRAY >> 20} MiB; save it as NDJSON, "
                "one object per line"
            )
    try:
        elements = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ImportRefused(f"{name} is one JSON array and can't be read: {error}") from None
    for element in elements:
        yield orjson.dumps(element)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text, without their newlines."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > MAX_LINE:
            raise ImportRefused(f"A line is longer than {MAX_LINE >> 20} MiB; is this NDJSON?")
    yield rest
