"""CSV, TSV and their kin → raw rows, cells as text or as numbers."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from lib.reporting.ingest.encodings import (
    UTF_8,
    find_encoding,
    recognize_encoding,
    shown_encoding,
    utf_8_chunks,
)
from lib.reporting.ingest.files import DataFile, Progress, RawRows, Refuse, check_width
from lib.reporting.ingest.layout import DELIMITERS, TextLayout, is_value, layout
from lib.reporting.ingest.records import Records, records
from lib.reporting.ingest.rejects import BELOW, WRONG_WIDTH, Ending, Reject


class Misfit(NamedTuple):
    """A record with another number of cells than there are names: its place, from 0, and its text."""

    place: int
    cells: int
    text: str


class CellParser:
    """Parses pieces of one file. `positions` are the wanted columns, `numbers` those that may be numbers."""

    def __init__(
        self, delimiter: str, names: Sequence[str], positions: Mapping[str, int], numbers: Collection[str]
    ) -> None:
        self._delimiter, self._names, self._positions = delimiter, names, positions
        self._numbers = {name for name in numbers if name in positions}

    def parse(self, text: bytes) -> tuple[pa.Table, list[Misfit]]:
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

    def _read(self, text: bytes, numbers: Collection[str]) -> tuple[pa.Table, list[Misfit]]:
        misfits: list[Misfit] = []

        def skip(row: pa.csv.InvalidRow) -> str:
            misfits.append(Misfit(row.number - 1, row.actual_columns, row.text))
            return "skip"

        places = [str(place) for place in range(len(self._names))]
        types = {
            str(place): pa.float64() if name in numbers else pa.string()
            for name, place in self._positions.items()
        }
        table = pa.csv.read_csv(
            pa.BufferReader(text),
            pa.csv.ReadOptions(column_names=places, use_threads=False, block_size=len(text) + 1),
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
        return table.rename_columns(list(self._positions)), misfits


class DelimitedText:
    """A file of cells between delimiters; see Reader."""

    def __init__(self, file: DataFile, encoding: str, layout: TextLayout) -> None:
        self.file, self._encoding, self._layout = file, encoding, layout
        self._delimiter, self._names = layout.delimiter, layout.names
        self.columns: tuple[str, ...] | None = tuple(name for name in layout.names if name)
        self.names = dict.fromkeys(self.columns)
        self.has_header = layout.has_header

    @property
    def description(self) -> str:
        """The dialect found, in a few words."""
        names = {mark: f"{name}-separated" for name, mark in DELIMITERS.items()}
        words = names.get(self._delimiter, f"separated by '{self._delimiter}'")
        parts = [shown_encoding(self._encoding), words, f"{len(self.columns or ())} columns"]
        parts += self._layout.description
        return ", ".join(parts)

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
            name: place for place, name in enumerate(self._names) if name and name in (columns or ())
        }
        parser = CellParser(self._delimiter, self._names, positions, numbers)
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

    def _is_text(self, line: str) -> bool:
        """Whether a line has fewer cells than rows have, and begins with words."""
        cells = line.strip().split(self._delimiter)
        return len(cells) < len(self._names) and not is_value(cells[0].strip('"'))

    def _decodable(self, records: Records, refuse: Refuse) -> Records:
        """The records without those that are no valid text."""
        if _is_text(records.data):
            return records
        good = np.array([_is_text(records.raw(position)) for position in range(len(records))], bool)
        reason = f"bytes that are not valid in {shown_encoding(self._encoding)}; name another --encoding"
        for position in np.flatnonzero(~good):
            text = records.raw(int(position)).decode(UTF_8, "replace")
            refuse(Reject(int(records.lines[position]), reason, "", text))
        return records.keep(good)

    def _parse(self, records: Records, parser: CellParser, ending: Ending) -> RawRows:
        text, good = records.text(), np.ones(len(records), bool)
        table, misfits = parser.parse(text)
        good[[misfit.place for misfit in misfits]] = False
        whole = records.keep(good) if misfits else records
        for misfit in misfits:
            value = f"{misfit.cells} instead of {len(self._names)}"
            below = BELOW if self._is_text(misfit.text) else None
            line = int(records.lines[misfit.place])
            ending.refuse(Reject(line, WRONG_WIDTH, value, misfit.text, below))
        if len(whole):
            ending.accept(int(whole.lines[-1]))
        return RawRows(
            table,
            whole.lines,
            lambda position: whole.raw(position).decode(UTF_8),
            cache(lambda: parser.as_text(text)),
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
    text_layout = layout(file, encoding, delimiter, columns, header)
    check_width(file.name, text_layout.names)
    return DelimitedText(file, encoding, text_layout.with_names(names, file.name))


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True


def _is_finite(column: pa.ChunkedArray) -> bool:
    return pc.all(pc.is_finite(column)).as_py() is not False


def _are_numbers(texts: pa.ChunkedArray) -> bool:
    try:
        return _is_finite(texts.cast(pa.float64()))
    except pa.ArrowInvalid:
        return False
