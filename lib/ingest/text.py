"""Delimited text (CSV, TSV and their kin) → raw rows: bytes → characters → records → cells.

Arrow's reader parses the cells of whole records, but where records begin and end (RFC 4180; a quoted cell may
hold newlines) is found here. DuckDB's and Arrow's readers were tried for that and don't give the same: after
a quote that is never closed they lose the rows that follow, their rejects have numbers of records rather
than lines, good rows have neither, and mixed newlines or bytes that are no text end the whole file.
"""

import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lib.ingest.files import (
    ANY,
    WORKBOOK_SUFFIXES,
    DataFile,
    Kinds,
    Names,
    Progress,
    RawRows,
    Refuse,
    Reject,
    check_width,
)
from lib.ingest.layout import Record, TableLayout, is_total, is_value, table_layout, usual_width
from lib.ingest.records import (
    MAX_LINE,
    UTF_8,
    Records,
    find_encoding,
    is_utf_8,
    line_too_long,
    recognize_encoding,
    records,
    shown_encoding,
    utf_8_chunks,
)
from lib.ingest.rejects import BELOW, TOTAL, WRONG_WIDTH, Ending
from lib.wire.errors import ImportRefused

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
_RARE_DELIMITERS = "~^\x01"
_SNIFFED_RECORDS = 200
_SNIFFED_BYTES = 1 << 18
_EXCEL_QUOTED = r'^="(.*)"$'
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n?')
# A quotation mark after a backslash that does not end its cell, as MySQL and others write one within a cell.
_ESCAPED_QUOTE = re.compile(rb'(?:^|[,;\t|])"(?:[^"\\\n]|\\.)*\\"(?!["\r\n,;\t|]|\Z)', re.MULTILINE)
_ESCAPED = re.compile(rb'\\(["\\])')

# Python's own limit for a cell is 128 KiB; the first lines of a file are bounded by the bytes read.
csv.field_size_limit(_SNIFFED_BYTES + MAX_LINE)


class DelimitedText:
    """A file of cells between delimiters; see Reader."""

    def __init__(self, file: DataFile, encoding: str, layout: TableLayout, has_escapes: bool = False) -> None:
        self.file, self._encoding, self._layout = file, encoding, layout
        self._has_escapes = has_escapes
        self.context = "\n".join([file.name, *layout.above])
        self._delimiter, self._names = layout.delimiter, layout.names
        self.columns: tuple[str, ...] | None = tuple(name for name in layout.names if name)
        self.names = dict.fromkeys(self.columns)
        self.has_header = layout.has_header

    @property
    def description(self) -> str:
        """The dialect found, in a few words."""
        names = {mark: f"{name}-separated" for name, mark in DELIMITERS.items()}
        separation = names.get(self._delimiter, f"separated by '{self._delimiter}'")
        is_named_workbook = self.file.path.suffix.lower() in WORKBOOK_SUFFIXES
        form = "a table in HTML or XML" if self.file.format == "html" else shown_encoding(self._encoding)
        parts = [form, *([] if self.file.format == "html" else [separation])]
        parts = [*parts, f"{len(self.columns or ())} columns"]
        parts += ["quotation marks after backslashes"] if self._has_escapes else []
        parts += ["named as a workbook, but none"] if is_named_workbook else []
        return ", ".join(parts + self._layout.description)

    def rows(
        self, selection: Names | None, refuse: Refuse, progress: Progress | None = None, kinds: Kinds = ANY
    ) -> Iterator[RawRows]:
        """All rows, in batches; rows with another number of cells or undecodable bytes go to `refuse`."""
        columns = self.columns if selection is None else selection
        positions = {
            name: position for position, name in enumerate(self._names) if name and name in (columns or ())
        }
        numbers = [name for name, kind in kinds.items() if kind == "number"]
        parser = _CellParser(self._delimiter, self._names, positions, numbers)
        chunks = utf_8_chunks(self.file.chunks(progress), self._encoding)
        chunks = _without_escapes(chunks) if self._has_escapes else chunks
        ending, encoding = Ending(refuse), shown_encoding(self._encoding)
        for batch in records(chunks, self._delimiter, len(self._names)):
            for line, broken in batch.broken:
                if line >= self._layout.first_line:
                    reason = "a quotation mark opens a cell and is never closed"
                    ending.refuse(Reject(line, reason, "", broken.decode(UTF_8, "replace")))
            if len(batch) and batch.lines[0] < self._layout.first_line:
                batch = batch.keep(batch.lines >= self._layout.first_line)
            if not is_utf_8(batch.data):
                good = np.array([is_utf_8(batch.raw(position)) for position in range(len(batch))], bool)
                reason = f"bytes that are not valid in {encoding}; name another --encoding"
                for position in np.flatnonzero(~good).tolist():
                    text = batch.raw(position).decode(UTF_8, "replace")
                    ending.refuse(Reject(int(batch.lines[position]), reason, "", text))
                batch = batch.keep(good)
            if len(batch):
                raw = self._parse(batch, parser, ending)
                if len(raw.lines):
                    yield raw
        ending.close()

    def _parse(self, records: Records, parser: "_CellParser", ending: Ending) -> RawRows:
        text, good = records.text(), np.ones(len(records), bool)
        table, misfits = parser.parse(text)
        good[[misfit.position for misfit in misfits]] = False
        rest = records.keep(good) if misfits else records
        for misfit in misfits:
            # Whether a line has fewer cells than rows have, and begins with words.
            cells = misfit.text.strip().split(self._delimiter)
            below = BELOW if (len(cells) < len(self._names) and not is_value(cells[0].strip('"'))) else None
            is_sum = any(is_total(cell.strip('"')) for cell in cells)
            reason, value = TOTAL, ""
            if not is_sum:
                reason, value = WRONG_WIDTH, f"{misfit.cells} instead of {len(self._names)}"
            ending.refuse(Reject(int(records.lines[misfit.position]), reason, value, misfit.text, below))
        if len(rest):
            ending.accept(int(rest.lines[-1]))
        return RawRows(
            table,
            rest.lines,
            lambda position: rest.raw(position).decode(UTF_8),
            cache(lambda: parser.read(text)[0]),
        )


