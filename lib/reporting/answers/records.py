"""The records behind a figure (*extension*), as values, as JSON, and back."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import orjson
import pandas as pd
from pydantic import BaseModel

RecordKind = Literal["text", "texts", "number"]
EXAMPLE = {
    "status": "success",
    "records_found": 41250,
    "columns": [
        {"name": "granularity_hour", "description": "Hour", "kind": "text", "decimals": 0},
        {"name": "country", "description": "Country", "kind": "text", "decimals": 0},
        {"name": "imps", "description": "Impressions", "kind": "number", "decimals": 0},
    ],
    "rows": [["2026-01-31 23:00", "DE", 1], ["2026-01-31 22:00", "US", None]],
}


@dataclass(frozen=True)
class RecordColumn:
    """A column of records; `texts` are the elements of a multi-valued field, `decimals` those of a number."""

    name: str
    description: str
    kind: RecordKind = "text"
    decimals: int = 0


class RecordsAnswer(BaseModel):
    """The records, as JSON."""

    status: Literal["success"]
    records_found: int
    columns: list[RecordColumn]
    rows: list[list[str | list[str] | float | None]]


@dataclass(frozen=True, eq=False)
class RecordTable:
    """Some of the `records_found` records, in order: a row each, and a column for each of `columns`.

    Missing texts are empty, missing numbers NaN; the elements of a multi-valued field are a list.
    """

    columns: tuple[RecordColumn, ...]
    frame: pd.DataFrame
    records_found: int


def encode(records: RecordTable) -> bytes:
    """The records as the JSON of an answer."""
    columns = []
    for column in records.columns:
        cells = records.frame[column.name].tolist()
        if column.kind == "number":
            cells = [None if np.isnan(cell) else int(cell) if cell.is_integer() else cell for cell in cells]
        columns.append(cells)
    return orjson.dumps(
        {
            "status": "success",
            "records_found": records.records_found,
            "columns": [asdict(column) for column in records.columns],
            "rows": [list(row) for row in zip(*columns, strict=True)],
        }
    )


def decode(fields: dict[str, Any]) -> RecordTable:
    """The records in the fields of an answer; KeyError, TypeError or ValueError where they are none."""
    names = dict.fromkeys(RecordColumn.__dataclass_fields__, ...)
    columns = tuple(
        RecordColumn(**{name: value for name, value in column.items() if name in names})
        for column in fields["columns"]
    )
    frame = frame_of(columns, zip(*fields["rows"], strict=True) if fields["rows"] else [[]] * len(columns))
    return RecordTable(columns, frame, int(fields["records_found"]))


def frame_of(columns: Iterable[RecordColumn], cells: Iterable[Iterable[Any]]) -> pd.DataFrame:
    """The frame of RecordTable from the cells of each column."""
    series = {}
    for column, values in zip(columns, cells, strict=True):
        dtype = {"number": "float64", "text": "str", "texts": "object"}[column.kind]
        series[column.name] = pd.Series(list(values), dtype=dtype)
    return pd.DataFrame(series)
