"""Notes on the days on screen, in a popover beside the chart: read, add, edit, delete.

Everybody who may see the slicer sees its notes. Their texts are shown as characters, never as Markdown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

import streamlit as st

from lib.ui.charts import numbers
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query.focus import Focus
from lib.views import LONGEST_NOTE, Note
from lib.wire.errors import TrancheError

POPOVER, EDITING, DELETING, SAID, PROBLEM, CHANGES = (
    f"date_notes{part}" for part in ("", "_edited", "_deleted", "_said", "_problem", "_changes")
)
WIDTH = 400


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


def changes() -> int:
    """How often this session has changed notes."""
    count: int = st.session_state.get(CHANGES, 0)
    return count


def draw(focus: Focus) -> None:
    """Draw the popover; the notes are read only while it is open."""
    popover = st.popover(
        "Notes", icon=":material/sticky_note_2:", type="tertiary", key=POPOVER, on_change="rerun"
    )
    if not popover.open:
        return
    day_notes = of(focus)
    with popover, st.container(width=WIDTH):
        if day_notes.trouble is not None:
            problems.show(day_notes.trouble, "The notes", "Your question is kept.")
            return
        _content(focus, day_notes.notes)


def _content(focus: Focus, notes: tuple[Note, ...]) -> None:
    if problem := st.session_state.get(PROBLEM):
        st.error(plain(problem), icon=":material/error:")
    if confirmation := st.session_state.pop(SAID, ""):
        st.caption(plain(confirmation))
    edited = next((note for note in notes if note.id == st.session_state.get(EDITING)), None)
    if edited is not None:
        _form(focus, edited)
        return
    for note in notes:
        _row(focus.context, note)
    if not notes:
        st.caption(f"No notes on {numbers.days(*focus.period)}.")
    _form(focus, None)


def _row(context: PageContext, note: Note) -> None:
    """Draw a note; its owner and administrators may edit and delete it."""
    if st.session_state.get(DELETING) == note.id:
        _deletion(context, note)
        return
    whose = "you" if note.is_mine else plain(note.owner)
    st.markdown(plain(note.text))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(f"{numbers.days(note.day, note.day)} · by {whose}", width="stretch")
        if note.is_mine or context.person.role == "admin":
            about = plain(note.text)
            for name, icon, state in (("Edit", "edit", EDITING), ("Delete", "delete", DELETING)):
                st.button(
                    name, type="tertiary", icon=f":material/{icon}:", key=f"date_{icon}_{note.id}",
                    help=f"{name} the note: {about}", on_click=_choose, args=(state, note.id),
                )  # fmt: skip


def _deletion(context: PageContext, note: Note) -> None:
    """Draw the button Delete: a first click asks for confirmation, a second one deletes."""
    st.warning(f"Delete this note for everybody? {plain(note.text)}", icon=":material/delete:")
    with st.container(horizontal=True):
        st.button(
            "Delete permanently",
            type="primary",
            key="date_delete_sure",
            on_click=_delete,
            args=(context, note),
        )
        st.button("Keep", key="date_delete_not", on_click=_choose, args=(DELETING, None))


def _form(focus: Focus, note: Note | None) -> None:
    """Draw the form of a note, or of a new one on the last day on screen. The input is kept on an error."""
    number = 0 if note is None else note.id
    day_key, text_key = f"date_note_day_{number}", f"date_note_text_{number}"
    st.session_state.setdefault(day_key, focus.period[1] if note is None else note.day)
    st.session_state.setdefault(text_key, "" if note is None else note.text)
    with st.form("date_note", border=False):
        st.date_input("Date", format="YYYY-MM-DD", key=day_key, required=True, width=160)
        st.text_input(
            "What happened",
            key=text_key,
            max_chars=LONGEST_NOTE,
            placeholder="Campaign began",
            width="stretch",
        )
        st.form_submit_button(
            "Add note" if note is None else "Save note",
            type="primary",
            on_click=_write,
            args=(focus, note, day_key, text_key),
        )
    if note is not None:
        st.button("Cancel", key="date_note_cancel", on_click=_close, args=(day_key, text_key))
    st.caption("Everybody who may see this slicer sees its notes.")


def _write(focus: Focus, note: Note | None, day_key: str, text_key: str) -> None:
    day, text = st.session_state[day_key], str(st.session_state[text_key])
    context, notes = focus.context, focus.context.clients.view_store.notes
    if note is None:
        is_done = _attempt(lambda: notes.add(context.project, context.slicer_name, day, text))
    else:
        is_done = _attempt(lambda: notes.change(note.id, day, text))
    if is_done:
        _close(day_key, text_key)
        st.session_state[SAID] = _saved_text(focus, day)


def _saved_text(focus: Focus, day: date) -> str:
    """The confirmation of a saved note; it says where to look if the day is not on screen."""
    if focus.period[0] <= day <= focus.period[1]:
        return "Saved."
    return f"Saved on {numbers.days(day, day)}, which is not among the days on screen."


def _delete(context: PageContext, note: Note) -> None:
    _attempt(lambda: context.clients.view_store.notes.delete(note.id))
    st.session_state[DELETING] = None


def _choose(state: str, number: int | None) -> None:
    st.session_state[state], st.session_state[PROBLEM] = number, ""


def _close(*keys: str) -> None:
    """Close the form and discard the input."""
    st.session_state[EDITING], st.session_state[PROBLEM] = None, ""
    for key in keys:
        del st.session_state[key]


def _attempt(work: Callable[[], object]) -> bool:
    """Run `work` and return whether it worked; an error is shown until the next action."""
    problem = ""
    try:
        work()
    except TrancheError as error:
        problem = f"{error.reason.rstrip('.')}."
    st.session_state[PROBLEM] = problem
    st.session_state[CHANGES] = changes() + 1
    return not problem
