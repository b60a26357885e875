"""The overview of the Audience page: headline, time chart and leaderboards in one component.

Its figures come from a route beside Streamlit's, so that a click needs no run of the page: the browser draws
first and then tells Streamlit what was clicked, as tables do (figures/rows.py). Streamlit keeps the state:
it says which of these acts it has taken, the parameters that it has now, and those that undo and redo lead
to.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import streamlit as st

from lib.figures import numbers, palette
from lib.figures.query import card, filters, state
from lib.figures.query.periods import granularities
from lib.ui.kit import rows_mount
from lib.ui.kit.frame import PageContext
from lib.ui.query import current_focus, history, note_list, page_clicks
from lib.wire.text import straight

FOLDER = Path(__file__).parent
SCRIPTS = ("store.js", "figures.js", "chart.js", "waiting.js", "adder.js", "overview.js", "early.js")
FILE, MOST_STEPS = "overview.js", 3


def _script() -> str:
    """The overview's module: its style as a text, what draws tables, and its own parts."""
    # Also the colors of charts, and those of an overview that is drawn before Streamlit has set the theme's.
    grounds = {"light": palette.LIGHT, "dark": palette.DARK}
    modes = (
        f':host([data-early="{mode}"]) {{ {palette.variables(colors, "st-", "-color")} }}\n'
        for mode, colors in grounds.items()
    )
    early = f":host {{ --line-color: {palette.ACCENT}; --quiet: {palette.GRAY}; }}\n{''.join(modes)}"
    style = rows_mount.STYLE + (FOLDER / "overview.css").read_text() + early
    parts = [f"const STYLE = {json.dumps(style)}"]
    parts += [(rows_mount.FOLDER / name).read_text() for name in rows_mount.DRAWING]
    return "\n".join([*parts, *((FOLDER / name).read_text() for name in SCRIPTS)])


SCRIPT = _script()
ADDRESS = f"{FILE}?{hashlib.sha256(SCRIPT.encode()).hexdigest()[:16]}"
# An inline script travels with each of its redraws: the overview's is a file, that the browser keeps.
_mount = st.components.v2.component(
    "tranche_overview",
    html='<div class="place"></div>',
    js=f"""
let overview
export default function (given) {{
  if (overview) return overview.mount(given)
  import(new URL("{ADDRESS}", globalThis.trancheServer)).then((module) => (overview = module).mount(given))
}}
""",
    isolate_styles=False,
)


def draw(context: PageContext) -> None:
    """Mount the overview for the state as it is now."""
    steps = history.steps()
    _mount(
        key=page_clicks.CARDS,
        data={
            "taken": history.receipt(page_clicks.CARDS),
            "params": history.current(context).params,
            "steps": {"undo": _latest(context, steps.undo), "redo": _latest(context, steps.redo[::-1])},
            "project": context.project,
            "slicer": context.slicer_name,
            "fields": [
                [field.name, straight(numbers.title(field, with_unit=True))]
                for field in context.slicer.data_fields
            ],
            "keys": [
                [field.name, straight(filters.field(field.name, context.slicer))]
                for field in context.slicer.key_fields
            ],
            "edition": [
                note_list.changes(),
                [field.model_dump() for field in context.slicer.own_fields],
                card.cards_text(current_focus.own_cards(context) or ()),
            ],
        },
        on_acts_change=partial(page_clicks.catch_up, context),
    )


def _latest(context: PageContext, steps: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
    """The last of these states as normalized parameters, the nearest at the end."""
    about = context.slicer, context.project, context.slicer_name, context.own_zone
    return [state.from_params(step, *about).params for step in steps[-MOST_STEPS:]]


def container_key(context: PageContext) -> str:
    """The key of the container around the overview, whose height depends on whether it has a chart."""
    return "overview" if granularities(context.slicer) else "overview_timeless"
