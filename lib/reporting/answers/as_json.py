"""An Audience as the specification's JSON, and back.

Rows are written by columns: the numbers of a column are formatted in one call. A row is a sequence of pieces,
one per number or text, each with what stands before it (`,"percent":12.5`). The pieces of a column lie one
after the other, as orjson writes its numbers; Arrow joins them row by row. The bytes are those that orjson
writes of the same rows as dictionaries, in a quarter of the time.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from itertools import chain
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel

from lib.reporting.answers import Audience, Precision, Total, Values
from lib.slicers.digits import LARGEST_WHOLE

FEW_CELLS = 512  # written one by one in less time than by columns
CHUNK_CELLS = 120_000  # formatted at once: their texts fit into memory that is reused
PIECE_BYTES = 1 << 18
MISSING = (None, "")
Cell = Mapping[str, Any]
EXTRAS = ("low", "high", "n_eff")
CURRENCY = "currency", "withheld"
"""The currency of money; where it has no value as its records are in several, why."""
COMMA = ord(",")
ESCAPED = np.isin(np.arange(256), [*range(32), *b'"\\'])  # bytes that JSON writes otherwise (RFC 8259, 7)
Numbers = npt.NDArray[np.float64] | npt.NDArray[np.int64]
# what stands before each of a column's cells, and the column: numbers, texts or None
Cells = tuple[bytes, Any]
EXAMPLE = {
    "status": "success",
    "total": {
        "data": [{"name": "imps", "value": 41250}, {"name": "ctr", "value": 0.31}],
        "records_found": 2,
        "dates": ["2026-01-30", "2026-01-31"],
    },
    "rows": [
        {
            "data": [{"name": "imps", "value": 33000, "percent": 80}, {"name": "ctr", "value": 0.3}],
            "name": ["US"],
        },
        {
            "data": [{"name": "imps", "value": 8250, "percent": 20}, {"name": "ctr", "value": 0.35}],
            "name": ["CA"],
        },
    ],
}


class Figure(BaseModel):
    """The value of a data field; its range where it is an estimate; the currency of money, by a key field.

    Money in several currencies is `withheld`, with the reason, and has no value.
    """

    name: str
    value: float | None
    percent: float | None = None
    low: float | None = None
    high: float | None = None
    n_eff: float | None = None
    currency: str | None = None
    withheld: str | None = None


class AnswerRow(BaseModel):
    """The figures of one combination of the split's values, which are its `name`."""

    data: list[Figure]
    name: list[str]
    description: list[str] = []
    confidence_range: str | None = None


class TotalAnswer(BaseModel):
    """The figures of all rows."""

    data: list[Figure]
    records_found: int
    dates: list[date]
    confidence_range: str | None = None
    missing: list[Figure] = []


class AudienceAnswer(BaseModel):
    """The figures."""

    status: Literal["success"]
    total: TotalAnswer
    rows: list[AnswerRow]
    precision: Precision | None = None


def encode(audience: Audience) -> Iterator[bytes | memoryview]:
    """The body of a successful audience answer, in pieces of some 256 KB, whatever the width of a row."""
    head = {"status": "success", "total": encode_total(audience.total)}
    if audience.precision is not None:
        head["precision"] = encode_precision(audience.precision)
    yield orjson.dumps(head)[:-1] + b',"rows":['
    before, columns = b',{"data":[', []
    for opens, column in _cells(audience):
        before += opens
        if column is not None:
            columns.append((before, column))
            before = b""
    last, count = before + b"}", len(audience)
    if columns:
        columns[0] = (last + columns[0][0], columns[0][1])  # the end of a row stands before the next
    skip = len(last) + 1
    if count * len(columns) <= FEW_CELLS:
        contents = (
            [opens + orjson.dumps(cell) for cell in (whole(c) if isinstance(c, np.ndarray) else c).tolist()]
            for opens, c in columns
        )
        rows = chain.from_iterable(zip(*contents, strict=True)) if columns else [count * last]
        yield b"".join([*rows, last])[skip:]
    else:
        for index, (opens, c) in enumerate(columns):
            if isinstance(c, pa.DictionaryArray):  # each text of its dictionary is written once
                codes = pa.DictionaryArray.from_arrays(c.indices, texts(c.dictionary), safe=False)
                columns[index] = (opens, codes)
        chunk = 1 + CHUNK_CELLS // len(columns)
        for at in range(0, count, chunk):
            pieces = [*chain.from_iterable(_pieces(opens, c[at : at + chunk]) for opens, c in columns)]
            yield from _rows(pieces, min(chunk, count - at), 0 if at else skip)
        yield last
    yield b"]}"


