"""Where the table of a delimited file is: report lines above it, the line of its names, its delimiter."""

import csv
import io
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from lib.reporting.definition.reading import MISSING
from lib.reporting.ingest.encodings import UTF_8, utf_8_chunks
from lib.reporting.ingest.files import DataFile
from lib.reporting.ingest.records import MAX_LINE, records, too_long
from lib.wire.errors import ImportRefused

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|"}
_SNIFFED_RECORDS = 200
_SNIFFED_BYTES = 1 << 18
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n?')
_COMMENT = re.compile(r"#+\s*(?:fields:\s*)?", re.IGNORECASE)
_VALUE = re.compile(r"\W*[0-9][0-9TZ\W]*")
_FULL = 0.9
_MOST_CHARACTERS = 60
csv.field_size_limit(_SNIFFED_BYTES + MAX_LINE)


class TextLayout(NamedTuple):
    """A file's delimiter, the names of its columns, and the line of its first row.

    Rows have as many cells as there are names; an empty name is that of a column in which nothing is.
    `above` are the lines above the table, shortened.
    """

    delimiter: str
    names: list[str]
    first_line: int
    has_header: bool
    above: list[str]

    @property
    def description(self) -> list[str]:
        """Unusual features of the layout, in a few words each."""
        lines = "1 line" if len(self.above) == 1 else f"{len(self.above)} lines"
        parts = [] if self.has_header else ["no line of column names"]
        return parts + (
            [f"{lines} above the table left out, such as {self.above[0]!r}"] if self.above else []
        )

    def with_names(self, names: Sequence[str], file: str) -> "TextLayout":
        """The same with names for the columns of a file without a header. ImportRefused if they don't fit."""
        if not names or self.has_header:
            return self
        if len(names) != len(self.names):
            raise ImportRefused(
                f"{file}: its rows have {len(self.names)} cells, the definition has {len(names)} names"
            )
        return self._replace(names=list(names))


class Record(NamedTuple):
    """The cells of a line, as text."""

    line: int
    cells: list[str]


def layout(
    file: DataFile,
    encoding: str,
    delimiter: str | None = None,
    columns: Collection[str] = (),
    has_header: bool | None = None,
) -> TextLayout:
    """Recognize the table of a file; what is given is not guessed.

    The line that has all the `columns` names is the header, wherever it is. ImportRefused where rows and
    header have different numbers of cells.
    """
    sample = _beginning(file)
    sep_delimiter = _sep_delimiter(sample, encoding)
    delimiter = delimiter or sep_delimiter or _recognize(sample, encoding, file)
    rows = _records(sample, encoding, delimiter)[1 if sep_delimiter else 0 :]
    return table_layout(rows, file.name, delimiter, columns, has_header)


def _beginning(file: DataFile) -> bytes:
    """The first 256 KiB, and the rest of the line that they cut: a header has all of its columns."""
    with file.open() as content:
        sample = content.read(_SNIFFED_BYTES)
        rest = content.readline(MAX_LINE) if len(sample) == _SNIFFED_BYTES else b""
    if len(rest) == MAX_LINE and not rest.endswith(b"\n") and b"\r" not in rest:
        raise ImportRefused(too_long(sample.count(b"\n") + 1))
    return sample + rest


def table_layout(
    rows: Sequence[Record],
    file: str,
    delimiter: str,
    columns: Collection[str] = (),
    has_header: bool | None = None,
) -> TextLayout:
    """The same of the first records of a file, which may be rows of a workbook."""
    if not rows:
        raise ImportRefused(f"{file} has no header line")
    width = _usual_width(rows)
    start = _header_position(rows, width, columns) if has_header is not False else -1
    if has_header is None and not _is_header(rows[start], rows[start + 1 :]):
        start = -1
    if start >= 0:
        names = _names(file, rows[start], rows[start + 1 :])
        return TextLayout(delimiter, names, rows[start].line + 1, True, _shorten(rows[:start], delimiter))
    first = next(position for position, record in enumerate(rows) if len(record.cells) == width)
    names = [f"column_{number}" for number in range(1, width + 1)]
    return TextLayout(delimiter, names, rows[first].line, False, _shorten(rows[:first], delimiter))


def _sep_delimiter(sample: bytes, encoding: str) -> str | None:
    """The delimiter that the first line names, as Excel's `sep=;` does."""
    first = next(iter(b"".join(utf_8_chunks([sample], encoding)).decode(UTF_8, "replace").splitlines()), "")
    line = _SEPARATOR_LINE.fullmatch(first)
    return line[1] if line else None


def _recognize(sample: bytes, encoding: str, file: DataFile) -> str:
    """The mark that splits most of the first records into the same number of cells."""
    scores = {}
    for mark in DELIMITERS.values():
        widths = [len(record.cells) for record in _records(sample, encoding, mark)]
        width = _mode(widths[len(widths) // 2 :])
        if width > 1:
            scores[mark] = (widths.count(width) / len(widths), mark != "," or not _is_decimal(sample), width)
    if file.format == "tsv" and "\t" in scores:
        return "\t"
    return max(scores, key=lambda mark: scores[mark]) if scores else ","


def _is_decimal(sample: bytes) -> bool:
    """Whether commas are between digits alone, as in 12,50."""
    return sample.count(b",") == len(re.findall(rb"(?<=[0-9]),(?=[0-9])", sample))


def _records(sample: bytes, encoding: str, delimiter: str) -> list[Record]:
    rows: list[Record] = []
    for block in records(utf_8_chunks([sample], encoding), delimiter):
        for position in range(min(len(block), _SNIFFED_RECORDS - len(rows))):
            text = block.raw(position).decode(UTF_8, "replace")
            cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))
            rows.append(Record(int(block.lines[position]), cells))
    return rows


