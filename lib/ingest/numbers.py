"""Numbers as people write them, 1.285,50 € or (12): how a file writes its own, and → 1285.50 and -12."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from functools import cache
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from lib.slicers.definition import Definition
from lib.slicers.definition.reading import NumberColumn
from lib.slicers.models import DURATION
from lib.wire.errors import ImportRefused

PERCENT = "%"
_CLOCK = r"^(?P<sign>-?)(?P<h>[0-9]+):(?P<m>[0-5][0-9]):(?P<s>[0-5][0-9](?:\.[0-9]*)?)$"
STRANGE_SHARE = 0.01
_AMBIGUOUS = r"^[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}$"
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_ODD_BLANKS = r"[\x{A0}\x{2007}\x{2008}\x{2009}\x{202F}\x{3000}]"
_MINUSES, _APOSTROPHES = r"[\x{2212}\x{2012}\x{2013}]", r"[\x{2018}\x{2019}\x{02BC}\x{00B4}]"
_LETTER_AT_END = r"[0-9] ?[KkMBTn][a-zA-Z.]*$"
_WIDE = r"[\x{FF01}-\x{FF5E}]"
_MAGNITUDES = {
    r"^(.*[0-9]) ?(?:K|k|Tsd\.?)$": 3,
    r"^(.*[0-9]) ?(?:M|MM|Mio\.?|mn)$": 6,
    r"^(.*[0-9]) ?(?:B|bn|Mrd\.?)$": 9,
}
_OTHER = {".": ",", ",": "."}
_CURRENCIES = {
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "RMB", "INR", "BRL", "RUB", "TRY", "PLN", "SEK", "NOK", "DKK",
    "CZK", "HUF", "RON", "AUD", "CAD", "NZD", "MXN", "ZAR", "SGD", "HKD", "TWD", "KRW", "AED", "SAR", "ILS",
    "UAH", "THB", "IDR", "MYR", "PHP", "VND", "kr", "zł", "Kč", "Ft", "lei", "TL", "Rs",
}  # fmt: skip
_FEW_NUMBERS = 10
_CERTAIN_SHARE = 0.05


class Marks(NamedTuple):
    """How numbers are written; see Definition and Numbers."""

    decimal: str = "."
    thousands: str | None = None
    unit: str | None = None

    @property
    def reads_plain(self) -> bool:
        """Whether 1285.50 means 1285.50 here, though it may be written in other ways too."""
        return self.decimal != "," and self.unit not in (PERCENT, DURATION)

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

        def explain(value: str) -> str:
            if self.decimal == "unknown" and is_ambiguous(value):
                return (
                    f"a number in column '{column}' that could be read in two ways; say in the definition "
                    f"""whether decimal: "." or decimal: ",\""""
                )
            return f"not a number in column '{column}'{notation}"

        return explain


PLAIN = Marks()


class Notation(NamedTuple):
    """How the numbers of a column are written.

    `decimal` is None where no number tells; `ambiguous` is then a number that fits both marks, if there is
    one. `has_magnitudes` says that some are like 1.5K. `problem` says why texts with digits are no numbers.
    """

    texts: pa.Array
    decimal: str | None = None
    example: str | None = None
    ambiguous: str | None = None
    unit: str | None = None
    problem: str | None = None
    has_magnitudes: bool = False


class FileMarks(NamedTuple):
    """The marks of a file, and those of each column of numbers."""

    decimal: str
    thousands: str | None
    columns: dict[str, Marks]

    def own(self, column: str) -> dict[str, str]:
        """The settings that a field of this column needs beyond the definition's."""
        marks = self.columns.get(column, Marks(self.decimal, self.thousands))
        own = {"unit": marks.unit} if marks.unit else {}
        if (marks.decimal, marks.thousands) != (self.decimal, self.thousands):
            own["decimal"] = marks.decimal
            own |= {"thousands": marks.thousands} if marks.thousands else {}
        return {name: value for name, value in own.items() if value}


