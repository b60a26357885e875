"""An Audience as the specification's JSON, and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import pandas as pd

from lib.reporting.answers import Audience, Precision, Total, Values

CHUNK = 5_000
EXTRAS = ("low", "high", "n_eff")
LARGEST_WHOLE = 2**53


def encode(audience: Audience) -> Iterator[bytes]:
    """The body of a successful audience answer, in pieces of a few thousand rows."""
    head = {"status": "success", "total": encode_total(audience.total)}
    if audience.precision is not None:
        head["precision"] = encode_precision(audience.precision)
    yield orjson.dumps(head)[:-1] + b',"rows":['
    for at in range(0, len(audience), CHUNK):
        rows = orjson.dumps(_rows(audience, slice(at, at + CHUNK)))
        yield (b"," if at else b"") + rows[1:-1]
    yield b"]}"


def encode_total(total: Total) -> dict[str, Any]:
    """The `total` object."""
    extras = {extra: getattr(total, extra) for extra in EXTRAS}
    data = [
        {"name": name, "value": _plain(value)}
        | {extra: found[name] for extra, found in extras.items() if found}
        for name, value in total.values.items()
    ]
    body: dict[str, Any] = {"data": data, "records_found": total.records_found, "dates": list(total.dates)}
    return body | ({} if total.confidence_range is None else {"confidence_range": total.confidence_range})


def encode_precision(precision: Precision) -> dict[str, Any]:
    """The `precision` object (*extension*)."""
    return {
        "records_read": precision.records_read,
        "records_in_range": precision.records_in_range,
        "missing": [{"name": name, "value": value} for name, value in precision.missing.items()],
        "unread": list(precision.unread),
    }


def decode(body: Mapping[str, Any], split_by: Sequence[str]) -> Audience:
    """The Audience of a successful answer to that split; KeyError, TypeError or ValueError if none."""
    rows, split = body["rows"], list(split_by)
    names = [[row["name"]] if isinstance(row["name"], str) else row["name"] for row in rows]
    cells = [{cell["name"]: cell for cell in row["data"]} for row in rows]
    total = decode_total(body["total"])
    fields = list(cells[0] if cells else total.values)
    shared = [field for field in fields if any("percent" in row[field] for row in cells)]
    extras = EXTRAS if body.get("precision") else ()
    confidence = [row.get("confidence_range") for row in rows]
    described = [row["description"] for row in rows] if rows and "description" in rows[0] else None
    return Audience(
        names=pd.DataFrame(names, columns=split, dtype="str"),
        values=_column_frame(cells, fields, "value"),
        percents=_column_frame(cells, shared, "percent"),
        total=total,
        descriptions=None if described is None else pd.DataFrame(described, columns=split, dtype="str"),
        confidence_range=pd.Series(confidence, dtype="str") if any(confidence) else None,
        precision=decode_precision(body["precision"]) if body.get("precision") else None,
        **{extra: _column_frame(cells, fields, extra) for extra in extras},
    )


def decode_total(total: Mapping[str, Any]) -> Total:
    """The Total of a `total` object."""
    return Total(
        values=_by_name(total["data"], "value"),
        records_found=int(total["records_found"]),
        dates=tuple(total.get("dates") or ()),
        confidence_range=total.get("confidence_range"),
        **{extra: _by_name([cell for cell in total["data"] if extra in cell], extra) for extra in EXTRAS},
    )


def decode_precision(precision: Mapping[str, Any]) -> Precision:
    """The Precision of a `precision` object."""
    return Precision(
        records_read=precision["records_read"],
        records_in_range=precision["records_in_range"],
        missing=_by_name(precision["missing"], "value"),
        unread=tuple(precision["unread"]),
    )


def _rows(audience: Audience, part: slice) -> list[dict[str, Any]]:
    names = audience.names.iloc[part].to_numpy(dtype=object).tolist()
    rows: list[dict[str, Any]] = [
        {"data": list(cells), "name": name} for cells, name in zip(_cells(audience, part), names, strict=True)
    ]
    if audience.descriptions is not None:
        described = audience.descriptions.iloc[part].to_numpy(dtype=object).tolist()
        for row, texts in zip(rows, described, strict=True):
            row["description"] = texts
    if audience.confidence_range is not None:
        for row, text in zip(rows, audience.confidence_range.iloc[part].tolist(), strict=True):
            row["confidence_range"] = text
    return rows


def _cells(audience: Audience, part: slice) -> Iterator[tuple[dict[str, Any], ...]]:
    frames = {"value": audience.values, "percent": audience.percents}
    frames |= {extra: frame for extra in EXTRAS if (frame := getattr(audience, extra)) is not None}
    columns = []
    for name in audience.values:
        fields = {key: _numbers(frame[name].iloc[part]) for key, frame in frames.items() if name in frame}
        columns.append(
            [
                dict(zip(("name", *fields), (name, *cell), strict=True))
                for cell in zip(*fields.values(), strict=True)
            ]
        )
    return zip(*columns, strict=True) if columns else iter([()] * len(audience.values.iloc[part]))


def _numbers(column: pd.Series) -> list[float | int]:
    """Numbers for JSON: a column of whole numbers as integers; NaN stays, and is written as null."""
    values = column.to_numpy(dtype=np.float64)
    if (np.abs(values) < LARGEST_WHOLE).all() and (values == np.floor(values)).all():
        values = values.astype(np.int64)
    numbers: list[float | int] = values.tolist()
    return numbers


def _plain(value: float | None) -> float | int | None:
    """A number of a total: an integer where it is whole."""
    return int(value) if value is not None and value.is_integer() and abs(value) < LARGEST_WHOLE else value


def _by_name(cells: Sequence[Mapping[str, Any]], key: str) -> Values:
    return {cell["name"]: None if cell[key] is None else float(cell[key]) for cell in cells}


def _column_frame(
    cells: Sequence[Mapping[str, Mapping[str, Any]]], names: Sequence[str], key: str
) -> pd.DataFrame:
    columns = {name: [row[name].get(key) for row in cells] for name in names}
    return pd.DataFrame(columns, index=pd.RangeIndex(len(cells))).astype("float64")
