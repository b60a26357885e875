"""The rows of an Audience as JSON, written by columns: each number is formatted once, then joined by bytes.

The bytes are those that orjson writes of the same rows as dictionaries, in a third of the time; Arrow joins
them without holding up other threads.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.answers import Audience

EXTRAS = ("low", "high", "n_eff")
LARGEST_WHOLE = 2**53
BINARY, COMMA = pa.binary(), ord(",")
Part: TypeAlias = bytes | Any  # the same for all rows, or an Arrow array with an element for each


def rows_json(audience: Audience, part: slice) -> bytes:
    """The row objects in that part of the answer, with commas between them."""
    length = len(audience.values.iloc[part])
    if not length:
        return b""
    joined = _joined([b',{"data":[', *_data(audience, part), b"]", *_texts(audience, part), b"}"], length)
    _, offsets, content = joined.buffers()
    size = int(np.frombuffer(offsets, np.int32)[length])
    written: bytes = content.slice(1, size - 1).to_pybytes()
    return written


def numbers(column: pd.Series) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
    """Numbers for JSON: a column of whole numbers as integers; NaN stays, and is written as null."""
    values = np.ascontiguousarray(column.to_numpy(dtype=np.float64))
    if (np.abs(values) < LARGEST_WHOLE).all() and (values == np.floor(values)).all():
        return values.astype(np.int64)
    return values


def formatted(values: npt.NDArray[Any]) -> pa.Array:
    """Each number as JSON, as an array of bytes."""
    raw = np.frombuffer(orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY), np.uint8)[1:-1]
    is_comma = raw == COMMA
    ends = np.flatnonzero(is_comma)
    offsets = np.zeros(len(values) + 1, np.int32)
    offsets[1:-1] = ends - np.arange(len(ends))
    offsets[-1] = len(raw) - len(ends)
    return pa.Array.from_buffers(
        BINARY, len(values), [None, pa.py_buffer(offsets), pa.py_buffer(raw[~is_comma])]
    )


def _data(audience: Audience, part: slice) -> Iterator[Part]:
    """The cells of each data field, `{"name":…,"value":…,"percent":…}`."""
    frames = {"value": audience.values, "percent": audience.percents}
    frames |= {extra: frame for extra in EXTRAS if (frame := getattr(audience, extra)) is not None}
    for place, name in enumerate(audience.values):
        yield b'%b{"name":%b' % (b"," if place else b"", orjson.dumps(name))
        for key, frame in frames.items():
            if name in frame:
                yield b',"%b":' % key.encode()
                yield formatted(numbers(frame[name].iloc[part]))
        yield b"}"


def _texts(audience: Audience, part: slice) -> Iterator[Part]:
    yield from _list(b',"name":[', audience.names.iloc[part])
    if audience.descriptions is not None:
        yield from _list(b',"description":[', audience.descriptions.iloc[part])
    if audience.confidence_range is not None:
        yield b',"confidence_range":'
        yield _quoted(audience.confidence_range.iloc[part])


def _list(opens: bytes, texts: pd.DataFrame) -> Iterator[Part]:
    yield opens
    for place, name in enumerate(texts):
        if place:
            yield b","
        yield _quoted(texts[name])
    yield b"]"


def _quoted(texts: pd.Series) -> pa.Array:
    """Each text as JSON; one that repeats is written once."""
    places, known = pd.factorize(texts, use_na_sentinel=False)
    return pa.array([orjson.dumps(text) for text in known], BINARY).take(pa.array(places))


def _joined(parts: list[Part], length: int) -> pa.Array:
    """The parts of each row one after the other; neighbouring constants are one."""
    merged: list[Part] = []
    for part in parts:
        if merged and isinstance(part, bytes) and isinstance(merged[-1], bytes):
            merged[-1] += part
        else:
            merged.append(part)
    columns = [pa.scalar(part, BINARY) if isinstance(part, bytes) else part for part in merged]
    whole = pa.array([b""] * length, BINARY)
    return pc.binary_join_element_wise(whole, *columns, pa.scalar(b"", BINARY))
