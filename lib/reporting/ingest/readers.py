"""The reader of a file, by its format; Parquet, NDJSON, JSON arrays and tables in markup → raw rows."""

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lib.reporting.definition import Definition
from lib.reporting.definition.reading import Sheets
from lib.reporting.ingest import cells
from lib.reporting.ingest.cells import plain_columns, plain_table, value_column
from lib.reporting.ingest.column_names import sounds_like_time
from lib.reporting.ingest.files import (
    DataFile,
    Format,
    Ints,
    Names,
    Progress,
    RawRows,
    Reader,
    Refuse,
    check_width,
    data_file,
)
from lib.reporting.ingest.layout import are_days, is_total, once_each
from lib.reporting.ingest.records import (
    MAX_LINE,
    UTF_8,
    find_encoding,
    recognize_encoding,
    shown_encoding,
    utf_8_chunks,
)
from lib.reporting.ingest.rejects import Reject
from lib.reporting.ingest.text import delimited_text
from lib.reporting.ingest.workbook import workbooks
from lib.wire.errors import ImportRefused

Row = dict[str, Any]
_PARQUET_BATCH_ROWS = 1 << 16
_BUFFER = 1 << 20
_JSON_BATCH_ROWS = 20_000
_SNIFFED_BYTES = 4096
_MAX_DEPTH = 20
_MAX_ARRAY = 256 << 20
_FEWEST_CHILDREN, _DIGITS_OF_DATE = 2, 6
MOST_BYTES = 128 << 20
_MOST_SPAN = 5_000
_ROWS, _CELLS = {"tr", "row"}, {"td", "th", "cell"}
DAY, VALUE = "day", "value"


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


class Parquet:
    """A Parquet file; see Reader. Lines are its rows, counted from 1."""

    def __init__(self, file: DataFile) -> None:
        self.file, self.context, self.has_header = file, file.name, True
        with self._open() as content:
            schema = content.schema_arrow
            check_width(file.name, schema.names)
            self._roots = schema.names
            empty = _columns(schema.empty_table())
            self.columns: tuple[str, ...] | None = tuple(plain_table(empty).column_names)
            self._owners = [root for root, column in empty for _ in plain_columns(root, column)]
            self.names = dict.fromkeys(self.columns)
            self.description = f"Parquet, {content.metadata.num_rows:,} rows, {len(self.columns)} columns"

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, numbers: Names = ()
    ) -> Iterator[RawRows]:
        """All rows, in batches. There is nothing that could not be read."""
        names = [name for name in self.columns or () if selection is None or name in selection]
        with self._open() as content:
            first, last_bytes, total = 1, 0, content.metadata.num_rows
            for batch in content.iter_batches(_PARQUET_BATCH_ROWS, columns=self._needed_columns(names)):
                table = plain_table(_columns(pa.Table.from_batches([batch])))
                lines = np.arange(first, first + table.num_rows, dtype=np.int64)
                yield RawRows(table.select(names), lines, _RowText(table))
                first += table.num_rows
                progress_bytes = self.file.size * (first - 1) // total
                if progress:
                    progress(progress_bytes - last_bytes)
                last_bytes = progress_bytes

    def _needed_columns(self, names: list[str]) -> list[str] | None:
        """The columns to read for these; None, all of them, where their names could be taken for others."""
        if len(set(self._roots)) < len(self._roots) or any("." in root for root in self._roots):
            return None
        owners = dict(zip(self.columns or (), self._owners, strict=True))
        return list(dict.fromkeys(owners[name] for name in names))

    @contextmanager
    def _open(self) -> Iterator[Any]:
        with self.file.open() as content, tempfile.TemporaryFile() as copy:
            seekable = content
            if self.file.compression:
                shutil.copyfileobj(content, copy)
                seekable = cast(BinaryIO, copy)
            try:
                with pq.ParquetFile(seekable, buffer_size=_BUFFER) as parquet:
                    yield parquet
            except (pa.ArrowException, OSError) as error:
                raise ImportRefused(f"{self.file.name} can't be read as Parquet: {error}") from None


class Ndjson:
    """A file of one JSON object per line, or of one document with rows; see Reader.

    Its columns are known when it was read: `names`. Of a document, lines are its rows, counted from 1: those
    of the longest list of objects, or of lists with names beside or above them; of groups with lists of their
    own, these; of an object of columns, or of rows by their key, as pandas writes them.
    """

    columns: tuple[str, ...] | None = None

    def __init__(self, file: DataFile, encoding: str) -> None:
        self.file, self.context, self.has_header, self._encoding = file, file.name, True, encoding
        self._document = _document(file, encoding)
        title = {None: "NDJSON", "": "JSON array"}.get(self._document, f"JSON, rows in {self._document}")
        self.description = f"{title}, {shown_encoding(encoding)}"
        self.names: dict[str, None] = {}

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, numbers: Names = ()
    ) -> Iterator[RawRows]:
        """All rows, in batches; lines that are no JSON object go to `refuse`."""
        lines: list[tuple[int, bytes]] = []
        rows: list[Row] = []
        chunks = utf_8_chunks(self.file.chunks(progress), self._encoding)
        texts = _lines(chunks) if self._document is None else _elements(chunks, self.file.name)
        for number, line in enumerate(texts, 1):
            if not line or line.isspace():
                continue
            row = self._row(number, line, refuse)
            if row is not None:
                lines.append((number, line))
                rows.append(row)
            if len(rows) >= _JSON_BATCH_ROWS:
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
        columns = {name: value_column([row.get(name) for row in rows]) for name in names}
        if any(_is_rounded(column) for column in columns.values()):
            rows = [flat(json.loads(line)) for _, line in lines]
            columns = {name: value_column([row.get(name) for row in rows]) for name in names}
        numbers = np.array([number for number, _ in lines], np.int64)
        return RawRows(pa.table(columns), numbers, lambda position: lines[position][1].decode(UTF_8))


