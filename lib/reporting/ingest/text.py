"""Delimited text (CSV, TSV and their kin) → raw rows: bytes → characters → records → cells.

Arrow's reader parses the cells of whole records, but where records begin and end (RFC 4180; a quoted cell may
hold newlines) is found here. DuckDB's and Arrow's readers were tried for that and don't give the same: after
a quote that is never closed they lose the rows that follow, their rejects have numbers of records rather
than lines, good rows have neither, and mixed newlines or bytes that are no text end the whole file.
"""

import codecs
import csv
import io
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import charset_normalizer
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lib.reporting.ingest.files import WORKBOOK_SUFFIXES, DataFile, RawRows, Refuse, check_width
from lib.reporting.ingest.layout import Record, TableLayout, is_total, is_value, table_layout, usual_width
from lib.reporting.ingest.progress import Progress
from lib.reporting.ingest.rejects import BELOW, TOTAL, WRONG_WIDTH, Ending, Reject
from lib.wire.errors import ImportRefused

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
MAX_RECORD = 1 << 20
MAX_LINE = 16 << 20
UTF_8 = "utf-8"
_SNIFFED_RECORDS = 200
_SNIFFED_BYTES = 1 << 18
_EXCEL_QUOTED = r'^="(.*)"$'
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n?')
_NEWLINE, _QUOTE = ord("\n"), ord('"')
_BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark it begins with
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CANDIDATES = [
    "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "koi8_r",
    "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr",
]  # fmt: skip
_LATIN = {None, "cp1250", "cp1252"}
_IN_CENTRAL_EUROPEAN_WORDS = re.compile(
    rb"[A-Za-z][\x8a-\x8f\x9a\x9c-\x9f\xb3\xb9\xbe\xbf]|[\xa3\xa5\xaf][a-z]"
)
_INVALID = "\udcff"
_GUESSED_BYTES = 1 << 18

# Python's own limit for a cell is 128 KiB; the first lines of a file are bounded by the bytes read.
csv.field_size_limit(_SNIFFED_BYTES + MAX_LINE)


