"""The button under the chart that switches between an estimate and exact figures."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import API_ROWS_LIMIT, ROWS_LIMITS
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import question
from lib.ui.query.focus import Focus

EXACTLY, AGAIN = "ask_exactly", "ask_as_usual"


def draw(focus: Focus, answer: Audience, sentence: str) -> None:
    """The sentence `said` about precision, as a button where a click can change it.

    A click reads all records instead of a sample, or goes back to the usual sample. The button is not offered
    where the period has more records than one query may read (specification, Limits).
    """
    limit, read = focus.query.audience_rows_limit, answer.precision
    if limit == ROWS_LIMITS[1]:
        _button(focus.here, AGAIN, sentence, "Go back to quick estimates", API_ROWS_LIMIT)
    elif read is not None and limit < read.records_in_range <= ROWS_LIMITS[1]:
        records = focus.numbers.number(read.records_in_range)
        help_ = f"Make it exact: reads all {records} records{_takes(read.exact_milliseconds)}"
        _button(focus.here, EXACTLY, sentence, help_, ROWS_LIMITS[1])
    else:
        st.caption(plain(sentence), width="content")


def _button(context: PageContext, key: str, sentence: str, help_: str, limit: int) -> None:
    icon = ":material/target:" if key == EXACTLY else ":material/speed:"
    st.button(
        plain(sentence), key=key, icon=icon, type="tertiary", help=help_, on_click=_ask, args=(context, limit)
    )


def _takes(milliseconds: int | None) -> str:
    """The expected time, where the service gives one."""
    return "" if milliseconds is None else f"; about {max(1, round(milliseconds / 1000))} s"


def _ask(context: PageContext, limit: int) -> None:
    question.ask(question.current(context).model_copy(update={"audience_rows_limit": limit}))
    st.rerun()
