"""The list of saved views in the popover: name, owner and date of each, and its actions as icons."""

from collections.abc import Callable, Iterator
from functools import partial

import streamlit as st

from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.question import saved_details
from lib.ui.question.saved_details import CHOSEN, PANEL, PROBLEM, Panel, about, may_change
from lib.views import Alert, SavedView

Opens = Callable[[SavedView], None]
ACTION = "view_do"


def draw(here: Here, views: list[SavedView], current: SavedView | None, opens: Opens) -> None:
    """A row per view; a click on its name opens it."""
    start = here.clients.kept.start.get()
    alerts = {alert.view_id: alert for alert in here.clients.kept.alerts.mine()}
    for view in views:
        is_start = start is not None and start.id == view.id
        _row(here, view, view == current, is_start, alerts.get(view.id), opens)


def _row(
    here: Here, view: SavedView, is_current: bool, is_start: bool, alert: Alert | None, opens: Opens
) -> None:
    icon = "check" if is_current else "group" if view.is_shared else "bookmark"
    with st.container(horizontal=True, vertical_alignment="center", gap=None, wrap=False):
        with st.container(gap=None, width="stretch"):
            st.button(
                plain(view.name),
                icon=f":material/{icon}:",
                type="tertiary",
                key=f"view_open_{view.id}",
                help=f"Open {plain(view.name)}",
                on_click=opens,
                args=(view,),
            )
            st.caption(about(view) + " · start page" * is_start)
        for name, icon, label, act in _actions(here, view, is_start, alert):
            st.button(
                plain(label),
                icon=f":material/{icon}:",
                type="tertiary",
                key=f"{ACTION}_{name}_{view.id}",
                help=plain(label),
                on_click=act,
            )


def _actions(
    here: Here, view: SavedView, is_start: bool, alert: Alert | None
) -> Iterator[tuple[str, str, str, Callable[[], None]]]:
    """Key, icon, label and callback of each action that the person may take."""
    name = view.name
    bell = "notification_add" if alert is None else "notifications"
    bell = "notifications_active" if alert is not None and alert.state == "firing" else bell
    yield "alert", bell, f"Alert on {name}", partial(_open_panel, view, "alert")
    start = partial(saved_details.set_start, here, None if is_start else view)
    if is_start:
        yield "start", "home_pin", f"Stop opening Tranche on {name}", start
    else:
        yield "start", "home", f"Open Tranche on {name}", start
    yield "link", "link", f"Link to {name}", partial(_open_panel, view, "link")
    if may_change(here, view):
        yield "edit", "edit", f"Edit {name}", partial(_open_panel, view, "edit")
        yield "delete", "delete", f"Delete {name}", partial(_open_panel, view, "delete")


def _open_panel(view: SavedView, panel: Panel) -> None:
    st.session_state[CHOSEN], st.session_state[PANEL], st.session_state[PROBLEM] = view.id, panel, ""
