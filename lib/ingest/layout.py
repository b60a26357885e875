"""Where the table is among the first records of a text or a sheet: lines above it, its header, its names."""

import itertools
import re
from collections.abc import Collection, Sequence
from typing import NamedTuple

from lib.slicers.definition.reading import MISSING
from lib.wire.errors import ImportRefused
from lib.wire.text import count_of

_COMMENT = re.compile(r"#+\s*(?:fields:\s*)?", re.IGNORECASE)
_VALUE = re.compile(r"\W*[0-9][0-9TZ\W]*")
TOTAL = (
    r"\W*((grand|sub|report|overall)[ -]?)?(totals?|total g[eé]n[eé]ral|gesamt(summe|ergebnis)?|summe|somme|"
    r"totaal|totale|suma|итого|всего|合计|总计|合計|總計|toplam)(: .*|\W*)"
)
"""Words for rows that add up others, as Python and Arrow match them; Google Ads writes `Total: Campaigns`."""
ALL = r"\W*(all|alle|tous|toutes|todos|todas|tutti|tutte|все|全部|すべて|전체)(\W+\w+)?\W*"
"""The same of words that are also those of a value, such as All users."""
_TOTAL = re.compile(TOTAL, re.IGNORECASE)
_DAY_NAME = re.compile(
    r"(?:19|20)[0-9]{6}|[0-9]{1,4}[-/.][0-9]{1,2}[-/.][0-9]{1,4}(?:[ T]00:00(?::00)?)?"
    r"|(?:[A-Za-z]{2,9},? )?[0-9]{1,2}[-. ]{1,2}[A-Za-z]{3,9}[-. ]{1,2}(?:[0-9]{2}){1,2}"
    r"|(?:[A-Za-z]{2,9},? )?[A-Za-z]{3,9} [0-9]{1,2}, [0-9]{4}"
    r"|(?:19|20)[0-9]{2}-(?:0[1-9]|1[0-2]|W[0-5][0-9])|[A-Za-z]{3,9}[- ](?:19|20)[0-9]{2}"
)
_FEWEST_DAYS = 2
_FULL_SHARE = 0.9
_MOST_CHARACTERS = 60
_FEWEST_NAMES = 3
# What ClickHouse writes below the names, as CSVWithNamesAndTypes and TSVWithNamesAndTypes.
_TYPE = re.compile(
    r"U?Int[0-9]{1,3}|Float[0-9]{2}|BFloat16|String|Bool|UUID|IPv[46]|JSON|Date(32|Time)?"
    r"|(Nullable|LowCardinality|Decimal[0-9]*|DateTime(64)?|FixedString|Enum(8|16)|Array|Map|Tuple)\(.+\)"
)


class Record(NamedTuple):
    """The cells of a line, as text."""

    line: int
    cells: list[str]


class TableLayout(NamedTuple):
    """The delimiter of cells, the names of its columns, and the line of its first row.

    Rows have as many cells as there are names; an empty name is that of a column in which nothing is.
    `above` are the lines above the table, shortened; of a header of two lines, `joined_name` is an example.
    """

    delimiter: str
    names: list[str]
    first_line: int
    has_header: bool
    above: list[str]
    joined_name: str | None = None

    @property
    def description(self) -> list[str]:
        """Unusual features of the layout, in a few words each."""
        lines = count_of(len(self.above), "line")
        parts = [] if self.has_header else ["no header row"]
        parts += [f"two header lines joined, as in {self.joined_name!r}"] if self.joined_name else []
        return parts + (
            [f"{lines} above the table left out, such as {self.above[0]!r}"] if self.above else []
        )


