"""Volume of a targeting per day over the last 30 days, and a forecast of it for the booked period."""

import math
from datetime import datetime, timedelta, timezone

import streamlit as st

from lib.insight import estimate, forecast
from lib.insight.estimate import BIDS, IMPRESSIONS, field_of
from lib.insight.forecast import DayFigure, Forecast
from lib.reporting.models import DataField, Filter
from lib.ui.charts import bars, numbers, theme
from lib.ui.charts.numbers import Numbers
from lib.ui.deals import insights, report
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.kit.problems import report_errors
from lib.ui.kit.straight import straighten

DAYS, HISTORY = 30, 126
Booked = tuple[datetime | None, datetime | None]
Figures = list[tuple[DataField, tuple[DayFigure, ...]]]


@st.fragment(parallel=True)
def draw(context: PageContext, place: str, filters: tuple[Filter, ...], booked: Booked) -> None:
    """The chart and the sentence, once the answer is there."""
    fields = [
        field for names in (BIDS, IMPRESSIONS) if (field := field_of(context.slicer, names)) is not None
    ]
    st.header("Per day, and in the booked period", anchor=False)
    if not fields:
        st.caption("This slicer has no data field for bids or impressions.")
    elif forecast.DAY not in {field.name for field in context.slicer.key_fields}:
        st.caption("This slicer can't be split by day.")
    else:
        with report_errors("The forecast", kept="What you entered is kept."):
            _draw(context, place, filters, booked, fields)


def _draw(
    context: PageContext, place: str, filters: tuple[Filter, ...], booked: Booked, fields: list[DataField]
) -> None:
    query = report.question(context, filters, HISTORY, tuple(field.name for field in fields), by_day=True)
    batch = insights.query_batch(context, place, [query])
    answers = insights.answers_or_progress(batch, place, "the figures per day")
    if answers is None:
        return
    (answer,) = answers
    period = report.period(context, query)
    if not estimate.has_data(answer):
        st.caption(f"The report has no data for {numbers.days(*period)}.")
        return
    figures = [(field, forecast.daily(answer, field.name, period)) for field in fields]
    shown_days = (period[1] - timedelta(days=DAYS - 1), period[1])
    _chart(place, [(field, daily[-DAYS:]) for field, daily in figures], numbers.days(*shown_days))
    shown = Numbers.of(st.context.locale)
    for sentence in sentences(figures, booked, context.slicer.timezone, shown):
        st.markdown(plain(sentence))
    st.caption(plain(caution(figures, numbers.days(*period))))


def sentences(figures: Figures, booked: Booked, hours: int, shown: Numbers) -> list[str]:
    """The forecast for the booked period, or why there is none."""
    start, end = booked
    if start is None:
        return ["Choose a start to see what the booked period would have."]
    parts = forecast.weekdays(start, end or start + timedelta(days=DAYS), hours)
    if not parts:
        return ["The booked period has no days."]
    length = sum(parts.values())
    what = (
        f"The booked period ({_days(length, shown)})" if end else f"The first {DAYS} days (no end is booked)"
    )
    first = start.astimezone(timezone(timedelta(hours=hours))).date()
    phrases = [
        _sentence(field, forecast.forecast(daily, parts, max((first - daily[-1].day).days - 1, 0)), shown)
        for field, daily in figures
    ]
    return [f"{what}, what all buyers together may have: {'; '.join(phrases)}."]


def _sentence(field: DataField, found: Forecast, shown: Numbers) -> str:
    """The range with how often it held in the past, the figure alone, or that there is none."""
    name = numbers.title(field).lower()
    if math.isnan(found.value):
        return f"no estimate of {name}, since days of the last two weeks have no data"
    if math.isnan(found.low):
        return f"about {shown.rough(found.value)} {name} (too little history for a range)"
    span = f"{shown.rough(found.low)} to {shown.rough(found.high)} {name}"
    return f"{span} (so in {found.held} of {found.tests} past periods like it)"


def caution(figures: Figures, days: str) -> str:
    """Where the range comes from, and what it leaves out."""
    empty = sum(one.figure.value is None for one in figures[0][1])
    which = "1 day has no data and is" if empty == 1 else f"{empty} days have no data and are"
    without = f" {which} left out." if empty else ""
    return (
        f"By the weekdays of the last two weeks, tested on past periods as long and as far ahead, {days}. "
        f"Seats, price, seasons and holidays are not in it.{without}"
    )


def _days(days: float, numbers: Numbers) -> str:
    return f"{numbers.number(days, 0 if days == int(days) else 1)} {'day' if days == 1 else 'days'}"


def _chart(place: str, figures: Figures, period: str) -> None:
    """The first figure per day, and its table twin."""
    field, daily = figures[0]
    shown = Numbers.of(st.context.locale)
    values = [one.figure.value for one in daily]
    title = f"{numbers.title(field)} per day"
    st.caption(plain(title))
    st.plotly_chart(
        bars.day_bars_figure([one.day for one in daily], values, field, shown),
        key=f"per_day_{place}",
        config=theme.CONFIG,
        alt=f"{title}, {period}",
    )
    with st.expander("As a table"):
        columns = {
            "Day": [f"{one.day:%a} {one.day.isoformat()}" for one in daily],
            **{
                numbers.title(each): [
                    "no data" if one.figure.value is None else shown.plain(one.figure.value, each)
                    for one in of
                ]
                for each, of in figures
            },
        }
        st.dataframe(straighten(columns), hide_index=True, alt=title)
