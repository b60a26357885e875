"""Tables of values from outside: no cell changes the direction of reading."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from lib.wire.text import TURNING, straight


def straighten(table: pd.DataFrame | Mapping[str, Any]) -> pd.DataFrame:
    """The table with its texts as screens show them (wire/text.py): titles, index and cells."""
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(dict(table))
    if not any(TURNING.search(text) for text in _texts(frame)):
        return frame
    columns = {at: frame.iloc[:, at].map(_straight) for at in range(frame.shape[1])}
    straight = pd.DataFrame(columns, index=frame.index.map(_straight))
    return straight.set_axis(frame.columns.map(_straight), axis="columns")


def _texts(frame: pd.DataFrame) -> list[str]:
    cells = [frame.iloc[:, at] for at in range(frame.shape[1])]
    texts = (column for column in cells if column.dtype.kind == "O")
    parts = [frame.columns, frame.index, *texts]
    return [one for part in parts for one in part if isinstance(one, str)]


def _straight(value: Any) -> Any:
    return straight(value) if isinstance(value, str) else value
