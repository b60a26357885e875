"""The link to the current question, with relative dates or with fixed ones."""

from collections.abc import Mapping
from urllib.parse import urlsplit

import streamlit as st

from lib.reporting.models import AudienceQuery
from lib.ui.charts.numbers import days
from lib.ui.kit.frame import PageContext
from lib.ui.query import ask, link, periods, question
from lib.ui.query import view as views
from lib.ui.query.view import View

WIDTH = 460


def draw(context: PageContext, page: str) -> None:
    """Draw the popover with the link to copy; with two links if the dates are relative."""
    popover = st.popover("Link", icon=":material/link:", type="tertiary", key="share", on_change="rerun")
    if not popover.open:
        return
    query, view = question.current(context), question.view(context)
    now = ask.today(context, query)
    start, end = periods.resolved(query.start_date, query.end_date, now)
    fixed = query.model_copy(update={"start_date": start.isoformat(), "end_date": end.isoformat()})
    with popover, st.container(width=WIDTH):
        if fixed != query:
            st.caption("Always shows the latest days")
            st.code(_link(page, query, view), language=None, wrap_lines=True)
        st.caption(f"Always shows {days(start, end)}")
        st.code(_link(page, fixed, view), language=None, wrap_lines=True)


def address(page: str, params: Mapping[str, str | list[str]]) -> str:
    """The whole address of a screen of this desk, as this browser reaches it."""
    context = urlsplit(st.context.url or "")
    return f"{context.scheme}://{context.netloc}/{link.href(page, params)}"


def _link(page: str, query: AudienceQuery, view: View) -> str:
    return address(page, link.to_params(query) | views.to_params(view))