def encode_total(total: Total) -> dict[str, Any]:
    """The `total` object."""
    extras = {extra: getattr(total, extra) for extra in EXTRAS}
    data = [
        {"name": name, "value": _plain(value)}
        | {extra: numbers_by_name[name] for extra, numbers_by_name in extras.items() if numbers_by_name}
        | ({CURRENCY[value is None]: total.currencies[name]} if name in total.currencies else {})
        for name, value in total.values.items()
    ]
    body: dict[str, Any] = {"data": data, "records_found": total.records_found, "dates": list(total.dates)}
    if total.confidence_range is not None:
        body["confidence_range"] = total.confidence_range
    if total.missing:
        body["missing"] = [{"name": name, "value": value} for name, value in total.missing.items()]
    return body


def encode_precision(precision: Precision) -> dict[str, Any]:
    """The `precision` object (*extension*)."""
    body = {
        "records_read": precision.records_read,
        "records_in_range": precision.records_in_range,
        "unread": list(precision.unread),
    }
    if precision.exact_milliseconds is not None:
        body["exact_milliseconds"] = precision.exact_milliseconds
    if precision.not_finite:
        body["not_finite"] = precision.not_finite
    return body


def decode(body: Mapping[str, Any], split_by: Sequence[str]) -> Audience:
    """The Audience of a successful answer to that split; KeyError, TypeError or ValueError if none.

    Services of this family send numbers as texts too, null for a text that is not there, and for a split by
    one key field one text as the `name` of a row: all of that is read.
    """
    rows, split = body["rows"] or [], list(split_by)
    total = decode_total(body["total"], len(rows))
    fields, cells = _align(rows, list(total.values))
    values = _numbers_of(fields, [cell["value"] for cell in cells], len(rows))
    confidence = [row.get("confidence_range") for row in rows]
    # The shares of the fields that have any; with a total of zero they are present but missing.
    percents = _numbers_of(fields, [cell.get("percent") for cell in cells], len(rows))
    has_any = percents.notna().any()
    zero = [name for name in fields if not has_any[name] and not total.values.get(name)]
    for name in zero:
        has_any[name] = any("percent" in cell for cell in cells[fields.index(name) :: len(fields)])
    return Audience(
        keys=_texts_of(split, [row["name"] for row in rows] if split else [[]] * len(rows)),
        values=values,
        percents=percents.loc[:, has_any],
        total=total,
        descriptions=_texts_of(split, [row["description"] for row in rows])
        if split and rows and "description" in rows[0]
        else None,
        currencies=_currencies_of(fields, cells, len(rows)),
        confidence_range=pd.Series(map(_in_percent, confidence), dtype="str")
        if any(text is not None for text in confidence)
        else None,
        precision=decode_precision(body["precision"]) if body.get("precision") else None,
        **{
            extra: _numbers_of(fields, [cell.get(extra) for cell in cells], len(rows))
            for extra in (EXTRAS if body.get("precision") else ())
        },
    )


def decode_total(total: Mapping[str, Any], rows: int = 0) -> Total:
    """The Total of a `total` object; `rows` is the default number of rows."""
    count, data = total.get("records_found"), total.get("data") or []
    return Total(
        values=_by_name(data, "value"),
        records_found=rows if count is None else int(count),
        dates=tuple(total.get("dates") or ()),
        confidence_range=_in_percent(total.get("confidence_range")),
        missing=_by_name(total.get("missing") or [], "value"),
        currencies={cell["name"]: text for cell in data if (text := _currency(cell))},
        **{extra: _by_name([cell for cell in data if extra in cell], extra) for extra in EXTRAS},
    )


