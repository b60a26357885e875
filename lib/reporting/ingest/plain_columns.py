"""Columns of nested values → columns of plain values and of lists."""

import uuid
from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.ingest.layout import once_each

_SECONDS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def plain_table(columns: Sequence[tuple[str, pa.Array]]) -> pa.Table:
    """Columns of values and of lists of values, each under a name of its own."""
    plain = [part for name, column in columns for part in plain_columns(name, column)]
    return pa.Table.from_arrays([column for _, column in plain], names=once_each([name for name, _ in plain]))


def plain_columns(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    """A column as one or several without structs: `user` → `user.id`, `user.geo.city`.

    Lists of structs, and maps, become one list per field; lists of lists become one list. A duration is
    its seconds.
    """
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        yield from plain_columns(name, _storage(column))
    elif pa.types.is_struct(kind):
        for number, child in enumerate(column.flatten()):
            yield from plain_columns(f"{name}.{kind.field(number).name}", child)
    elif _is_list(kind):
        yield from _plain_lists(name, column)
    elif pa.types.is_duration(kind):
        yield name, pc.divide(column.cast(pa.int64()).cast(pa.float64(), safe=False), _SECONDS[kind.unit])
    elif kind in (pa.string_view(), pa.binary_view()):
        yield name, column.cast(pa.string() if kind == pa.string_view() else pa.binary())
    else:
        yield name, column


def _plain_lists(name: str, column: pa.Array) -> Iterator[tuple[str, pa.Array]]:
    if pa.types.is_map(column.type):
        entry = pa.struct([("key", column.type.key_type), ("value", column.type.item_type)])
        column = column.cast(pa.list_(entry))
    lists = column.cast(pa.list_(column.type.value_type))
    ends = np.cumsum([0, *pc.list_value_length(lists).fill_null(0).to_numpy()])
    is_null = lists.is_null()
    for child_name, items in plain_columns(name, lists.flatten()):
        offsets = ends
        if pa.types.is_list(items.type):
            lengths = pc.list_value_length(items).fill_null(0).to_numpy()
            offsets, items = np.cumsum([0, *lengths])[ends], items.flatten()
        yield child_name, pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), items, mask=is_null)


def _is_list(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_map,
        pa.types.is_list_view, pa.types.is_large_list_view,
    )  # fmt: skip
    return any(test(kind) for test in tests)


def _storage(column: pa.ExtensionArray) -> pa.Array:
    """The storage type of an extension type; a UUID is its text."""
    if column.type != pa.uuid():
        return column.storage
    texts = [value and str(uuid.UUID(bytes=value)) for value in column.storage.to_pylist()]
    return pa.array(texts, pa.string())
