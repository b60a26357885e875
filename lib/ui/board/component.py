"""The board of the Audience page: headline, time chart and leaderboards in one component.

Its figures come from a route beside Streamlit's, so that a click needs no run of the page: the browser draws
first and then tells Streamlit what was clicked, as tables do (rows.py). Streamlit keeps the question: it says
which of these acts it has taken, the parameters that it has now, and those that undo and redo lead to.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from lib.ui.charts import numbers
from lib.ui.kit import rows
from lib.ui.kit.frame import PageContext
from lib.ui.query import drill, question, state
from lib.wire.text import straight

FOLDER = Path(__file__).parent
SCRIPTS = ("store.js", "figures.js", "chart.js", "board.js")
FILE, MOST_STEPS = "board.js", 8
HEIGHTS = '<div class="place"></div>'


def _script() -> str:
    """The board's module: its style as a text, what draws tables, and its own parts."""
    style = (rows.FOLDER / "rows.css").read_text() + (FOLDER / "board.css").read_text()
    parts = [f"const STYLE = {json.dumps(style)}"]
    parts += [(rows.FOLDER / name).read_text() for name in rows.DRAWING]
    return "\n".join([*parts, *((FOLDER / name).read_text() for name in SCRIPTS)])


SCRIPT = _script()
VERSION = hashlib.sha256(SCRIPT.encode()).hexdigest()[:16]
_mount = st.components.v2.component(
    "tranche_board",
    html=HEIGHTS,
    js=f"""
export default function (given) {{
  import(new URL("{FILE}?{VERSION}", globalThis.trancheServer)).then((board) => board.mount(given))
}}
""",
    isolate_styles=False,
)


def draw(context: PageContext) -> None:
    """Mount the board for the question as it is now."""
    steps = question.steps()
    _mount(
        key=drill.CARDS,
        data={
            "taken": question.taken(drill.CARDS),
            "params": params(context),
            "steps": {"undo": _latest(steps.past), "redo": _latest(steps.undone[::-1])},
            "project": context.project,
            "slicer": context.slicer_name,
            "fields": [[field.name, straight(numbers.title(field, with_unit=True))] for field in context.slicer.data_fields],
        },
        on_acts_change=partial(drill.follow, context),
    )


def params(context: PageContext) -> dict[str, str]:
    """The question as the board asks it: with the leaderboards that the person chose."""
    return question.whole(context)


def _latest(steps: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The last of these questions, the nearest at the end."""
    return [dict(step) for step in steps[-MOST_STEPS:]]
