"""Owner and note of a package, which the desk keeps: shown in its drawer, and as a column of the list."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import streamlit as st

from lib.deals.models import SupplyPackage
from lib.deals.package_notes import LONGEST_NOTE, LONGEST_OWNER, PackageNote
from lib.ui.deals import facts, permission
from lib.ui.deals.rows import DealRow
from lib.ui.kit import notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query.entries import REMOTE
from lib.wire.errors import Conflict, TrancheError

OWNER, NOTE, PROBLEM = "note_owner_{}", "note_text_{}", "note_problem"
BEFORE, EDITOR = "note_before_{}", "note_editor"
OWN = "Kept by Tranche beside the deals API."


def draw(context: PageContext, package: SupplyPackage) -> None:
    """Draw both, and the form for who may change deals."""
    number = package.id or 0
    try:
        note = context.clients.package_notes.get(number)
    except TrancheError as error:
        st.caption(f":material/info: Owner and note could not be read: {plain(error.reason.rstrip('.'))}.")
        return
    if note.at is not None:
        owner = f"**Owner** {plain(note.owner)}" if note.owner else "No owner"
        st.markdown(owner)
        if note.note:
            st.text(note.note)
        st.caption(f"{plain(note.who)}, {facts.moment(note.at)}")
    if not permission.of(context).refuses:
        label = "Owner and note" if note.at is None else "Edit owner and note"
        with st.popover(label, icon=":material/sticky_note_2:", key=EDITOR, type="tertiary"):
            _form(context, number, note)


def _form(context: PageContext, number: int, kept: PackageNote) -> None:
    """Draw the form. What is typed stays until it is saved; `before` is what it was typed over."""
    state, owner, note = st.session_state, OWNER.format(number), NOTE.format(number)
    if BEFORE.format(number) not in state:
        state[BEFORE.format(number)], state[owner], state[note] = kept, kept.owner, kept.note
    with st.form(f"note_form_{number}", border=False):
        st.text_input("Owner", key=owner, max_chars=LONGEST_OWNER, placeholder="Who looks after this package")
        st.text_area("Note", key=note, max_chars=LONGEST_NOTE)
        st.caption(REMOTE if context.clients.deals_address else OWN)
        st.form_submit_button("Save", type="primary", on_click=save, args=(context, number))
    if said := state.get(PROBLEM):
        st.error(plain(said), icon=":material/error:")


def save(context: PageContext, number: int) -> None:
    """Store what is typed, unless somebody else has changed it meanwhile. A callback."""
    state = st.session_state
    before: PackageNote | None = state.get(BEFORE.format(number))
    state.pop(PROBLEM, None)
    if before is None or not context.now().deals.writes:
        return
    owner, note = state.get(OWNER.format(number)) or "", state.get(NOTE.format(number)) or ""
    try:
        context.clients.package_notes.keep(number, owner, note, before)
    except Conflict as error:
        state[PROBLEM] = f"{error.reason.rstrip('.')}. What you typed is still here; Save again overwrites."
        with suppress(TrancheError):  # unread, the next try meets the same conflict
            state[BEFORE.format(number)] = context.clients.package_notes.get(number)
        return
    except TrancheError as error:
        state[PROBLEM] = f"{error.reason.rstrip('.')}. What you typed is still here."
        return
    del state[BEFORE.format(number)]
    notes.say("Saved")


def add_owners(context: PageContext, rows: Sequence[DealRow]) -> list[DealRow]:
    """The rows of packages with their owners; without them where they can't be read now."""
    try:
        kept = context.clients.package_notes.of([row.id for row in rows])
    except TrancheError:
        kept = {}
    return [replace(row, more=(*row.more, ("owner", kept.get(row.id, PackageNote()).owner))) for row in rows]
