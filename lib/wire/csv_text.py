"""Deals or packages in a CSV text: rows under known titles, every row and fault with its line.

The text is parsed and nothing of it is run: a cell is a text, whatever it begins with. The apostrophe
that our own files have before what a spreadsheet would run is taken off.
"""

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lib.wire.text import unescape

MOST_ROWS = 100
LARGEST = 200_000
DELIMITERS = (",", ";", "\t")


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


def read(text: str, shape: CsvShape) -> CsvTable:
    """The table; delimited by commas, semicolons or tabs, as its first line is.

    A file that is not delimited by commas may have decimal commas, and any file days before months or after
    them, where its own cells settle that: they are then as we write them, and `notes` say so. A date that
    could be two days is a fault, wherever the file is read.
    """
    rows: list[CsvRow] = []
    faults: list[CsvFault] = []
    content = text.removeprefix("\ufeff")
    delimiter = max(DELIMITERS, key=content.split("\n", 1)[0].count)
    records = csv.reader(io.StringIO(content, newline=""), delimiter=delimiter, strict=True)
    titles: list[str] | None = None
    line = 1
    try:
        for record in records:
            cells = [unescape(cell.strip()) for cell in record]
            if not any(cells):
                pass
            elif titles is None:
                titles = _titles(cells, line, shape, faults)
                if faults:
                    break
            elif len(cells) != len(titles):
                faults.append(CsvFault(line, f"{len(cells)} cells, but {len(titles)} titles."))
            else:
                named_cells = zip(titles, cells, strict=True)
                rows.append(CsvRow(line, {title: cell for title, cell in named_cells if title}))
            line = records.line_num + 1
    except csv.Error as error:
        faults.append(CsvFault(line, f"The line can't be read as CSV: {error}."))
    if titles is None:
        text = f"The file is empty. Its first line must be: {', '.join(shape.titles)}."
        faults.append(CsvFault(1, text))
    elif not rows and not faults:
        faults.append(CsvFault(line, f"There are no {shape.rows} below the titles."))
    if len(rows) > shape.most:
        text = f"A file may have at most {shape.most:,} lines below the titles. Split it."
        faults.append(CsvFault(rows[shape.most].line, text))
    notes: list[str] = []
    plain_rows = _with_plain_dates(rows, shape.dates, faults, notes)
    if delimiter != ",":
        plain_rows = _with_plain_numbers(plain_rows, shape.numbers, notes)
    return CsvTable(tuple(plain_rows), tuple(faults), tuple(notes))


DIGITS = re.compile(r"[0-9.,]+")
COMMA = re.compile(r"([0-9]{1,3}(\.[0-9]{3})+|[0-9]+),[0-9]+")
POINT = re.compile(r"[0-9]*\.([0-9]{1,2}|[0-9]{4,})")


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


SLASHES = re.compile(r"([0-9]{1,2})/([0-9]{1,2})/([0-9]{4})(.*)")


def _with_plain_dates(
    rows: Sequence[CsvRow], titles: Sequence[str], faults: list[CsvFault], notes: list[str]
) -> Sequence[CsvRow]:
    """The rows with dates like 2027-04-03, if a date with slashes says which of its numbers is the day."""
    cells = [(row.line, title, SLASHES.fullmatch(row[title])) for row in rows for title in titles]
    matches = [(line, title, match) for line, title, match in cells if match]
    is_day_first = any(int(match[1]) > 12 for *_, match in matches)
    if is_day_first == any(int(match[2]) > 12 for *_, match in matches):
        for line, title, match in matches:
            first, second, year = match[1].zfill(2), match[2].zfill(2), match[3]
            if first != second and min(first, second) >= "01" and max(first, second) <= "12":
                days = f"{year}-{first}-{second} or {year}-{second}-{first}"
                faults.append(CsvFault(line, f"{title}: It could be two days: write {days}."))
        return rows
    order, day, month = ("day/month/year", 1, 2) if is_day_first else ("month/day/year", 2, 1)
    notes.append(f"Dates with slashes were read as {order}.")

    def plain(text: str) -> str:
        match = SLASHES.fullmatch(text)
        return text if match is None else f"{match[3]}-{match[month]:0>2}-{match[day]:0>2}{match[4]}"

    changes = [{title: plain(row[title]) for title in titles if title in row.texts} for row in rows]
    return [replace(row, texts={**row.texts, **own}) for row, own in zip(rows, changes, strict=True)]


def template(shape: CsvShape) -> bytes:
    """The titles alone, so that nothing is created by a template that is sent back as it is."""
    return (",".join(shape.titles) + "\r\n").encode()


def _titles(cells: list[str], line: int, shape: CsvShape, faults: list[CsvFault]) -> list[str]:
    """The titles in the order of the file, as we write them; unknown, double and missing ones are faults."""
    title_of = {title.casefold().replace("_", " "): title for title in shape.titles}
    titles = [title_of.get(" ".join(cell.casefold().replace("_", " ").split()), "") for cell in cells]
    unknown = [cell[:50] for cell, title in zip(cells, titles, strict=True) if not title]
    double = [title for title in dict.fromkeys(filter(None, titles)) if titles.count(title) > 1]
    problems = [
        *(f"Unknown column '{cell}'. Known are: {', '.join(shape.titles)}." for cell in unknown),
        *(f"The column {title} is given twice." for title in double),
        *(f"The column {title} is missing." for title in shape.required if title not in titles),
    ]
    faults += [CsvFault(line, problem) for problem in problems]
    return titles