def _is_rounded(column: pa.Array) -> bool:
    """Whether whole numbers of more than 64 bits are floats, as orjson reads them."""
    return pa.types.is_floating(column.type) and bool(
        pc.any(pc.greater_equal(pc.abs(column), 2.0**63)).as_py()
    )


class _RowText:
    """The text of a row, made when somebody asks for it."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __call__(self, position: int) -> str:
        row = self._table.slice(position, 1).to_pylist()[0]
        return orjson.dumps(row, default=str, option=orjson.OPT_NON_STR_KEYS).decode()


def _columns(table: pa.Table) -> list[tuple[str, pa.Array]]:
    """The columns of a table by their names, of which two may be the same."""
    columns = (column.combine_chunks() for column in table.columns)
    flat = (column.chunk(0) if isinstance(column, pa.ChunkedArray) else column for column in columns)
    return list(zip(table.column_names, flat, strict=True))


def _document(file: DataFile, encoding: str) -> str | None:
    """Where the rows of one JSON document are: `report.rows`, or "" for an array; None of a line for each."""
    with file.open() as content:
        beginning = b"".join(utf_8_chunks([content.read(_SNIFFED_BYTES)], encoding)).lstrip()
    if beginning.startswith(b"["):
        return ""
    first, _, rest = beginning.partition(b"\n")
    if not beginning.startswith(b"{") or (_is_json(first) and rest.strip()):
        return None
    data = _whole(utf_8_chunks(file.chunks(), encoding), None)
    try:
        path, rows = _longest_rows(orjson.loads(data or b""), "")
    except orjson.JSONDecodeError:
        return None
    return path if rows else None


def _is_json(text: bytes) -> bool:
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError:
        return False
    return True


def _longest_rows(value: Any, path: str, depth: int = 0) -> tuple[str, list[Row]]:
    """The path and the rows of the longest list of rows in a document; no rows where there is none."""
    if isinstance(value, list):
        return path, _list_rows(value)
    if not isinstance(value, dict) or depth >= _MAX_DEPTH:
        return path, []
    best = path, _object_rows(value)
    for name, child in value.items():
        child_path, rows = _longest_rows(child, f"{path}.{name}".removeprefix("."), depth + 1)
        if not rows and isinstance(child, list):
            rows = _named_rows(child, value)
        best = (child_path, rows) if len(rows) > len(best[1]) else best
    return best


def _list_rows(items: list[Any]) -> list[Row]:
    """The rows of a list of objects, or of lists below their names; of groups with rows, these."""
    if items and all(type(item) is dict for item in items):
        name = _rows_name(items)
        if name is None:
            return items
        return [
            {key: value for key, value in item.items() if key != name} | row
            for item in items
            for row in _list_rows(item[name])
        ]
    if len(items) > 1 and all(isinstance(item, list) for item in items):
        return _named_rows(items[1:], {"header": items[0]})
    return []


def _rows_name(groups: list[Row]) -> str | None:
    """The name under which groups have their rows; None where they are rows, with amounts or a time."""
    lists = [name for name, child in groups[0].items() if isinstance(child, list) and _list_rows(child)]
    if len(lists) != 1 or not all(isinstance(group.get(lists[0]), list) for group in groups):
        return None
    own = {name: value for name, value in groups[0].items() if name != lists[0]}
    has_amounts = any(isinstance(value, int | float) and type(value) is not bool for value in own.values())
    has_rows_times = any(map(sounds_like_time, _list_rows(groups[0][lists[0]])[0]))
    return lists[0] if not has_amounts or (has_rows_times and not any(map(sounds_like_time, own))) else None


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


def _named_rows(lists: list[Any], beside: Row) -> list[Row]:
    """Rows of lists of cells, with the names of the list of as many texts beside them."""
    width = len(lists[0]) if lists and isinstance(lists[0], list) else 0
    for names in beside.values():
        is_header = (
            isinstance(names, list) and len(names) == width > 0 and all(type(name) is str for name in names)
        )
        if is_header and all(isinstance(cells, list) and len(cells) == width for cells in lists):
            return [dict(zip(names, cells, strict=True)) for cells in lists]
    return []


def _elements(chunks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """The rows of one JSON document, which is held in memory while it is read."""
    try:
        document = orjson.loads(_whole(chunks, name) or b"")
    except orjson.JSONDecodeError as error:
        raise ImportRefused(f"{name} is one JSON array and can't be read: {error}") from None
    for element in _longest_rows(document, "")[1] or document:
        yield orjson.dumps(element)


def _whole(chunks: Iterable[bytes], name: str | None) -> bytes | None:
    """The chunks as one; of more than 256 MiB ImportRefused with the file's name, or None without one."""
    data = bytearray()
    for chunk in chunks:
        data += chunk
        if len(data) > _MAX_ARRAY:
            if name is None:
                return None
            raise ImportRefused(
                f"{name} is one JSON document of more than {_MAX_ARRAY >> 20} MiB; save it as NDJSON, "
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


@dataclass(frozen=True)
class MarkupFile(DataFile):
    """A file whose content is read as the CSV of its largest table; lines are the table's rows, from 1.

    Held in memory while it is read: ImportRefused beyond 128 MiB, and for a file without a table.
    """

    @contextmanager
    def open(self, progress: Progress | None = None) -> Iterator[BinaryIO]:
        """The table as CSV in UTF-8."""
        with super().open(progress) as content:
            data = content.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise ImportRefused(f"{self.name} is markup of more than {MOST_BYTES >> 20} MiB; save it as CSV")
        tables = _Tables()
        tables.feed(b"".join(utf_8_chunks([data], recognize_encoding([data]))).decode(UTF_8, "replace"))
        tables.close()
        rows = max(tables.tables, key=len, default=[])
        if not rows:
            raise ImportRefused(f"{self.name} is markup (HTML or XML) without a table; save it as CSV")
        text = io.StringIO(newline="")
        csv.writer(text).writerows(rows)
        yield io.BytesIO(text.getvalue().encode(UTF_8, "replace"))


class _Tables(HTMLParser):
    """Collects the cells of each table; of one within another, its rows are those of the inner one."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tables: list[list[list[str]]] = []
        self._texts: list[str] | None = None
        self._span = 1

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A table, a row or a cell begins."""
        name, attributes = tag.rpartition(":")[2], dict(attrs)
        if name == "table":
            self.tables.append([])
        elif name in _ROWS and self.tables:
            self._end_cell()
            self.tables[-1].append([])
        elif name in _CELLS and self.tables and self.tables[-1]:
            self._end_cell()
            row, index = self.tables[-1][-1], _number(attributes.get("ss:index"))
            row += [""] * (min(index, _MOST_SPAN) - 1 - len(row))
            self._texts, self._span = [], min(max(_number(attributes.get("colspan")), 1), _MOST_SPAN)
        elif name == "br" and self._texts is not None:
            self._texts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        """A cell, a row or a table ends."""
        if tag.rpartition(":")[2] in _CELLS | _ROWS | {"table"}:
            self._end_cell()

    def handle_data(self, data: str) -> None:
        """Text, which belongs to the cell that it is in."""
        if self._texts is not None:
            self._texts.append(data)

    def _end_cell(self) -> None:
        if self._texts is not None and self.tables and self.tables[-1]:
            text = " ".join("".join(self._texts).split())
            self.tables[-1][-1] += [text, *[""] * (self._span - 1)]
        self._texts = None


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0


class UnpivotReader:
    """Another reader's rows, one for each of its columns that is a day and each value there; see Reader.

    Columns of totals and empty cells are left out. ImportRefused where fewer than two columns are days.
    """

    def __init__(self, reader: Reader) -> None:
        columns = reader.columns or ()
        self.days = [name for name in columns if are_days([name])]
        if len(self.days) < 2:
            raise ImportRefused(f"{reader.file.name}: --unpivot is for files with a column for each day")
        self._reader, self.file, self.context = reader, reader.file, reader.context
        self.has_header = reader.has_header
        self._others = [name for name in columns if name not in self.days and not is_total(name)]
        *_, self._day, self._value = names = once_each([*self._others, DAY, VALUE])
        self.columns: tuple[str, ...] | None = tuple(names)
        self.names = dict.fromkeys(names)
        days = f"{len(self.days)} columns of days unpivoted, '{self.days[0]}' to '{self.days[-1]}'"
        self.description = f"{reader.description}, {days}"

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, numbers: Names = ()
    ) -> Iterator[RawRows]:
        """All rows, in batches; those of a line come one after the other, in the order of the days."""
        others = [name for name in self._others if selection is None or name in selection]
        for raw in self._reader.rows([*others, *self.days], refuse, progress):
            count, width = raw.table.num_rows, len(self.days)
            figures = pa.chunked_array([cells.text(raw.table[day].combine_chunks()) for day in self.days])
            positions = np.arange(count * width)
            values = figures.take(pa.array(positions % width * count + positions // width)).combine_chunks()
            present = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
            owners = present // width
            table = raw.table.select(others).take(pa.array(owners))
            table = table.append_column(self._day, pa.array(self.days).take(pa.array(present % width)))
            table = table.append_column(self._value, values.take(pa.array(present)))
            yield RawRows(table, raw.lines[owners], partial(_line_text, raw, owners))


def _line_text(raw: RawRows, owners: Ints, position: int) -> str:
    return raw.text(int(owners[position]))
