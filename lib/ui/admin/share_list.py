"""The share links that a person may revoke: their own; for administrators those of everybody."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from lib.ui.admin.selection_table import choose_rows, moment_column
from lib.ui.kit import notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.problems import draw_problem
from lib.views import ShareLink, ShareLinks
from lib.views.share_links import MOST_WRONG_CODES
from lib.wire.errors import TrancheError

TIMES = ("Expires", "Last opened", "Made")
PROBLEM = "share_links_problem"


def table(links: Iterable[ShareLink], now: datetime) -> pd.DataFrame:
    """A row per link, times in UTC; a link that was never opened has no time of that."""
    rows = [
        (
            link.name, link.about, link.owner,
            "expired" if link.expires <= now else "closed: wrong codes" if link.is_closed else "active",
            link.expires, link.opened, link.created, ", ".join(link.origins), link.recipient or "",
        )
        for link in links
    ]  # fmt: skip
    names = ["Title", "Shows", "Made by", "State", *TIMES, "Embedded in", "Only for"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(**{name: pd.to_datetime(frame[name], utc=True) for name in TIMES})


def draw(context: PageContext) -> None:
    """Draw the list, and the buttons that revoke those chosen or open closed ones again."""
    links = context.clients.view_store.share_links.everything()
    button = st.container()
    draw_problem(PROBLEM)
    if not links:
        st.info(
            "There are no share links. Link on Audience makes them, and Share with buyer in a deal.",
            icon=":material/share:",
        )
        return
    columns, frame = dict.fromkeys(TIMES, moment_column()), table(links, datetime.now(UTC))
    selection = choose_rows("share_links", links, frame, columns, "Share links", "never")
    with button.container(horizontal=True):
        st.button(
            "Revoke", icon=":material/block:", key="share_links_revoke", disabled=not selection,
            help="The chosen links stop working at once, permanently", on_click=_change,
            args=(context, ShareLinks.revoke, selection, "Revoked"),
        )  # fmt: skip
        if any(link.is_closed for link in links):
            to_reopen = [link for link in selection if link.is_closed]
            st.button(
                "Open again", icon=":material/lock_open:", key="share_links_reopen", disabled=not to_reopen,
                help=f"{MOST_WRONG_CODES} wrong codes closed the chosen links: they take codes again",
                on_click=_change, args=(context, ShareLinks.reopen, to_reopen, "Opened again"),
            )  # fmt: skip


def _change(
    context: PageContext, change: Callable[[ShareLinks, int], None], links: list[ShareLink], note: str
) -> None:
    """Revoke links, or open them again. A callback."""
    try:
        for link in links:
            change(context.clients.view_store.share_links, link.id)
        notes.say(note)
    except TrancheError as error:
        st.session_state[PROBLEM] = error.sentence
