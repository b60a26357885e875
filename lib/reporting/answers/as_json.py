"""An Audience as the specification's JSON, and back."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import orjson
import pandas as pd

from lib.reporting.answers import Audience, Precision, Total, Values
from lib.reporting.answers.rows_json import EXTRAS, LARGEST_WHOLE, rows_json

CHUNK = 5_000
MISSING = (None, "")
Cell = Mapping[str, Any]


def encode(audience: Audience) -> Iterator[bytes]:
    """The body of a successful audience answer, in pieces of a few thousand rows."""
    head = {"status": "success", "total": encode_total(audience.total)}
    if audience.precision is not None:
        head["precision"] = encode_precision(audience.precision)
    yield orjson.dumps(head)[:-1] + b',"rows":['
    for at in range(0, len(audience), CHUNK):
        yield (b"," if at else b"") + rows_json(audience, slice(at, at + CHUNK))
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
    return Audience(
        names=_texts_of(split, [row["name"] for row in rows] if split else [[]] * len(rows)),
        values=values,
        percents=_percents_of(fields, cells, total, len(rows)),
        total=total,
        descriptions=_texts_of(split, [row["description"] for row in rows])
        if split and rows and "description" in rows[0]
        else None,
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
    found, data = total.get("records_found"), total.get("data") or []
    return Total(
        values=_by_name(data, "value"),
        records_found=rows if found is None else int(found),
        dates=tuple(total.get("dates") or ()),
        confidence_range=_in_percent(total.get("confidence_range")),
        missing=_by_name(total.get("missing") or [], "value"),
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
    )


def _plain(value: float | None) -> float | int | None:
    """A number of a total: an integer where it is whole."""
    return int(value) if value is not None and value.is_integer() and abs(value) < LARGEST_WHOLE else value


def _by_name(cells: Sequence[Cell], key: str) -> Values:
    return {cell["name"]: None if cell[key] in MISSING else float(cell[key]) for cell in cells}


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
    found = [{cell["name"]: cell for cell in row["data"]} for row in rows]
    return fields, [row.get(field, absent) for row in found for field in fields]


def _numbers_of(fields: list[str], values: list[Any], rows: int) -> pd.DataFrame:
    """A column per field from the values of all rows, which may be numbers, their texts, or missing."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        numbers = np.array([None if value in MISSING else value for value in values], dtype=np.float64)
    return pd.DataFrame(numbers.reshape(rows, len(fields)), columns=pd.Index(fields, dtype="str"))


def _percents_of(fields: list[str], cells: list[Cell], total: Total, rows: int) -> pd.DataFrame:
    """The shares of the fields that have any; with a total of zero they are present but missing."""
    percents = _numbers_of(fields, [cell.get("percent") for cell in cells], rows)
    known = percents.notna().any()
    zero = [name for name in fields if not known[name] and not total.values.get(name)]
    for name in zero:
        known[name] = any("percent" in cell for cell in cells[fields.index(name) :: len(fields)])
    return percents.loc[:, known]


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
