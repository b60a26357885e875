"""CSV, TSV and their kin → raw rows, cells as text or as numbers."""

from collections.abc import Collection, Iterator, Sequence
from functools import cache

import numpy as np

from lib.reporting.ingest.encodings import (
    UTF_8,
    encoding_named,
    recognise_encoding,
    shown_encoding,
    utf_8_chunks,
)
from lib.reporting.ingest.files import DataFile, Progress
from lib.reporting.ingest.layout import DELIMITERS, TextLayout, is_value, layout
from lib.reporting.ingest.parsed import CellParser
from lib.reporting.ingest.records import Records, records
from lib.reporting.ingest.rejects import BELOW, WRONG_WIDTH, Ending, Reject
from lib.reporting.ingest.rows import RawRows, Refuse


class Delimited:
    """A file of cells between delimiters; see Reader."""

    def __init__(self, file: DataFile, encoding: str, layout: TextLayout) -> None:
        self.file, self._encoding, self._layout = file, encoding, layout
        self._delimiter, self._names = layout.delimiter, layout.names
        self.columns: tuple[str, ...] | None = tuple(name for name in layout.names if name)
        self.seen = dict.fromkeys(self.columns)
        self.has_header = layout.has_header

    @property
    def description(self) -> str:
        """The dialect found, in a few words."""
        names = {mark: f"{name}-separated" for name, mark in DELIMITERS.items()}
        shown = names.get(self._delimiter, f"separated by '{self._delimiter}'")
        parts = [shown_encoding(self._encoding), shown, f"{len(self.columns or ())} columns"]
        parts += self._layout.description
        return ", ".join(parts)

    def rows(
        self,
        wanted: Collection[str] | None,
        refuse: Refuse,
        progress: Progress | None = None,
        numbers: Collection[str] = (),
    ) -> Iterator[RawRows]:
        """All rows, in batches; rows with another number of cells or undecodable bytes go to `refuse`."""
        chosen = self.columns if wanted is None else wanted
        positions = {name: place for place, name in enumerate(self._names) if name and name in (chosen or ())}
        parser = CellParser(self._delimiter, self._names, positions, numbers)
        chunks = utf_8_chunks(self.file.chunks(progress), self._encoding)
        ending = Ending(refuse)
        for found in records(chunks, self._delimiter, len(self._names)):
            for line, text in found.broken:
                if line >= self._layout.first_line:
                    reason = "a quotation mark opens a cell and is never closed"
                    ending.refuse(Reject(line, reason, "", text.decode(UTF_8, "replace")))
            if len(found) and found.lines[0] < self._layout.first_line:
                found = found.keep(found.lines >= self._layout.first_line)
            found = self._decodable(found, ending.refuse)
            if len(found):
                raw = self._parsed(found, parser, ending)
                if len(raw.lines):
                    yield raw
        ending.close()

    def _is_text(self, line: str) -> bool:
        """Whether a line has fewer cells than rows have, and begins with words."""
        cells = line.strip().split(self._delimiter)
        return len(cells) < len(self._names) and not is_value(cells[0].strip('"'))

    def _decodable(self, found: Records, refuse: Refuse) -> Records:
        """The records without those that are no valid text."""
        if _is_text(found.data):
            return found
        good = np.array([_is_text(found.raw(position)) for position in range(len(found))], bool)
        reason = f"bytes that are not valid in {shown_encoding(self._encoding)}; name another --encoding"
        for position in np.flatnonzero(~good):
            text = found.raw(int(position)).decode(UTF_8, "replace")
            refuse(Reject(int(found.lines[position]), reason, "", text))
        return found.keep(good)

    def _parsed(self, found: Records, parser: CellParser, ending: Ending) -> RawRows:
        text, good = found.text(), np.ones(len(found), bool)
        table, misfits = parser.parsed(text)
        good[[misfit.place for misfit in misfits]] = False
        kept = found.keep(good) if misfits else found
        for misfit in misfits:
            value = f"{misfit.cells} instead of {len(self._names)}"
            below = BELOW if self._is_text(misfit.text) else None
            line = int(found.lines[misfit.place])
            ending.refuse(Reject(line, WRONG_WIDTH, value, misfit.text, below))
        if len(kept):
            ending.passed(int(kept.lines[-1]))
        return RawRows(
            table,
            kept.lines,
            lambda position: kept.raw(position).decode(UTF_8),
            cache(lambda: parser.as_text(text)),
        )


def delimited(
    file: DataFile,
    encoding: str | None = None,
    delimiter: str | None = None,
    wanted: Collection[str] = (),
    header: bool | None = None,
    names: Sequence[str] = (),
) -> Delimited:
    """The reader of a delimited file; what is not given is recognised.

    `wanted` are columns that the header names; without a header the columns have these `names`.
    """
    encoding = encoding_named(encoding) if encoding else recognise_encoding(file.chunks())
    found = layout(file, encoding, delimiter, wanted, header)
    return Delimited(file, encoding, found.named(names, file.name))


def _is_text(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode(UTF_8)
    except UnicodeDecodeError:
        return False
    return True
