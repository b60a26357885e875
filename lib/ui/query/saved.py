"""Saved views in a popover of the question bar: the list, and a view's name, alert, mail, link, deletion."""

from collections.abc import Callable, Iterator
from functools import partial

import streamlit as st

from lib.figures.query import periods
from lib.reporting import links
from lib.ui.kit import problems, screens
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import alert_form, board_addition, entries, history, mail, note_list, share
from lib.ui.query.entries import Action, EntryShelf
from lib.ui.query.note_list import NotePlace
from lib.ui.query.share import Send
from lib.views import Alert, SavedView
from lib.wire.errors import TrancheError
from lib.wire.text import count_of

VIEWS = EntryShelf(
    "",
    lambda context: context.clients.view_store.views,
    "views",
    "Share with everybody who may see this slicer",
    "Everybody loses it, and its start pages.",
)
OPEN = VIEWS.state("open")
Opens = Callable[[SavedView], None]
POPOVER, LEAVING = "saved_views", "view_leaving"
WIDTH = 420


def draw_saved_details(
    context: PageContext, view: SavedView, whole: dict[str, str], send: Send | None
) -> None:
    """Draw the panel that was opened of a view: edit, alert, mail, link or delete."""
    entries.head(VIEWS, view)
    panel: str = st.session_state.get(VIEWS.state("panel"), "edit")
    if panel == "alert":
        alert_form.draw_view_alert(context, view)
    elif panel == "mail":
        mail.draw(context, VIEWS, view)
    elif panel == "board":
        board_addition.draw(context, VIEWS, view)
    elif panel == "comments":
        # The comments on a view, the oldest first, and a form for another one.
        notes = context.clients.view_store.notes
        readers = "Everybody who sees this view" if view.is_shared else "Nobody else"
        place = NotePlace(
            f"view_{view.id}",
            "comment",
            "Comment",
            "Why did spend fall on Tuesday?",
            f"{readers} sees its comments.",
            lambda _, text: notes.comment(view.id, text),
        )
        comments = notes.on_views(view.project, view.slicer).get(view.id, [])
        note_list.draw(context, place, comments, "No comments on this view.")
    elif panel == "link" or not entries.may_change(context, view):
        query = links.from_params(view.params, context.slicer, context.project, context.slicer_name).query
        st.caption(periods.sentence(query, context.slicer))
        params = {"project": view.project, "slicer": view.slicer, **view.params}
        st.code(share.address("audience", params), language=None, wrap_lines=True)
        if send is not None:
            send(context, params, view.name)
    elif panel == "delete":
        entries.deletion(context, VIEWS, view)
    else:
        entries.edit(context, VIEWS, view)
        if dict(view.params) != whole:
            st.button(
                "Update to the question on screen", key="view_update", on_click=update,
                args=(context, view, whole),
            )  # fmt: skip


def update(context: PageContext, view: SavedView, whole: dict[str, str]) -> None:
    """Update the view to the question on the screen. A callback."""
    st.session_state[OPEN] = view.id
    VIEWS.attempt(lambda: context.clients.view_store.views.change(view.id, params=whole))


def draw_saved_list(
    context: PageContext, views: list[SavedView], current: SavedView | None, opens: Opens
) -> None:
    """A row per view; a click on its name opens it."""
    start = context.clients.view_store.start.get()
    alerts = {alert.view_id: alert for alert in context.clients.view_store.alerts.mine()}
    comments = context.clients.view_store.notes.on_views(context.project, context.slicer_name)
    subscriptions = context.clients.view_store.mails.mine() if mail.is_possible() else None
    mails = None if subscriptions is None else {subscription.view_id for subscription in subscriptions}
    for view in views:
        actions = _actions(context, view, start, alerts.get(view.id), mails)
        more = " · start page" * (start is not None and start.id == view.id)
        if notes := comments.get(view.id):
            more += f" · {count_of(len(notes), 'comment')}"
            if own := sum(note.is_for_me for note in notes):
                more += f", **{own} mention{'s' * (own == 1)} you**"
        entries.row(VIEWS, view, view == current, opens, actions, more)


