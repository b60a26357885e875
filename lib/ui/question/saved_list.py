"""The list of saved views in the popover: name, owner and date of each, and its actions as icons."""

from collections.abc import Callable, Iterator
from functools import partial

from lib.ui.frame.frame import Here
from lib.ui.question import entries, saved_details
from lib.ui.question.entries import Action
from lib.ui.question.saved_details import VIEWS
from lib.views import Alert, SavedView

Opens = Callable[[SavedView], None]


def draw(here: Here, views: list[SavedView], current: SavedView | None, opens: Opens) -> None:
    """A row per view; a click on its name opens it."""
    start = here.clients.kept.start.get()
    alerts = {alert.view_id: alert for alert in here.clients.kept.alerts.mine()}
    for view in views:
        is_start = start is not None and start.id == view.id
        actions = _actions(here, view, is_start, alerts.get(view.id))
        entries.row(VIEWS, view, view == current, opens, actions, " · start page" * is_start)


def _actions(here: Here, view: SavedView, is_start: bool, alert: Alert | None) -> Iterator[Action]:
    """Key, icon, label and callback of each action that the person may take."""
    name = view.name
    bell = "notification_add" if alert is None else "notifications"
    bell = "notifications_active" if alert is not None and alert.state == "firing" else bell
    yield "alert", bell, f"Alert on {name}", partial(VIEWS.show, view, "alert")
    start = partial(saved_details.set_start, here, None if is_start else view)
    if is_start:
        yield "start", "home_pin", f"Stop opening Tranche on {name}", start
    else:
        yield "start", "home", f"Open Tranche on {name}", start
    yield "link", "link", f"Link to {name}", partial(VIEWS.show, view, "link")
    yield from entries.changes(here, VIEWS, view)
