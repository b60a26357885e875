"""Saved views: the named questions of a slicer, in a popover of the question bar."""

from functools import partial

import streamlit as st

from lib.ui.frame import problems, screens
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import question, saved_details, saved_list
from lib.ui.question.saved_details import CHOSEN, OPEN, PROBLEM, attempted
from lib.ui.question.saved_list import Opens
from lib.views import LONGEST_NAME, SavedView
from lib.wire.errors import TrancheError

POPOVER, NAME, SHARE, LEAVING = "saved_views", "view_name", "view_share", "view_leaving"
WIDTH, LONGEST_LABEL = 420, 28


def draw(here: Here, page: str, is_elsewhere: bool = False) -> None:
    """Draw the popover; its label is the open view, with a mark if the question has changed since.

    `page` is the screen that links lead to; a view opens there too, where the question `is_elsewhere`.
    """
    if is_elsewhere and st.session_state.pop(LEAVING, False):  # a callback knows no pages yet
        st.switch_page(screens.AUDIENCE, query_params=question.params())
    try:
        views = here.clients.kept.views.of(here.project, here.slicer_name)
    except TrancheError as error:
        with st.popover("Views", icon=":material/bookmark:", type="tertiary", key=POPOVER):
            problems.show(error, "The saved views", "Your question is kept as it was.")
        return
    whole = question.whole(here)
    current = _current(views, whole)
    popover = st.popover(
        _label(current, whole), icon=":material/bookmark:", type="tertiary", key=POPOVER, on_change="rerun"
    )
    if popover.open:
        with popover, st.container(width=WIDTH), problems.reported("The saved views"):
            _content(here, page, views, current, whole, partial(go, is_elsewhere))


def _content(
    here: Here,
    page: str,
    views: list[SavedView],
    current: SavedView | None,
    whole: dict[str, str],
    opens: Opens,
) -> None:
    if problem := st.session_state.get(PROBLEM):
        st.error(plain(problem), icon=":material/error:")
    chosen = next((view for view in views if view.id == st.session_state.get(CHOSEN)), None)
    if chosen is not None:
        saved_details.draw(here, page, chosen, whole)
        return
    if current is not None and dict(current.params) != whole:
        _changed(here, current, whole, opens)
    _new(here)
    saved_list.draw(here, views, current, opens)
    if not views:
        st.caption("Nobody has saved a view of this slicer for you yet.")


def _current(views: list[SavedView], whole: dict[str, str]) -> SavedView | None:
    """The view that was opened last, or one with exactly this question."""
    opened = next((view for view in views if view.id == st.session_state.get(OPEN)), None)
    return opened or next((view for view in views if dict(view.params) == whole), None)


def _label(current: SavedView | None, whole: dict[str, str]) -> str:
    if current is None:
        return "Views"
    name = current.name
    shown = name if len(name) <= LONGEST_LABEL else f"{name[: LONGEST_LABEL - 1]}…"
    return f"{plain(shown)} · changed" if dict(current.params) != whole else plain(shown)


def _changed(here: Here, view: SavedView, whole: dict[str, str], opens: Opens) -> None:
    """Draw the buttons for an open view whose question has changed on screen."""
    st.markdown(f"**{plain(view.name)}** · changed since saved")
    with st.container(horizontal=True):
        if saved_details.may_change(here, view):
            st.button(
                "Update view", key="view_update", on_click=saved_details.update, args=(here, view, whole)
            )
        st.button("Open as saved", key="view_restore", on_click=opens, args=(view,))


def _new(here: Here) -> None:
    with st.form("view_new", border=False, clear_on_submit=True):
        st.text_input("Save this question as", key=NAME, max_chars=LONGEST_NAME, placeholder="Name")
        st.checkbox("Share with everybody who may see this slicer", key=SHARE)
        st.form_submit_button("Save view", type="primary", on_click=_save, args=(here,))


def go(is_elsewhere: bool, view: SavedView) -> None:
    """Ask the view's question; on Audience, where that is elsewhere. A callback."""
    st.session_state[OPEN], st.session_state[POPOVER] = view.id, False
    question.go(view.params)
    st.session_state[LEAVING] = is_elsewhere
    st.rerun()


def _save(here: Here) -> None:
    name, is_shared = st.session_state[NAME], bool(st.session_state[SHARE])
    views, whole = here.clients.kept.views, question.whole(here)
    made = attempted(lambda: views.save(here.project, here.slicer_name, name, whole, is_shared))
    if made is not None:
        st.session_state[OPEN] = made.id
