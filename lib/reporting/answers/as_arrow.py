"""An Audience as an Arrow stream, and back (*extension*): a million rows do not travel as JSON.

Columns are named `name:<key field>`, `description:<key field>`, `value:<data field>`, `percent:…`, `low:…`,
`high:…`, `n_eff:…`, `currency:…` (of money; where it has no value, why) and `confidence_range`; all the rest
of the answer is JSON in the schema's metadata.
"""

import numpy as np
import orjson
import pandas as pd
import pyarrow as pa

from lib.reporting.answers import Audience, number_frame, text_frame
from lib.reporting.answers.as_json import (
    EXTRAS,
    decode_precision,
    decode_total,
    encode_precision,
    encode_total,
)

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
REST = b"tranche"
END = b"\xff\xff\xff\xff\x00\x00\x00\x00"  # Arrow columnar format, IPC streaming format: end-of-stream
NUMBERS = {"values": "value", "percents": "percent"} | {extra: extra for extra in EXTRAS}
TEXTS = {"keys": "name", "descriptions": "description", "currencies": "currency"}


def encode(audience: Audience) -> bytes:
    """The whole answer as one Arrow IPC stream."""
    columns: dict[str, pa.Array] = {}
    for attribute, prefix in TEXTS.items():
        frame = getattr(audience, attribute)
        for name, column in () if frame is None else frame.items():
            texts = pa.array(column, from_pandas=True) if isinstance(column, pd.Series) else column
            columns[f"{prefix}:{name}"] = texts.dictionary_encode()
    for attribute, prefix in NUMBERS.items():
        frame = getattr(audience, attribute)
        if frame is not None:
            block = frame.to_numpy(np.float64)
            for index, name in enumerate(frame):
                columns[f"{prefix}:{name}"] = pa.array(block[:, index], from_pandas=True)
    if audience.confidence_range is not None:
        columns["confidence_range"] = pa.array(audience.confidence_range, pa.string(), from_pandas=True)
    columns = columns or {"value:": pa.nulls(len(audience), pa.float64())}
    rest = {"status": "success", "total": encode_total(audience.total), "rows": len(audience)}
    if audience.precision is not None:
        rest["precision"] = encode_precision(audience.precision)
    table = pa.table(columns).replace_schema_metadata({REST: orjson.dumps(rest)})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def decode(body: bytes) -> Audience:
    """The Audience of such a stream. ValueError, KeyError or OSError where it is none, or not whole."""
    if not body.endswith(END):
        raise ValueError("the stream has no end")
    table = pa.ipc.open_stream(body).read_all()
    rest = orjson.loads(table.schema.metadata[REST])
    columns = set(table.column_names)
    frames = {name: _numbers(table, prefix) for name, prefix in NUMBERS.items()}
    texts = {name: text_frame(_columns(table, prefix), len(table)) for name, prefix in TEXTS.items()}
    confidence = (
        pd.Series(table["confidence_range"].to_pandas(), dtype="str")
        if "confidence_range" in columns
        else None
    )
    return Audience(
        keys=texts["keys"],
        values=frames["values"],
        percents=frames["percents"],
        **{name: frames[name] if frames[name].shape[1] else None for name in EXTRAS},
        **{name: texts[name] if texts[name].shape[1] else None for name in ("descriptions", "currencies")},
        total=decode_total(rest["total"]),
        confidence_range=confidence,
        precision=decode_precision(rest["precision"]) if "precision" in rest else None,
    )


def _numbers(table: pa.Table, prefix: str) -> pd.DataFrame:
    """One block of float64, column by column: a frame of separate columns takes ten times as long to make."""
    columns = _columns(table, prefix)
    block = np.empty((table.num_rows, len(columns)), order="F")
    for index, column in enumerate(columns.values()):
        block[:, index] = column.cast(pa.float64()).to_numpy()
    return number_frame(block, columns)


def _columns(table: pa.Table, prefix: str) -> dict[str, pa.ChunkedArray]:
    start = f"{prefix}:"
    return {
        name.removeprefix(start): table[name]
        for name in table.column_names
        if name.startswith(start) and name != start
    }
