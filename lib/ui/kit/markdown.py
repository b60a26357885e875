"""Text from outside: escaped for what reads Markdown (nearly all widgets), straightened for tables."""

import re
from collections.abc import Mapping
from typing import Any

import pandas as pd

from lib.wire.text import TURNING, straight

MARKS = re.compile(r"[\\`*_{}\[\]#!|~$:<>^]|&(?=#?\w+;)")
AT_THE_START = re.compile(r"^ ?(?=[-+=])|^ ?\d+(?=[.)](?: |$))")
SPACES = re.compile(r"[ \t\r\n\v\f\x85\u2028\u2029]+")
REPLACEMENTS = re.compile(
    r"(?<=:)(?=//|[\w/+-]+:)"  # addresses, emoji and icons
    r"|(?<=www)(?=\.)|(?<=@)(?=[-\w])"  # what GFM takes for an address
    r"|(?<=[-<>=~])(?=[-=>])",  # what Streamlit takes for an arrow, a dash or a sign
    re.IGNORECASE,
)
EMPTY = ":small[]"


def plain(text: str) -> str:
    """Text from outside in one line, escaped: none of it is read as Markdown, HTML or a link.

    Each mark is escaped; `&` only where it begins a character's name, and a parenthesis only after a number
    that would begin a list, since screen readers are given a label's Markdown as it is. Addresses, `:icons:`
    and arrows are replaced after escapes were read (GFM autolinks, Streamlit's own replacements), so an empty
    element keeps their characters apart: it adds nothing to what is shown, selected or copied. Characters
    that change the direction of reading are left out.
    """
    line = straight(SPACES.sub(" ", text))
    parts = [MARKS.sub(r"\\\g<0>", part) for part in REPLACEMENTS.split(line)]
    return AT_THE_START.sub(r"\g<0>\\", EMPTY.join(parts))


def straighten(table: pd.DataFrame | Mapping[str, Any]) -> pd.DataFrame:
    """The table with its texts as screens show them (wire/text.py): titles, index and cells."""
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(dict(table))
    cells = [frame.iloc[:, at] for at in range(frame.shape[1])]
    parts = [frame.columns, frame.index, *(column for column in cells if column.dtype.kind == "O")]
    if not any(TURNING.search(text) for part in parts for text in part if isinstance(text, str)):
        return frame
    columns = {at: column.map(_straight) for at, column in enumerate(cells)}
    straight_frame = pd.DataFrame(columns, index=frame.index.map(_straight))
    return straight_frame.set_axis(frame.columns.map(_straight), axis="columns")


def _straight(value: Any) -> Any:
    return straight(value) if isinstance(value, str) else value
