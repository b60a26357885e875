"""Guess the role of a sample's column, key field or data field: by its values, if in doubt by its name."""

import unicodedata
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.ingest import cells, column_names
from lib.reporting.ingest.cells import Missing
from lib.reporting.ingest.numbers import PERCENT, PLAIN, Marks, clean, is_ambiguous, notation, plain_numbers
from lib.reporting.ingest.totals import is_total
from lib.wire.errors import ImportRefused

Floats = npt.NDArray[np.float64]
_SEPARATORS = "|;,"
_LOOKED_AT = 10_000
_FEW = 20
_FEW_SHARE = 0.01
_CODE_SHARE = 0.05
_ENUMERATED_SHARE = 0.5
_SEPARATED_SHARE = {"|": 0.05, ";": 0.2, ",": 0.2}
_MAX_ELEMENT = 40
_MAPPED_SHARE = 0.8
_DASH_AMOUNT = r"^\p{Sc} *[-–—]+$|^[-–—]+ *\p{Sc}$"


STRANGE_SHARE = 0.01
_OTHER = {".": ",", ",": "."}
_CURRENCIES = {
    "EUR", "USD", "GBP", "CHF", "JPY", "CNY", "RMB", "INR", "BRL", "RUB", "TRY", "PLN", "SEK", "NOK", "DKK",
    "CZK", "HUF", "RON", "AUD", "CAD", "NZD", "MXN", "ZAR", "SGD", "HKD", "TWD", "KRW", "AED", "SAR", "ILS",
    "UAH", "THB", "IDR", "MYR", "PHP", "VND", "kr", "zł", "Kč", "Ft", "lei", "TL", "Rs",
}  # fmt: skip
_FEW_NUMBERS = 10
_CERTAIN_SHARE = 0.05


class Notation(NamedTuple):
    """How the numbers of a column are written.

    `decimal` is None where no number tells; `ambiguous` is then a number that fits both marks, if there is
    one. `problem` says why texts with digits are no numbers.
    """

    texts: pa.Array
    decimal: str | None = None
    example: str | None = None
    ambiguous: str | None = None
    unit: str | None = None
    problem: str | None = None


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


class ColumnGuess(NamedTuple):
    """A guess about a column, and its reason. `options` are the fields of its part of a definition."""

    column: str
    is_key: bool
    options: dict[str, Any]
    reason: str

    def field(self, name: str) -> dict[str, Any]:
        """As it stands in a definition, under a name."""
        source = {} if name == self.column else {"column": self.column}
        return {"name": name, **source, "description": column_names.description(self.column), **self.options}

    def with_mapping(self, values: pa.Array, mappings: Mapping[str, Collection[str]]) -> "ColumnGuess":
        """The same with the mapping whose codes most of the column's values are, if there is one."""
        if not self.is_key or "segmented" in self.options or pa.types.is_nested(values.type):
            return self
        different = set(cells.text(values).drop_null().unique().to_pylist())
        for name, codes in mappings.items():
            if different and len(different.intersection(codes)) >= _MAPPED_SHARE * len(different):
                options = self.options | {"mapping": name}
                return self._replace(options=options).with_note(f"codes of the mapping {name}")
        return self

    def with_note(self, note: str) -> "ColumnGuess":
        """The same, with a note beside the reason."""
        return self._replace(reason=f"{self.reason}; {note}")

    @property
    def kind(self) -> str:
        """In words: `key field (int)`, `data field (mean)`."""
        what = self.options.get("type") or self.options.get("aggregate") or ("text" if self.is_key else "sum")
        segmented = self.options.get("segmented")
        what = "segmented" if segmented is True else f"segmented by {segmented}" if segmented else what
        return f"{'key' if self.is_key else 'data'} field ({what})"


