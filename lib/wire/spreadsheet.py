"""Text for files that spreadsheets open: one escape for every text format, and one writer of CSV.

A spreadsheet runs a text that begins with = + - or @ as a formula, also in its full-width and other
compatibility forms, and some do so after blanks or line breaks that they trim (OWASP, "CSV injection"). Such
a text gets an apostrophe before it. So does one that has apostrophes before such a beginning: `restored` is
exact, whatever was written.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

STARTS = "=+@\\-\u207a\u207c\u208a\u208c\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
BLANKS = (
    "\0-\x20\x7f-\xa0\xad\u061c\u115f\u1160\u1680\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
# Literal characters alone, which Python and RE2 (Arrow's) read alike.
RUNNABLE = rf"\A('*(?:[{BLANKS}]*[{STARTS}]|[\t\r\n]))"
_RUNNABLE = re.compile(RUNNABLE)


def escaped(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would run it."""
    return f"'{text}" if _RUNNABLE.match(text) else text


def unescape(cell: str) -> str:
    """The text that `escaped` was given."""
    return cell[1:] if cell.startswith("'") and _RUNNABLE.match(cell) else cell


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """The rows as CSV (RFC 4180): texts quoted and escaped, numbers bare, None empty."""
    lines = io.StringIO()
    writer = csv.writer(lines, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerows([escaped(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return lines.getvalue()


def csv_records(records: Sequence[Mapping[str, object]]) -> bytes:
    """Records of the same fields as a CSV file: a header with their names, then a row for each."""
    header = [list(records[0])] if records else []
    return csv_text([*header, *(list(record.values()) for record in records)]).encode()
