"""The button that shows and hides what moved between the two periods."""

import streamlit as st

from lib.ui.kit.frame import PageContext
from lib.ui.query import ask, periods, question

KEY = "moved_button"


def draw(context: PageContext) -> None:
    """Draw the button; it is disabled without a comparison."""
    query, view = question.current(context), question.view(context)
    now = ask.today(context, query)
    period = periods.resolved(query.start_date, query.end_date, now)
    other = periods.compared_days(view.compare, period, now)
    is_compared = other is not None and periods.match_days(period, other, context.slicer, now) is not None
    st.button(
        "Hide what moved" if view.moved else "Show what moved",
        icon=":material/troubleshoot:",
        type="tertiary",
        key=KEY,
        disabled=not is_compared and not view.moved,
        help=None if is_compared else "Choose days to compare with first",
        on_click=_look,
        args=(context, not view.moved),
    )


def _look(context: PageContext, is_open: bool) -> None:
    question.look(context, moved=is_open)
    st.rerun()
