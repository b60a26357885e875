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
MISSING = (None, "")
Cell = Mapping[str, Any]


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
    """The Audience of a successful answer to that split; KeyError, TypeError or ValueError if none.

    Services of this family send numbers as texts too, null for a text that is not there, and for a split by
    one key field one text as the `name` of a row: all of that is read.
    """
    rows, split = body["rows"] or [], list(split_by)
    total = decode_total(body["total"], len(rows))
    fields, cells = _aligned(rows, list(total.values))
    values = _numbers_of(fields, [cell["value"] for cell in cells])
    confidence = [row.get("confidence_range") for row in rows]
    return Audience(
        names=_texts_of(split, [row["name"] for row in rows] if split else [[]] * len(rows)),
        values=values,
        percents=_percents_of(fields, cells, total),
        total=total,
        descriptions=_texts_of(split, [row["description"] for row in rows])
        if split and rows and "description" in rows[0]
        else None,
        confidence_range=pd.Series(map(_in_percent, confidence), dtype="str")
        if any(text is not None for text in confidence)
        else None,
        precision=decode_precision(body["precision"]) if body.get("precision") else None,
        **{
            extra: _numbers_of(fields, [cell.get(extra) for cell in cells])
            for extra in (EXTRAS if body.get("precision") else ())
        },
    )


def decode_total(total: Mapping[str, Any], rows: int = 0) -> Total:
    """The Total of a `total` object; `rows` is how many there are where it does not say it."""
    found, data = total.get("records_found"), total.get("data") or []
    return Total(
        values=_by_name(data, "value"),
        records_found=rows if found is None else int(found),
        dates=tuple(total.get("dates") or ()),
        confidence_range=_in_percent(total.get("confidence_range")),
        **{extra: _by_name([cell for cell in data if extra in cell], extra) for extra in EXTRAS},
    )


def decode_precision(precision: Mapping[str, Any]) -> Precision:
    """The Precision of a `precision` object."""
    return Precision(
        records_read=int(precision["records_read"]),
        records_in_range=int(precision["records_in_range"]),
        missing=_by_name(precision.get("missing") or [], "value"),
        unread=tuple(precision.get("unread") or ()),
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


def _by_name(cells: Sequence[Cell], key: str) -> Values:
    return {cell["name"]: None if cell[key] in MISSING else float(cell[key]) for cell in cells}


def _in_percent(value: Any) -> str | None:
    """A confidence range as the specification has it: the text of a number."""
    if value in MISSING:
        return None
    text = str(value).removesuffix("%").strip()
    float(text)
    return text


def _aligned(rows: Sequence[Mapping[str, Any]], usual: list[str]) -> tuple[list[str], list[Cell]]:
    """The data fields, and the cells of all rows one after the other, each row's in that order."""
    fields = [cell["name"] for cell in rows[0]["data"]] if rows else usual
    cells = [cell for row in rows for cell in row["data"]]
    names = [cell["name"] for cell in cells]
    if names == fields * len(rows) and len(fields) == len(set(fields)):
        return fields, cells
    fields, absent = list(dict.fromkeys(names)), {"value": None}
    found = [{cell["name"]: cell for cell in row["data"]} for row in rows]
    return fields, [row.get(field, absent) for row in found for field in fields]


def _numbers_of(fields: list[str], values: list[Any]) -> pd.DataFrame:
    """A column per field from the values of all rows, which may be numbers, their texts, or missing."""
    try:
        numbers = np.array(values, dtype=np.float64)
    except ValueError:
        numbers = np.array([None if value in MISSING else value for value in values], dtype=np.float64)
    rows = len(values) // len(fields) if fields else 0
    return pd.DataFrame(numbers.reshape(rows, len(fields)), columns=pd.Index(fields, dtype="str"))


def _percents_of(fields: list[str], cells: list[Cell], total: Total) -> pd.DataFrame:
    """The shares of those fields that have some: of a total of zero they are missing, but there."""
    percents = _numbers_of(fields, [cell.get("percent") for cell in cells])
    known = percents.notna().any()
    zero = [name for name in fields if not known[name] and not total.values.get(name)]
    for name in zero:
        known[name] = any("percent" in cell for cell in cells[fields.index(name) :: len(fields)])
    return percents.loc[:, known]


def _texts_of(split: list[str], texts: list[Any]) -> pd.DataFrame:
    """A text column per key field from the rows' texts; what is missing is the empty text."""
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
