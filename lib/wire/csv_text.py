"""Deals or packages in a CSV text: rows under known titles, every row and fault with its line.

The text is parsed and nothing of it is run: a cell is a text, whatever it begins with. The apostrophe
that our own files have before what a spreadsheet would run is taken off.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from lib.wire.text import unescape

MOST_ROWS, LARGEST = 100, 200_000
DELIMITERS = (",", ";", "\t")
DIGITS, COMMA = re.compile(r"[0-9.,]+"), re.compile(r"([0-9]{1,3}(\.[0-9]{3})+|[0-9]+),[0-9]+")
POINT = re.compile(r"[0-9]*\.([0-9]{1,2}|[0-9]{4,})")
SLASHES = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(.*)")


@dataclass(frozen=True)
class CsvShape:
    """The columns of a file, and what its rows are called: `deals`.

    `most` is how many rows it may have, `largest` how many bytes; `numbers` and `dates` are the titles of
    columns that spreadsheets write in several ways.
    """

    rows: str
    required: tuple[str, ...]
    optional: tuple[str, ...]
    most: int = MOST_ROWS
    largest: int = LARGEST
    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()

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
    """The rows that could be read, what is wrong, and sentences on how the file was read."""

    rows: tuple[CsvRow, ...] = ()
    faults: tuple[CsvFault, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass
class _Reading:
    """Rows and faults as far as the text is read."""

    shape: CsvShape
    rows: list[CsvRow] = field(default_factory=list)
    faults: list[CsvFault] = field(default_factory=list)

    def wrong(self, line: int, text: str) -> None:
        self.faults.append(CsvFault(line, text))


def read(text: str, shape: CsvShape) -> CsvTable:
    """The table; delimited by commas, semicolons or tabs, as its first line is.

    A file that is not delimited by commas may have decimal commas, and any file days before months or after
    them, where its own cells settle that: they are then as we write them, and `notes` say so. A date that
    could be two days is a fault, wherever the file is read.
    """
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
    notes: list[str] = []
    rows = _with_plain_dates(reading, notes)
    if delimiter != ",":
        rows = _with_plain_numbers(rows, shape.numbers, notes)
    return CsvTable(tuple(rows), tuple(reading.faults), tuple(notes))


def _with_plain_numbers(rows: Sequence[CsvRow], titles: Sequence[str], notes: list[str]) -> Sequence[CsvRow]:
    """The rows with decimal points, if the file has decimal commas: some that can't part thousands, and no
    decimal point."""
    cells = [row[title] for row in rows for title in titles if DIGITS.fullmatch(row[title])]
    commas = [cell for cell in cells if COMMA.fullmatch(cell)]
    is_sure = any(len(cell.rpartition(",")[2]) != 3 or "." in cell for cell in commas)
    if not is_sure or any(POINT.fullmatch(cell) for cell in cells):
        return rows
    notes.append("Numbers were read with decimal commas: 1.250,60 is 1250.60.")

    def plain(title: str, text: str) -> str:
        is_number = title in titles and DIGITS.fullmatch(text)
        return text.replace(".", "").replace(",", ".") if is_number else text

    return [
        replace(row, texts={title: plain(title, text) for title, text in row.texts.items()}) for row in rows
    ]


def _with_plain_dates(reading: _Reading, notes: list[str]) -> Sequence[CsvRow]:
    """The rows with dates like 2027-04-03, if a date with slashes says which of its numbers is the day."""
    rows, titles = reading.rows, reading.shape.dates
    matches = [
        (row.line, title, match)
        for row in rows
        for title in titles
        if (match := SLASHES.fullmatch(row[title]))
    ]
    is_day_first = any(int(match[1]) > 12 for *_, match in matches)
    if is_day_first == any(int(match[2]) > 12 for *_, match in matches):
        for line, title, match in matches:
            first, second, year = match[1].zfill(2), match[2].zfill(2), match[3]
            if first != second and min(first, second) >= "01" and max(first, second) <= "12":
                days = f"{year}-{first}-{second} or {year}-{second}-{first}"
                reading.wrong(line, f"{title}: It could be two days: write {days}.")
        return rows
    order, day, month = ("day/month/year", 1, 2) if is_day_first else ("month/day/year", 2, 1)
    notes.append(f"Dates with slashes were read as {order}.")

    def plain(text: str) -> str:
        match = SLASHES.fullmatch(text)
        return text if match is None else f"{match[3]}-{match[month]:0>2}-{match[day]:0>2}{match[4]}"

    return [
        replace(row, texts={
            title: plain(text) if title in titles else text for title, text in row.texts.items()
        })
        for row in rows
    ]  # fmt: skip


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