def decode_precision(precision: Mapping[str, Any]) -> Precision:
    """The Precision of a `precision` object."""
    milliseconds = precision.get("exact_milliseconds")
    return Precision(
        records_read=int(precision["records_read"]),
        records_in_range=int(precision["records_in_range"]),
        unread=tuple(precision.get("unread") or ()),
        exact_milliseconds=None if milliseconds is None else int(milliseconds),
        not_finite={name: int(count) for name, count in (precision.get("not_finite") or {}).items()},
    )


def _plain(value: float | None) -> float | int | None:
    """A number of a total: an integer where it is whole."""
    return int(value) if value is not None and value.is_integer() and abs(value) < LARGEST_WHOLE else value


def _by_name(cells: Sequence[Cell], key: str) -> Values:
    return {cell["name"]: None if cell[key] in MISSING else float(cell[key]) for cell in cells}


def _currency(cell: Cell) -> str:
    return next((str(cell[key]) for key in CURRENCY if cell.get(key)), "")


def _currencies_of(fields: list[str], cells: Sequence[Cell], rows: int) -> pd.DataFrame | None:
    texts = np.array([_currency(cell) for cell in cells], object).reshape(rows, len(fields))
    names = {name for cell in cells for name in [cell.get("name")] if not cell.keys().isdisjoint(CURRENCY)}
    columns = {name: texts[:, at] for at, name in enumerate(fields) if name in names}
    return pd.DataFrame(columns, pd.RangeIndex(rows), dtype="str") if columns else None


def _in_percent(value: Any) -> str | None:
    """A confidence range as in the specification: a number as text."""
    if value in MISSING:
        return None
    text = str(value).removesuffix("%").strip()
    float(text)
    return text


def _align(rows: Sequence[Mapping[str, Any]], usual: list[str]) -> tuple[list[str], list[Cell]]:
    """The data fields, and the cells of all rows, each row's in that order."""
    fields = [cell["name"] for cell in rows[0]["data"]] if rows else usual
    cells = [cell for row in rows for cell in row["data"]]
    names = [cell["name"] for cell in cells]
    if names == fields * len(rows) and len(fields) == len(set(fields)):
        return fields, cells
    fields, absent = list(dict.fromkeys(names)), {"value": None}
    cells_by_name = [{cell["name"]: cell for cell in row["data"]} for row in rows]
    return fields, [row.get(field, absent) for row in cells_by_name for field in fields]


def _numbers_of(fields: list[str], values: list[Any], rows: int) -> pd.DataFrame:
    """A column per field from the values of all rows, which may be numbers, their texts, or missing."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        numbers = np.array([None if value in MISSING else value for value in values], dtype=np.float64)
    return pd.DataFrame(numbers.reshape(rows, len(fields)), columns=pd.Index(fields, dtype="str"))


def _texts_of(split: list[str], texts: list[Any]) -> pd.DataFrame:
    """A text column per key field from the rows' texts; missing values are the empty text."""
    if len(split) == 1:
        texts = [text if isinstance(text, list) else [text] for text in texts]
    if any(isinstance(text, str) for text in texts):
        raise TypeError("one text for several key fields")
    columns = zip(*texts, strict=True) if texts else [()] * len(split)
    frame = pd.DataFrame(
        {name: pd.Series(list(column), dtype="str") for name, column in zip(split, columns, strict=True)},
        index=pd.RangeIndex(len(texts)),
    )
    return frame.fillna("") if split else frame


def _rows(pieces: Sequence[bytes | pa.Array], length: int, skip: int) -> Iterator[memoryview]:
    """So many rows, each of its piece of every array and of what stands between these; without the first
    bytes."""
    size = sum(length * len(piece) if isinstance(piece, bytes) else piece.nbytes for piece in pieces)
    count = 1 + PIECE_BYTES * length // size
    for at in range(0, length, count):
        parts = (piece if isinstance(piece, bytes) else piece.slice(at, count) for piece in pieces)
        rows = pc.binary_join_element_wise(*parts, b"")
        end = int(np.frombuffer(rows.buffers()[1], np.int32)[len(rows)])
        yield memoryview(rows.buffers()[2])[skip:end]
        skip = 0


