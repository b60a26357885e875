"""What a column of a sample is: a key field or a data field, and how its numbers come together.

A column's role is guessed by its values and its name: where they agree it is sure, else it has a `doubt`.
"""

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.ingest import cells, column_names
from lib.ingest.cells import Missing
from lib.ingest.layout import is_total
from lib.ingest.numbers import (
    PERCENT,
    PLAIN,
    PLAIN_FILE,
    STRANGE_SHARE,
    FileMarks,
    Marks,
    Notation,
    example_of,
)
from lib.slicers.definition.reading import GUESS
from lib.slicers.models import DURATION

Floats = npt.NDArray[np.float64]
_FEW = 20
"""So few different whole numbers are codes rather than amounts."""
_ID_ROWS = 10
"""In fewer rows nothing tells ids from amounts."""
_BEYOND = "whole numbers beyond 2⁵³, of which a sum would lose digits"


class ColumnGuess(NamedTuple):
    """A guess about a column, and its reason. `options` are the fields of its part of a definition.

    `doubt` is what may well be wrong about it, in words; empty where the guess is sure.
    """

    column: str
    is_key: bool
    options: dict[str, Any]
    reason: str
    doubt: str = ""

    def field(self, name: str) -> dict[str, Any]:
        """As it stands in a definition, under a name."""
        source = {} if name == self.column or "formula" in self.options else {"column": self.column}
        note = {"annotation": f"{GUESS}{self.doubt}"} if self.doubt else {}
        label = {"description": column_names.description(self.column)}
        return {"name": name, **source, **label, **self.options, **note}

    def with_mapping(self, values: pa.Array, mappings: Mapping[str, Collection[str]]) -> "ColumnGuess":
        """The same with the mapping whose codes most of the column's values are, if there is one."""
        if not self.is_key or "segmented" in self.options or pa.types.is_nested(values.type):
            return self
        different = set(cells.text(values).drop_null().unique().to_pylist())
        for name, codes in mappings.items():
            if different and len(different.intersection(codes)) >= 0.8 * len(different):
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
        what = "formula" if "formula" in self.options else what
        return f"{'key' if self.is_key else 'data'} field ({what})"


def guess_column(
    name: str,
    values: pa.Array,
    notation: Notation | None = None,
    file_marks: FileMarks = PLAIN_FILE,
    missing: Missing = None,
    is_database: bool = False,
) -> ColumnGuess:
    """A column's role, and how its numbers are read, of this `notation` in a file of these marks.

    In a database no key field can have a type with fractions: such a column is added up, unless its name is
    that of a code.
    """
    if notation and notation.has_magnitudes and not _is_named_number(name):
        present = present_texts(values, missing)
        doubt = f"text, though {present[0]} may be a number; then make it a data field"
        return _text_column(name, present)._replace(doubt=doubt)
    own = file_marks.columns.get(name, PLAIN)
    guess = _guess_role(name, values, own, missing, notation.problem if notation else None)
    is_code = column_names.is_id(name) or column_names.may_be_code(name) or column_names.is_version(name)
    if is_database and guess.is_key and pa.types.is_floating(values.type) and not is_code:
        numbers = values.filter(pc.is_finite(values)).to_numpy(zero_copy_only=False)
        return _data_column(
            name, numbers if len(numbers) else np.zeros(1), "numbers of a type with fractions"
        )
    if guess.is_key and not guess.options and not guess.doubt:
        guess = guess._replace(doubt=_text_doubt(name, values, present_texts(values, missing)))
    is_text = guess.is_key and guess.options.get("type") != "int"
    if notation is None or name not in file_marks.columns or is_text:
        return guess
    example = example_of(notation, own)
    guess = guess._replace(options=guess.options | file_marks.own(name))
    return guess.with_note(example) if example else guess


def present_texts(values: pa.Array, missing: Missing) -> pa.Array:
    """The trimmed texts of a column, without those that say that there is no value."""
    texts = cells.without_missing(cells.trim(cells.text(values)), missing)
    is_dash = pc.match_substring_regex(texts, r"^\p{Sc} *[-–—]+$|^[-–—]+ *\p{Sc}$")  # € -
    return texts.filter(pc.invert(is_dash.fill_null(True)))


