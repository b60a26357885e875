"""Rename or remove the slicer, for administrators; the dialog asks, and says what depends on it."""

import streamlit as st

from lib import connect
from lib.connect import hanging
from lib.settings import Settings
from lib.ui.kit import notes, sign_in, slicer_choice
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.wire.errors import TrancheError

PROJECT, NAME, SURE = "manage_project", "manage_name", "manage_sure"


def draw(context: PageContext) -> None:
    """Draw the way to the dialog, where the slicer is this desk's own and an administrator looks at it."""
    if context.person.role != "admin" or context.clients.reporting_address:
        return
    if st.button("Rename or remove slicer", icon=":material/edit:", type="tertiary", key="manage_slicer"):
        _dialog(context)


@st.dialog("Rename or remove slicer")
def _dialog(context: PageContext) -> None:
    pair = (context.project, context.slicer_name)
    installation = connect.installation(Settings.current())
    source = installation.warehouse.definition(*pair).source
    words = hanging.hanging(installation.access, pair).sentence()
    uses = f"Depends on {'/'.join(pair)}: {words}." if words else f"Nothing depends on {'/'.join(pair)}."
    st.markdown(plain(f"{uses} Renaming keeps all of it; links to the old name stop working."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        project = st.text_input("Project", value=pair[0], key=PROJECT)
        name = st.text_input("Slicer", value=pair[1], key=NAME)
        is_new = bool(project and name) and (project, name) != pair
        if st.button("Rename", disabled=not is_new, key="manage_rename"):
            _carry_out(context, (project or "", name or ""))
    rows = "its imported rows" if source is None else f"not the table {source.table}, which stays"
    st.checkbox(plain(f"Remove {'/'.join(pair)}, {rows}, and what depends on it"), key=SURE)
    if st.button("Remove", type="primary", disabled=not st.session_state[SURE], key="manage_remove"):
        _carry_out(context, None)


def _carry_out(context: PageContext, to: hanging.Pair | None) -> None:
    """Rename the slicer, or remove it without a new name, and go on with what there is."""
    person, pair = sign_in.person(), (context.project, context.slicer_name)
    if person is None or person.role != "admin":
        return
    installation = connect.installation(Settings.current())
    try:
        if to is None:
            hanging.remove(installation.warehouse, installation.access, pair, person.username)
        else:
            hanging.rename(installation.warehouse, installation.access, pair, to, person.username)
    except TrancheError as error:
        st.error(plain(error.reason))
        return
    others = [one for one in context.clients.slicers if one != pair]
    if after := to or next(iter(others), None):
        slicer_choice.pick(*after)
    notes.say(f"Removed {'/'.join(pair)}" if to is None else f"Renamed to {'/'.join(to)}")
    st.rerun()