class DelimitedText:
    """A file of cells between delimiters; see Reader."""

    def __init__(self, file: DataFile, encoding: str, layout: TableLayout) -> None:
        self.file, self._encoding, self._layout = file, encoding, layout
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
        parts += ["named as a workbook, but none"] if is_named_workbook else []
        return ", ".join(parts + self._layout.description)

    def rows(
        self,
        selection: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches; rows with another number of cells or undecodable bytes go to `refuse`."""
        columns = self.columns if selection is None else selection
        positions = {
            name: position for position, name in enumerate(self._names) if name and name in (columns or ())
        }
        parser = _CellParser(self._delimiter, self._names, positions, numbers)
        chunks = utf_8_chunks(self.file.chunks(progress), self._encoding)
        ending = Ending(refuse)
        for batch in records(chunks, self._delimiter, len(self._names)):
            for line, text in batch.broken:
                if line >= self._layout.first_line:
                    reason = "a quotation mark opens a cell and is never closed"
                    ending.refuse(Reject(line, reason, "", text.decode(UTF_8, "replace")))
            if len(batch) and batch.lines[0] < self._layout.first_line:
                batch = batch.keep(batch.lines >= self._layout.first_line)
            batch = self._decodable(batch, ending.refuse)
            if len(batch):
                raw = self._parse(batch, parser, ending)
                if len(raw.lines):
                    yield raw
        ending.close()

    def _decodable(self, records: "Records", refuse: Refuse) -> "Records":
        """The records without those that are no valid text."""
        if _is_utf_8(records.data):
            return records
        good = np.array([_is_utf_8(records.raw(position)) for position in range(len(records))], bool)
        reason = f"bytes that are not valid in {shown_encoding(self._encoding)}; name another --encoding"
        for position in np.flatnonzero(~good):
            text = records.raw(int(position)).decode(UTF_8, "replace")
            refuse(Reject(int(records.lines[position]), reason, "", text))
        return records.keep(good)

    def _parse(self, records: "Records", parser: "_CellParser", ending: Ending) -> RawRows:
        text, good = records.text(), np.ones(len(records), bool)
        table, misfits = parser.parse(text)
        good[[misfit.position for misfit in misfits]] = False
        rest = records.keep(good) if misfits else records
        for misfit in misfits:
            value = f"{misfit.cells} instead of {len(self._names)}"
            below = BELOW if self._is_text(misfit.text) else None
            line, is_sum = int(records.lines[misfit.position]), self._has_total(misfit.text)
            ending.refuse(Reject(line, TOTAL if is_sum else WRONG_WIDTH, value, misfit.text, below))
        if len(rest):
            ending.accept(int(rest.lines[-1]))
        return RawRows(
            table,
            rest.lines,
            lambda position: rest.raw(position).decode(UTF_8),
            cache(lambda: parser.as_text(text)),
        )

    def _has_total(self, line: str) -> bool:
        """Whether a cell of a line says that it is a total."""
        return any(is_total(cell.strip('"')) for cell in line.strip().split(self._delimiter))

    def _is_text(self, line: str) -> bool:
        """Whether a line has fewer cells than rows have, and begins with words."""
        cells = line.strip().split(self._delimiter)
        return len(cells) < len(self._names) and not is_value(cells[0].strip('"'))


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
    sample = _beginning(file)
    sep_delimiter = _sep_delimiter(sample, encoding)
    delimiter = delimiter or sep_delimiter or _recognize_delimiter(sample, encoding, file)
    rows = _first_records(sample, encoding, delimiter)[1 if sep_delimiter else 0 :]
    layout = table_layout(rows, file.name, delimiter, columns, header)
    check_width(file.name, layout.names)
    return DelimitedText(file, encoding, layout.with_names(names, file.name))


def find_delimiter(name: str) -> str:
    r"""The delimiter that a person means by `tab`, `\t` or the character itself. ValueError for others."""
    mark = DELIMITERS.get(name.lower(), "\t" if name == "\\t" else name)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise ValueError(f"a delimiter is one character, or one of {', '.join(DELIMITERS)}; not '{name}'")
    return mark


def find_encoding(name: str) -> str:
    """Python's name of an encoding that a person gave. ImportRefused when there is none of that name."""
    try:
        codec = codecs.lookup(name).name
        "".encode(codec)
    except (LookupError, TypeError):
        raise ImportRefused(
            f"There is no encoding '{name}'; write utf-8, cp1252, latin-1, utf-16 …"
        ) from None
    return "utf-8-sig" if codec == UTF_8 else codec


def shown_encoding(name: str) -> str:
    """An encoding's name as people know it."""
    return name.removesuffix("-sig").upper().replace("CP125", "Windows-125")


def recognize_encoding(chunks: Iterable[bytes]) -> str:
    """The encoding of a file, from its beginning and from the first piece of it that is not plain ASCII.

    A byte order mark decides; else UTF-8 where that fits, or nearly fits; else a guess.
    """
    for number, chunk in enumerate(chunks):
        if number == 0 and (encoding := _byte_order_mark(chunk) or _unmarked_utf_16(chunk)):
            return encoding
        if not chunk.isascii():
            return UTF_8 if _is_mostly_utf_8(chunk) else _guess_encoding(chunk)
    return UTF_8


def utf_8_chunks(chunks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The text of `chunks` in UTF-8, without byte order mark.

    Bytes that mean nothing in `encoding` come out as bytes that are not UTF-8 either, so that whoever
    reads a row finds them.
    """
    if encoding == UTF_8:
        yield from chunks
        return
    if encoding == "utf-8-sig":
        for number, chunk in enumerate(chunks):
            yield chunk.removeprefix(codecs.BOM_UTF8) if number == 0 else chunk
        return
    codecs.register_error("tranche-invalid", _invalid)
    decoder = codecs.getincrementaldecoder(encoding)(errors="tranche-invalid")
    for chunk in chunks:
        yield decoder.decode(chunk).encode(UTF_8, "surrogateescape")
    yield decoder.decode(b"", final=True).encode(UTF_8, "surrogateescape")


@dataclass(frozen=True)
class Records:
    """Records in a piece of text, from `starts` to `ends`, newline included; `lines` count from 1.

    `broken` are lines that belong to no record, as a quote opens in them and is never closed.
    """

    data: bytes
    starts: Ints
    ends: Ints
    lines: Ints
    broken: tuple[tuple[int, bytes], ...] = ()

    def __len__(self) -> int:
        return len(self.ends)

    def raw(self, position: int) -> bytes:
        """One record, without its newline."""
        return self.data[int(self.starts[position]) : int(self.ends[position]) - 1]

    def keep(self, flags: Flags) -> "Records":
        """Only the wanted ones."""
        return replace(self, starts=self.starts[flags], ends=self.ends[flags], lines=self.lines[flags])

    def without_empty(self) -> "Records":
        """Without those of a newline alone."""
        has_text = self.ends - self.starts > 1
        return self if has_text.all() else self.keep(has_text)

    def text(self) -> bytes:
        """The records one after the other, with nothing between them."""
        if len(self) and int((self.ends - self.starts).sum()) == len(self.data):
            return self.data
        return b"".join(self.data[start:end] for start, end in zip(self.starts, self.ends, strict=True))


def records(chunks: Iterable[bytes], delimiter: str, columns: int | None = None) -> Iterator[Records]:
    """All records of a text in UTF-8, without empty lines. Every kind of newline ends a line.

    `columns` is how many cells a record should have: it helps to tell where a broken record ends.
    """
    splitter, rest = _Splitter(delimiter.encode(), columns), b""
    for chunk in chunks:
        whole = rest + chunk
        rest = b"\r" if whole.endswith(b"\r") else b""
        yield splitter.take(_one_newline(whole.removesuffix(rest)), is_last=False)
    yield splitter.take(_one_newline(rest), is_last=True)


def _beginning(file: DataFile) -> bytes:
    """The first 256 KiB, and the rest of the line that they cut: a header has all of its columns."""
    with file.open() as content:
        sample = content.read(_SNIFFED_BYTES)
        rest = content.readline(MAX_LINE) if len(sample) == _SNIFFED_BYTES else b""
    if len(rest) == MAX_LINE and not rest.endswith(b"\n") and b"\r" not in rest:
        raise ImportRefused(_line_too_long(sample.count(b"\n") + 1))
    return sample + rest


def _sep_delimiter(sample: bytes, encoding: str) -> str | None:
    """The delimiter that the first line names, as Excel's `sep=;` does."""
    first = next(iter(b"".join(utf_8_chunks([sample], encoding)).decode(UTF_8, "replace").splitlines()), "")
    line = _SEPARATOR_LINE.fullmatch(first)
    return line[1] if line else None


def _recognize_delimiter(sample: bytes, encoding: str, file: DataFile) -> str:
    """The mark that splits most of the first records into the same number of cells."""
    scores = {}
    for mark in DELIMITERS.values():
        widths = [len(record.cells) for record in _first_records(sample, encoding, mark)]
        width = usual_width(widths[len(widths) // 2 :])
        if width > 1:
            scores[mark] = (widths.count(width) / len(widths), mark != "," or not _is_decimal(sample), width)
    if file.format == "tsv" and "\t" in scores:
        return "\t"
    return max(scores, key=lambda mark: scores[mark]) if scores else ","


def _is_decimal(sample: bytes) -> bool:
    """Whether commas are between digits alone, as in 12,50."""
    return sample.count(b",") == len(re.findall(rb"(?<=[0-9]),(?=[0-9])", sample))


def _first_records(sample: bytes, encoding: str, delimiter: str) -> list[Record]:
    rows: list[Record] = []
    for block in records(utf_8_chunks([sample], encoding), delimiter):
        for position in range(min(len(block), _SNIFFED_RECORDS - len(rows))):
            text = block.raw(position).decode(UTF_8, "replace")
            cells = [
                re.sub(_EXCEL_QUOTED, r"\1", cell)
                for cell in next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
            ]
            rows.append(Record(int(block.lines[position]), cells))
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
                table, misfits = self._read(text, self._numbers)
            except pa.ArrowInvalid:
                table = None
            if table is not None and all(_is_finite(table[name]) for name in self._numbers):
                return table, misfits
        table, misfits = self._read(text, ())
        self._numbers = {name for name in self._numbers if _are_numbers(table[name])}
        return table, misfits

    def as_text(self, text: bytes) -> pa.Table:
        """The same columns, all as text."""
        return self._read(text, ())[0]

    def _read(self, text: bytes, numbers: Collection[str]) -> tuple[pa.Table, list[_Misfit]]:
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
            table = _without_excel_quotes(table)
        return table.rename_columns(list(self._positions)), misfits


def _without_excel_quotes(table: pa.Table) -> pa.Table:
    """Cells written as ="001", which keeps a spreadsheet from making them numbers, as 001."""
    columns = [
        pc.replace_substring_regex(column, _EXCEL_QUOTED, r"\1") if column.type == pa.string() else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, names=table.column_names)


def _is_finite(column: pa.ChunkedArray) -> bool:
    return pc.all(pc.is_finite(column)).as_py() is not False


def _are_numbers(texts: pa.ChunkedArray) -> bool:
    try:
        return _is_finite(texts.cast(pa.float64()))
    except pa.ArrowInvalid:
        return False


def _is_utf_8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True


class _Splitter:
    """Splits pieces of a text, keeping the beginning of a record that the next piece ends."""

    def __init__(self, delimiter: bytes, columns: int | None) -> None:
        self._delimiter, self._columns = ord(delimiter), columns
        self._rest, self._line = b"", 1
        mark = re.escape(delimiter)
        quoted_cell, plain = rb'"[^"]*+(?:""[^"]*+)*+"', rb'[^"%b\n][^%b\n]*+|' % (mark, mark)
        cell = rb"(?:%b[^%b\n]*+|%b)" % (quoted_cell, mark, plain)
        self._record = re.compile(rb"%b(?:%b%b)*+\n" % (cell, mark, cell))
        self._clean_cell = re.compile(rb"(?:%b|%b)[%b\n]" % (quoted_cell, plain, mark))

    def take(self, piece: bytes, is_last: bool) -> Records:
        """The records that end in this piece."""
        data = self._rest + piece
        if is_last and data and not data.endswith(b"\n"):
            data += b"\n"
        spans = self._fast_spans(data)
        if spans is None or len(data) - spans.end > (0 if is_last else MAX_RECORD):
            spans = self._scan(data, is_last)
        self._rest = data[spans.end :]
        if len(self._rest) > MAX_LINE:
            raise ImportRefused(_line_too_long(self._line))
        return self._records(data, spans)

    def _records(self, data: bytes, spans: "_Spans") -> Records:
        if spans.are_lines:
            lines = self._line + np.arange(len(spans.ends))
            self._line += len(spans.ends)
            return Records(data[: spans.end], spans.starts, spans.ends, lines).without_empty()
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8, spans.end) == _NEWLINE)
        lines = self._line + np.searchsorted(newlines, spans.starts)
        broken = [
            (self._line + int(np.searchsorted(newlines, start)), data[start : end - 1])
            for start, end in spans.broken
        ]
        self._line += len(newlines)
        return Records(data[: spans.end], spans.starts, spans.ends, lines, tuple(broken)).without_empty()

    def _fast_spans(self, data: bytes) -> "_Spans | None":
        """Where records lie in well-formed text; None if it is not."""
        characters = np.frombuffer(data, np.uint8)
        ends, has_quotes = np.flatnonzero(characters == _NEWLINE) + 1, b'"' in data
        if has_quotes:
            quotes = np.flatnonzero(characters == _QUOTE)
            if not self._are_well_formed(characters, quotes):
                return None
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)[: len(ends)]
        return _Spans(starts, ends, are_lines=not has_quotes)

    def _are_well_formed(self, characters: npt.NDArray[np.uint8], quotes: Ints) -> bool:
        """Whether quotes open only at the beginning of a cell, and close only at its end."""
        text = np.concatenate([[_NEWLINE], characters, [_NEWLINE]])
        before, after = text[quotes[0::2]], text[quotes[1::2] + 2]
        edges = np.array([self._delimiter, _NEWLINE, _QUOTE])
        return bool(np.isin(before, edges).all() and np.isin(after, edges).all())

    def _scan(self, data: bytes, is_last: bool) -> "_Spans":
        """Where records lie, read one by one; a line whose quote is never closed is broken, and left out."""
        starts, ends, broken, position = [], [], [], 0
        while (newline := data.find(b"\n", position)) >= 0:
            end = self._end(data, position, newline + 1)
            if end is None and not is_last and len(data) - position <= MAX_RECORD:
                break
            if end is None:
                broken.append((position, newline + 1))
            else:
                starts.append(position)
                ends.append(end)
            position = end or newline + 1
        return _Spans(np.array(starts, np.int64), np.array(ends, np.int64), broken, position)

    def _end(self, data: bytes, start: int, line_end: int) -> int | None:
        """Where the record at `start` ends; None when no end can be seen, or one that leads astray."""
        match = self._record.match(data, start, start + MAX_RECORD)
        if match is None:
            return line_end if b'"' not in data[start:line_end] else None
        end = match.end()
        return end if end == line_end or self._is_clean(data, start, end) else None

    def _is_clean(self, data: bytes, start: int, end: int) -> bool:
        """Whether quotes enclose whole cells, and there are as many cells as there should be."""
        cells = 0
        while start < end:
            match = self._clean_cell.match(data, start, end)
            if match is None:
                return False
            cells, start = cells + 1, match.end()
        return self._columns in (None, cells)


class _Spans:
    """Where records and broken lines lie in a piece of text, and where the whole records end.

    `are_lines`: each is a line, and each line one of them.
    """

    def __init__(
        self,
        starts: Ints,
        ends: Ints,
        broken: list[tuple[int, int]] | None = None,
        end: int | None = None,
        are_lines: bool = False,
    ) -> None:
        self.starts, self.ends, self.broken, self.are_lines = starts, ends, broken or [], are_lines
        self.end = end if end is not None else int(ends[-1]) if len(ends) else 0


def _one_newline(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in text else text


def _line_too_long(line: int) -> str:
    """Why a file with such a line is refused."""
    return f"Line {line} is longer than {MAX_LINE >> 20} MiB; is this delimited text?"


def _byte_order_mark(chunk: bytes) -> str | None:
    return next((name for mark, name in _BYTE_ORDER_MARKS.items() if chunk.startswith(mark)), None)


def _unmarked_utf_16(chunk: bytes) -> str | None:
    """UTF-16 without a mark: every other byte of Latin text is zero."""
    even, odd = chunk[0:2000:2].count(0), chunk[1:2000:2].count(0)
    if max(even, odd) < 0.4 * len(chunk[:2000]) / 2:
        return None
    return "utf-16-be" if even > odd else "utf-16-le"


def _is_mostly_utf_8(chunk: bytes) -> bool:
    """Whether what is not ASCII is UTF-8 more often than not; a cut-off end does not count."""
    text = codecs.getincrementaldecoder(UTF_8)(errors="replace").decode(chunk)
    broken = text.count("\ufffd")
    return broken == 0 or sum(not character.isascii() for character in text) > 2 * broken


def _guess_encoding(chunk: bytes) -> str:
    sample = b"\n".join(line for line in chunk.splitlines() if not line.isascii())[:_GUESSED_BYTES]
    best = charset_normalizer.from_bytes(sample, cp_isolation=_CANDIDATES).best()
    if (best.encoding if best else None) not in _LATIN:
        return best.encoding if best else "cp1252"
    central = len(_IN_CENTRAL_EUROPEAN_WORDS.findall(sample))
    return "cp1250" if central > 0.1 * sum(byte > 127 for byte in sample) else "cp1252"


def _invalid(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return _INVALID, error.end
