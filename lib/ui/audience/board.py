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
from lib.ui.query import cards, drill, filter_words, note_list, question, state
from lib.ui.query.view import granularities
from lib.wire.text import straight

FOLDER = Path(__file__).parent
SCRIPTS = ("store.js", "figures.js", "chart.js", "waiting.js", "adder.js", "board.js", "early.js")
FILE, MOST_STEPS = "board.js", 3


def _script() -> str:
    """The board's module: its style as a text, what draws tables, and its own parts."""
    style = rows.STYLE + (FOLDER / "board.css").read_text()
    parts = [f"const STYLE = {json.dumps(style)}"]
    parts += [(rows.FOLDER / name).read_text() for name in rows.DRAWING]
    return "\n".join([*parts, *((FOLDER / name).read_text() for name in SCRIPTS)])


SCRIPT = _script()
ADDRESS = f"{FILE}?{hashlib.sha256(SCRIPT.encode()).hexdigest()[:16]}"
_mount = st.components.v2.component(
    "tranche_board",
    html='<div class="place"></div>',
    js=f"""
let board
export default function (given) {{
  if (board) return board.mount(given)
  import(new URL("{ADDRESS}", globalThis.trancheServer)).then((module) => (board = module).mount(given))
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
            "params": question.whole(context),
            "steps": {
                "undo": _latest(context, steps.past),
                "redo": _latest(context, steps.undone[::-1]),
            },
            "project": context.project,
            "slicer": context.slicer_name,
            "fields": [
                [field.name, straight(numbers.title(field, with_unit=True))]
                for field in context.slicer.data_fields
            ],
            "keys": [
                [field.name, straight(filter_words.field(field.name, context.slicer))]
                for field in context.slicer.key_fields
            ],
            "edition": [
                note_list.changes(),
                [one.model_dump() for one in context.slicer.own_fields],
                cards.to_text(question.chosen_cards(context) or ()),
            ],
        },
        on_acts_change=partial(drill.follow, context),
    )


def _latest(context: PageContext, steps: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The last of these questions as normalised parameters, the nearest at the end."""
    return [state.after(context, step, []).params for step in steps[-MOST_STEPS:]]


def place(context: PageContext) -> str:
    """The key of the container around the board, whose height is that of a board with or without a chart."""
    return "board" if granularities(context.slicer) else "board_timeless"
