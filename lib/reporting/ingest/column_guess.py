"""What a column of a sample is: a key field, or a data field; by its values first, by its name in doubt."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.ingest import cells, column_names

Floats = npt.NDArray[np.float64]
_SEPARATORS = "|;,"
_FEW = 20
_FEW_SHARE = 0.01
_ENUMERATED_SHARE = 0.5
_SEPARATED_SHARE = 0.2
_MAX_ELEMENT = 40
_MAPPED_SHARE = 0.8
_STRANGE_SHARE = 0.01


class ColumnGuess(NamedTuple):
    """What a column is taken for, and why. `options` are the fields of its part of a definition."""

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


def guess_column(name: str, values: pa.Array) -> ColumnGuess:
    """What a column is, from a sample of its values."""
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type):
        return ColumnGuess(name, True, {"segmented": True}, "lists")
    present = (
        cells.text(values).drop_null() if not pa.types.is_nested(values.type) else pa.array([], pa.string())
    )
    if not len(present):
        return ColumnGuess(name, True, {}, "no values in the sample")
    if pa.types.is_boolean(values.type):
        return ColumnGuess(name, True, {}, "true or false")
    number = cells.number(present)
    strange = 0.0 if number.bad is None else float(number.bad.mean())
    if strange > _STRANGE_SHARE or _has_leading_zeros(present):
        return _text(name, present)
    values = number.values.drop_null().to_numpy(zero_copy_only=False)
    found = _number(name, values)
    if not strange:
        return found
    return (
        _text(name, present) if found.is_key else found.noted(f"{strange:.2%} of the values are no numbers")
    )


def _number(name: str, values: Floats) -> ColumnGuess:
    if (values % 1 != 0).any():
        return _measure(name, values, "numbers with a fraction")
    if column_names.is_id(name):
        return ColumnGuess(name, True, {"type": "int"}, "whole numbers, named like a code")
    if column_names.is_amount(name) or (values < 0).any():
        return _measure(
            name, values, "whole numbers, named like an amount" if (values >= 0).all() else "numbers"
        )
    different = len(np.unique(values))
    if different <= min(_FEW, _FEW_SHARE * len(values)):
        return ColumnGuess(name, True, {"type": "int"}, f"only {different} different whole numbers")
    return _measure(name, values, "whole numbers")


def _measure(name: str, values: Floats, reason: str) -> ColumnGuess:
    aggregate = column_names.aggregate(name)
    options: dict[str, Any] = {} if aggregate == "sum" else {"aggregate": aggregate}
    if aggregate == "mean" or (values % 1 != 0).any():
        small = float(np.median(np.abs(values))) < 1
        options |= {"display_type": "float", "display_precision": 4 if small else 2}
    doubt = "; its name sounds like an average" if aggregate == "mean" else ""
    return ColumnGuess(name, False, options, reason + doubt)


def _text(name: str, present: pa.Array) -> ColumnGuess:
    separator = next((mark for mark in _SEPARATORS if _is_separated(present, mark)), None)
    if separator:
        return ColumnGuess(
            name, True, {"segmented": separator}, f"several values with {separator} between them"
        )
    if column_names.sounds_like_users(name):
        return ColumnGuess(name, True, {}, "text; if these are users, make it an audience source")
    different = pc.count_distinct(present).as_py()
    return ColumnGuess(name, True, {}, f"text, {different:,} different in {len(present):,} rows")


def _is_separated(present: pa.Array, mark: str) -> bool:
    """Whether a mark stands between values that come back in other rows, and never beside a blank."""
    has_mark = pc.match_substring(present, mark)
    if (
        pc.mean(has_mark).as_py() < _SEPARATED_SHARE
        or pc.any(pc.match_substring(present, f"{mark} ")).as_py()
    ):
        return False
    parts = pc.split_pattern(present, mark).flatten()
    longest = pc.max(pc.utf8_length(parts)).as_py()
    return bool(
        longest <= _MAX_ELEMENT and pc.count_distinct(parts).as_py() <= _ENUMERATED_SHARE * len(parts)
    )


def _has_leading_zeros(present: pa.Array) -> bool:
    return bool(pc.any(pc.match_substring_regex(present, "^0[0-9]")).as_py())
