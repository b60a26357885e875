"""A person's alerts that fire: a mark beside the slicer on every screen, and a list on the first one."""

import logging

import streamlit as st

from lib.figures import alert_text
from lib.figures.numbers import Numbers
from lib.serving import connect
from lib.ui.kit import reader, screens, slicer_info
from lib.ui.kit.markdown import plain
from lib.ui.query import history
from lib.views import Alert
from lib.wire.errors import TrancheError
from lib.wire.text import count_of

log = logging.getLogger(__name__)
MARK, GOING, AT_START, WIDTH = "alerts_mark", "alerts_going", "alerts_at_start", 420


def mark(clients: connect.Clients) -> None:
    """How many fire, with the list behind it; nothing where none does. After a click there: to the view."""
    if st.session_state.pop(GOING, False):
        st.switch_page(screens.AUDIENCE, query_params=history.params())
    alerts = _firing(clients)
    if not alerts:
        return
    popover = st.popover(
        count_of(len(alerts), "alert"), icon=":material/notifications_active:", type="tertiary", key=MARK,
        on_change="rerun",
    )  # fmt: skip
    if popover.open:
        with popover, st.container(width=WIDTH):
            for alert in alerts:
                _row(clients, alert, "mark")


def block(clients: connect.Clients) -> None:
    """The list, for the first screen; nothing where none fires."""
    if alerts := _firing(clients):
        with st.container(border=True, key="alerts_firing"):
            st.markdown(f"**{count_of(len(alerts), 'alert')}**")
            for alert in alerts:
                _row(clients, alert, "block")


def at_start(clients: connect.Clients) -> None:
    """The list on a start page, once after the sign-in, until it is hidden or another screen is opened."""
    if st.session_state.get(AT_START) and _firing(clients):
        block(clients)
        st.button("Hide alerts", type="tertiary", icon=":material/close:", key="alerts_hide", on_click=forget)


def forget() -> None:
    """The start page was left, or the list there is not needed any more."""
    st.session_state.pop(AT_START, None)


def _firing(clients: connect.Clients) -> list[Alert]:
    """Firing alerts, and alerts that can't fire any more; none if the database fails, which is logged."""
    try:
        return [alert for alert in clients.view_store.alerts.mine() if alert.state in ("firing", "lost")]
    except TrancheError as error:
        log.warning("The alerts could not be read: %s", error.reason)
        return []


def _row(clients: connect.Clients, alert: Alert, where: str) -> None:
    """One alert: view, figure, bound and start; a link to the view, or a button to remove a lost alert."""
    numbers = Numbers.of(reader.locale())
    about = f"{alert.project}/{alert.slicer}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(gap=None, width="stretch"):
            name = alert.view_name or f"A view of {about}"
            st.markdown(f"**{plain(name)}**: {plain(alert_text.condition_text(alert, numbers))}")
            st.caption(plain(f"{alert_text.alert_state(alert, numbers)} · {about}"))
        key = f"alert_{where}_{alert.id}"
        if alert.view_name:
            sentence = f"Open the view {plain(alert.view_name)}"
            st.button("Open view", type="tertiary", key=key, help=sentence, on_click=_open, args=(alert,))
        else:
            st.button("Remove", type="tertiary", key=key, on_click=_remove, args=(clients, alert))


def _open(alert: Alert) -> None:
    """Ask the view's question of its own slicer; the run after this callback goes to Audience."""
    forget()
    st.session_state[MARK], st.session_state[GOING] = False, True
    slicer_info.pick(alert.project, alert.slicer)
    history.change(alert.params, about=(alert.project, alert.slicer))


def _remove(clients: connect.Clients, alert: Alert) -> None:
    try:
        clients.view_store.alerts.remove(alert.view_id)
    except TrancheError as error:
        log.warning("An alert could not be removed: %s", error.reason)
