"""Saved views: the named questions of a slicer, in a popover of the question bar."""

from functools import partial

import streamlit as st

from lib.ui.frame import problems, screens
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import entries, question, saved_details, saved_list
from lib.ui.question.saved_details import OPEN, VIEWS
from lib.ui.question.saved_list import Opens
from lib.views import SavedView
from lib.wire.errors import TrancheError

POPOVER, LEAVING = "saved_views", "view_leaving"
WIDTH = 420


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
    entries.problem(VIEWS)
    chosen = VIEWS.chosen(views)
    if chosen is not None:
        saved_details.draw(here, page, chosen, whole)
        return
    if current is not None and dict(current.params) != whole:
        _changed(here, current, whole, opens)
    entries.new(VIEWS, "Save this question as", partial(_save, here))
    saved_list.draw(here, views, current, opens)
    if not views:
        st.caption("Nobody has saved a view of this slicer for you yet.")


def _current(views: list[SavedView], whole: dict[str, str]) -> SavedView | None:
    """The view that was opened last, or one with exactly this question."""
    opened = next((view for view in views if view.id == st.session_state.get(OPEN)), None)
    return opened or next((view for view in views if dict(view.params) == whole), None)


def _label(current: SavedView | None, whole: dict[str, str]) -> str:
    return "Views" if current is None else entries.label(current, dict(current.params) != whole)


def _changed(here: Here, view: SavedView, whole: dict[str, str], opens: Opens) -> None:
    """Draw the buttons for an open view whose question has changed on screen."""
    st.markdown(f"**{plain(view.name)}** · changed since saved")
    with st.container(horizontal=True):
        if entries.may_change(here, view):
            st.button(
                "Update view", key="view_update", on_click=saved_details.update, args=(here, view, whole)
            )
        st.button("Open as saved", key="view_restore", on_click=opens, args=(view,))


def go(is_elsewhere: bool, view: SavedView) -> None:
    """Ask the view's question; on Audience, where that is elsewhere. A callback."""
    st.session_state[OPEN], st.session_state[POPOVER] = view.id, False
    question.go(view.params)
    st.session_state[LEAVING] = is_elsewhere
    st.rerun()


def _save(here: Here, name: str, is_shared: bool) -> None:
    views, whole = here.clients.kept.views, question.whole(here)
    st.session_state[OPEN] = views.save(here.project, here.slicer_name, name, whole, is_shared).id
