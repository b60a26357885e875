"""Numbers as people write them, 1.285,50 € or (12), → as computers do, 1285.50 and -12."""

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.definition import Definition
from lib.reporting.definition.reading import NumberColumn

PERCENT = "%"
_AMBIGUOUS = r"^[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}$"
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_ODD_BLANKS = r"[\x{A0}\x{2007}\x{2008}\x{2009}\x{202F}\x{3000}]"
_MINUSES, _APOSTROPHES = r"[\x{2212}\x{2012}\x{2013}]", r"[\x{2018}\x{2019}\x{02BC}\x{00B4}]"


class Marks(NamedTuple):
    """How numbers are written; see Definition and Numbers."""

    decimal: str = "."
    thousands: str | None = None
    unit: str | None = None

    @property
    def reads_plain(self) -> bool:
        """Whether 1285.50 means 1285.50 here, though it may be written in other ways too."""
        return self.decimal != "," and self.unit != PERCENT

    @property
    def are_certain(self) -> bool:
        """Whether each text that is a number to a computer is that number here."""
        return self.reads_plain and self.decimal != "unknown"

    @property
    def are_plain(self) -> bool:
        """Whether 1285.50 is written 1285.50."""
        return self.decimal != "," and self.thousands is None and self.unit is None

    def reason(self, column: str) -> Callable[[str], str]:
        """Why a text in a column is no number, in words."""
        marks = f"decimal mark {self.decimal!r}" if self.decimal != "unknown" else ""
        marks += f", thousands mark {self.thousands!r}" if self.thousands else ""
        marks += f", unit {self.unit!r}" if self.unit else ""
        notation = "" if self.are_plain else f" (with {marks.removeprefix(', ')})"

        def words(value: str) -> str:
            if self.decimal == "unknown" and is_ambiguous(value):
                return (
                    f"a number in column '{column}' that could be read in two ways; say in the definition "
                    f"""whether decimal: "." or decimal: ",\""""
                )
            return f"not a number in column '{column}'{notation}"

        return words


PLAIN = Marks()


def marks_of(definition: Definition, field: NumberColumn) -> Marks:
    """How the numbers of a field are written: marks of its own, or those of the definition."""
    if field.decimal is not None:
        return Marks(field.decimal, field.thousands, field.unit)
    return Marks(definition.decimal, field.thousands or definition.thousands, field.unit)


def is_ambiguous(text: str) -> bool:
    """Whether a number can be read in two ways: 1.285 is a thousand, or a bit more than one."""
    return re.match(_AMBIGUOUS, text.strip()) is not None


def plain_numbers(texts: pa.Array, marks: Marks) -> pa.Array:
    """Trimmed texts as 1285.50; null where there is no number in this notation."""
    pattern = notation(marks.decimal, (marks.thousands,))
    if marks.unit == PERCENT:
        texts = _with_percent(texts)
    is_plain = pc.match_substring_regex(texts, pattern)
    if not pc.all(is_plain).as_py():
        odd = pc.invert(is_plain).fill_null(False)
        texts = pc.replace_with_mask(texts, odd, clean(texts.filter(odd), marks.unit))
        is_plain = pc.match_substring_regex(texts, pattern)
    if marks.decimal == "unknown":
        is_plain = pc.and_not(is_plain, pc.match_substring_regex(texts, _AMBIGUOUS))
    plain = pc.if_else(is_plain, texts, pa.scalar(None, pa.string()))
    if marks.thousands:
        plain = pc.replace_substring(plain, marks.thousands, "")
    return pc.replace_substring(plain, ",", ".") if marks.decimal == "," else plain


@cache
def notation(decimal: str, thousands: tuple[str | None, ...]) -> str:
    """The pattern of numbers with this decimal mark and one of these thousands marks (or none).

    Groups have three digits, and the first no leading zero; 12,34,567 (India) is read too.
    """
    point = "," if decimal == "," else "[.]"
    groups = [
        rf"|[1-9][0-9]{{0,2}}(?:[{mark}][0-9]{{3}})+|[1-9][0-9]?(?:[{mark}][0-9]{{2}})+[{mark}][0-9]{{3}}"
        for mark in thousands
        if mark
    ]
    return rf"^[+-]?(?:(?:[0-9]+{''.join(groups)})(?:{point}[0-9]*)?|{point}[0-9]+){_EXPONENT}$"


def clean(texts: pa.Array, unit: str | None = None) -> pa.Array:
    """Texts with one kind of blank, minus and apostrophe, without the unit, and with the minus in front."""
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        for kind, one in ((_ODD_BLANKS, " "), (_MINUSES, "-"), (_APOSTROPHES, "'")):
            texts = pc.replace_substring_regex(texts, kind, one)
    texts = pc.utf8_trim_whitespace(texts)
    texts = _without(texts, unit)
    texts = _without(pc.replace_substring_regex(texts, r"^\((.+)\)$", r"-\1"), unit)
    texts = pc.replace_substring_regex(texts, r"^([^+-].*[^ ]) ?-$", r"-\1")
    return pc.replace_substring_regex(texts, "^([+-]) +", r"\1")


def is_dash(texts: pa.Array, unit: str) -> pa.Array:
    """Where a unit has a dash in place of a number, as accounting writes a missing one."""
    sign = re.escape(unit)
    return pc.match_substring_regex(texts, rf"^(?:{sign}\s*[-–—]+|[-–—]+\s*{sign})$")


def _with_percent(texts: pa.Array) -> pa.Array:
    """Without the numbers that lack the %, but for zero."""
    bare = pc.and_(pc.invert(pc.match_substring(texts, PERCENT)), pc.match_substring_regex(texts, "[1-9]"))
    return pc.if_else(bare, pa.scalar(None, pa.string()), texts)


def _without(texts: pa.Array, unit: str | None) -> pa.Array:
    if unit is None:
        return texts
    sign = re.escape(unit)
    texts = pc.replace_substring_regex(texts, rf"^([+-]?) ?{sign} ?", r"\1")
    return pc.replace_substring_regex(texts, rf" ?{sign} ?(-?)$", r"\1")