def _guess_role(
    name: str, values: pa.Array, marks: Marks, missing: Missing, problem: str | None
) -> ColumnGuess:
    """The role of a column whose texts have these `marks`, or are no numbers because of a `problem`."""
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        items, doubt = cells.text(values.flatten()).drop_null().unique(), ""
        if not column_names.is_id(name) and len(items):
            are_numbers = pc.all(pc.match_substring_regex(items, "^[0-9.]+$")).as_py()
            if pc.all(pc.starts_with(items, "{")).as_py():
                doubt = "each value is an object; what is in it is neither a field nor added up"
                doubt += ": make a row of each"
            elif column_names.is_amount(name) and are_numbers:
                doubt = "amounts in lists are not added up: make a row of each"
        return ColumnGuess(name, True, {"segmented": True}, "lists", doubt)
    if pa.types.is_floating(values.type):  # infinite ones are rejected row by row
        values = pc.if_else(pc.is_finite(values), values, pa.scalar(None, values.type))
    is_nested = pa.types.is_nested(values.type)
    present = pa.array([], pa.string()) if is_nested else present_texts(values, missing)
    if not len(present):
        return ColumnGuess(name, True, {}, "no values in the sample")
    if pa.types.is_boolean(values.type):
        return ColumnGuess(name, True, {}, "true or false")
    if problem:
        doubt = "if this is a figure, write its numbers in one way, a currency in a column of its own"
        return ColumnGuess(name, True, {}, f"text: {problem}", doubt)
    if marks.unit == DURATION and column_names.sounds_like_clock(name):
        return _text_column(name, present)
    return _guess_texts(name, present, marks, pa.types.is_floating(values.type))


# A spreadsheet writes numbers of twelve digits and more so; R writes 1e+05, which has all of its digits.
_ROUNDED = r"^[0-9][.,]?[0-9]*[eE]\+?(?:1[1-9]|[2-9][0-9])$"
_LOST_DIGITS = "were rounded by a spreadsheet and are lost: export it as text"


def _guess_texts(name: str, present: pa.Array, marks: Marks, is_float: bool) -> ColumnGuess:
    """The role of a column by its texts; those of floats were numbers of a computer."""
    if pc.any(pc.match_substring_regex(present, _ROUNDED)).as_py() and not column_names.is_amount(name):
        return _text_column(name, present)._replace(doubt=f"the digits of {present[0]} {_LOST_DIGITS}")
    number = cells.number(present, marks)
    strange = 0.0 if number.bad is None else float(number.bad.mean())
    is_duration = marks.unit == DURATION and not strange
    # A code may have marks in it: version 10.1, or the list 48,57 in `tag_ids`.
    is_code = column_names.is_version(name) or (column_names.is_id(name) and not column_names.is_mean(name))
    no_amount = "^0[0-9]|[0-9][.,][0-9]" + ("" if is_float else "|[eE]") if is_code else "^0[0-9]"
    has_codes = pc.any(pc.match_substring_regex(present, no_amount)).as_py()
    if not is_duration and (strange > STRANGE_SHARE or has_codes):
        return _text_column(name, present)
    guess = _number_column(name, number.values.drop_null().to_numpy(zero_copy_only=False), marks)
    if guess.is_key and (spelling := cells.spelling(present)) != "any":
        guess = guess._replace(options=guess.options | {"spelling": spelling})
    if is_float and guess.reason == _BEYOND:
        guess = guess._replace(doubt=f"digits beyond the 15th {_LOST_DIGITS}")
    if not strange:
        return guess
    if guess.is_key:
        return _text_column(name, present)
    return guess.with_note(f"{strange:.2%} of the values are not numbers")


def _is_named_number(name: str) -> bool:
    return column_names.is_amount(name) or column_names.is_mean(name) or column_names.may_be_mean(name)


