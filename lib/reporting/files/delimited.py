"""The text formats: csv, tsv and tsv2, written a few thousand rows at a time.

Our own choices, where the specification is silent:

    csv    RFC 4180 in UTF-8 without a byte order mark, lines end in CRLF. Header and text values are quoted,
           numbers are bare and have the decimal places of their field.
    tsv    the same, separated by tabs, and quoted only where a tab, a quote or a line break demands it.
    tsv2   for programs: the same with lines that end in LF, a header of field names, and numbers with all
           their digits. Any reader of separated values that knows quotes gets back what is stored.

With `full_digits` csv and tsv have all digits too. A missing value is an empty cell. Values of a key field of
type int count as numbers where they are digits. In all three a text that a spreadsheet would run, a header
too, gets an apostrophe before it unless the request has `escape_formulas: 0` (wire/text.py).
"""

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


@dataclass(frozen=True)
class TextDialect:
    """A text format: how it writes headers, texts with quotes, numbers, lines, and empty lines."""

    separator: str
    end: str
    title: Callable[[FileColumn], str]
    quote: Callable[[pa.StringArray], pa.StringArray]
    number: Callable[[npt.NDArray[np.float64], int], pa.StringArray]
    empty: str


def write_text(table: FileTable, dialect: TextDialect, deadline: Deadline) -> Iterator[bytes]:
    """The file, header first, in chunks of some thousand rows."""
    titles = pa.array([dialect.title(column) for column in table.columns], pa.string())
    header = dialect.separator.join(dialect.quote(_text(titles, table)).to_pylist())
    yield f"{header or dialect.empty}{dialect.end}".encode()
    for piece in table.pieces(ROWS_PER_CHUNK):
        deadline.check()
        yield _lines(piece, dialect)


def _lines(piece: FileTable, dialect: TextDialect) -> bytes:
    cells = [_cells(column, dialect, piece) for column in piece.columns]
    if len(cells) == 1:
        cells[0] = pc.if_else(pc.equal(cells[0], ""), dialect.empty, cells[0])
    cells[-1] = pc.binary_join_element_wise(cells[-1], "", dialect.end)
    lines = pc.binary_join_element_wise(*cells, dialect.separator)
    return b"".join(lines.cast(pa.binary()).to_pylist())


def cell_texts(column: FileColumn, dialect: TextDialect, table: FileTable) -> pa.StringArray:
    """The cells of a column of the table, before the quotes that separate them."""
    if column.is_number():
        numbers = column.numbers()
        return exact(numbers) if table.full_digits else dialect.number(numbers, column.decimals)
    texts = column.texts()
    return pc.if_else(_digits(column, texts), texts, _text(texts, table))


def _text(texts: pa.StringArray, table: FileTable) -> pa.StringArray:
    if table.escape_formulas:
        texts = pc.replace_substring_regex(texts, RUNNABLE, r"'\1")
    return texts


def _cells(column: FileColumn, dialect: TextDialect, table: FileTable) -> pa.StringArray:
    cells = cell_texts(column, dialect, table)
    return cells if column.is_number() else pc.if_else(_digits(column, cells), cells, dialect.quote(cells))


def _digits(column: FileColumn, texts: pa.StringArray) -> pa.BooleanArray:
    """A mask of a key field's texts that are written as numbers: only for type int."""
    is_number = pc.match_substring_regex(texts, r"^(-?[0-9]+)?$")
    return pc.and_(is_number, column.kind == "int")


def _quote(texts: pa.StringArray) -> pa.StringArray:
    content = pc.replace_substring(texts, '"', '""')
    return pc.binary_join_element_wise('"', content, '"', "")


def _quote_special(texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.match_substring_regex(texts, r'[\t\r\n"]'), _quote(texts), texts)


CSV = TextDialect(
    separator=",",
    end="\r\n",
    title=lambda column: column.description,
    quote=_quote,
    number=display,
    empty='""',
)
TSV = TextDialect(
    separator="\t",
    end="\r\n",
    title=lambda column: column.description,
    quote=_quote_special,
    number=display,
    empty='""',
)
TSV2 = TextDialect(
    separator="\t",
    end="\n",
    title=lambda column: column.name,
    quote=_quote_special,
    number=lambda values, decimals: exact(values),
    empty='""',
)
