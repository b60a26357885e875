"""Deals or packages in a CSV text: rows under known titles, every row and fault with its line.

The text is parsed and nothing of it is run: a cell is a text, whatever it begins with. The apostrophe
that our own files have before what a spreadsheet would run is taken off.
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, field

from lib.wire.text import unescape

MOST_ROWS, LARGEST = 100, 200_000
DELIMITERS = (",", ";", "\t")


@dataclass(frozen=True)
class CsvShape:
    """The columns of a file, and what its rows are called: `deals`.

    `most` is how many rows it may have, `largest` how many bytes.
    """

    rows: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    most: int = MOST_ROWS
    largest: int = LARGEST

    @property
    def titles(self) -> tuple[str, ...]:
        return (*self.required, *self.optional)


@dataclass(frozen=True)
class CsvRow:
    """A row of the file: the line that it begins in, and its texts by title; a missing column is empty."""

    line: int
    texts: Mapping[str, str]

    def __getitem__(self, title: str) -> str:
        return self.texts.get(title, "")


@dataclass(frozen=True)
class CsvFault:
    """A sentence on what is wrong in a line."""

    line: int
    text: str


@dataclass(frozen=True)
class CsvTable:
    """The rows that could be read, and what is wrong."""

    rows: tuple[CsvRow, ...] = ()
    faults: tuple[CsvFault, ...] = ()


@dataclass
class _Reading:
    """Rows and faults as far as the text is read."""

    shape: CsvShape
    rows: list[CsvRow] = field(default_factory=list)
    faults: list[CsvFault] = field(default_factory=list)

    def wrong(self, line: int, text: str) -> None:
        self.faults.append(CsvFault(line, text))


def read(text: str, shape: CsvShape) -> CsvTable:
    """The table; delimited by commas, semicolons or tabs, as its first line is."""
    reading = _Reading(shape)
    content = text.removeprefix("\ufeff")
    first = content.split("\n", 1)[0]
    delimiter = max(DELIMITERS, key=first.count)
    records = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    titles: list[str] | None = None
    line = 1
    try:
        for record in records:
            cells = [unescape(cell.strip()) for cell in record]
            if not any(cells):
                pass
            elif titles is None:
                titles = _titles(cells, line, reading)
                if reading.faults:
                    break
            else:
                _row(cells, titles, line, reading)
            line = records.line_num + 1
    except csv.Error as error:
        reading.wrong(line, f"The line can't be read as CSV: {error}.")
    if titles is None:
        reading.wrong(1, f"The file is empty. Its first line must be: {', '.join(shape.titles)}.")
    elif not reading.rows and not reading.faults:
        reading.wrong(line, f"There are no {shape.rows} below the titles.")
    if len(reading.rows) > shape.most:
        text = f"A file may have at most {shape.most:,} lines below the titles. Split it."
        reading.wrong(reading.rows[shape.most].line, text)
    return CsvTable(tuple(reading.rows), tuple(reading.faults))


def template(shape: CsvShape) -> bytes:
    """The titles alone, so that nothing is created by a template that is sent back as it is."""
    return (",".join(shape.titles) + "\r\n").encode()


def _titles(cells: list[str], line: int, reading: _Reading) -> list[str]:
    """The titles in the order of the file, as we write them; unknown, double and missing ones are faults."""
    title_of = {title.casefold().replace("_", " "): title for title in reading.shape.titles}
    titles = [title_of.get(" ".join(cell.casefold().replace("_", " ").split()), "") for cell in cells]
    for cell, title in zip(cells, titles, strict=True):
        if not title:
            reading.wrong(
                line, f"Unknown column '{cell[:50]}'. Known are: {', '.join(reading.shape.titles)}."
            )
    for title in dict.fromkeys(filter(None, titles)):
        if titles.count(title) > 1:
            reading.wrong(line, f"The column {title} is given twice.")
    for title in reading.shape.required:
        if title not in titles:
            reading.wrong(line, f"The column {title} is missing.")
    return titles


def _row(cells: list[str], titles: list[str], line: int, reading: _Reading) -> None:
    if len(cells) != len(titles):
        reading.wrong(line, f"{len(cells)} cells, but {len(titles)} titles.")
        return
    reading.rows.append(
        CsvRow(line, {title: cell for title, cell in zip(titles, cells, strict=True) if title})
    )