def _actions(
    context: PageContext,
    view: SavedView,
    start: SavedView | None,
    alert: Alert | None,
    mails: set[int | None] | None,
) -> Iterator[Action]:
    """Key, icon, label and callback of each action that the person may take; `mails` where the desk can."""
    name = view.name
    if mails is not None:
        icon = "mark_email_read" if view.id in mails else "mail"
        yield "mail", icon, f"Mail {name}", partial(VIEWS.show, view, "mail")
    bell = "notification_add" if alert is None else "notifications"
    bell = "notifications_active" if alert is not None and alert.state == "firing" else bell
    yield "alert", bell, f"Alert on {name}", partial(VIEWS.show, view, "alert")
    yield entries.start_action(VIEWS, view, start, context.clients.view_store.start.set)
    yield "board", "dashboard", f"Add {name} to a board", partial(VIEWS.show, view, "board")
    yield "comments", "comment", f"Comments on {name}", partial(VIEWS.show, view, "comments")
    yield "link", "link", f"Link to {name}", partial(VIEWS.show, view, "link")
    yield from entries.changes(context, VIEWS, view)


def draw(context: PageContext, is_elsewhere: bool = False, send: Send | None = None) -> None:
    """Draw the popover; its label is the open view, with a mark if the question has changed since.

    A view opens on Audience, also where the question `is_elsewhere`; `send` draws what sends it to others.
    """
    if is_elsewhere and st.session_state.pop(LEAVING, False):  # a callback knows no pages yet
        st.switch_page(screens.AUDIENCE, query_params=history.params())
    try:
        views = context.clients.view_store.views.of(context.project, context.slicer_name)
    except TrancheError as error:
        with st.popover("Views", icon=":material/bookmark:", type="tertiary", key=POPOVER):
            problems.show(error, "The saved views", "Your question is kept as it was.")
        return
    whole = history.current(context).params
    # The view that was opened last, or one with exactly this question.
    saved_view = next((view for view in views if view.id == st.session_state.get(OPEN)), None)
    current = saved_view or next((view for view in views if dict(view.params) == whole), None)
    label = "Views" if current is None else entries.label(current, dict(current.params) != whole)
    popover = st.popover(label, icon=":material/bookmark:", type="tertiary", key=POPOVER, on_change="rerun")
    if popover.open:
        with popover, st.container(width=WIDTH), problems.report_errors("The saved views"):
            opens = partial(go, is_elsewhere)
            entries.problem(VIEWS)
            open_view = VIEWS.open_entry(views)
            if open_view is not None:
                draw_saved_details(context, open_view, whole, send)
                return
            if current is not None and dict(current.params) != whole:
                st.markdown(f"**{plain(current.name)}** · changed since saved")
                with st.container(horizontal=True):
                    if entries.may_change(context, current):
                        st.button(
                            "Update view", key="view_update", on_click=update, args=(context, current, whole)
                        )
                    st.button("Open as saved", key="view_restore", on_click=opens, args=(current,))
            entries.new(VIEWS, "Save this question as", partial(_save, context))
            st.caption(periods.sentence(history.current(context).query, context.slicer))
            draw_saved_list(context, views, current, opens)
            if not views:
                st.caption("Nobody has saved a view of this slicer for you yet.")


def go(is_elsewhere: bool, view: SavedView) -> None:
    """Ask the view's question; on Audience, where that is elsewhere. A callback."""
    st.session_state[OPEN], st.session_state[POPOVER] = view.id, False
    st.session_state[LEAVING] = is_elsewhere
    history.change(view.params)


def _save(context: PageContext, name: str, is_shared: bool) -> None:
    views, whole = context.clients.view_store.views, history.current(context).params
    st.session_state[OPEN] = views.save(context.project, context.slicer_name, name, whole, is_shared).id