def guess_column(
    name: str, values: pa.Array, marks: Marks = PLAIN, missing: Missing = None, problem: str | None = None
) -> ColumnGuess:
    """Guess a column's role from a sample of its values.

    Numbers that are text have these `marks`; `problem` says why texts that look like numbers are none.
    """
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        return ColumnGuess(name, True, {"segmented": True}, "lists")
    is_nested = pa.types.is_nested(values.type)
    present = pa.array([], pa.string()) if is_nested else present_texts(values, missing)
    if not len(present):
        return ColumnGuess(name, True, {}, "no values in the sample")
    if pa.types.is_boolean(values.type):
        return ColumnGuess(name, True, {}, "true or false")
    if problem:
        return ColumnGuess(name, True, {}, f"text: {problem}")
    number = cells.number(present, marks)
    strange = 0.0 if number.bad is None else float(number.bad.mean())
    if strange > STRANGE_SHARE or _has_leading_zeros(present) or _is_no_amount(name, present):
        return _text(name, present)
    guess = _number(name, number.values.drop_null().to_numpy(zero_copy_only=False), marks)
    if not strange:
        return guess
    if guess.is_key:
        return _text(name, present)
    return guess.with_note(f"{strange:.2%} of the values are not numbers")


def present_texts(values: pa.Array, missing: Missing) -> pa.Array:
    """The trimmed texts of a column, without those that say that there is no value."""
    texts = cells.without_missing(cells.trim(cells.text(values)), missing)
    return texts.filter(pc.invert(pc.match_substring_regex(texts, _DASH_AMOUNT).fill_null(True)))


def _is_no_amount(name: str, present: pa.Array) -> bool:
    """Whether a code has marks in it: version 10.1, or the list 48,57 in `tag_ids`."""
    is_code = column_names.is_version(name) or (column_names.is_id(name) and not column_names.is_mean(name))
    return is_code and bool(pc.any(pc.match_substring_regex(present, "[0-9][.,][0-9]")).as_py())


def _number(name: str, values: Floats, marks: Marks) -> ColumnGuess:
    if marks.unit:
        return _measure(name, values, f"numbers with {marks.unit}", marks)
    if (values % 1 != 0).any():
        return _measure(name, values, "numbers with a fraction")
    if column_names.is_id(name) and not column_names.is_mean(name):
        return ColumnGuess(name, True, {"type": "int"}, "whole numbers, named like a code")
    if column_names.is_amount(name) or column_names.is_mean(name) or (values < 0).any():
        return _measure(
            name, values, "whole numbers, named like an amount" if (values >= 0).all() else "numbers"
        )
    different = len(np.unique(values))
    if column_names.may_be_code(name) and different <= max(_FEW, _CODE_SHARE * len(values)):
        return ColumnGuess(name, True, {"type": "int"}, f"{different} whole numbers, named like a code")
    if different <= min(_FEW, _FEW_SHARE * len(values)):
        return ColumnGuess(name, True, {"type": "int"}, f"only {different} different whole numbers")
    return _measure(name, values, "whole numbers")


def _measure(name: str, values: Floats, reason: str, marks: Marks = PLAIN) -> ColumnGuess:
    aggregate = column_names.aggregate(name)
    if marks.unit == PERCENT and aggregate == "sum":
        aggregate = "mean"
    options: dict[str, Any] = {} if aggregate == "sum" else {"aggregate": aggregate}
    if aggregate == "mean" or (values % 1 != 0).any():
        small = float(np.median(np.abs(values))) < 1
        options |= {"display_type": "float", "display_precision": 4 if small else 2}
    doubt = "; a price or a rate, so it is averaged" if aggregate == "mean" else ""
    return ColumnGuess(name, False, options, reason + doubt)


