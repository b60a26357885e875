"""One saved view in the popover: rename, share, update, copy its link, make it the start page, delete it."""

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from lib.ui.charts import numbers
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import share, view_alert
from lib.views import LONGEST_NAME, SavedView
from lib.wire.errors import TrancheError

OPEN, CHOSEN, PROBLEM, DELETING = "view_open", "view_chosen", "view_problem", "view_deleting"
Result = TypeVar("Result")


def draw(here: Here, page: str, view: SavedView, whole: dict[str, str]) -> None:
    """Draw the actions on one view; others than its owner don't see those of the owner."""
    st.button("All views", icon=":material/arrow_back:", type="tertiary", key="view_all", on_click=_back)
    st.markdown(f"**{plain(view.name)}**")
    st.caption(about(view))
    if may_change(here, view):
        _form(here, view)
        if dict(view.params) != whole:
            st.button(
                "Update to the question on screen",
                key="view_update",
                on_click=update,
                args=(here, view, whole),
            )
    _start(here, view)
    view_alert.draw(here, view)
    st.caption("Link to this view")
    params = {"project": view.project, "slicer": view.slicer, **view.params}
    st.code(share.address(page, params), language=None, wrap_lines=True)
    if may_change(here, view):
        _deletion(here, view)


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


def _form(here: Here, view: SavedView) -> None:
    name, shared = f"view_rename_{view.id}", f"view_reshare_{view.id}"
    with st.form("view_change", border=False):
        st.text_input("Name", view.name, key=name, max_chars=LONGEST_NAME)
        st.checkbox("Share with everybody who may see this slicer", view.is_shared, key=shared)
        st.form_submit_button("Save changes", on_click=_change, args=(here, view, name, shared))


def _change(here: Here, view: SavedView, name: str, shared: str) -> None:
    wanted, is_shared = st.session_state[name], bool(st.session_state[shared])
    attempted(lambda: here.clients.kept.views.change(view.id, name=wanted, is_shared=is_shared))


def _start(here: Here, view: SavedView) -> None:
    start = here.clients.kept.start.get()
    key = f"view_start_{view.id}"
    st.checkbox(
        "Open Tranche on this view",
        start is not None and start.id == view.id,
        key=key,
        on_change=_set_start,
        args=(here, view, key),
    )


def _set_start(here: Here, view: SavedView, key: str) -> None:
    number = view.id if st.session_state[key] else None
    attempted(lambda: here.clients.kept.start.set(number))


def _deletion(here: Here, view: SavedView) -> None:
    """Draw the button Delete: a first click asks for confirmation, a second one deletes."""
    if st.session_state.get(DELETING) != view.id:
        st.button("Delete view", icon=":material/delete:", key="view_delete", on_click=_ask, args=(view.id,))
        return
    seen = "Everybody loses it, and its start pages." if view.is_shared else "This can't be undone."
    st.warning(f"Delete {plain(view.name)}? {seen}", icon=":material/delete:")
    with st.container(horizontal=True):
        st.button(
            "Delete permanently", type="primary", key="view_delete_sure", on_click=_delete, args=(here, view)
        )
        st.button("Keep", key="view_delete_not", on_click=_ask, args=(None,))


def _ask(number: int | None) -> None:
    st.session_state[DELETING] = number


def _delete(here: Here, view: SavedView) -> None:
    attempted(lambda: here.clients.kept.views.delete(view.id))
    st.session_state[CHOSEN], st.session_state[DELETING] = None, None


def _back() -> None:
    st.session_state[CHOSEN], st.session_state[DELETING], st.session_state[PROBLEM] = None, None, ""