PLAIN_FILE = FileMarks(".", None, {})


def marks_of(definition: Definition, field: NumberColumn) -> Marks:
    """How the numbers of a field are written: marks of its own, or those of the definition."""
    if field.decimal is not None:
        return Marks(field.decimal, field.thousands, field.unit)
    return Marks(definition.decimal, field.thousands or definition.thousands, field.unit)


def plain_numbers(texts: pa.Array, marks: Marks) -> pa.Array:
    """Trimmed texts as 1285.50; null where there is no number in this notation."""
    if marks.unit == DURATION:
        parts = pc.extract_regex(texts, _CLOCK)
        hours, minutes, seconds = (
            pc.struct_field(parts, part).cast(pa.float64()) for part in ("h", "m", "s")
        )
        total = pc.add(pc.add(pc.multiply(hours, 3600.0), pc.multiply(minutes, 60.0)), seconds)
        is_negative = pc.equal(pc.struct_field(parts, "sign"), "-")
        return pc.if_else(is_negative, pc.negate(total), total).cast(pa.string())
    pattern = notation(marks.decimal, (marks.thousands,))
    if marks.unit == PERCENT:
        # Numbers that lack the % are none, but for zero.
        bare = pc.and_(
            pc.invert(pc.match_substring(texts, PERCENT)), pc.match_substring_regex(texts, "[1-9]")
        )
        texts = pc.if_else(bare, pa.scalar(None, pa.string()), texts)
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
    for pattern, exponent in _MAGNITUDES.items():
        texts = pc.replace_substring_regex(texts, pattern, rf"\1e{exponent}")
    if not pc.all(pc.string_is_ascii(texts)).as_py():
        if pc.any(pc.match_substring_regex(texts, _WIDE)).as_py():
            texts = pc.utf8_normalize(texts, "NFKC")
        for kind, plain in ((_ODD_BLANKS, " "), (_MINUSES, "-"), (_APOSTROPHES, "'")):
            texts = pc.replace_substring_regex(texts, kind, plain)
    texts = pc.utf8_trim_whitespace(texts)
    texts = _without_unit(texts, unit)
    texts = _without_unit(pc.replace_substring_regex(texts, r"^\((.+)\)$", r"-\1"), unit)
    texts = pc.replace_substring_regex(texts, r"^([^+-].*[^ ]) ?-$", r"-\1")
    return pc.replace_substring_regex(texts, "^([+-]) +", r"\1")


def is_ambiguous(text: str) -> bool:
    """Whether a number can be read in two ways: 1.285 is a thousand, or a bit more than one."""
    return re.match(_AMBIGUOUS, text.strip()) is not None


def is_dash(texts: pa.Array, unit: str) -> pa.Array:
    """Where a unit has a dash in place of a number, as accounting writes a missing one."""
    sign = re.escape(unit)
    return pc.match_substring_regex(texts, rf"^(?:{sign}\s*[-–—]+|[-–—]+\s*{sign})$")


def notation_of(present: pa.Array) -> Notation | None:
    """How the numbers of a column are written, from trimmed texts without missing ones; None: no numbers."""
    frequencies = present.value_counts()
    texts, counts = clean(frequencies.field("values")), frequencies.field("counts")
    total = pc.sum(counts).as_py()
    if not total or not pc.any(pc.match_substring_regex(texts, "[0-9]")).as_py():
        return None
    durations = pc.sum(counts.filter(pc.match_substring_regex(texts, _CLOCK))).as_py() or 0
    if durations >= (1 - STRANGE_SHARE) * total:
        return Notation(texts, ".", unit=DURATION)
    unit, problem = _common_unit(texts, counts, total)
    texts = clean(texts, unit)
    point = pc.match_substring_regex(texts, notation(".", (",", " ", "'")))
    comma = pc.match_substring_regex(texts, notation(",", (".", " ", "'")))
    strange = pc.sum(counts.filter(pc.invert(pc.or_(point, comma)))).as_py() or 0
    if strange > STRANGE_SHARE * total:
        return Notation(texts, problem=problem) if problem else None
    if problem:
        return Notation(texts, problem=problem)
    evidence = _evidence(texts, pc.and_not(point, comma), pc.and_not(comma, point))
    has_magnitudes = pc.any(pc.match_substring_regex(frequencies.field("values"), _LETTER_AT_END)).as_py()
    return evidence._replace(
        unit=unit, has_magnitudes=has_magnitudes and pc.any(pc.match_substring(texts, "e")).as_py()
    )


