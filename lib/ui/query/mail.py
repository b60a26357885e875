"""The panel "Mail" of a saved view: who gets it, when it comes next, and the form that has it sent."""

from datetime import time, timedelta
from zoneinfo import ZoneInfo, available_timezones

import streamlit as st

from lib.settings import Settings
from lib.ui.charts import numbers
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query.entries import EntryShelf
from lib.views import Pace, SavedView, Schedule, Subscription
from lib.views.subscriptions import WEEKDAYS
from lib.wire.text import is_mailable

PACES: dict[Pace, str] = {"daily": "Daily", "weekly": "Weekly", "import": "After each import"}
USUAL_TIME, STEP = time(8, 0), timedelta(minutes=15)
NO_ADDRESS = "You have no e-mail address yet: an administrator sets it (Access, People)."


def is_possible() -> bool:
    """Whether this desk has a mail server."""
    return bool(Settings.current().smtp_host)


def next_text(subscription: Subscription) -> str:
    """When the mail comes next, in the zone of its reader; for others, what it waits for."""
    if subscription.next_time is None:
        return subscription.schedule.words.capitalize()
    at = subscription.next_time.astimezone(ZoneInfo(subscription.zone))
    return f"{at:%a} {numbers.days(at.date(), at.date())}, {at:%H:%M} ({subscription.zone})"


def draw(context: PageContext, shelf: EntryShelf, view: SavedView) -> None:
    """The person's mail of a view, with a button that stops it, and the form."""
    st.caption("Mail me this view")
    problem = st.session_state.get(shelf.state("problem"))
    if problem:
        st.error(plain(problem), icon=":material/error:")
    if not is_mailable(context.person.email or ""):
        st.info(NO_ADDRESS, icon=":material/mail:")
        return
    mine = [one for one in context.clients.view_store.mails.mine() if one.view_id == view.id]
    for subscription in mine:
        _draw_subscription(context, shelf, subscription)
    _form(context, shelf, view, next(iter(mine), None))


def _draw_subscription(context: PageContext, shelf: EntryShelf, subscription: Subscription) -> None:
    to = subscription.recipient or context.person.email or ""
    st.markdown(f":material/mail: {plain(subscription.schedule.words.capitalize())}, to {plain(to)}")
    if subscription.next_time is not None:
        st.caption(plain(f"Next mail: {next_text(subscription)}"))
    if subscription.problem:
        st.warning(plain(subscription.problem), icon=":material/warning:")
    st.button(
        "Stop this mail",
        key=f"view_mail_stop_{subscription.id}",
        on_click=lambda: shelf.attempted(lambda: context.clients.view_store.mails.remove(subscription.id)),
    )


def _form(context: PageContext, shelf: EntryShelf, view: SavedView, current: Subscription | None) -> None:
    pace_key, day_key, time_key, zone_key, new_key, file_key = (
        f"view_mail_{part}_{view.id}" for part in ("pace", "day", "time", "zone", "new", "file")
    )
    pace = st.segmented_control(
        "How often", list(PACES), default="daily" if current is None else current.pace, required=True,
        format_func=PACES.__getitem__, key=pace_key,
    )  # fmt: skip
    with st.form("view_mail", border=False):
        if pace == "weekly":
            st.selectbox("On", WEEKDAYS, 0 if current is None else current.weekday, key=day_key)
        if pace != "import":
            at = USUAL_TIME if current is None else time(*divmod(current.minute, 60))
            st.time_input("At", at, key=time_key, step=STEP)
            zones = sorted(available_timezones())
            st.selectbox("Time zone", zones, zones.index(_zone(current)), key=zone_key)
        st.checkbox("Only when the data are new", current is not None and current.only_new, key=new_key)
        st.checkbox(
            "Attach the snapshot as a file", current is not None and current.with_snapshot, key=file_key
        )

        def add() -> None:
            state = st.session_state
            chosen: time = state.get(time_key, USUAL_TIME)
            schedule = Schedule(
                state[pace_key],
                state.get(zone_key, _zone(current)),
                chosen.hour * 60 + chosen.minute,
                WEEKDAYS.index(state.get(day_key, WEEKDAYS[0])),
            )
            mails = context.clients.view_store.mails
            shelf.attempted(
                lambda: mails.add(view.id, schedule, only_new=state[new_key], with_snapshot=state[file_key])
            )

        st.form_submit_button("Mail me this view", type="primary", on_click=add)


def _zone(current: Subscription | None) -> str:
    """The zone of the mail that there is, else of the browser."""
    if current is not None:
        return current.zone
    zone = st.context.timezone
    return zone if zone in available_timezones() else "UTC"
