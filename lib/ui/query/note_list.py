"""Notes one below the other, with a form: those on the days of the chart, and those on a view, its comments.

Their texts are shown as characters, never as Markdown. Owners and administrators edit and delete.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import partial
from typing import TypeVar

import streamlit as st

from lib.figures.context import RequestContext
from lib.ui.kit import problems, widgets
from lib.ui.kit.markdown import plain
from lib.ui.query import mail
from lib.views import Note
from lib.wire.text import write_day

CHANGES = "notes_changes"
Result = TypeVar("Result")


@dataclass(frozen=True)
class NotePlace:
    """What notes are about. `key` begins the keys of their widgets, `noun` is what one is called here.

    `day` is that of a new note, None where notes have no day to choose; `confirmation` is the sentence
    on one that was saved on a day.
    """

    key: str
    noun: str
    label: str
    placeholder: str
    readers: str
    add: Callable[[date, str], Note]
    day: date | None = None
    confirmation: Callable[[date], str] = lambda day: "Saved."

    def state(self, name: str) -> str:
        """A key of the session: `edited`, `deleted`, `said` or `problem`."""
        return f"{self.key}_notes_{name}"

    def choose(self, state: str, number: int | None) -> None:
        """Open or close a note's form, or the question whether to delete it. A callback."""
        st.session_state[self.state(state)], st.session_state[self.state("problem")] = number, ""

    def close(self, *keys: str) -> None:
        """Close the form and discard the input. A callback."""
        self.choose("edited", None)
        for key in keys:
            del st.session_state[key]

    def attempt(self, work: Callable[[], Result]) -> Result | None:
        """Run `work` and return what it does; an error is shown until the next action."""
        result, st.session_state[self.state("problem")] = problems.attempt(work)
        st.session_state[CHANGES] = changes() + 1
        return result


def changes() -> int:
    """How often this session has changed notes."""
    count: int = st.session_state.get(CHANGES, 0)
    return count


def draw(context: RequestContext, place: NotePlace, notes: Sequence[Note], empty: str) -> None:
    """Draw the notes and a form for a new one, or the form of the one that is edited."""
    if confirmation := st.session_state.pop(place.state("said"), ""):
        st.caption(plain(confirmation))
    open_note = next((note for note in notes if note.id == st.session_state.get(place.state("edited"))), None)
    if open_note is None:
        for note in notes:
            _row(context, place, note)
        if not notes:
            st.caption(empty)
    if problem := st.session_state.get(place.state("problem")):
        st.error(plain(problem), icon=":material/error:")
    # The form keeps the input on an error.
    number = 0 if open_note is None else open_note.id
    text_key, keys = f"{place.key}_note_text_{number}", []
    st.session_state.setdefault(text_key, "" if open_note is None else open_note.text)
    with st.form(f"{place.key}_note", border=False):
        if place.day is not None:
            keys = [f"{place.key}_note_day_{number}"]
            st.session_state.setdefault(keys[0], place.day if open_note is None else open_note.day)
            st.date_input("Date", format="YYYY-MM-DD", key=keys[0], required=True, width=160)
        st.text_input(place.label, key=text_key, placeholder=place.placeholder, width="stretch")
        st.form_submit_button(
            f"Add {place.noun}" if open_note is None else f"Save {place.noun}", type="primary",
            on_click=_write, args=(context, place, open_note, text_key, *keys),
        )  # fmt: skip
    if open_note is not None:
        st.button("Cancel", key=f"{place.key}_note_cancel", on_click=place.close, args=(text_key, *keys))
    st.caption(f"{place.readers} A name behind @, such as @{context.person.username}, mentions that person.")


def _row(context: RequestContext, place: NotePlace, note: Note) -> None:
    if st.session_state.get(place.state("deleted")) == note.id:
        st.warning(f"Delete this {place.noun} for everybody? {plain(note.text)}", icon=":material/delete:")
        with st.container(horizontal=True):
            st.button(
                "Delete permanently", type="primary", key=f"{place.key}_delete_sure", on_click=_delete,
                args=(context, place, note),
            )  # fmt: skip
            st.button("Keep", key=f"{place.key}_delete_not", on_click=place.choose, args=("deleted", None))
        return
    st.markdown(plain(note.text))
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        # The day, if it is about one, who wrote it and when, and whether it mentions the reader.
        day = note.created.date()
        parts = [] if place.day is None else [write_day(note.day)]
        parts.append(f"by {'you' if note.is_mine else plain(note.owner)}")
        parts.append(f"{write_day(day)}, {note.created:%H:%M} UTC")
        st.caption(" · ".join([*parts, "**mentions you**"] if note.is_for_me else parts), width="stretch")
        if note.is_mine or context.person.role == "admin":
            for name, icon, state in (("Edit", "edit", "edited"), ("Delete", "delete", "deleted")):
                act = partial(place.choose, state, note.id)
                about = f"{name} the {place.noun}: {plain(note.text)}"
                widgets.icon_button(name, icon, f"{place.key}_{icon}_{note.id}", act, help=about)


def _write(context: RequestContext, place: NotePlace, note: Note | None, text_key: str, *keys: str) -> None:
    text, notes = str(st.session_state[text_key]), context.clients.view_store.notes
    today = datetime.now(UTC).date()
    day: date = st.session_state[keys[0]] if keys else today if note is None else note.day
    if note is None:
        new = place.attempt(lambda: place.add(day, text))
    else:
        new = place.attempt(lambda: notes.change(note.id, day, text))
    if new is not None:
        place.close(text_key, *keys)
        st.session_state[place.state("said")] = place.confirmation(day)
        place.attempt(lambda: mail.send_mentions(context, new, place.noun, "" if note is None else note.text))
    st.rerun()  # the whole page: the chart has a mark for each note, and this form stands in a fragment


def _delete(context: RequestContext, place: NotePlace, note: Note) -> None:
    place.attempt(lambda: context.clients.view_store.notes.delete(note.id))
    st.session_state[place.state("deleted")] = None
    st.rerun()
