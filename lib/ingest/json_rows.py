"""Rows of JSON: an object per line, or one document with rows somewhere in it."""

import datetime as dt
import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from lib.ingest.cells import value_column
from lib.ingest.column_names import is_amount, sounds_like_time
from lib.ingest.files import ANY, DataFile, Kinds, Names, Progress, RawRows, Refuse, Reject, check_width
from lib.ingest.layout import are_types, is_value
from lib.ingest.records import MAX_LINE, UTF_8, is_utf_8, shown_encoding, utf_8_chunks
from lib.ingest.rejects import WRONG_WIDTH
from lib.ingest.times import EPOCH
from lib.wire.errors import ImportRefused

Row = dict[str, Any]
Header = dict[str, str]
_BATCH_ROWS = 20_000
_SNIFFED_BYTES = 1 << 16
_MAX_DEPTH = 20
_MAX_DOCUMENT = 256 << 20
_FEWEST_CHILDREN, _DIGITS_OF_DATE = 2, 6


class Ndjson:
    """A file of one JSON object or array per line, or of one document with rows; see Reader.

    Its columns are known when it was read: `names`. Arrays have names in the first of them, else by number.
    Of a document, lines are its rows, counted from 1: those of the longest list of objects, or of lists with
    names beside or above them; of groups with lists of their own, these; of an object of columns, or of rows
    by their key, as pandas writes them.
    """

    columns: tuple[str, ...] | None = None

    def __init__(self, file: DataFile, encoding: str) -> None:
        self.file, self.context, self.has_header, self._encoding = file, file.name, True, encoding
        self._document = _document(file, encoding)
        title = {None: "NDJSON", "": "JSON array"}.get(self._document, f"JSON, rows in {self._document}")
        self.description = f"{title}, {shown_encoding(encoding)}"
        self.names: dict[str, None] = {}

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, kinds: Kinds = ANY
    ) -> Iterator[RawRows]:
        """All rows, in batches; lines that are no JSON object go to `refuse`."""
        lines: list[tuple[int, bytes]] = []
        rows: list[Row] = []
        header: list[str] = []
        chunks = utf_8_chunks(self.file.chunks(progress), self._encoding)
        texts = _lines(chunks) if self._document is None else _elements(chunks, self.file.name)
        for number, line in enumerate(texts, 1):
            if not line or line.isspace():
                continue
            row = self._row(number, line, header, refuse)
            if row is not None:
                lines.append((number, line))
                rows.append(row)
            if len(rows) >= _BATCH_ROWS:
                yield self._raw(rows, lines, selection)
                lines, rows = [], []
        if rows:
            yield self._raw(rows, lines, selection)

    def _row(self, number: int, line: bytes, header: list[str], refuse: Refuse) -> Row | None:
        """A line as a row; None of names (which go to the `header`) or types, and of what is refused."""
        try:
            row = orjson.loads(line)
            if isinstance(row, list) and (header or number == 1):
                if not header:
                    names = [*_header(row)]
                    has_names = bool(names) and not any(map(is_value, names))
                    header += names if has_names else [f"column_{n}" for n, _ in enumerate(row, 1)]
                    if has_names:
                        return None
                elif number == 2 and are_types([*map(str, row)]):
                    return None
                if len(row) != len(header):
                    raise ValueError(WRONG_WIDTH)
                row = dict(zip(header, row, strict=True))
            if not isinstance(row, dict):
                raise ValueError("not a JSON object")
            return flat(row) if dict in map(type, row.values()) else row
        except ValueError as error:
            text = line.decode(UTF_8, "replace")
            reason = "not JSON" if isinstance(error, orjson.JSONDecodeError) else str(error)
            if not is_utf_8(line):
                encoding = shown_encoding(self._encoding)
                reason = f"bytes that are not valid in {encoding}; name another --encoding"
            refuse(Reject(number, reason, "", text))
            return None

    def _raw(
        self, rows: list[Row], lines: list[tuple[int, bytes]], selection: Collection[str] | None
    ) -> RawRows:
        for row in rows:
            if not row.keys() <= self.names.keys():
                self.names.update(dict.fromkeys(row))
                check_width(self.file.name, self.names)
        names = self.names if selection is None else [name for name in self.names if name in selection]
        columns = {name: value_column([row.get(name) for row in rows]) for name in names}
        # Whole numbers of more than 64 bits are floats, as orjson reads them.
        floats = [column for column in columns.values() if pa.types.is_floating(column.type)]
        if any(pc.any(pc.greater_equal(pc.abs(column), 2.0**63)).as_py() for column in floats):
            rows = [flat(json.loads(line)) for _, line in lines]
            columns = {name: value_column([row.get(name) for row in rows]) for name in names}
        numbers = np.array([number for number, _ in lines], np.int64)
        return RawRows(pa.table(columns), numbers, lambda position: lines[position][1].decode(UTF_8))


