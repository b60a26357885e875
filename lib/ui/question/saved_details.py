"""One saved view in the popover: rename, share and update it, set its alert, copy its link, delete it."""

import streamlit as st

from lib.ui.frame.frame import Here
from lib.ui.question import entries, share, view_alert
from lib.ui.question.entries import EntryShelf
from lib.views import SavedView

VIEWS = EntryShelf(
    "",
    lambda here: here.clients.kept.views,
    "views",
    "Share with everybody who may see this slicer",
    "Everybody loses it, and its start pages.",
)
OPEN = VIEWS.state("open")


def draw(here: Here, page: str, view: SavedView, whole: dict[str, str]) -> None:
    """Draw the panel that was opened of a view: edit, alert, link or delete."""
    entries.head(VIEWS, view)
    panel: str = st.session_state.get(VIEWS.state("panel"), "edit")
    if panel == "alert":
        view_alert.draw(here, view)
    elif panel == "link" or not entries.may_change(here, view):
        st.caption("Link to this view")
        params = {"project": view.project, "slicer": view.slicer, **view.params}
        st.code(share.address(page, params), language=None, wrap_lines=True)
    elif panel == "delete":
        entries.deletion(here, VIEWS, view)
    else:
        _edit(here, view, whole)


def update(here: Here, view: SavedView, whole: dict[str, str]) -> None:
    """Update the view to the question on the screen. A callback."""
    VIEWS.attempted(lambda: here.clients.kept.views.change(view.id, params=whole))
    st.session_state[OPEN] = view.id


def set_start(here: Here, view: SavedView | None) -> None:
    """Open the desk on this view after the sign-in; None: on its usual screen. A callback."""
    VIEWS.attempted(lambda: here.clients.kept.start.set(None if view is None else view.id))


def _edit(here: Here, view: SavedView, whole: dict[str, str]) -> None:
    entries.edit(here, VIEWS, view)
    if dict(view.params) != whole:
        st.button(
            "Update to the question on screen", key="view_update", on_click=update, args=(here, view, whole)
        )