def delimited_text(
    file: DataFile,
    encoding: str | None = None,
    delimiter: str | None = None,
    columns: Collection[str] = (),
    header: bool | None = None,
    names: Sequence[str] = (),
) -> DelimitedText:
    """The reader of a delimited file; what is not given is recognized.

    `columns` are columns that the header names; without a header the columns have these `names`.
    """
    encoding = find_encoding(encoding) if encoding else recognize_encoding(file.chunks())
    # The first 256 KiB, and the rest of the line that they cut: a header has all of its columns.
    with file.open() as content:
        sample = content.read(_SNIFFED_BYTES)
        rest = content.readline(MAX_LINE) if len(sample) == _SNIFFED_BYTES else b""
    if len(rest) == MAX_LINE and not rest.endswith(b"\n") and b"\r" not in rest:
        raise ImportRefused(line_too_long(sample.count(b"\n") + 1))
    sample = b"".join(utf_8_chunks([sample + rest], encoding))
    has_escapes = _ESCAPED_QUOTE.search(sample) is not None
    sample = b"".join(_without_escapes([sample])) if has_escapes else sample
    # The delimiter that the first line names, as Excel's `sep=;` does.
    first = next(iter(sample.decode(UTF_8, "replace").splitlines()), "")
    line = _SEPARATOR_LINE.fullmatch(first)
    sep_delimiter = line[1] if line else None
    mark = delimiter or sep_delimiter
    mark, rows = (mark, _first_records(sample, mark)) if mark else _recognize_delimiter(sample, file)
    layout = table_layout(rows[1 if sep_delimiter else 0 :], file.name, mark, columns, header, names)
    check_width(file.name, layout.names)
    return DelimitedText(file, encoding, layout, has_escapes)


def _without_escapes(chunks: Iterable[bytes]) -> Iterator[bytes]:
    r"""Text with \" as "" and \\ as \."""
    rest = b""
    for chunk in chunks:
        text = rest + chunk
        backslashes = len(text) - len(text.rstrip(b"\\"))
        rest = b"\\" if backslashes % 2 else b""
        yield _ESCAPED.sub(lambda mark: b'""' if mark[1] == b'"' else mark[1], text[: len(text) - len(rest)])
    yield rest