def _document(file: DataFile, encoding: str) -> str | None:
    """Where the rows of one JSON document are: `report.rows`, or "" for an array; None of a line for each."""
    with file.open() as content:
        beginning = b"".join(utf_8_chunks([content.read(_SNIFFED_BYTES)], encoding)).lstrip()
    first, _, rest = beginning.partition(b"\n")
    if not beginning.startswith((b"{", b"[")):
        return None
    with suppress(orjson.JSONDecodeError):
        orjson.loads(first)
        if rest.strip():
            return None
    if beginning.startswith(b"["):
        return ""
    data = _whole(utf_8_chunks(file.chunks(), encoding), None)
    try:
        path, rows = _longest_rows(orjson.loads(data or b""))
    except orjson.JSONDecodeError:
        return None
    return path if rows else None


def _longest_rows(document: Any) -> tuple[str, list[Row]]:
    """The path and the rows of the longest list of rows in a document; no rows where there is none.

    What names the columns of other rows (`meta` beside `data`) is no list of rows itself.
    """
    tables = list(_tables(document, "", list(_headers(document, 0)), 0))
    keys, best = [rows[0].keys() for _, rows in tables], ("", list[Row]())
    for number, (path, rows) in enumerate(tables):
        names = _header(rows).keys()
        is_description = any(keys[other] <= names for other in range(len(tables)) if other != number)
        best = (path, rows) if len(rows) > len(best[1]) and not is_description else best
    return best


def _tables(value: Any, path: str, headers: list[Header], depth: int) -> Iterator[tuple[str, list[Row]]]:
    """The lists of rows in a document, each with its path; `headers` may name the cells of lists."""
    if isinstance(value, list):
        rows = _list_rows(value, headers)
    else:
        rows = _object_rows(value) if isinstance(value, dict) else []
    if rows:
        yield path, rows
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for name, child in value.items():
            yield from _tables(child, f"{path}.{name}".removeprefix("."), headers, depth + 1)


def _headers(value: Any, depth: int) -> Iterator[Header]:
    """Whatever in a document may name the columns of a table: lists of names, or of objects that have one.

    ClickHouse, Trino, Elasticsearch, Snowflake and Databricks write the latter beside or above their rows.
    """
    if isinstance(value, list) and (header := _header(value)):
        yield header
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for child in value.values():
            yield from _headers(child, depth + 1)


def _header(items: list[Any]) -> Header:
    """The names of a list of names, or of objects with a name, and their types in lower case; else empty."""
    parts = [item if type(item) is dict else {"name": item} for item in items]
    header = {
        part["name"]: str(part.get("type", "")).lower() for part in parts if type(part.get("name")) is str
    }
    return header if len(header) == len(parts) else {}


