"""The list of mails: one's own, for administrators everybody's; and the switch for those of alerts."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from lib.ui.admin.selection_table import choose_rows, moment_column
from lib.ui.kit import problems
from lib.ui.kit.frame import PageContext
from lib.ui.query import mail
from lib.views import Schedule, Subscription
from lib.wire.text import is_mailable

PROBLEM, ALERTS = "mails_problem", "mails_alerts"
COLUMNS = {
    "Mail": st.column_config.TextColumn(width="medium"),
    "Comes": st.column_config.TextColumn(width="medium"),
    "Problem": st.column_config.TextColumn(width="large"),
}


def table(mails: Iterable[Subscription], with_owner: bool) -> pd.DataFrame:
    """A row per mail, times in UTC; of a view that the reader can't see, its slicer."""
    rows = [
        {
            "Mail": _name(subscription),
            "Person": subscription.owner,
            "To": subscription.recipient or "own address",
            "Comes": subscription.schedule.title,
            "Next": "on its way" if subscription.is_going else mail.next_text(subscription),
            "Last sent": subscription.sent,
            "Problem": subscription.problem,
        }
        for subscription in mails
    ]
    columns = ["Mail", "Person", "To", "Comes", "Next", "Last sent", "Problem"]
    frame = pd.DataFrame(rows, columns=columns)
    frame = frame.assign(**{"Last sent": pd.to_datetime(frame["Last sent"], utc=True)})
    return frame if with_owner else frame.drop(columns="Person")


def draw(context: PageContext) -> None:
    """Draw the switch for alerts, the list, and the button that stops mails."""
    mails = context.clients.view_store.mails
    everything, mine = mails.all(), mails.mine()
    problems.draw_problem(PROBLEM)
    if is_mailable(context.person.email or ""):
        alert_mail = next((subscription for subscription in mine if subscription.is_of_alerts), None)
        st.toggle(
            "Mail me when my alerts fire or clear", alert_mail is not None,
            key=f"{ALERTS}_{0 if alert_mail is None else alert_mail.id}",
            on_change=_switch, args=(context, alert_mail),
        )  # fmt: skip
    else:
        st.info(mail.NO_ADDRESS, icon=":material/mail:")
    if not everything:
        st.caption("No mails yet. Open Views on Audience, and choose Mail beside one.")
        return
    stop = st.container()
    frame = table(everything, context.person.role == "admin")
    columns = COLUMNS | {"Last sent": moment_column()}
    selection = choose_rows("mails", everything, frame, columns, "Mails")
    stop.button(
        "Stop", icon=":material/unsubscribe:", key="mails_stop", disabled=not selection,
        on_click=_stop, args=(context, selection),
    )  # fmt: skip


def _name(subscription: Subscription) -> str:
    if subscription.is_of_alerts:
        return "Alerts"
    if subscription.board_id is not None:
        return subscription.board_name or "A board"
    return subscription.view_name or f"A view of {subscription.project}/{subscription.slicer}"


def _switch(context: PageContext, alert_mail: Subscription | None) -> None:
    """Have alerts mailed, or not any more. A callback."""
    if alert_mail is None:
        _attempt(lambda: context.clients.view_store.mails.add(None, Schedule("alerts")))
    else:
        _attempt(lambda: context.clients.view_store.mails.remove(alert_mail.id))


def _stop(context: PageContext, selection: Sequence[Subscription]) -> None:
    for subscription in selection:
        _attempt(partial(context.clients.view_store.mails.remove, subscription.id))


def _attempt(work: Callable[[], object]) -> None:
    _, problem = problems.attempt(work)
    if problem:
        st.session_state[PROBLEM] = problem
