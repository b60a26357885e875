"""The panel "Mail" of a saved view: who gets it, when it comes next, and the form that has it sent."""

from datetime import time, timedelta
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from lib.figures import numbers
from lib.figures.context import RequestContext
from lib.serving import connect
from lib.settings import Settings
from lib.share import tell
from lib.slicers import zones
from lib.ui.kit import reader
from lib.ui.kit.markdown import plain
from lib.ui.query.entries import EntryShelf
from lib.views import Board, Note, Pace, SavedView, Schedule, Subscription, mentions
from lib.views.subscriptions import WEEKDAYS
from lib.wire import time_zones
from lib.wire.text import is_mailable

PACES: dict[Pace, str] = {"daily": "Daily", "weekly": "Weekly", "import": "After each import"}
USUAL_TIME, STEP = time(8, 0), timedelta(minutes=15)
HELP = "Somebody without an account gets the figures that you may see. Empty: you get the mail yourself."
NO_ADDRESS = "You have no e-mail address yet: an administrator sets it (Access, People)."


def is_possible() -> bool:
    """Whether this desk has a mail server."""
    return bool(Settings.current().mail.smtp_host)


def send_mentions(context: RequestContext, note: Note, noun: str, before: str) -> None:
    """Mail those whom a note mentions and did not mention `before`; they may all see it."""
    if not is_possible():
        return
    settings = Settings.current()
    access = connect.installation(settings).access
    people = access.people.everyone()
    earlier = mentions(before, people)
    about = {"project": note.project, "slicer": note.slicer}
    link = "Open on the desk", f"audience?{urlencode(about)}"
    for person in context.clients.view_store.notes.mentioned_people(note, people):
        if person not in earlier:
            subject = f"{context.person.name} mentions you in a {noun}"
            pair = note.project, note.slicer
            tell(access.store.engine, settings, person, subject, note.text, link=link, about=pair)


def next_text(subscription: Subscription) -> str:
    """When the mail comes next, in the zone of its reader; empty where that is not known."""
    if subscription.next_time is None:
        return ""
    at = subscription.next_time.astimezone(time_zones.zone(subscription.zone))
    return f"{at:%a} {numbers.days(at.date(), at.date())}, {at:%H:%M} ({subscription.zone})"


def draw(context: RequestContext, shelf: EntryShelf, view: SavedView | Board) -> None:
    """The person's mail of a view or board, with a button that stops it, and the form."""
    st.caption(f"Mail me this {shelf.singular}")
    problem = st.session_state.get(shelf.state("problem"))
    if problem:
        st.error(plain(problem), icon=":material/error:")
    if not is_mailable(context.person.email or ""):
        st.info(NO_ADDRESS, icon=":material/mail:")
        return
    mails = context.clients.view_store.mails.mine()
    is_board = isinstance(view, Board)
    mine = [entry for entry in mails if (entry.board_id if is_board else entry.view_id) == view.id]
    for subscription in mine:
        _draw_subscription(context, shelf, subscription)
    own = next((subscription for subscription in mine if not subscription.recipient), None)
    _form(context, shelf, view, own)


def _draw_subscription(context: RequestContext, shelf: EntryShelf, subscription: Subscription) -> None:
    to = subscription.recipient or context.person.email or ""
    st.markdown(f":material/mail: {plain(subscription.schedule.title)}, to {plain(to)}")
    if subscription.is_going:
        st.caption("A mail is on its way: it goes within half a minute.")
    elif text := next_text(subscription):
        st.caption(plain(f"Next mail: {text}"))
    if subscription.problem:
        st.warning(plain(subscription.problem), icon=":material/warning:")
    mails = context.clients.view_store.mails
    with st.container(horizontal=True):
        for name, label, act in (
            ("now", "Send one now", mails.send_now),
            ("stop", "Stop this mail", mails.remove),
        ):
            attempt = partial(shelf.attempt, partial(act, subscription.id))
            st.button(label, key=f"view_mail_{name}_{subscription.id}", on_click=attempt)


def _form(
    context: RequestContext, shelf: EntryShelf, view: SavedView | Board, current: Subscription | None
) -> None:
    keys = {
        name: f"view_mail_{shelf.key}{name}_{view.id}"
        for name in ("pace", "day", "at", "zone", "to", "new", "file")
    }
    pace = st.segmented_control(
        "How often", list(PACES), default="daily" if current is None else current.pace, required=True,
        format_func=PACES.__getitem__, key=keys["pace"],
    )  # fmt: skip
    with st.form("view_mail", border=False):
        if pace == "weekly":
            st.selectbox("On", WEEKDAYS, 0 if current is None else current.weekday, key=keys["day"])
        if pace != "import":
            at = USUAL_TIME if current is None else time(*divmod(current.minute, 60))
            st.time_input("At", at, key=keys["at"], step=STEP)
            titles = {"UTC": "UTC", **reader.zone_titles()}
            st.selectbox(
                "Time zone", dict.fromkeys([_zone(current), *titles]), key=keys["zone"],
                format_func=lambda zone: titles.get(zone, zone),
                filter_mode="contains", placeholder=reader.FIND_ZONE,
            )  # fmt: skip
        if context.person.may_share and Settings.current().share_links:
            st.text_input("To", key=keys["to"], placeholder=context.person.email, help=HELP)
        is_new, has_file = (False, False) if current is None else (current.only_new, current.with_snapshot)
        st.checkbox("Only when the data are new", is_new, key=keys["new"])
        st.checkbox("Attach the snapshot as a file", has_file, key=keys["file"])
        add = partial(_add, context, shelf, view, keys, _zone(current))
        st.form_submit_button(f"Mail me this {shelf.singular}", type="primary", on_click=add)


def _add(
    context: RequestContext, shelf: EntryShelf, view: SavedView | Board, keys: dict[str, str], zone: str
) -> None:
    """Have the view or board mailed as the form says. A callback."""
    is_board = isinstance(view, Board)
    form = {name: st.session_state.get(key) for name, key in keys.items()}
    at, to = form["at"] or USUAL_TIME, str(form["to"] or "").strip()
    day = WEEKDAYS.index(form["day"] or WEEKDAYS[0])
    schedule = Schedule(form["pace"] or "daily", form["zone"] or zone, at.hour * 60 + at.minute, day)
    shelf.attempt(
        lambda: context.clients.view_store.mails.add(
            None if is_board else view.id,
            schedule,
            board_id=view.id if is_board else None,
            only_new=bool(form["new"]),
            with_snapshot=bool(form["file"]),
            recipient="" if to == context.person.email else to,
        )
    )


def _zone(current: Subscription | None) -> str:
    """The zone of the mail that there is, else of the browser."""
    if current is not None:
        return current.zone
    zone = st.context.timezone
    return zone if zone in zones.names() else "UTC"
