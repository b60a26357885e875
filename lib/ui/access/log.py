"""The audit log, for an administrator: sign-ins, refused ones, permissions, tokens."""

from collections.abc import Iterable

import pandas as pd
import streamlit as st

from lib.tokens.access import Access
from lib.tokens.audit import EVENTS, Entry
from lib.ui.frame.straight import straightened

PERSON, EVENT, PAGE = "log_person", "log_event", "log_page"
SHOWN = 200


def table(entries: Iterable[Entry]) -> pd.DataFrame:
    """A row per entry, times in UTC."""
    rows = [(one.at, one.event.capitalize(), one.about, one.who, one.address, one.detail) for one in entries]
    frame = pd.DataFrame(rows, columns=["When", "Event", "Person", "By", "From", "Details"])
    return frame.assign(When=pd.to_datetime(frame["When"], utc=True))


def draw(access: Access) -> None:
    """Filters, then a page of the entries, the latest first."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        people = [person.username for person in access.people.everyone()]
        about = st.selectbox(
            "Person",
            people,
            index=None,
            key=PERSON,
            placeholder="Everybody",
            accept_new_options=True,
            width=220,
        )
        events = st.multiselect(
            "Events", EVENTS, key=EVENT, format_func=str.capitalize, placeholder="All", width=420
        )
    wanted = (about, None, tuple(events) or EVENTS)
    count, _ = access.audit.entries(0, 0, *wanted)
    pages = max(1, -(-count // SHOWN))
    page = min(pages, int(st.session_state.get(PAGE) or 1))
    _, entries = access.audit.entries(SHOWN, SHOWN * (page - 1), *wanted)
    if not count:
        st.info("There are no such entries yet.", icon=":material/history:")
        return
    st.dataframe(
        straightened(table(entries)),
        hide_index=True,
        column_config={
            "When": st.column_config.DatetimeColumn(
                format="D MMM YYYY, HH:mm:ss", timezone=st.context.timezone, width=170
            ),
            "Details": st.column_config.TextColumn(width="large"),
        },
        placeholder="",
        alt="Audit log",
    )
    if pages > 1:
        st.pagination(pages, key=PAGE)
    counted = "One entry" if count == 1 else f"{count:,} entries"
    st.caption(f"{counted}. `tranche log` shows them on the command line.")
