"""Notes on the days on screen, in a popover beside the chart: everybody who may see the slicer sees them."""

from dataclasses import dataclass
from datetime import date
from functools import partial

import streamlit as st

from lib.ui.charts import numbers
from lib.ui.kit import problems
from lib.ui.query import note_list
from lib.ui.query.focus import Focus
from lib.ui.query.note_list import NotePlace
from lib.views import Note
from lib.wire.errors import TrancheError

POPOVER, WIDTH = "date_notes", 400


@dataclass(frozen=True)
class Noted:
    """The notes on the days on screen, in the order of days; `trouble` if they can't be read."""

    notes: tuple[Note, ...] = ()
    trouble: TrancheError | None = None


def of(focus: Focus) -> Noted:
    """The notes on the question's days; if the database fails, the chart is drawn without notes."""
    context = focus.context
    try:
        return Noted(
            tuple(context.clients.view_store.notes.of(context.project, context.slicer_name, *focus.period))
        )
    except TrancheError as error:
        return Noted(trouble=error)


def draw(focus: Focus) -> None:
    """Draw the popover; the notes are read only while it is open."""
    popover = st.popover(
        "Notes", icon=":material/sticky_note_2:", type="tertiary", key=POPOVER, on_change="rerun"
    )
    if not popover.open:
        return
    day_notes, context = of(focus), focus.context
    with popover, st.container(width=WIDTH):
        if day_notes.trouble is not None:
            problems.show(day_notes.trouble, "The notes", "Your question is kept.")
            return
        place = NotePlace(
            "date",
            "note",
            "What happened",
            "Campaign began",
            "Everybody who may see this slicer sees its notes.",
            partial(context.clients.view_store.notes.add, context.project, context.slicer_name),
            focus.period[1],
            partial(_saved_text, focus),
        )
        note_list.draw(context, place, day_notes.notes, f"No notes on {numbers.days(*focus.period)}.")


def _saved_text(focus: Focus, day: date) -> str:
    """The confirmation of a saved note; it says where to look if the day is not on screen."""
    if focus.period[0] <= day <= focus.period[1]:
        return "Saved."
    return f"Saved on {numbers.days(day, day)}, which is not among the days on screen."