def table_layout(
    rows: Sequence[Record],
    file: str,
    delimiter: str,
    columns: Collection[str] = (),
    has_header: bool | None = None,
    names: Sequence[str] = (),
) -> TableLayout:
    """Recognize the table among the first records of a file or a sheet; what is given is not guessed.

    The record that has all the `columns` names is the header, wherever it is; without one the columns have
    these `names`. ImportRefused where rows have another number of cells than header or `names`, or all cells
    are empty.
    """
    if not rows:
        raise ImportRefused(f"{file} has no header row")
    typed_lines = {record.line for record in rows if are_types(record.cells)}
    rows = [
        record
        for record in rows
        if not _is_total_line(record) and not is_ruler(record.cells) and record.line not in typed_lines
    ] or rows
    rows, joined_name = _join_headers(_without_footer(rows))
    # How many cells rows have is judged by the later half, as report lines come first.
    width, widths = len(rows[0].cells), [len(record.cells) for record in rows[len(rows) // 2 :]]
    if widths.count(width) != widths.count(usual_width(widths)):
        width = usual_width(widths)
    start = _header_position(rows, width, columns) if has_header is not False else -1
    if has_header is None and not _is_header(rows[start], rows[start + 1 :]):
        start = -1
    if start >= 0:
        header_names = _column_names(file, rows[start], rows[start + 1 :])
        if not any(header_names):
            raise ImportRefused(f"{file} begins with empty cells alone; it needs column names above its rows")
        above = _shorten(rows[:start], delimiter)
        example = joined_name if joined_name in header_names else None
        first_line = rows[start].line + 1
        first_line += first_line in typed_lines
        return TableLayout(delimiter, header_names, first_line, True, above, example)
    if names and len(names) != width:
        raise ImportRefused(f"{file}: its rows have {width} cells, the definition has {len(names)} names")
    first = next(position for position, record in enumerate(rows) if len(record.cells) == width)
    columns = list(names) or [f"column_{number}" for number in range(1, width + 1)]
    return TableLayout(delimiter, columns, rows[first].line, False, _shorten(rows[:first], delimiter))


def is_value(cell: str) -> bool:
    """Whether a cell is a number or a date in digits."""
    return _VALUE.fullmatch(cell.strip()) is not None


def is_total(text: str) -> bool:
    """Whether a cell says that its row adds up others: `Total`, `Grand total:`, `Gesamt`."""
    return _TOTAL.fullmatch(text) is not None


def is_ruler(cells: Sequence[str]) -> bool:
    """Whether a line is drawn, as below a header: |---|---|."""
    lines = [cell.strip(" :+") for cell in cells if cell.strip(" +")]
    return bool(lines) and all(len(cell) > 1 and not cell.strip("-=") for cell in lines)


def are_types(cells: Sequence[str]) -> bool:
    """Whether a line below the names has the types of their columns: Date, Nullable(String), UInt64."""
    return len(cells) > 1 and all(_TYPE.fullmatch(cell.strip()) for cell in cells)


def are_days(names: Sequence[str]) -> bool:
    """Whether names are different days, weeks or months, as those of columns where time goes across."""
    return len({*names}) == len(names) > 0 and all(_DAY_NAME.fullmatch(name.strip()) for name in names)


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


def usual_width(widths: Sequence[int]) -> int:
    """The most frequent number of cells, of several the largest; 0 of no rows."""
    return max(widths, key=lambda width: (widths.count(width), width), default=0)


def _is_total_line(record: Record) -> bool:
    """Whether a line is of totals: a word for them, figures, and no more than a cell of anything else.

    Above the rows it would be taken for the first of them, and the header for decoration.
    """
    cells = [cell.strip() for cell in record.cells if cell.strip()]
    words = [cell for cell in cells if not is_value(cell)]
    return bool(words) and len(words) < len(cells) and all(map(is_total, words))


def _join_headers(rows: Sequence[Record]) -> tuple[list[Record], str | None]:
    """The records with two header lines as one (Desktop over Imps is "Desktop Imps"), and one such name.

    The lower line repeats names, or has some only where the upper has none; a name above counts for the empty
    cells on its right.
    """
    first = next((number for number, record in enumerate(rows) if _value_count(record)), 0)
    if first < 2 or len(rows[first - 1].cells) != len(rows[first - 2].cells):
        return list(rows), None
    upper, lower = ([cell.strip() for cell in record.cells] for record in rows[first - 2 : first])
    duplicates = [name for name in lower if name and lower.count(name) > 1]
    groups = [name for name in upper if name]
    if not duplicates or len(groups) < 2 or len({*groups}) == len(upper):
        return list(rows), None
    names, group = [], ""
    for above, below in zip(upper, lower, strict=True):
        group = above or (group if below else "")
        names.append(f"{group} {below}".strip() if below and below != group else group)
    joined_name = next(name for name, below in zip(names, lower, strict=True) if below in duplicates)
    header = rows[first - 1]._replace(cells=names)
    return [*rows[: first - 2], header, *rows[first:]], joined_name


def _without_footer(rows: Sequence[Record]) -> Sequence[Record]:
    """The records up to the end of a short table: DV360 writes more lines below three rows than above them.

    A table is names with a row of values below, and as many cells in each line; a line of the footer has
    fewer and begins with a word.
    """
    for first, (names, row) in enumerate(itertools.pairwise(rows)):
        width = len(names.cells)
        if width < _FEWEST_NAMES or len(row.cells) != width or _value_count(names) or not _value_count(row):
            continue
        end = next((n for n, other in enumerate(rows) if n > first and len(other.cells) != width), len(rows))
        is_footer = all(len(other.cells) < width and not is_value(other.cells[0]) for other in rows[end:])
        return rows[:end] if is_footer else rows
    return rows


def _header_position(rows: Sequence[Record], width: int, columns: Collection[str]) -> int:
    """The record that names the columns: the one with the wanted names, else the first that can.

    That is a full one above the first full row with values, else the one just above the first row.
    """
    names = set(columns)
    for position, record in enumerate(rows):
        if names and names <= set(_plain_names(record.cells)):
            return position
    wide = [record for record in rows if len(record.cells) == width]
    fullest = max(map(_filled_cells, wide))
    full = [record for record in wide if _filled_cells(record) >= _FULL_SHARE * fullest]
    first_row = next((record.line for record in full if _value_count(record)), rows[-1].line + 1)
    for position, record in enumerate(rows):
        if record in full and record.line < first_row and not _is_comment(record, rows[position + 1 :]):
            return position
    for position, record in enumerate(rows):
        # Whether a record has names, perhaps too many or too few, and the next one is a row.
        rest = rows[position + 1 :]
        is_above = bool(rest) and len(rest[0].cells) == width and _value_count(rest[0]) > 0
        has_names = _filled_cells(record) > 1 or len(record.cells) == width
        if is_above and has_names and not _value_count(record) and not _is_comment(record, rest):
            return position
    return next(position for position, record in enumerate(rows) if len(record.cells) == width)


def _filled_cells(record: Record) -> int:
    return sum(bool(cell.strip()) for cell in record.cells)


def _is_comment(record: Record, rest: Sequence[Record]) -> bool:
    """Whether a line with # is a remark, not the header: another one without values comes below it."""
    if not record.cells[0].startswith("#") or record.cells[0].strip() == "#":
        return False
    return bool(rest) and (len(rest[0].cells) != len(record.cells) or not _value_count(rest[0]))


def _is_header(header: Record, rows: Sequence[Record]) -> bool:
    """Whether a line holds names rather than values: where rows have values, it has something else."""
    if not rows:
        return _value_count(header) == 0
    same = [row for row in rows if len(row.cells) == len(header.cells)] or rows
    days = [number for number, cell in enumerate(header.cells) if are_days([cell])]
    if len(days) >= _FEWEST_DAYS and are_days([header.cells[number] for number in days]):
        return not any(
            are_days([row.cells[number]]) for row in same for number in days if number < len(row.cells)
        )
    for position, cell in enumerate(header.cells):
        below = [is_value(row.cells[position]) for row in same if position < len(row.cells)]
        is_named = cell.strip() not in ("", *MISSING) and not is_value(cell)
        if is_named and below and sum(below) > len(below) / 2:
            return True
    return _value_count(header) == 0


def _value_count(record: Record) -> int:
    return sum(map(is_value, record.cells))


def _column_names(file: str, header: Record, rows: Sequence[Record]) -> list[str]:
    """The names of as many columns as rows have, each once."""
    names = _plain_names(header.cells)
    width = usual_width([len(row.cells) for row in rows]) or len(header.cells)
    extra = [cell for row in rows for cell in row.cells[len(names) :] if len(row.cells) == width]
    if not all(map(is_total, filter(None, names[width:]))) or any(extra):
        row = next(row for row in rows if len(row.cells) == width)
        count = sum(len(row.cells) == width for row in rows)
        wrong = "a name too many or too few" if abs(width - len(header.cells)) == 1 else "other names"
        example = f"line {row.line}: {', '.join(row.cells)[:_MOST_CHARACTERS]!r}"
        raise ImportRefused(
            f"{file}: the header in line {header.line} has {len(header.cells)} names, but {count:,} of the "
            f"first {len(rows):,} rows have {width} cells, such as {example}. "
            f"The header has {wrong}; correct it, or use --no-header and give the names in a definition"
        )
    labels = [name or f"column_{position}" for position, name in enumerate(names[:width], 1)]
    has_values = {position for row in rows for position, cell in enumerate(row.cells) if cell.strip()}
    has_content = [position in has_values or bool(name) for position, name in enumerate(names[:width])]
    labels = [
        label if is_named else "" for label, is_named in zip(once_each(labels), has_content, strict=True)
    ]
    return labels + [""] * (width - len(labels))


def _plain_names(cells: Sequence[str]) -> list[str]:
    """Names without blanks around them, and without the # in front of a commented header."""
    first = _COMMENT.sub("", cells[0], count=1).strip() if cells[0].startswith("#") else cells[0].strip()
    return [first or cells[0].strip(), *(cell.strip() for cell in cells[1:])]


def _shorten(rows: Sequence[Record], delimiter: str) -> list[str]:
    return [delimiter.join(record.cells).strip(delimiter)[:_MOST_CHARACTERS] for record in rows]
