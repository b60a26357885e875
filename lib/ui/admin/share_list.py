"""The share links that a person may revoke: their own; for administrators those of everybody."""

from collections.abc import Iterable
from datetime import UTC, datetime

import pandas as pd
import streamlit as st

from lib.ui.admin.selection_table import choose_rows, moment_column
from lib.ui.kit import notes
from lib.ui.kit.frame import PageContext
from lib.ui.kit.problems import draw_problem
from lib.views import ShareLink
from lib.wire.errors import TrancheError

TIMES = ("Expires", "Last opened", "Made")
PROBLEM = "share_links_problem"


def table(links: Iterable[ShareLink], now: datetime) -> pd.DataFrame:
    """A row per link, times in UTC; a link that was never opened has no time of that."""
    rows = [
        (
            link.name,
            f"{link.about}{'' if link.deal is None else f', deal {link.deal}'}",
            link.owner,
            "active" if link.expires > now else "expired",
            link.expires,
            link.opened,
            link.created,
            ", ".join(link.origins),
            link.recipient or "",
        )
        for link in links
    ]
    names = ["Title", "Shows", "Made by", "State", *TIMES, "Embedded in", "Only for"]
    frame = pd.DataFrame(rows, columns=names)
    return frame.assign(**{name: pd.to_datetime(frame[name], utc=True) for name in TIMES})


def draw(context: PageContext) -> None:
    """Draw the list, and the button that revokes those chosen."""
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
    button.button(
        "Revoke",
        icon=":material/block:",
        key="share_links_revoke",
        disabled=not selection,
        help="The chosen links stop working at once, permanently",
        on_click=_revoke,
        args=(context, selection),
    )


def _revoke(context: PageContext, links: list[ShareLink]) -> None:
    """Revoke them. A callback."""
    try:
        for link in links:
            context.clients.view_store.share_links.revoke(link.id)
        notes.say("Revoked")
    except TrancheError as error:
        st.session_state[PROBLEM] = error.sentence