def _number_column(name: str, values: Floats, marks: Marks) -> ColumnGuess:
    if marks.unit:
        return _data_column(name, values, f"numbers with {marks.unit}", marks)
    if (values % 1 != 0).any():
        return _data_column(name, values, "numbers with a fraction")
    if np.abs(values).max() >= 2.0**53:  # from here on they lose digits as float64
        return ColumnGuess(name, True, {"type": "int"}, _BEYOND)
    if column_names.is_id(name) and not column_names.is_mean(name):
        return ColumnGuess(name, True, {"type": "int"}, "whole numbers, named like a code")
    is_amount = column_names.is_amount(name) and not column_names.is_mean(name)
    if _is_named_number(name) or column_names.counts_people(name) or (values < 0).any():
        reason = "whole numbers, named like an amount" if is_amount else "whole numbers"
        return _data_column(name, values, reason)
    different = len(np.unique(values))
    is_code = column_names.may_be_code(name)
    if not values.any() and not is_code:
        doubt = "zeros alone, added up as counts; if they are codes, make it a key field"
        return _data_column(name, values, "zeros")._replace(doubt=doubt)
    if is_code and different <= max(_FEW, 0.05 * len(values)):
        return ColumnGuess(name, True, {"type": "int"}, f"{different} whole numbers, named like a code")
    if different <= min(_FEW, 0.01 * len(values)):
        doubt = f"codes rather than amounts, as only {different} differ; if they add up, make it a data field"
        return ColumnGuess(name, True, {"type": "int"}, f"only {different} different whole numbers", doubt)
    digits, reason = len(str(int(values.min()))), ""
    if different == len(values) and values.min() >= 10**5 and values.max() < 10**digits:
        reason = f"as many different numbers as rows, all of {digits} digits"
    elif different <= len(values) / 2 and np.median(values) >= 10**4:
        reason = f"{different} large numbers that repeat"
    if not reason or len(values) < _ID_ROWS:
        return _data_column(name, values, "whole numbers")
    return ColumnGuess(name, True, {"type": "int"}, reason, f"an id rather than an amount: {reason}")


def _data_column(name: str, values: Floats, reason: str, marks: Marks = PLAIN) -> ColumnGuess:
    aggregate, doubt = _aggregate(name, values, marks)
    options: dict[str, Any] = {} if aggregate == "sum" else {"aggregate": aggregate}
    if marks.unit == DURATION:
        note = "durations in seconds; " + (
            "an average, so it is averaged" if aggregate == "mean" else "added up"
        )
        return ColumnGuess(name, False, options | {"display_pattern": DURATION}, note, doubt)
    if aggregate == "mean" or (values % 1 != 0).any():
        small = float(np.median(np.abs(values))) < 1
        options |= {"display_type": "float", "display_precision": 4 if small else 2}
    note = "; a price or a rate, so it is averaged" if aggregate == "mean" and not doubt else ""
    return ColumnGuess(name, False, options, reason + note, doubt)


def _aggregate(name: str, values: Floats, marks: Marks) -> tuple[str, str]:
    """How numbers come together, and what may be wrong about that."""
    if extreme := column_names.extreme(name):
        return extreme, ""
    if marks.unit == PERCENT or column_names.is_mean(name):
        return "mean", ""
    is_share = bool((values >= 0).all() and (values <= 1).all())
    has_fraction = bool((values % 1 != 0).any())
    if column_names.may_be_mean(name):
        if has_fraction or (is_share and values.any()):
            return "mean", "averaged as a rate; if these are amounts, leave out the aggregate"
        is_count = values.max() > 100
        return "sum", "" if is_count else "added up as counts; if these are rates, write aggregate: mean"
    if column_names.counts_people(name) and not has_fraction:
        return "sum", "added up, so whoever is in several rows counts several times"
    if has_fraction and is_share and not column_names.is_amount(name):
        return "mean", "averaged, as all values are from 0 to 1; if they add up, leave out the aggregate"
    if column_names.is_amount(name) and name.lower() != "value":
        return "sum", ""
    return "sum", "added up, although its name says nothing; if these are rates, write aggregate: mean"