def file_marks(
    columns: Mapping[str, Notation], file: str, decimal: str | None = None, thousands: str | None = None
) -> FileMarks:
    """The marks of a file whose columns of numbers (as text) are written like this.

    A column whose numbers do not tell is written as the others are. ImportRefused when they do not tell
    either, unless `decimal` says it.
    """
    certain = {name: column for name, column in columns.items() if column.decimal}
    kinds = [column.decimal for column in certain.values() if column.decimal]
    main = max(dict.fromkeys(kinds), key=kinds.count, default=None)
    unsure = next((name for name, column in columns.items() if column.ambiguous), None)
    if unsure is not None and decimal is None and len(set(kinds)) != 1:
        raise ImportRefused(_ambiguity(file, unsure, columns[unsure], certain))
    if unsure is not None and decimal is not None:
        main = decimal
    main = main or decimal or ("unknown" if columns else ".")
    marks_of = dict[str, Marks]()
    for name, column in columns.items():
        if not column.problem:
            mark = column.decimal or main
            others = (*([_OTHER[mark]] if mark in _OTHER else []), " ", "'")
            counts = {other: pc.sum(pc.match_substring(column.texts, other)).as_py() or 0 for other in others}
            best = max(counts, key=lambda other: counts[other])
            marks_of[name] = Marks(mark, thousands or (best if counts[best] else None), column.unit)
    candidates = [marks.thousands for marks in marks_of.values() if marks.decimal == main and marks.thousands]
    common = thousands or max(dict.fromkeys(candidates), key=candidates.count, default=None)
    if common is None and main == ",":
        common = "."
    for name, marks in marks_of.items():  # the thousands mark of the file, where a column shows none
        if not marks.thousands and marks.decimal == main:
            marks_of[name] = marks._replace(thousands=common)
    return FileMarks(main, common, marks_of)


def example_of(column: Notation, marks: Marks) -> str | None:
    """An example of how a column is read, where that is not as a computer writes it: `12,50 is 12.5`."""
    sample = (column.ambiguous, column.example, *column.texts.slice(0, 1000).to_pylist())
    texts = pa.array([text for text in sample if text], pa.string())
    for text, number in zip(texts.to_pylist(), plain_numbers(texts, marks).to_pylist(), strict=True):
        if number is not None and (number != text or is_ambiguous(text)):
            return f"{text} is {float(number):.15g}"
    return None


def _without_unit(texts: pa.Array, unit: str | None) -> pa.Array:
    if unit is None:
        return texts
    sign = re.escape(unit)
    texts = pc.replace_substring_regex(texts, rf"^([+-]?) ?{sign} ?", r"\1")
    return pc.replace_substring_regex(texts, rf" ?{sign} ?(-?)$", r"\1")


