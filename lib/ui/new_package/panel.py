"""Beside the form, live: what this targeting had in the last 7 and 30 days, from the report."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from lib.insight.filters import Translation
from lib.reporting.answers import Audience
from lib.reporting.models import Slicer
from lib.ui.charts.numbers import Numbers
from lib.ui.frame.frame import Here
from lib.ui.frame.markdown import plain
from lib.ui.frame.problems import reported
from lib.ui.question import precision
from lib.ui.supply import report

DAYS = (7, 30)
HEIGHT = 200


@st.fragment(parallel=True)
def draw(here: Here, translation: Translation) -> None:
    """Ask for both periods, then the table; what the filters leave out is named under it."""
    st.header("Past delivery of this targeting", anchor=False)
    with reported("The figures", kept="What you entered is kept."):
        with st.skeleton(height=HEIGHT):
            answers = [report.figures(here, translation.filters, days) for days in DAYS]
        shown = Numbers.of(st.context.locale)
        st.table(_styled(here.slicer, answers, shown), border="horizontal", alt="Figures of this targeting")
        where = f"{plain(here.project)}/{plain(here.slicer_name)}"
        st.caption(f"From {where} · {_precision(here.slicer, answers, shown)}")
        if not any(any(answer.total.values.values()) for answer in answers):
            st.caption("Nothing in the report matches this targeting.")
    for sentence in translation.left_out:
        st.caption(f":material/info: Not counted in: {plain(sentence)}")


def table(slicer: Slicer, answers: list[Audience]) -> pd.DataFrame:
    """A row per figure, a column per period; NaN where the slicer has no such data field, or no value."""
    wanted = report.wanted(slicer)
    columns = {
        f"Last {days} days": [
            np.nan if figure.field is None else answer.total.values.get(figure.field.name)
            for figure in wanted
        ]
        for days, answer in zip(DAYS, answers, strict=True)
    }
    titles = pd.Index([figure.title for figure in wanted], name="Figure")
    return pd.DataFrame(columns, index=titles, dtype="float64")


def _styled(slicer: Slicer, answers: list[Audience], shown: Numbers) -> Styler:
    """The numbers in words of their fields; they stay numbers, so that they stand to the right."""
    styled = table(slicer, answers).style
    for figure in report.wanted(slicer):
        styled = styled.format(_words(figure, shown), subset=pd.IndexSlice[[figure.title], :])
    return styled


def _words(figure: report.ReportFigure, shown: Numbers) -> Callable[[Any], str]:
    return shown.number if figure.field is None else partial(shown.short, field=figure.field)


def _precision(slicer: Slicer, answers: list[Audience], shown: Numbers) -> str:
    """How exact the widest of the figures is."""
    fields = [figure.field.name for figure in report.wanted(slicer) if figure.field is not None]
    pairs = [(precision.total_range(answer, name), answer, name) for answer in answers for name in fields]
    if not pairs:
        return "no figures"
    _, answer, name = max(pairs, key=lambda pair: pair[0] if pair[0] == pair[0] else -1.0)
    return precision.sentence(answer, name, shown)