def _text_column(name: str, present: pa.Array) -> ColumnGuess:
    is_list = column_names.sounds_like_list(name)
    separator = next((mark for mark in "|;," if _is_separated(present, mark, is_list)), None)
    if separator:
        example = present.filter(pc.match_substring(present, separator))[0]
        return ColumnGuess(name, True, {"segmented": separator}, f"several values, such as {example}")
    if column_names.sounds_like_users(name):
        return ColumnGuess(name, True, {}, "text; if these are users, make it an audience source")
    different = present.unique()
    totals = [text for text in different.slice(0, 10_000).to_pylist() if is_total(text)]
    warning = (
        f"; WARNING: rows of '{totals[0]}' count beside others: twice, if they are totals" if totals else ""
    )
    reason = f"text, {len(different):,} different in {len(present):,} rows{warning}"
    # UTF-8 that was read as Windows-1252 once, `Ã…hus` for Åhus.
    for text in different.filter(pc.match_substring_regex(different, "[ÃÂâÐ].")).slice(0, 100).to_pylist():
        with suppress(UnicodeError):
            right = text.encode("cp1252").decode("utf-8")
            what = f"'{text}' seems to be '{right}' in another encoding than the file's"
            return ColumnGuess(name, True, {}, reason, f"{what}; export the column in UTF-8")
    return ColumnGuess(name, True, {}, reason)


_NEARLY_A_NUMBER = r"^[^\pL\pN<>~]{0,4}[0-9][0-9,' ]*(?:[.,][0-9]+)?[^\pL\pN<>~]{0,4}$"
_METRIC_NAMES = {
    "metric", "metrics", "measure", "measures", "kpi", "indicator", "kennzahl", "metrik", "metrica",
    "variable",
}  # fmt: skip


def _text_doubt(name: str, values: pa.Array, present: pa.Array) -> str:
    """What may be wrong about a column of texts: most are numbers, or each stands for the rows below it."""
    different = present.unique()
    if not len(different):
        return ""
    is_number = pc.match_substring_regex(present, _NEARLY_A_NUMBER)
    share = pc.mean(is_number).as_py()
    if (0.5 <= share < 1 or (share < 1 and _is_named_number(name))) and not column_names.is_id(name):
        example = present.filter(pc.invert(is_number))[0]
        return f"text, as '{example}' is no number; if this is a figure, write it as one"
    words = {*column_names.split_words(name)} - {"name", "names"}
    if len(words) == 1 and words <= _METRIC_NAMES and len(different) <= _FEW:
        names = ", ".join(different.slice(0, 3).to_pylist())
        return f"rows of different metrics ({names}) are added up together: make a column of each"
    empty = len(values) - len(present)
    if 1 < len(different) == len(present) <= empty and values[0].as_py() == present[0].as_py():
        return (
            f"empty in {empty:,} of {len(values):,} rows, and no value comes twice: if each stands for "
            "the rows below it too, fill it in there"
        )
    return ""


_UNNAMED = re.compile(r"column_[0-9]+|#|(?:unnamed: 0|index|row|no\.?|nr\.?|row number)", re.IGNORECASE)


def numbers_rows(name: str, values: pa.Array) -> bool:
    """Whether a column without a name of its own numbers the rows from 0 or 1, as pandas writes an index."""
    if not _UNNAMED.fullmatch(name) or len(values) < _ID_ROWS or values.null_count:
        return False
    first = cells.text(values)[0].as_py()
    numbers = pa.array(range(len(values))) if first == "0" else pa.array(range(1, len(values) + 1))
    return bool(cells.text(values).equals(numbers.cast(pa.string())))


_ENUMERATED_SHARE = 0.5  # elements of lists come back: at most so many of them are different
_SEPARATED_SHARE = {"|": 0.05, ";": 0.2, ",": 0.2}  # of texts that have the mark


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
    if pc.max(pc.utf8_length(parts)).as_py() > 40:  # in no list are elements this long
        return False
    comes_back = pc.count_distinct(parts).as_py() <= _ENUMERATED_SHARE * len(parts)
    if pc.count_distinct(counts).as_py() > 1:
        return bool(comes_back or mark == "|")
    if is_list or not comes_back:
        return bool(comes_back)
    # Whether the same element comes at several positions of lists of the same length.
    positions = range(counts[0].as_py())
    sets = [set(pc.list_element(lists, position).unique().to_pylist()) for position in positions]
    return len(set[str]().union(*sets)) < sum(map(len, sets))
