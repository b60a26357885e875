"""One saved view in the popover: rename, share and update it, set its alert, copy its link, delete it."""

from collections.abc import Callable
from typing import Literal, TypeVar

import streamlit as st

from lib.ui.charts import numbers
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import share, view_alert
from lib.views import LONGEST_NAME, SavedView
from lib.wire.errors import TrancheError

OPEN, CHOSEN, PANEL, PROBLEM = "view_open", "view_chosen", "view_panel", "view_problem"
Panel = Literal["edit", "alert", "link", "delete"]
Result = TypeVar("Result")


def draw(here: Here, page: str, view: SavedView, whole: dict[str, str]) -> None:
    """Draw the panel that was opened of a view: edit, alert, link or delete."""
    st.button("All views", icon=":material/arrow_back:", type="tertiary", key="view_all", on_click=_back)
    st.markdown(f"**{plain(view.name)}**")
    st.caption(about(view))
    panel: Panel = st.session_state.get(PANEL, "edit")
    if panel == "alert":
        view_alert.draw(here, view)
    elif panel == "link" or not may_change(here, view):
        st.caption("Link to this view")
        params = {"project": view.project, "slicer": view.slicer, **view.params}
        st.code(share.address(page, params), language=None, wrap_lines=True)
    elif panel == "delete":
        _deletion(here, view)
    else:
        _edit(here, view, whole)


def may_change(here: Here, view: SavedView) -> bool:
    """Whether the person may rename, update and delete this view."""
    return view.is_mine or here.person.role == "admin"


def about(view: SavedView) -> str:
    """The owner, who can see the view, and when it was last changed."""
    whose = "yours" if view.is_mine else f"by {plain(view.owner)}"
    seen = "shared" if view.is_shared else "only you see it"
    return f"{whose} · {seen} · saved {numbers.days(view.changed.date(), view.changed.date())}"


def attempted(work: Callable[[], Result]) -> Result | None:
    """The result of `work`; if it fails, None, and the error is shown until the next action."""
    result, problem = None, ""
    try:
        result = work()
    except TrancheError as error:
        problem = f"{error.reason.rstrip('.')}."
    st.session_state[PROBLEM] = problem
    return result


def update(here: Here, view: SavedView, whole: dict[str, str]) -> None:
    """Update the view to the question on the screen. A callback."""
    attempted(lambda: here.clients.kept.views.change(view.id, params=whole))
    st.session_state[OPEN] = view.id


def _edit(here: Here, view: SavedView, whole: dict[str, str]) -> None:
    name, shared = f"view_rename_{view.id}", f"view_reshare_{view.id}"
    with st.form("view_change", border=False):
        st.text_input("Name", view.name, key=name, max_chars=LONGEST_NAME)
        st.checkbox("Share with everybody who may see this slicer", view.is_shared, key=shared)
        st.form_submit_button("Save changes", on_click=_change, args=(here, view, name, shared))
    if dict(view.params) != whole:
        st.button(
            "Update to the question on screen", key="view_update", on_click=update, args=(here, view, whole)
        )


def _change(here: Here, view: SavedView, name: str, shared: str) -> None:
    wanted, is_shared = st.session_state[name], bool(st.session_state[shared])
    attempted(lambda: here.clients.kept.views.change(view.id, name=wanted, is_shared=is_shared))


def set_start(here: Here, view: SavedView | None) -> None:
    """Open the desk on this view after the sign-in; None: on its usual screen. A callback."""
    attempted(lambda: here.clients.kept.start.set(None if view is None else view.id))


def _deletion(here: Here, view: SavedView) -> None:
    """The icon asks, a second click deletes."""
    seen = "Everybody loses it, and its start pages." if view.is_shared else "This can't be undone."
    st.warning(f"Delete {plain(view.name)}? {seen}", icon=":material/delete:")
    with st.container(horizontal=True):
        st.button(
            "Delete permanently", type="primary", key="view_delete_sure", on_click=_delete, args=(here, view)
        )
        st.button("Keep", key="view_delete_not", on_click=_back)


def _delete(here: Here, view: SavedView) -> None:
    attempted(lambda: here.clients.kept.views.delete(view.id))
    st.session_state[CHOSEN] = None


def _back() -> None:
    st.session_state[CHOSEN], st.session_state[PROBLEM] = None, ""
