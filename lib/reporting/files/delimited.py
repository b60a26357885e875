r"""The text formats: csv, tsv and tsv2, written a few thousand rows at a time.

Our own choices, where the specification is silent:

    csv    RFC 4180 in UTF-8 without a byte order mark, lines end in CRLF. Header and text values are quoted,
           numbers are bare and have the decimal places of their field. A text that a spreadsheet would run
           (it begins with = + - @, a tab or a carriage return) gets an apostrophe before it.
    tsv    the same, separated by tabs, and quoted only where a tab, a quote or a line break demands it.
    tsv2   for programs: one line ending in LF per row, a header of field names, raw values, numbers with all
           their digits, and \t \n \r \\ for tab, line feed, carriage return and backslash. Nothing is quoted.

A missing value is an empty cell. Values of a key field of type int count as numbers where they are digits.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.files.numbers import displayed, exact
from lib.reporting.files.table import Column, Table
from lib.wire.deadline import Deadline

ROWS_PER_CHUNK = 20_000


@dataclass(frozen=True)
class Dialect:
    """How one text format writes a header, a text, a number, a line; and a line that would be empty."""

    separator: str
    end: str
    title: Callable[[Column], str]
    text: Callable[[pa.StringArray], pa.StringArray]
    number: Callable[[npt.NDArray[np.float64], int], pa.StringArray]
    empty: str


def write_text(table: Table, dialect: Dialect, deadline: Deadline) -> Iterator[bytes]:
    """The file, header first, in chunks of some thousand rows."""
    titles = pa.array([dialect.title(column) for column in table.columns], pa.string())
    header = dialect.separator.join(dialect.text(titles).to_pylist())
    yield f"{header or dialect.empty}{dialect.end}".encode()
    for piece in table.pieces(ROWS_PER_CHUNK):
        deadline.check()
        yield _lines(piece, dialect)


def _lines(piece: Table, dialect: Dialect) -> bytes:
    cells = [_cells(column, dialect) for column in piece.columns]
    if len(cells) == 1:
        cells[0] = pc.if_else(pc.equal(cells[0], ""), dialect.empty, cells[0])
    cells[-1] = pc.binary_join_element_wise(cells[-1], "", dialect.end)
    lines = pc.binary_join_element_wise(*cells, dialect.separator)
    return b"".join(lines.cast(pa.binary()).to_pylist())


def _cells(column: Column, dialect: Dialect) -> pa.StringArray:
    if column.is_number():
        return dialect.number(column.numbers(), column.decimals)
    texts = column.texts()
    written = dialect.text(texts)
    if column.kind == "int":
        return pc.if_else(pc.match_substring_regex(texts, r"^(-?[0-9]+)?$"), texts, written)
    return written


def _quoted(texts: pa.StringArray) -> pa.StringArray:
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.binary_join_element_wise('"', doubled, '"', "")


def _quoted_where_needed(texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.match_substring_regex(texts, r'[\t\r\n"]'), _quoted(texts), texts)


def _harmless(texts: pa.StringArray) -> pa.StringArray:
    """An apostrophe before what a spreadsheet would take for a formula (OWASP, "CSV injection")."""
    return pc.replace_substring_regex(texts, r"\A([=+\-@\t\r])", r"'\1")


def _escaped(texts: pa.StringArray) -> pa.StringArray:
    for character, escape in (("\\", r"\\"), ("\t", r"\t"), ("\n", r"\n"), ("\r", r"\r")):
        texts = pc.replace_substring(texts, character, escape)
    return texts


CSV = Dialect(
    separator=",",
    end="\r\n",
    title=lambda column: column.description,
    text=lambda texts: _quoted(_harmless(texts)),
    number=displayed,
    empty='""',
)
TSV = Dialect(
    separator="\t",
    end="\r\n",
    title=lambda column: column.description,
    text=lambda texts: _quoted_where_needed(_harmless(texts)),
    number=displayed,
    empty='""',
)
TSV2 = Dialect(
    separator="\t",
    end="\n",
    title=lambda column: column.name,
    text=_escaped,
    number=lambda values, decimals: exact(values),
    empty="",
)
