"""Raw cells → what is stored: text, numbers, whole numbers, elements. Empty is missing, never wrong."""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from lib.ingest.layout import once_each
from lib.ingest.numbers import PERCENT, PLAIN, Marks, is_ambiguous, is_dash, notation, plain_numbers
from lib.slicers.definition.reading import Spelling

Flags = npt.NDArray[np.bool_]
Missing: TypeAlias = pa.Array | None
LONGEST_VALUE = 8192
"""In bytes, of a key: what web servers usually accept as the longest address."""
_SHORTEST = r"^(?:0|-?[1-9][0-9]*)$"
_SPELLINGS: dict[Spelling, str] = {
    "any": r"^[+-]?[0-9]+(\.0*)?$", "plain": _SHORTEST, "decimal": r"^(?:0|-?[1-9][0-9]*)(?:\.0*)?$",
}  # fmt: skip
_SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


class Cells(NamedTuple):
    """Values in their stored type, and which of them could not be read (None: all could)."""

    values: pa.Array
    bad: Flags | None = None


class NotPlain(ValueError):
    """The column holds lists or other nested values where one value is needed."""


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """The cells as one array; combine_chunks() would copy a single chunk too."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def text(column: pa.Array) -> pa.Array:
    """Text of any cells: booleans as true and false, whole numbers without a fraction, "" as missing.

    NotPlain for lists and maps.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return text(column.dictionary_decode())
    if pa.types.is_nested(kind):
        raise NotPlain
    if pa.types.is_floating(kind):
        numbers = column.cast(pa.float64())
        numbers = pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)
        is_whole = pc.and_(pc.equal(pc.floor(numbers), numbers), pc.less(pc.abs(numbers), 2.0**63))
        as_whole = pc.if_else(is_whole, numbers, pa.scalar(None, pa.float64())).cast(pa.int64())
        column = pc.coalesce(as_whole.cast(pa.string()), numbers.cast(pa.string()))
    elif pa.types.is_decimal(kind) or pa.types.is_time(kind):
        column = pc.replace_substring_regex(column.cast(pa.string()), r"\.0+$", "")
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        column = pa.array(
            [value and value.decode("utf-8", "replace") for value in column.to_pylist()], pa.string()
        )
    plain = column.cast(pa.string())
    return pc.if_else(pc.equal(plain, ""), pa.scalar(None, pa.string()), plain)


def number(column: pa.Array, marks: Marks = PLAIN, missing: Missing = None) -> Cells:
    """Numbers as float64. Not-a-number of a float column is missing; infinite ones can't be read."""
    kind = column.type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = column.cast(pa.float64(), safe=False)
        if pa.types.is_integer(kind) or pc.all(pc.is_finite(values)).as_py() is not False:
            return Cells(values)
        return _finite(pc.if_else(pc.is_nan(values), pa.scalar(None, pa.float64()), values))
    if pa.types.is_boolean(kind):
        return Cells(column.cast(pa.uint8()).cast(pa.float64()))
    plain = text(column)
    may_be_marks = marks.decimal == "unknown" and pc.any(pc.match_substring(plain, ".")).as_py()
    if reads_quickly(missing) and marks.reads_plain and not may_be_marks:
        with suppress(pa.ArrowInvalid):
            values = plain.cast(pa.float64())
            if pc.all(pc.is_finite(values)).as_py() is not False:
                return Cells(values)
    raw = _number_texts(plain, marks, missing)
    numbers = plain_numbers(raw, marks)
    finite, bad = _finite(numbers.cast(pa.float64())), _false(pc.or_(numbers.is_valid(), raw.is_null()))
    wrong = [flags for flags in (bad, finite.bad) if flags is not None]
    return Cells(finite.values, np.logical_or.reduce(wrong) if wrong else None)


def whole(
    column: pa.Array, marks: Marks = PLAIN, missing: Missing = None, spelling: Spelling = "any"
) -> Cells:
    """Whole numbers of any size, as their shortest text: `007`, `+7` and `7.0` are `7` where any spelling is.

    Each different text is read once.
    """
    if pa.types.is_integer(column.type):
        return Cells(column.cast(pa.string()))
    plain = text(column)
    array = plain.dictionary_encode()
    are_digits = reads_quickly(missing) and marks.unit != PERCENT
    if are_digits and pc.all(pc.match_substring_regex(array.dictionary, _SHORTEST)).as_py() is not False:
        return Cells(plain)
    raw = _number_texts(array.dictionary, marks, missing)
    numbers = plain_numbers(raw, marks) if not marks.are_plain or marks.decimal == "unknown" else raw
    digits = pc.if_else(
        pc.match_substring_regex(numbers, _SPELLINGS[spelling]), numbers, pa.scalar(None, pa.string())
    )
    bad = _false(pc.or_(digits.is_valid(), raw.is_null()))
    for pattern, replacement in ((r"^\+|\.0*$", ""), (r"^(-?)0+([0-9])", r"\1\2"), (r"^-0$", "0")):
        digits = pc.replace_substring_regex(digits, pattern, replacement)
    values = digits.take(array.indices)
    if bad is None:
        return Cells(values)
    return Cells(values, np.append(bad, False)[array.indices.fill_null(len(bad)).to_numpy()])