def _pieces(before: bytes, column: Any) -> Iterator[bytes | pa.Array]:
    """A column as JSON, with `before` in front of each cell."""
    if isinstance(column, np.ndarray):
        yield numbers(before, column)
        return
    yield before
    if isinstance(column, pa.DictionaryArray):
        yield column.dictionary_decode()
        return
    if isinstance(column, pd.Series):  # not copied where Arrow holds it already
        column = pa.array(column, from_pandas=True)
    yield texts(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)


def whole(values: npt.NDArray[np.float64]) -> Numbers:
    """Numbers for JSON: a column of whole numbers as integers; NaN stays, and is written as null."""
    if (np.abs(values) < LARGEST_WHOLE).all() and (values == np.floor(values)).all():
        return values.astype(np.int64)
    return np.ascontiguousarray(values)


def numbers(before: bytes, values: npt.NDArray[np.float64]) -> pa.Array:
    """Each number as JSON, with `before` in front of it."""
    content = orjson.dumps(whole(values), option=orjson.OPT_SERIALIZE_NUMPY)[1:-1]
    commas = np.flatnonzero(np.frombuffer(content, np.uint8) == COMMA)
    content = before + content.replace(b",", before)
    offsets = np.empty(len(values) + 1, np.int32)
    offsets[0], offsets[-1] = 0, len(content)
    offsets[1:-1] = commas + (len(before) - 1) * np.arange(1, len(values)) + 1
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(content)]
    return pa.Array.from_buffers(pa.binary(), len(values), buffers)  # without copying the content


def texts(values: pa.Array) -> pa.Array:
    """Each text as JSON."""
    large = values.cast(pa.large_string())
    _, offsets, content = large.buffers()
    if not large.null_count and content is not None:
        first, last = np.frombuffer(offsets, np.int64)[[large.offset, large.offset + len(large)]]
        if not ESCAPED[np.frombuffer(content, np.uint8)[first:last]].any():
            return pc.binary_join_element_wise(b'"', values.cast(pa.binary()), b'"', b"")
    column = values.dictionary_encode(null_encoding="encode")
    pieces = pa.array([orjson.dumps(text) for text in column.dictionary.to_pylist()], pa.binary())
    return pc.take(pieces, column.indices, boundscheck=False)


def _cells(audience: Audience) -> Iterator[Cells]:
    """The parts of a row in order: what comes before a cell, and the cells; None where nothing follows."""
    # The cells of each data field, `{"name":…,"value":…,"percent":…}`.
    frames = {"value": audience.values, "percent": audience.percents}
    frames |= {extra: frame for extra in EXTRAS if (frame := getattr(audience, extra)) is not None}
    blocks = {
        key: (frame.to_numpy(dtype=np.float64), {name: at for at, name in enumerate(frame)})
        for key, frame in frames.items()
    }
    for index, name in enumerate(audience.values):
        yield b'%b{"name":%b' % (b"," if index else b"", orjson.dumps(name)), None
        for key, (values, columns) in blocks.items():
            if name in columns:
                yield b',"%b":' % key.encode(), values[:, columns[name]]
        if audience.currencies is not None and name in audience.currencies:
            texts, is_missing = audience.currencies[name], audience.values[name].isna()
            for key, column in zip(CURRENCY, (texts.mask(is_missing), texts.where(is_missing)), strict=True):
                yield b',"%b":' % key.encode(), column
        yield b"}", None
    yield b"]", None
    yield from _list(b',"name":[', audience.keys)
    if audience.descriptions is not None:
        yield from _list(b',"description":[', audience.descriptions)
    if audience.confidence_range is not None:
        yield b',"confidence_range":', audience.confidence_range


def _list(opens: bytes, columns: pd.DataFrame | Mapping[str, pa.Array]) -> Iterator[Cells]:
    yield opens, None
    for index, (_, texts) in enumerate(columns.items()):
        yield b"," if index else b"", texts
    yield b"]", None
