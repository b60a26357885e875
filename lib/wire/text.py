"""Validates and escapes text that people write for others: visible, in order, and never a formula.

Two names that look alike are one name to a reader: no invisible character may tell them apart.

A spreadsheet runs a text that begins with = + - or @ as a formula, also in its full-width and other
compatibility forms, and some do so after blanks or line breaks that they trim (OWASP, "CSV injection"). Such
a text gets an apostrophe before it in files. So does one that has apostrophes before such a beginning:
`unescape` is exact, whatever was written.
"""

import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from datetime import date

from lib.wire.errors import BadRequest

EMAIL, LONGEST_EMAIL = r"^[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+$", 254
MAILABLE = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
CONTROL = frozenset({"Cc", "Cs", "Zl", "Zp"})
UNSEEN = frozenset({"Cf", "Mn", "Me", "Zs"})
BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
DOTS = frozenset({".", ".."})  # names that a path reads as folders
TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
# The same for OpenAPI, whose patterns know no categories: these ranges, and a character that is not blank.
ALWAYS_INVISIBLE = (
    r"\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0"
    r"\ufff9-\ufffb"
)
NOT_STORABLE = r"\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069"
NOT_IN_TEXT = NOT_STORABLE + ALWAYS_INVISIBLE
NOT_VISIBLE = r"\s\u0300-\u036f\u061c\u180b-\u180f\u200b-\u200f\u2060-\u206f\u2800\ufe00-\ufe0f"
PATTERN = f"^[^{NOT_IN_TEXT}]*[^{NOT_VISIBLE}{NOT_IN_TEXT}][^{NOT_IN_TEXT}]*$"
# Invisible everywhere, or where they shape nothing: joiners and variants after a Latin letter, tags without a
# flag, marks of direction in a text that runs one way.
INVISIBLE = re.compile(rf"[{ALWAYS_INVISIBLE}]|[\u061c\u200c-\u200f\ufe00-\ufe0f]|[\U000e0000-\U000e0fff]")
DIRECTION, FLAG = frozenset("\u061c\u200e\u200f"), re.compile("\U0001f3f4[\U000e0020-\U000e007e]*")
KEYCAP = re.compile("[0-9#*]\ufe0f\u20e3")
SHAPE_CATEGORIES = frozenset({"Lo", "Lm", "Mn", "Mc", "So", "Sk", "Sm", "Po", "Pd"})
STARTS = "=+@\\-\u207a\u207c\u208a\u208c\ufb29\ufe62\ufe63\ufe66\ufe6b\uff0b\uff0d\uff1d\uff20"
BLANKS = (
    "\0-\x20\x7f-\xa0\xad\u061c\u115f\u1160\u1680\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800"
    "\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
)
# Literal characters alone, which Python and RE2 (Arrow's) read alike.
RUNNABLE = rf"\A('*(?:[{BLANKS}]*[{STARTS}]|[\t\r\n]))"
_RUNNABLE = re.compile(RUNNABLE)


def count_of(count: int, noun: str) -> str:
    """`1 row`, `1,204 rows`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def and_more(names: Sequence[str], most: int) -> str:
    """So many of the names, and how many more there are: `Ada, Bob and 3 more`."""
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def has_words(text: str, search: str) -> bool:
    """Whether the text has every word of the search in it, ignoring case; any text for a search of none."""
    return all(word in text.casefold() for word in search.casefold().split())


def fault(text: str) -> str:
    """Why a text is not valid, as the end of a sentence; empty if it is.

    Joiners, variants and marks of direction are fine where Persian, Hebrew and emoji need them. Embeddings
    and overrides are not: they make a text read as another one (Unicode Technical Report 36, 3.1). Nor are
    characters that can't be seen; the first is named.
    """
    if character := unstorable(text):
        return character
    is_unseen = (character in BLANK or unicodedata.category(character) in UNSEEN for character in text)
    if text.strip() and all(is_unseen):
        return "has no visible character"
    for found_at in INVISIBLE.finditer(text):
        if not _is_needed(text, at := found_at.start()):
            name = f"U+{ord(text[at]):04X} {unicodedata.name(text[at], 'VARIATION SELECTOR OR TAG')}"
            return f"must not contain invisible characters: character {at + 1} is {name}"
    return ""


def readable_line(text: str, title: str, longest: int) -> str:
    """As `line`; BadRequest also for a text that is not valid to be read by others (`fault`)."""
    text = line(text, title, longest)
    if wrong := fault(text):
        raise BadRequest(f"{title} {wrong}")
    return text


def line(text: str, title: str, longest: int) -> str:
    """A text in one line, with single spaces. BadRequest for one that is empty or too long.

    `title` is what it is, as the beginning of a sentence: "The name".
    """
    text = " ".join(text.split())
    if not text:
        raise BadRequest(f"{title} is missing")
    if len(text) > longest:
        raise BadRequest(f"{title} is too long: {len(text):,} characters, {longest:,} at most")
    return text


def unstorable(text: str) -> str:
    """Why a text is refused even where it only repeats a stored one, as the end of a sentence."""
    if any(unicodedata.category(character) in CONTROL for character in text):
        return "must not contain control characters"
    if not TURNS.isdisjoint(text):
        return "must not contain characters that change the reading direction"
    return ""


def straight(text: str) -> str:
    """The text as screens show it: without the characters that change the direction of reading.

    What is stored keeps them, and so do files and the APIs.
    """
    return TURNING.sub("", text)


def is_email(text: str) -> bool:
    """Whether a text has the shape of an e-mail address."""
    return len(text) <= LONGEST_EMAIL and not fault(text) and re.fullmatch(EMAIL, text) is not None


def is_mailable(text: str) -> bool:
    """Whether mail can be sent to this address: one address in ASCII (RFC 5321), without quotes."""
    return is_email(text) and MAILABLE.fullmatch(text) is not None


def _is_needed(text: str, at: int) -> bool:
    """Whether the invisible character at this place shapes what is before it, or its direction."""
    character, before = text[at], text[at - 1 : at]
    if re.match(f"[{ALWAYS_INVISIBLE}]", character):
        return False
    if character in DIRECTION:
        return any(unicodedata.bidirectional(other) in ("R", "AL") for other in text)
    if "\U000e0000" <= character < "\U000e0100":
        return any(match.end() == at for match in FLAG.finditer(text[:at]))
    if KEYCAP.match(text, max(at - 1, 0)):
        return True
    is_accent = "\u0300" <= before <= "\u036f" or before in ("\u200c", "\u200d")
    return bool(before) and not is_accent and unicodedata.category(before) in SHAPE_CATEGORIES


def escape(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet would run it."""
    return f"'{text}" if _RUNNABLE.match(text) else text


def unescape(cell: str) -> str:
    """The text that `escape` was given."""
    return cell[1:] if cell.startswith("'") and _RUNNABLE.match(cell) else cell


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """The rows as CSV (RFC 4180): texts quoted and escaped, numbers bare, None empty."""
    lines = io.StringIO()
    writer = csv.writer(lines, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\r\n")
    writer.writerows([escape(cell) if isinstance(cell, str) else cell for cell in row] for row in rows)
    return lines.getvalue()


def csv_records(records: Sequence[Mapping[str, object]]) -> bytes:
    """Records of the same fields as a CSV file: a header with their names, then a row for each."""
    header = [list(records[0])] if records else []
    return csv_text([*header, *(list(record.values()) for record in records)]).encode()


def write_day(day: date) -> str:
    """A day in words: `16 Nov 2026`."""
    return f"{day.day} {day:%b %Y}"