def elements(column: pa.Array, separator: str | None, missing: Missing = None) -> pa.Array:
    """Lists of text: of a list column as it is, of text by its separator. No elements is missing.

    Blanks around elements and empty elements are left out; each different text is taken apart once. NotPlain
    for text without a separator.
    """
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        lists = column.cast(pa.list_(kind.value_type))
        return _lists(text(lists.flatten()), pc.list_value_length(lists))
    if separator is None and not pa.types.is_null(kind):
        raise NotPlain
    array = text(column).dictionary_encode()
    parts = pc.split_pattern(without_missing(array.dictionary, missing), separator or "|")
    return _lists(parts.flatten(), pc.list_value_length(parts)).take(array.indices)


def present(column: pa.Array, missing: Missing = None) -> pa.Array:
    """1.0 where there is a value, else missing: what a count adds up."""
    is_nested = pa.types.is_nested(column.type)
    has_value = (column if is_nested else without_missing(text(column), missing)).is_valid()
    return pc.if_else(has_value, 1.0, pa.scalar(None, pa.float64()))


def too_long(values: pa.Array) -> Flags | None:
    """Where a text, or one of a list of them, is longer than `LONGEST_VALUE`; None where none is."""
    if pa.types.is_dictionary(values.type):
        return None if too_long(values.dictionary) is None else too_long(text(values))
    is_list = pa.types.is_list(values.type)
    texts = values.flatten() if is_list else values
    if not pa.types.is_string(texts.type):
        return None
    long = pc.greater(pc.binary_length(texts), LONGEST_VALUE).fill_null(False)
    if not pc.any(long).as_py():
        return None
    flags = long.to_numpy(zero_copy_only=False)
    return np.isin(np.arange(len(values)), pc.list_parent_indices(values).filter(long)) if is_list else flags


