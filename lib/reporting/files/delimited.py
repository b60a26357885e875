r"""The text formats: csv, tsv and tsv2, written a few thousand rows at a time.

Our own choices, where the specification is silent:

    csv    RFC 4180 in UTF-8 without a byte order mark, lines end in CRLF. Header and text values are quoted,
           numbers are bare and have the decimal places of their field.
    tsv    the same, separated by tabs, and quoted only where a tab, a quote or a line break demands it.
    tsv2   for programs: a header of field names, and numbers with all their digits, between tabs, in lines
           that end in LF. Nothing is quoted: a backslash, a tab, a line break or NUL in a text is \\, \t, \n,
           \r or \0, and \N is a missing number, as ClickHouse reads them (TSVWithNames).

With `full_digits` csv and tsv have all digits too; a missing value is an empty cell in them. Values of a key
field of type int count as numbers where they are digits. In csv and tsv a text that a spreadsheet would run,
a header too, gets an apostrophe before it unless the request has `escape_formulas: 0` (wire/text.py).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.files.table import FileColumn, FileTable, display, exact
from lib.wire.deadline import Deadline
from lib.wire.text import RUNNABLE

ROWS_PER_CHUNK = 20_000
MISSING = "\\N"
ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"}
_CHARACTERS = {escape: character for character, escape in ESCAPES.items()} | {MISSING: ""}
_ESCAPE = re.compile("|".join(map(re.escape, _CHARACTERS)))


@dataclass(frozen=True)
class TextDialect:
    """A text format: how it writes headers, texts (`quote`), numbers, lines, empty lines and missing numbers,
    and whether what a spreadsheet would run gets an apostrophe.
    """

    separator: str
    end: str
    title: Callable[[FileColumn], str]
    quote: Callable[[pa.StringArray], pa.StringArray]
    number: Callable[[npt.NDArray[np.float64], int], pa.StringArray]
    empty: str = '""'
    missing: str = ""
    escapes_formulas: bool = True


def write_text(table: FileTable, dialect: TextDialect, deadline: Deadline) -> Iterator[bytes]:
    """The file, header first, in chunks of some thousand rows."""
    titles = pa.array([dialect.title(column) for column in table.columns], pa.string())
    header = dialect.separator.join(dialect.quote(_text(titles, dialect, table)).to_pylist())
    yield f"{header or dialect.empty}{dialect.end}".encode()
    for piece in table.pieces(ROWS_PER_CHUNK):
        deadline.check()
        cells = [_cells(column, dialect, piece) for column in piece.columns]
        if len(cells) == 1:
            cells[0] = pc.if_else(pc.equal(cells[0], ""), dialect.empty, cells[0])
        cells[-1] = pc.binary_join_element_wise(cells[-1], "", dialect.end)
        lines = pc.binary_join_element_wise(*cells, dialect.separator)
        yield b"".join(lines.cast(pa.binary()).to_pylist())


def cell_texts(column: FileColumn, dialect: TextDialect, table: FileTable) -> pa.StringArray:
    """The cells of a column of the table, before the quotes that separate them."""
    if column.is_number():
        numbers = column.numbers()
        return exact(numbers) if table.full_digits else dialect.number(numbers, column.decimals)
    texts = column.texts()
    return pc.if_else(_digits(column, texts), texts, _text(texts, dialect, table))


def _text(texts: pa.StringArray, dialect: TextDialect, table: FileTable) -> pa.StringArray:
    if table.escape_formulas and dialect.escapes_formulas:
        texts = pc.replace_substring_regex(texts, RUNNABLE, r"'\1")
    return texts


def _cells(column: FileColumn, dialect: TextDialect, table: FileTable) -> pa.StringArray:
    cells = cell_texts(column, dialect, table)
    numbers = pc.if_else(pc.equal(cells, ""), dialect.missing, cells) if dialect.missing else cells
    if column.is_number():
        return numbers
    return pc.if_else(_digits(column, cells), numbers, dialect.quote(cells))


def _digits(column: FileColumn, texts: pa.StringArray) -> pa.BooleanArray:
    """A mask of a key field's texts that are written as numbers: only for type int."""
    is_number = pc.match_substring_regex(texts, r"^(-?[0-9]+)?$")
    return pc.and_(is_number, column.kind == "int")


def _quote(texts: pa.StringArray) -> pa.StringArray:
    content = pc.replace_substring(texts, '"', '""')
    return pc.binary_join_element_wise('"', content, '"', "")


def _quote_special(texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.match_substring_regex(texts, r'[\t\r\n"]'), _quote(texts), texts)


def _escape(texts: pa.StringArray) -> pa.StringArray:
    for character, escape in ESCAPES.items():
        texts = pc.replace_substring(texts, character, escape)
    return texts


def unescape(cell: str) -> str:
    """What stands in a cell of tsv2; the empty text for a missing number."""
    return _ESCAPE.sub(lambda match: _CHARACTERS[match[0]], cell) if "\\" in cell else cell


CSV = TextDialect(
    separator=",", end="\r\n", title=lambda column: column.description, quote=_quote, number=display
)
TSV = TextDialect(
    separator="\t", end="\r\n", title=lambda column: column.description, quote=_quote_special, number=display
)
TSV2 = TextDialect(
    separator="\t",
    end="\n",
    title=lambda column: column.name,
    quote=_escape,
    number=lambda values, decimals: exact(values),
    empty="",
    missing=MISSING,
    escapes_formulas=False,
)