def _text(name: str, present: pa.Array) -> ColumnGuess:
    is_list = column_names.sounds_like_list(name)
    separator = next((mark for mark in _SEPARATORS if _is_separated(present, mark, is_list)), None)
    if separator:
        example = present.filter(pc.match_substring(present, separator))[0]
        return ColumnGuess(name, True, {"segmented": separator}, f"several values, such as {example}")
    if column_names.sounds_like_users(name):
        return ColumnGuess(name, True, {}, "text; if these are users, make it an audience source")
    different = present.unique()
    totals = [text for text in different.slice(0, _LOOKED_AT).to_pylist() if is_total(text)]
    warning = f"; WARNING: rows of '{totals[0]}' count beside those that they add up" if totals else ""
    reason = f"text, {len(different):,} different in {len(present):,} rows{warning}"
    return ColumnGuess(name, True, {}, reason)


def _is_separated(present: pa.Array, mark: str, is_list: bool) -> bool:
    """Whether a mark is between the elements of lists: never beside a blank, as it is in prose.

    The elements come back in other rows (with | it is enough that lists differ in length), and a text of
    always the same parts, such as US|300x250|news, is a list only if its column's name says so.
    """
    has_mark = pc.match_substring(present, mark)
    beside_blank = pc.match_substring_regex(present, rf"[{mark}]\s|\s[{mark}]")
    if pc.mean(has_mark).as_py() < _SEPARATED_SHARE[mark] or pc.any(beside_blank).as_py():
        return False
    lists = pc.split_pattern(present, mark)
    parts, counts = lists.flatten(), pc.list_value_length(lists)
    if pc.max(pc.utf8_length(parts)).as_py() > _MAX_ELEMENT:
        return False
    comes_back = pc.count_distinct(parts).as_py() <= _ENUMERATED_SHARE * len(parts)
    if pc.count_distinct(counts).as_py() > 1:
        return bool(comes_back or mark == "|")
    return bool(comes_back and (is_list or _is_mixed(lists, counts[0].as_py())))


def _is_mixed(lists: pa.Array, count: int) -> bool:
    """Whether the same element comes in several places of lists of the same length."""
    places = [set(pc.list_element(lists, place).unique().to_pylist()) for place in range(count)]
    return len(set[str]().union(*places)) < sum(len(place) for place in places)


def _has_leading_zeros(present: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(present, "^0[0-9]")).as_py())


def notation_of(present: pa.Array) -> Notation | None:
    """How the numbers of a column are written, from trimmed texts without missing ones; None: no numbers."""
    frequencies = present.value_counts()
    texts, counts = clean(frequencies.field("values")), frequencies.field("counts")
    total = pc.sum(counts).as_py()
    if not total or not pc.any(pc.match_substring_regex(texts, "[0-9]")).as_py():
        return None
    unit, problem = _unit(texts, counts, total)
    texts = clean(texts, unit)
    point = pc.match_substring_regex(texts, notation(".", (",", " ", "'")))
    comma = pc.match_substring_regex(texts, notation(",", (".", " ", "'")))
    strange = pc.sum(counts.filter(pc.invert(pc.or_(point, comma)))).as_py() or 0
    if strange > STRANGE_SHARE * total:
        return Notation(texts, problem=problem) if problem else None
    if problem:
        return Notation(texts, problem=problem)
    return _evidence(texts, pc.and_not(point, comma), pc.and_not(comma, point))._replace(unit=unit)


def _evidence(texts: pa.Array, point: pa.Array, comma: pa.Array) -> Notation:
    """Evidence from numbers that certainly have a decimal mark: `point` and `comma` mark where those are."""
    points, commas = (texts.filter(where) for where in (pc.and_(point, _has_mark(texts)), comma))
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
    if _are_groups(texts, either, mark):
        return Notation(texts, _OTHER[mark], either[0].as_py())
    return Notation(texts, ambiguous=either[0].as_py())


def _is_enough(certain_texts: pa.Array, either: pa.Array) -> bool:
    """Whether numbers with a decimal mark for certain outweigh those that fit both.

    0.285 is certain. Of fractions of three digits a tenth would be written with fewer, so a rare 12,5 among
    many like 1,285 says nothing.
    """
    certain = pc.any(pc.match_substring_regex(certain_texts, "^[+-]?0?[.,]")).as_py()
    return bool(certain or len(certain_texts) > _CERTAIN_SHARE * len(either))