def spelling(texts: pa.Array) -> Spelling:
    """How whole numbers are spelled: the narrowest spelling that reads all of these texts."""
    return next(
        (
            spelling
            for spelling in ("plain", "decimal")
            if pc.all(pc.match_substring_regex(texts, _SPELLINGS[spelling])).as_py()
        ),
        "any",
    )


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type is text."""
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(
        pa.types.is_string(plain) or pa.types.is_large_string(plain) or pa.types.is_string_view(plain)
    )


def dictionary_text(column: pa.Array, missing: Missing) -> pa.Array:
    """The text of any cells, null where they say that there is no value; of a dictionary still in one."""
    if not pa.types.is_dictionary(column.type):
        return without_missing(text(column), missing)
    values, codes = without_missing(text(column.dictionary), missing), column.indices
    if values.null_count:
        codes = pc.if_else(values.is_valid().take(codes), codes, pa.scalar(None, codes.type))
    return pa.DictionaryArray.from_arrays(codes, values.fill_null(""))


def words_like(texts: pa.Array, pattern: str) -> list[str]:
    """The different texts that match a pattern as a whole, in any case; of a dictionary maybe more."""
    different = texts.dictionary if pa.types.is_dictionary(texts.type) else texts.unique()
    words: list[str] = different.filter(
        pc.match_substring_regex(different, f"(?i)^(?:{pattern})$")
    ).to_pylist()
    return words


def trim(column: pa.Array) -> pa.Array:
    """Text without blanks around it; nothing but blanks is missing."""
    plain = pc.utf8_trim_whitespace(column)
    return pc.if_else(pc.equal(plain, ""), pa.scalar(None, pa.string()), plain)


def without_missing(texts: pa.Array, missing: Missing) -> pa.Array:
    """Texts, null where they say that there is no value."""
    if missing is None or not len(missing):
        return texts
    return pc.if_else(pc.is_in(texts, value_set=missing), pa.scalar(None, pa.string()), texts)


def reads_quickly(missing: Missing) -> bool:
    """Whether no number is a word for a missing value, so that a column of numbers alone has none."""
    return missing is None or not pc.any(pc.match_substring_regex(missing, notation(".", ()))).as_py()


def plain_table(columns: Sequence[tuple[str, pa.Array]]) -> pa.Table:
    """Columns of values and of lists of values, each under a name of its own."""
    plain = [part for name, column in columns for part in plain_columns(name, column)]
    return pa.Table.from_arrays([column for _, column in plain], names=once_each([name for name, _ in plain]))


_LISTS = (
    pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_map,
    pa.types.is_list_view, pa.types.is_large_list_view,
)  # fmt: skip


def plain_columns(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """A column as one or several without structs: `user` → `user.id`, `user.geo.city`.

    Lists of structs, and maps, become one list per field; lists of lists become one list. A duration is
    its seconds.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        if column.type == pa.uuid():
            texts = [value and str(uuid.UUID(bytes=value)) for value in column.storage.to_pylist()]
            yield name, pa.array(texts, pa.string())
        else:
            yield from plain_columns(name, column.storage)
    elif pa.types.is_struct(kind):
        for number, child in enumerate(column.flatten()):
            yield from plain_columns(f"{name}.{kind.field(number).name}", child)
    elif any(is_list(kind) for is_list in _LISTS):
        if pa.types.is_map(kind):
            entry = pa.struct([("key", kind.key_type), ("value", kind.item_type)])
            column = column.cast(pa.list_(entry))
        lists = column.cast(pa.list_(column.type.value_type))
        ends = np.cumsum([0, *pc.list_value_length(lists).fill_null(0).to_numpy()])
        for child_name, items in plain_columns(name, lists.flatten()):
            offsets = ends
            if pa.types.is_list(items.type):
                lengths = pc.list_value_length(items).fill_null(0).to_numpy()
                offsets, items = np.cumsum([0, *lengths])[ends], items.flatten()
            offsets = pa.array(offsets, pa.int32())
            yield child_name, pa.ListArray.from_arrays(offsets, items, mask=lists.is_null())
    elif pa.types.is_duration(kind):
        yield name, pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), _SECONDS[kind.unit])
    elif kind in (pa.string_view(), pa.binary_view()):
        yield name, column.cast(pa.string() if kind == pa.string_view() else pa.binary())
    else:
        yield name, column


def value_column(values: list[Any]) -> pa.Array:
    """Values as a column: of their own type where they share one, else as text (or lists of text).

    A number among texts never looks like one with a thousands mark: 1.285 becomes 1.2850.
    """
    try:
        array = pa.array(values)
    except (pa.ArrowException, OverflowError, TypeError):
        array = None
    if array is not None and not pa.types.is_nested(array.type):
        return array
    if any(isinstance(value, list) for value in values):
        lists = [value if isinstance(value, list) or value is None else [value] for value in values]
        return pa.array(
            [value and [_value_text(item) for item in value] for value in lists], pa.list_(pa.string())
        )
    return pa.array([_value_text(value) for value in values], pa.string())


def _number_texts(plain: pa.Array, marks: Marks, missing: Missing) -> pa.Array:
    """The texts that should be numbers, trimmed."""
    raw = without_missing(trim(plain), missing)
    return pc.if_else(is_dash(raw, marks.unit), pa.scalar(None, pa.string()), raw) if marks.unit else raw


def _finite(values: pa.Array) -> Cells:
    good = pc.is_finite(values)
    return Cells(pc.if_else(good, values, pa.scalar(None, pa.float64())), _false(good))


def _lists(items: pa.Array, lengths: pa.Array) -> pa.Array:
    """Lists of these lengths, with trimmed items and without empty ones."""
    plain = trim(items)
    is_present = plain.is_valid().to_numpy(zero_copy_only=False)
    counts = lengths.fill_null(0).to_numpy()
    owners = np.repeat(np.arange(len(counts)), counts)
    sizes = np.bincount(owners[is_present], minlength=len(counts))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(
        pa.array(offsets), plain.filter(pa.array(is_present)), mask=pa.array(sizes == 0)
    )


def _false(flags: pa.Array) -> Flags | None:
    """Where a flag is false (missing is not); None where none is."""
    wrong: Flags = ~flags.fill_null(True).to_numpy(zero_copy_only=False)
    return wrong if wrong.any() else None


def _value_text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, dict | list):
        return orjson.dumps(value).decode()
    return f"{value}0" if isinstance(value, float) and is_ambiguous(str(value)) else str(value)
