"""Beside the form, live: what this targeting had in the last 7 and 30 days, from the report."""

import streamlit as st

from lib.reporting.answers import Audience
from lib.reporting.models import Slicer
from lib.ui import numbers, precision
from lib.ui.deals import report
from lib.ui.frame import Here
from lib.ui.markdown import plain
from lib.ui.numbers import Numbers
from lib.ui.problems import told
from lib.ui.targeting.filters import Translation

DAYS = (7, 30)
HEIGHT = 200


@st.fragment(parallel=True)
def draw(here: Here, translation: Translation) -> None:
    """Ask for both periods, then the table; what the filters leave out is named under it."""
    st.subheader("What this targeting had", anchor=False)
    with told("The figures"):
        with st.skeleton(height=HEIGHT):
            answers = [report.figures(here, translation.filters, days) for days in DAYS]
        shown = Numbers.of(st.context.locale)
        st.table(table(here.slicer, answers, shown), border="horizontal", alt="Figures of this targeting")
        where = f"{plain(here.project)}/{plain(here.slicer_name)}"
        st.caption(f"From {where} · {_precision(here.slicer, answers, shown)}")
        if not any(answer.total.records_found for answer in answers):
            st.caption("Nothing in the report matches this targeting.")
    for sentence in translation.left_out:
        st.caption(f":material/info: Not counted in: {plain(sentence)}")


def table(slicer: Slicer, answers: list[Audience], shown: Numbers) -> dict[str, list[str]]:
    """A row per figure, a column per period; a dash where the slicer has no such data field."""
    wanted = report.wanted(slicer)
    columns = {"": [figure.title for figure in wanted]}
    for days, answer in zip(DAYS, answers, strict=True):
        columns[f"Last {days} days"] = [
            numbers.NOTHING
            if figure.field is None
            else shown.short(answer.total.values.get(figure.field.name), figure.field)
            for figure in wanted
        ]
    return columns


def _precision(slicer: Slicer, answers: list[Audience], shown: Numbers) -> str:
    """How exact the widest of the figures is."""
    fields = [figure.field.name for figure in report.wanted(slicer) if figure.field is not None]
    pairs = [(precision.total_range(answer, name), answer, name) for answer in answers for name in fields]
    if not pairs:
        return "no figures"
    _, answer, name = max(pairs, key=lambda pair: pair[0] if pair[0] == pair[0] else -1.0)
    return precision.sentence(answer, name, shown)