def _common_unit(texts: pa.Array, counts: pa.Array, total: int) -> tuple[str | None, str | None]:
    """The one sign at the numbers, if there is one; else why they don't add up, if they have several."""
    rests = pc.replace_substring_regex(texts, r"e[0-9]|[0-9.,'()+\- ]", "")
    counts_of_unit: dict[str, int] = {}
    for rest, count in zip(rests.to_pylist(), counts.to_pylist(), strict=True):
        is_sign = rest and unicodedata.category(rest[-1]) == "Sc" and (len(rest) == 1 or rest[:-1].isalpha())
        if rest == PERCENT or rest in _CURRENCIES or (is_sign and len(rest) <= 4):
            counts_of_unit[rest] = counts_of_unit.get(rest, 0) + count
    if not counts_of_unit:
        return None, None
    unit = max(counts_of_unit, key=lambda sign: counts_of_unit[sign])
    if sum(counts_of_unit.values()) - counts_of_unit[unit] > STRANGE_SHARE * total:
        first, second, *_ = sorted(counts_of_unit, key=lambda sign: -counts_of_unit[sign])
        return None, f"amounts in {first} and in {second} don't add up"
    bare = pc.and_(pc.equal(rests, ""), pc.match_substring_regex(texts, "[1-9]"))
    if unit == PERCENT and (pc.sum(counts.filter(bare)).as_py() or 0) > STRANGE_SHARE * total:
        return None, "some numbers have a % and some have none"
    return unit, None


def _evidence(texts: pa.Array, point: pa.Array, comma: pa.Array) -> Notation:
    """Evidence from numbers that certainly have a decimal mark: `point` and `comma` mark where those are."""
    has_mark = pc.match_substring_regex(texts, "[.,]")
    points, commas = texts.filter(pc.and_(point, has_mark)), texts.filter(comma)
    either = texts.filter(pc.match_substring_regex(texts, r"^[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}$"))
    if min(len(points), len(commas)) > STRANGE_SHARE * len(texts):
        return Notation(texts, problem=f"both {points[0]} and {commas[0]} are written here")
    if not _is_enough(points, either) and not _is_enough(commas, either):
        points = commas = points.slice(0, 0)
    if len(points) or len(commas):
        decimal = "." if len(points) > len(commas) else ","
        return Notation(texts, decimal, (points if decimal == "." else commas)[0].as_py())
    if not len(either):
        return Notation(texts)
    mark = either[0].as_py().strip("+-0123456789")
    # Whether 1.280 beside 45 must be a thousand: no fraction is written out here and cut off there.
    ends_in_zero = pc.any(pc.match_substring_regex(either, "0$")).as_py()
    same_mark = pc.all(pc.match_substring(either, mark)).as_py()
    small = pc.any(pc.match_substring_regex(texts, "^[+-]?[1-9][0-9]{0,2}$")).as_py()
    large = pc.any(pc.match_substring_regex(texts, "[0-9]{4}")).as_py()
    if len(either) >= _FEW_NUMBERS and ends_in_zero and same_mark and small and not large:
        return Notation(texts, _OTHER[mark], either[0].as_py())
    return Notation(texts, ambiguous=either[0].as_py())


def _is_enough(certain_texts: pa.Array, either: pa.Array) -> bool:
    """Whether numbers with a decimal mark for certain outweigh those that fit both.

    0.285 is certain. Of fractions of three digits a tenth would be written with fewer, so a rare 12,5 among
    many like 1,285 says nothing.
    """
    certain = pc.any(pc.match_substring_regex(certain_texts, "^[+-]?0?[.,]")).as_py()
    return bool(certain or len(certain_texts) > _CERTAIN_SHARE * len(either))


def _ambiguity(file: str, name: str, column: Notation, certain: Mapping[str, Notation]) -> str:
    text = str(column.ambiguous)
    mark = text.strip("+-0123456789")
    whole, fraction = text.replace(mark, ""), text.replace(mark, ".")
    others = (
        "other columns are written in both ways: "
        + ", ".join(f"{example.example} in '{other}'" for other, example in list(certain.items())[:4])
        if certain
        else "no other number in the file decides it"
    )
    return (
        f"{file}: '{text}' in column '{name}' can be {whole} or {fraction}, and {others}. Choose "
        f"one: --decimal '{_OTHER[mark]}' reads {whole}, --decimal '{mark}' reads {fraction}"
    )