def _mode(widths: Sequence[int]) -> int:
    return max(widths, key=lambda width: (widths.count(width), width), default=0)


def _usual_width(rows: Sequence[Record]) -> int:
    """How many cells rows have: judged by the later half, as report lines come first."""
    first, widths = len(rows[0].cells), [len(record.cells) for record in rows[len(rows) // 2 :]]
    return first if widths.count(first) == widths.count(_mode(widths)) else _mode(widths)


def _header_position(rows: Sequence[Record], width: int, columns: Collection[str]) -> int:
    """The record that names the columns: the one with the wanted names, else the first that can.

    That is a full one above the first full row with values, else the one just above the first row.
    """
    names = set(columns)
    for position, record in enumerate(rows):
        if names and names <= set(_plain(record.cells)):
            return position
    wide = [record for record in rows if len(record.cells) == width]
    fullest = max(map(_filled_cells, wide))
    full = [record for record in wide if _filled_cells(record) >= _FULL * fullest]
    first_row = next((record.line for record in full if _values(record)), rows[-1].line + 1)
    for position, record in enumerate(rows):
        if record in full and record.line < first_row and not _is_comment(record, rows[position + 1 :]):
            return position
    for position, record in enumerate(rows):
        if _is_above_row(record, rows[position + 1 :], width):
            return position
    return next(position for position, record in enumerate(rows) if len(record.cells) == width)


def _is_above_row(record: Record, rest: Sequence[Record], width: int) -> bool:
    """Whether a record has names, perhaps too many or too few, and the next one is a row."""
    is_above = bool(rest) and len(rest[0].cells) == width and _values(rest[0]) > 0
    has_names = _filled_cells(record) > 1 or len(record.cells) == width
    return is_above and has_names and not _values(record) and not _is_comment(record, rest)


def _filled_cells(record: Record) -> int:
    return sum(bool(cell.strip()) for cell in record.cells)


def _is_comment(record: Record, rest: Sequence[Record]) -> bool:
    """Whether a line with # is a remark, not the header: another one without values comes below it."""
    if not record.cells[0].startswith("#") or record.cells[0].strip() == "#":
        return False
    return bool(rest) and (len(rest[0].cells) != len(record.cells) or not _values(rest[0]))


def _is_header(header: Record, rows: Sequence[Record]) -> bool:
    """Whether a line holds names rather than values: where rows have values, it has something else."""
    if not rows:
        return _values(header) == 0
    same = [row for row in rows if len(row.cells) == len(header.cells)] or rows
    for place, cell in enumerate(header.cells):
        below = [is_value(row.cells[place]) for row in same if place < len(row.cells)]
        is_named = cell.strip() not in ("", *MISSING) and not is_value(cell)
        if is_named and below and sum(below) > len(below) / 2:
            return True
    return _values(header) == 0


def _values(record: Record) -> int:
    return sum(map(is_value, record.cells))


def is_value(cell: str) -> bool:
    """Whether a cell is a number or a date in digits."""
    return _VALUE.fullmatch(cell.strip()) is not None


def _names(file: str, header: Record, rows: Sequence[Record]) -> list[str]:
    """The names of as many columns as rows have, each once."""
    names, width = _plain(header.cells), _mode([len(row.cells) for row in rows]) or len(header.cells)
    extra = [cell for row in rows for cell in row.cells[len(names) :] if len(row.cells) == width]
    if any(names[width:]) or any(extra):
        raise ImportRefused(_uneven(file, header, rows, width))
    labels = [name or f"column_{position}" for position, name in enumerate(names[:width], 1)]
    return once_each(labels) + [""] * (width - len(labels))


def _uneven(file: str, header: Record, rows: Sequence[Record], width: int) -> str:
    row = next(row for row in rows if len(row.cells) == width)
    count = sum(len(row.cells) == width for row in rows)
    wrong = "a name too many or too few" if abs(width - len(header.cells)) == 1 else "other names"
    example = f"line {row.line}: {', '.join(row.cells)[:_MOST_CHARACTERS]!r}"
    return (
        f"{file}: the header in line {header.line} has {len(header.cells)} names, but {count:,} of the "
        f"first {len(rows):,} rows have {width} cells, such as {example}. "
        f"The header has {wrong}; correct it, or use --no-header and give the names in a definition"
    )


def _plain(cells: Sequence[str]) -> list[str]:
    """Names without blanks around them, and without the # in front of a commented header."""
    first = _COMMENT.sub("", cells[0], count=1).strip() if cells[0].startswith("#") else cells[0].strip()
    return [first or cells[0].strip(), *(cell.strip() for cell in cells[1:])]


def once_each(names: Sequence[str]) -> list[str]:
    """Names with a number behind those that came before: a, b, a → a, b, a_2."""
    unique: dict[str, None] = {}
    for name in names:
        number, free = 1, name
        while free in unique or (number > 1 and free in names):
            number += 1
            free = f"{name}_{number}"
        unique[free] = None
    return list(unique)


def _shorten(rows: Sequence[Record], delimiter: str) -> list[str]:
    return [delimiter.join(record.cells).strip(delimiter)[:_MOST_CHARACTERS] for record in rows]


def find_delimiter(name: str) -> str:
    r"""The delimiter that a person means by `tab`, `\t` or the character itself. ValueError for others."""
    mark = DELIMITERS.get(name.lower(), "\t" if name == "\\t" else name)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n':
        raise ValueError(f"a delimiter is one character, or one of {', '.join(DELIMITERS)}; not '{name}'")
    return mark
