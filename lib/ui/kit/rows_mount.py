"""Draws tables that react to clicks, in one component; rows are given, or the overview's route has them."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import streamlit as st

from lib.figures.rows import ActReceipt, Table, as_json

FOLDER = Path(__file__).parent
PARTS = ["answer_lines", "nodes", "rows", "table", "card", "tree", "acts", "keys", "press", "column_width"]
DRAWING = tuple(f"{name}.js" for name in PARTS)
GRID = (FOLDER / "grid.css").read_text()
STYLE = GRID + (FOLDER / "rows.css").read_text()

_mount = st.components.v2.component(
    "tranche_rows", html='<div class="panel"></div><div class="message" hidden></div>', css=STYLE,
    js="\n".join((FOLDER / name).read_text() for name in (*DRAWING, "rows_mount.js")),
)  # fmt: skip


def draw(key: str, tables: Sequence[Table], receipt: ActReceipt, on_acts: Callable[[], None]) -> None:
    """Draw tables in one component. `receipt` is the last act that is already applied to them."""
    data = {"key": key, "taken": receipt, "tables": [as_json(table) for table in tables]}
    _mount(key=key, data=data, on_acts_change=on_acts)


def draw_from_route(
    key: str, request: Mapping[str, Any], edition: Any, receipt: ActReceipt, on_acts: Callable[[], None]
) -> None:
    """Draw the tables that the overview's route returns; `receipt` is the last act that `request` contains.

    `request` is what it is asked for: project, slicer, params and part. Another `edition` (of the data, of
    own metrics) makes other tables of the same request.
    """
    data = {"key": key, "taken": receipt, "asked": request, "edition": edition}
    _mount(key=key, data=data, on_acts_change=on_acts)
