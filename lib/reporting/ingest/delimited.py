"""CSV, TSV and their kin → raw rows, all cells as text."""

import csv
import io
from collections import Counter
from collections.abc import Collection, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.csv

from lib.reporting.ingest.encodings import (
    UTF_8,
    encoding_named,
    recognise_encoding,
    shown_encoding,
    utf_8_chunks,
)
from lib.reporting.ingest.files import DataFile, Progress
from lib.reporting.ingest.records import Records, records
from lib.reporting.ingest.rejects import Reject
from lib.reporting.ingest.rows import RawRows, Refuse
from lib.wire.errors import ImportRefused

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
_SNIFFED_RECORDS = 200
_SNIFFED_BYTES = 1 << 18


class Delimited:
    """A file of cells between delimiters, with a header line; see Reader."""

    def __init__(self, file: DataFile, encoding: str, delimiter: str) -> None:
        self.file, self._encoding, self._delimiter = file, encoding, delimiter
        self._names = _header(_first_records(file, encoding, delimiter, 1), file, delimiter)
        self.columns: tuple[str, ...] | None = tuple(dict.fromkeys(self._names))
        self.seen = dict.fromkeys(self.columns)
        names = {mark: f"{name}-separated" for name, mark in DELIMITERS.items()}
        shown = names.get(delimiter, f"separated by '{delimiter}'")
        self.description = f"{shown_encoding(encoding)}, {shown}, {len(self._names)} columns"

    def rows(
        self, wanted: Collection[str] | None, refuse: Refuse, progress: Progress | None = None
    ) -> Iterator[RawRows]:
        """All rows, in batches; rows with another number of cells or undecodable bytes go to `refuse`."""
        positions = self._positions(self._names if wanted is None else wanted)
        chunks = utf_8_chunks(self.file.chunks(progress), self._encoding)
        is_header = True
        for found in records(chunks, self._delimiter, len(self._names)):
            for line, text in found.broken:
                reason = "a quotation mark opens a cell and is never closed"
                refuse(Reject(line, reason, "", text.decode(UTF_8, "replace")))
            if is_header and len(found):
                found, is_header = found.keep(np.arange(len(found)) > 0), False
            found = self._decodable(found, refuse)
            if len(found):
                yield self._parsed(found, positions, refuse)

    def _positions(self, wanted: Collection[str]) -> dict[str, int]:
        doubled = [name for name, count in Counter(self._names).items() if count > 1 and name in wanted]
        if doubled:
            raise ImportRefused(f"{self.file.name} has two columns '{doubled[0]}'; rename one")
        return {name: position for position, name in enumerate(self._names) if name in wanted}

    def _decodable(self, found: Records, refuse: Refuse) -> Records:
        """The records without those that are no valid text."""
        if _is_text(found.data):
            return found
        good = np.array([_is_text(found.raw(position)) for position in range(len(found))], bool)
        reason = f"bytes that mean nothing in {shown_encoding(self._encoding)}; name another --encoding"
        for position in np.flatnonzero(~good):
            text = found.raw(int(position)).decode(UTF_8, "replace")
            refuse(Reject(int(found.lines[position]), reason, "", text))
        return found.keep(good)

    def _parsed(self, found: Records, positions: dict[str, int], refuse: Refuse) -> RawRows:
        good = np.ones(len(found), bool)

        def skip(row: pa.csv.InvalidRow) -> str:
            good[row.number - 1] = False
            value = f"{row.actual_columns} instead of {row.expected_columns}"
            refuse(Reject(int(found.lines[row.number - 1]), "wrong number of columns", value, row.text))
            return "skip"

        text = found.text()
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(
                column_names=[str(position) for position in range(len(self._names))],
                use_threads=False,
                block_size=len(text) + 1,
            ),
            pa.csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=skip),
            pa.csv.ConvertOptions(
                check_utf8=False,
                column_types={str(position): pa.string() for position in range(len(self._names))},
                include_columns=[str(position) for position in positions.values()],
                null_values=[""],
                strings_can_be_null=True,
            ),
        )
        kept = found.keep(good)
        table = table.rename_columns(list(positions))
        return RawRows(table, kept.lines, lambda position: kept.raw(position).decode(UTF_8))


def delimited(file: DataFile, encoding: str | None = None, delimiter: str | None = None) -> Delimited:
    """The reader of a delimited file; encoding and delimiter are recognised where they are not given."""
    encoding = encoding_named(encoding) if encoding else recognise_encoding(file.chunks())
    if delimiter is None:
        delimiter = _recognise_delimiter(file, encoding)
    return Delimited(file, encoding, delimiter)


def delimiter_named(name: str) -> str:
    r"""The delimiter that a person means by `tab`, `\t` or the character itself. ValueError for others."""
    mark = DELIMITERS.get(name.lower(), "\t" if name == "\\t" else name)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise ValueError(f"a delimiter is one character, or one of {', '.join(DELIMITERS)}; not '{name}'")
    return mark


def _recognise_delimiter(file: DataFile, encoding: str) -> str:
    """The mark that splits most of the first records into as many cells as the header has."""
    scores = {}
    for mark in DELIMITERS.values():
        counts = [len(cells) for cells in _first_records(file, encoding, mark, _SNIFFED_RECORDS)]
        if counts and counts[0] > 1:
            scores[mark] = (counts.count(counts[0]) / len(counts), counts[0])
    if file.format == "tsv" and "\t" in scores:
        return "\t"
    return max(scores, key=lambda mark: scores[mark]) if scores else ","


def _first_records(file: DataFile, encoding: str, delimiter: str, count: int) -> list[list[str]]:
    with file.opened() as content:
        sample = content.read(_SNIFFED_BYTES)
    found: list[list[str]] = []
    for block in records(utf_8_chunks([sample], encoding), delimiter):
        for position in range(min(len(block), count - len(found))):
            text = block.raw(position).decode(UTF_8, "replace")
            found.append(next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)))
    return found


def _header(first: list[list[str]], file: DataFile, delimiter: str) -> list[str]:
    if not first:
        raise ImportRefused(f"{file.name} has no header line")
    return [name.strip() or f"column_{position}" for position, name in enumerate(first[0], 1)]


def _is_text(data: bytes) -> bool:
    try:
        data.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True