def _recognize_delimiter(
    sample: bytes, file: DataFile, marks: Iterable[str] = DELIMITERS.values()
) -> tuple[str, list[Record]]:
    """The mark that splits most of the first records into the same number of cells, and these records."""
    rows, scores = {mark: _first_records(sample, mark) for mark in marks}, {}
    are_decimal = sample.count(b",") == len(re.findall(rb"(?<=[0-9]),(?=[0-9])", sample))  # as in 12,50
    for mark in rows:
        widths = [len(record.cells) for record in rows[mark]]
        width = usual_width(widths[len(widths) // 2 :])
        if width > 1:
            scores[mark] = (widths.count(width) / len(widths), mark != "," or not are_decimal, width)
    if not scores and marks != _RARE_DELIMITERS:
        return _recognize_delimiter(sample, file, _RARE_DELIMITERS)
    if not scores:
        return ",", _first_records(sample, ",")
    best = "\t" if file.format == "tsv" and "\t" in scores else max(scores, key=lambda mark: scores[mark])
    return best, rows[best]


def _first_records(sample: bytes, delimiter: str) -> list[Record]:
    rows: list[Record] = []
    for block in records([sample], delimiter):
        for line, text in block.first(_SNIFFED_RECORDS - len(rows)):
            cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
            rows.append(Record(line, [re.sub(_EXCEL_QUOTED, r"\1", cell) for cell in cells]))
    return rows


class _Misfit(NamedTuple):
    """A record with another number of cells than there are names: its position, from 0, and its text."""

    position: int
    cells: int
    text: str


class _CellParser:
    """Parses pieces of one file. `positions` are the wanted columns, `numbers` those that may be numbers."""

    def __init__(
        self, delimiter: str, names: Sequence[str], positions: Mapping[str, int], numbers: Collection[str]
    ) -> None:
        self._delimiter, self._names, self._positions = delimiter, names, positions
        self._numbers = {name for name in numbers if name in positions}

    def parse(self, text: bytes) -> tuple[pa.Table, list[_Misfit]]:
        """The wanted columns of whole records, and the records that are left out.

        A column that is once not of numbers alone is text from then on.
        """
        if self._numbers:
            try:
                table, misfits = self.read(text, self._numbers)
            except pa.ArrowInvalid:
                table = None
            if table is not None and all(_is_finite(table[name]) for name in self._numbers):
                return table, misfits
        table, misfits = self.read(text)
        self._numbers = {name for name in self._numbers if _are_numbers(table[name])}
        return table, misfits

    def read(self, text: bytes, numbers: Collection[str] = ()) -> tuple[pa.Table, list[_Misfit]]:
        """The same columns, all as text but for these numbers. ArrowInvalid where one of them is none."""
        misfits: list[_Misfit] = []

        def skip(row: pa.csv.InvalidRow) -> str:
            misfits.append(_Misfit(row.number - 1, row.actual_columns, row.text))
            return "skip"

        # Columns are named by their positions: several of them may have no name.
        labels = [str(position) for position in range(len(self._names))]
        types = {
            str(position): pa.float64() if name in numbers else pa.string()
            for name, position in self._positions.items()
        }
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(column_names=labels, use_threads=False, block_size=len(text) + 1),
            pa.csv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=b'"' in text, invalid_row_handler=skip
            ),
            pa.csv.ConvertOptions(
                check_utf8=False,
                column_types=types,
                include_columns=list(types),
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        if b'="' in text:
            # ="001" keeps a spreadsheet from making a number of it.
            columns = [
                pc.replace_substring_regex(column, _EXCEL_QUOTED, r"\1")
                if column.type == pa.string()
                else column
                for column in table.columns
            ]
            table = pa.Table.from_arrays(columns, names=table.column_names)
        return table.rename_columns(list(self._positions)), misfits


def _is_finite(column: pa.ChunkedArray) -> bool:
    return pc.all(pc.is_finite(column)).as_py() is not False


def _are_numbers(texts: pa.ChunkedArray) -> bool:
    try:
        return _is_finite(texts.cast(pa.float64()))
    except pa.ArrowInvalid:
        return False
