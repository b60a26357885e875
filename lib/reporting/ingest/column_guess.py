"""Guess the role of a sample's column, key field or data field: by its values, if in doubt by its name."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.ingest import cells, column_names
from lib.reporting.ingest.cells import Missing
from lib.reporting.ingest.number_guess import STRANGE_SHARE
from lib.reporting.ingest.numbers import PERCENT, PLAIN, Marks
from lib.reporting.ingest.rejects import is_total

Floats = npt.NDArray[np.float64]
_SEPARATORS = "|;,"
_LOOKED_AT = 10_000
_FEW = 20
_FEW_SHARE = 0.01
_ENUMERATED_SHARE = 0.5
_SEPARATED_SHARE = {"|": 0.05, ";": 0.2, ",": 0.2}
_MAX_ELEMENT = 40
_MAPPED_SHARE = 0.8
_DASHED = r"^\p{Sc} *[-–—]+$|^[-–—]+ *\p{Sc}$"


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

    def mapped(self, values: pa.Array, mappings: Mapping[str, Collection[str]]) -> "ColumnGuess":
        """The same with the mapping whose codes most of the column's values are, if there is one."""
        if not self.is_key or "segmented" in self.options or pa.types.is_nested(values.type):
            return self
        different = set(cells.text(values).drop_null().unique().to_pylist())
        for name, codes in mappings.items():
            if different and len(different.intersection(codes)) >= _MAPPED_SHARE * len(different):
                options = self.options | {"mapping": name}
                return self._replace(options=options).noted(f"codes of the mapping {name}")
        return self

    def noted(self, note: str) -> "ColumnGuess":
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
    found = _number(name, number.values.drop_null().to_numpy(zero_copy_only=False), marks)
    if not strange:
        return found
    return (
        _text(name, present) if found.is_key else found.noted(f"{strange:.2%} of the values are not numbers")
    )


def present_texts(values: pa.Array, missing: Missing) -> pa.Array:
    """The trimmed texts of a column, without those that say that there is no value."""
    texts = cells.without_missing(cells.trimmed(cells.text(values)), missing)
    return texts.filter(pc.invert(pc.match_substring_regex(texts, _DASHED).fill_null(True)))


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