def _are_groups(texts: pa.Array, either: pa.Array, mark: str) -> bool:
    """Whether 1.280 beside 45 must be a thousand: no fraction is written out here and cut off there."""
    ends_in_zero = pc.any(pc.match_substring_regex(either, "0$")).as_py()
    same_mark = pc.all(pc.match_substring(either, mark)).as_py()
    small = pc.any(pc.match_substring_regex(texts, "^[+-]?[1-9][0-9]{0,2}$")).as_py()
    large = pc.any(pc.match_substring_regex(texts, "[0-9]{4}")).as_py()
    return bool(len(either) >= _FEW_NUMBERS and ends_in_zero and same_mark and small and not large)


def _has_mark(texts: pa.Array) -> pa.Array:
    return pc.match_substring_regex(texts, "[.,]")


def _unit(texts: pa.Array, counts: pa.Array, total: int) -> tuple[str | None, str | None]:
    """The one sign at the numbers, if there is one; else why they don't add up, if they have several."""
    rests = pc.replace_substring_regex(texts, r"[0-9.,'()+\- ]", "")
    counts_of_unit: dict[str, int] = {}
    for rest, count in zip(rests.to_pylist(), counts.to_pylist(), strict=True):
        if rest and _is_unit(rest):
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


def _is_unit(rest: str) -> bool:
    is_sign = unicodedata.category(rest[-1]) == "Sc" and (len(rest) == 1 or rest[:-1].isalpha())
    return rest == PERCENT or rest in _CURRENCIES or (is_sign and len(rest) <= 4)


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
        raise ImportRefused(_question(file, unsure, columns[unsure], certain))
    if unsure is not None and decimal is not None:
        main = decimal
    main = main or decimal or ("unknown" if columns else ".")
    marks_of = {
        name: _marks(column, column.decimal or main, thousands)
        for name, column in columns.items()
        if not column.problem
    }
    candidates = [marks.thousands for marks in marks_of.values() if marks.decimal == main and marks.thousands]
    common = thousands or max(dict.fromkeys(candidates), key=candidates.count, default=None)
    if common is None and main == ",":
        common = "."
    return FileMarks(main, common, _complete(marks_of, main, common))


def _complete(marks_of: Mapping[str, Marks], main: str, common: str | None) -> dict[str, Marks]:
    """Marks of columns, with the thousands mark of the file where a column shows none."""
    return {
        name: marks if marks.thousands or marks.decimal != main else marks._replace(thousands=common)
        for name, marks in marks_of.items()
    }


def _marks(column: Notation, decimal: str, thousands: str | None) -> Marks:
    """The marks of a column whose decimal mark is known."""
    other = [_OTHER[decimal]] if decimal in _OTHER else []
    counts = {
        mark: pc.sum(pc.match_substring(column.texts, mark)).as_py() or 0 for mark in (*other, " ", "'")
    }
    best = max(counts, key=lambda mark: counts[mark])
    return Marks(decimal, thousands or (best if counts[best] else None), column.unit)


def _question(file: str, name: str, column: Notation, certain: Mapping[str, Notation]) -> str:
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


def example_of(column: Notation, marks: Marks) -> str | None:
    """An example of how a column is read, where that is not as a computer writes it: `12,50 is 12.5`."""
    sample = (column.ambiguous, column.example, *column.texts.slice(0, 1000).to_pylist())
    texts = pa.array([text for text in sample if text], pa.string())
    for text, number in zip(texts.to_pylist(), plain_numbers(texts, marks).to_pylist(), strict=True):
        if number is not None and (number != text or is_ambiguous(text)):
            return f"{text} is {float(number):.15g}"
    return None