def _list_rows(items: list[Any], headers: Sequence[Header] = ()) -> list[Row]:
    """The rows of a list of objects, of groups of these, or of lists whose names are elsewhere or first."""
    parts = [_cell_lists(item) for item in items]
    lengths = [len(cells) for cells in parts[0]] if parts else []
    if lengths and all([len(cells) for cells in lists] == lengths for lists in parts):
        rows, candidates, header = [list(chain(*lists)) for lists in parts], iter(headers), Header()
        for length in lengths:
            header |= next((names for names in candidates if len(names) == length), {})
        is_list = isinstance(items[0], list)
        if not header and is_list and len(items) > 1 and not any(is_value(str(name)) for name in items[0]):
            header, rows = _header(items[0]), rows[1:]
        if header and len(header) == sum(lengths):
            return [dict(zip(header, map(_cell, cells, header.values()), strict=True)) for cells in rows]
    if not items or not all(type(item) is dict for item in items):
        return []
    lists = [name for name, child in items[0].items() if isinstance(child, list) and _list_rows(child)]
    if len(lists) != 1 or not all(isinstance(item.get(lists[0]), list) for item in items):
        return items
    # They are groups of rows, unless they have amounts, or a time where those have none.
    own = {name: value for name, value in items[0].items() if name != lists[0]}
    has_amounts = any(  # Meta writes its counts as texts, beside a list of actions
        is_amount(name) and is_value(value) if isinstance(value, str) else type(value) in (int, float)
        for name, value in own.items()
    )
    has_rows_times = any(map(sounds_like_time, _list_rows(items[0][lists[0]])[0]))
    if has_amounts and (not has_rows_times or any(map(sounds_like_time, own))):
        return items
    return [
        {key: value for key, value in item.items() if key != lists[0]} | row
        for item in items
        for row in _list_rows(item[lists[0]])
    ]


def _cell_lists(item: Any) -> list[list[Any]]:
    """The cells of a row: of a list itself, or of the lists in an object, in which each may be an object.

    BigQuery writes `{"f": [{"v": 1}]}`, Google Analytics a list of dimensions and one of metrics.
    """
    lists = [item] if isinstance(item, list) else list(item.values()) if isinstance(item, dict) else []
    if not all(isinstance(cells, list) for cells in lists):
        return []
    return [
        [next(iter(cell.values())) if type(cell) is dict and len(cell) == 1 else cell for cell in cells]
        for cells in lists
    ]


def _cell(value: Any, kind: str) -> Any:
    """A cell by the type of its column: Snowflake writes days since 1970, and offsets behind stamps."""
    if kind == "date" and isinstance(value, str) and value.isdecimal():
        return str(EPOCH.date() + dt.timedelta(int(value)))
    return value.partition(" ")[0] if kind == "timestamp_tz" and isinstance(value, str) else value


def _object_rows(columns: Row) -> list[Row]:
    """The rows of an object of columns (lists, or objects as pandas writes them), or of rows by key."""
    children = list(columns.values())
    if len(children) < _FEWEST_CHILDREN:
        return []
    if all(isinstance(child, list) and len(child) == len(children[0]) for child in children):
        return [dict(zip(columns, cells, strict=True)) for cells in zip(*children, strict=True)]
    if not all(type(child) is dict and child.keys() == children[0].keys() for child in children):
        return []
    if all(key.isdecimal() for key in children[0]):
        return [{name: child[key] for name, child in columns.items()} for key in children[0]]
    are_numbered = all(key.isdecimal() and len(key) < _DIGITS_OF_DATE for key in columns)
    return [row if are_numbered else {"key": key} | row for key, row in columns.items()]


def _elements(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The rows of one JSON document, which is held in memory while it is read."""
    try:
        document = orjson.loads(_whole(chunks, name) or b"")
    except orjson.JSONDecodeError as error:
        raise ImportRefused(f"{name} is one JSON array and can't be read: {error}") from None
    for element in _longest_rows(document)[1] or document:
        yield orjson.dumps(element)


def _whole(chunks: Iterable[bytes], name: str | None) -> bytes | None:
    """The chunks as one; of more than 256 MiB ImportRefused with the file's name, or None without one."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > _MAX_DOCUMENT:
            if name is None:
                return None
            raise ImportRefused(
                f"{name} is one JSON document of more than {_MAX_DOCUMENT >> 20} MiB; save it as NDJSON, "
                "one object per line"
            )
    return bytes(data)


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of a text, without their newlines."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines
        if len(rest) > MAX_LINE:
            raise ImportRefused(f"A line is longer than {MAX_LINE >> 20} MiB; is this NDJSON?")
    yield rest


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
