"""The link to the current question, with its days by name or fixed, and what else sends it."""

from collections.abc import Callable, Mapping
from urllib.parse import quote, urlencode, urlsplit

import streamlit as st

from lib.figures.query import ask, periods, state
from lib.reporting import links, named_days
from lib.settings import Settings
from lib.ui.kit.frame import PageContext
from lib.ui.query import current_focus, history
from lib.views.share_links import LONGEST, USUAL

WIDTH = 460
LIFETIMES = {"7 days": 7, "30 days": USUAL.days, "90 days": 90, "1 year": LONGEST.days - 1}
"""How many days a share link works, by their name."""
Send = Callable[[PageContext, Mapping[str, str], str], None]
"""Draws what else sends a question to others: its parameters, and the name of the view that it is (empty)."""


def draw(context: PageContext, send: Send | None = None) -> None:
    """Draw the popover with the link to copy, two if the days have a name, and what `send` draws."""
    popover = st.popover("Link", icon=":material/link:", type="tertiary", key="share", on_change="rerun")
    if not popover.open:
        return
    page_state = history.current(context)
    # Whoever opens the link sees the leaderboards that its sender sees, not those that they chose themselves.
    page_state = page_state.with_view(cards=page_state.view.cards or current_focus.own_cards(context))
    query = page_state.query
    start, end = (day.isoformat() for day in named_days.days_of(query, context.slicer))
    fixed_state = page_state.with_query(start_date=start, end_date=end)
    if fixed_state != page_state:
        comparisons = state.fixed_comparisons(page_state, context.slicer, ask.today(context, query))
        fixed_state = fixed_state.with_view(**comparisons)
    with popover, st.container(width=WIDTH):
        for linked_state in dict.fromkeys((page_state, fixed_state)):
            st.caption(f"Copy link · {periods.sentence(linked_state.query, context.slicer)}")
            link = address("audience", links.to_params(linked_state.query) | linked_state.view.params)
            st.code(link, language=None)
        body = urlencode({"subject": f"{context.slicer_name} on Tranche", "body": link}, quote_via=quote)
        st.link_button("Mail this link", f"mailto:?{body}", icon=":material/mail:", type="tertiary")
        if send is not None:
            send(context, links.to_params(query) | page_state.view.params, "")


def address(page: str, params: Mapping[str, str | list[str]]) -> str:
    """The whole address of a screen of this desk, as this browser reaches it."""
    return f"{own_address()}/{links.href(page, params)}"


def own_address() -> str:
    """The address of this desk, which also serves the APIs, as this browser reaches it."""
    url = urlsplit(st.context.url or "")
    return f"{url.scheme}://{url.netloc}"


def draw_recipient(key: str) -> None:
    """Draw the field for the one address that a share link is for; nothing where no mail can be sent."""
    if Settings.current().mail.smtp_host:
        hint = "An e-mail address; a code is sent there"
        st.text_input("Only for", key=key, autocomplete="off", placeholder=hint)


def recipient(key: str) -> str:
    """What was typed there; empty for nobody in particular."""
    return str(st.session_state.get(key) or "").strip()
