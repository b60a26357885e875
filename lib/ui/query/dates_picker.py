"""The date picker and the comparison picker: two popovers whose labels show the choice.

Widget keys of pickers whose value can also change by a brush, a link or the browser's Back.

A picker in a closed popover, or one behind a slow network, is not told of the new value at once. The browser
goes on sending the one that was picked there last, which looks like a fresh choice and would undo the change.
So such a picker gets a new key, under which the browser has no value to send.
"""

from collections.abc import Callable
from datetime import date

import streamlit as st

from lib.reporting.dates import Days
from lib.reporting.models import AudienceQuery
from lib.ui.charts import numbers
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import ask, periods, question
from lib.ui.query.periods import PREVIOUS, WEEKDAYS, YEAR, Preset
from lib.ui.query.view import View

FOLLOWED = "followed_pickers"


def followed_key(name: str, value: object) -> str:
    """The widget key for `value`; it stays the same while the value is the one picked there."""
    counts: dict[str, int] = st.session_state.get(FOLLOWED, {})
    known = _number_name(name, counts.get(name, 0))
    if st.session_state.get(known, value) != value:
        counts = {**counts, name: counts.get(name, 0) + 1}
        st.session_state[FOLLOWED] = counts
        known = _number_name(name, counts[name])
    st.session_state[known] = value
    return known


def _number_name(name: str, count: int) -> str:
    return f"{name}_{count}" if count else name


PRESET, RANGE, ZONE = "dates_preset", "dates_range", "dates_zone"
COMPARE, COMPARE_RANGE = "compare_kind", "compare_range"
KINDS = {
    PREVIOUS: "Previous period",
    WEEKDAYS: "Same weekdays",
    YEAR: "A year ago",
    "range": "A range",
    "none": "Nothing",
}


def draw(context: PageContext) -> None:
    """Draw the date picker; a choice changes the question at once."""
    query = question.current(context)
    now = ask.today(context, query)
    presets, period = (
        periods.presets(context.slicer, now),
        periods.resolved(query.start_date, query.end_date, now),
    )
    chosen = _preset(presets, query)
    zone = "" if query.timezone is None else f" · UTC{query.timezone:+d}"
    words = numbers.days(*period) + zone
    with st.popover(
        f"{plain(chosen.label)} · {words}" if chosen else words, icon=":material/calendar_month:", key="dates"
    ):
        key = followed_key(PRESET, chosen.label if chosen else None)
        st.pills(
            "Days",
            [preset.label for preset in presets],
            format_func=plain,
            key=key,
            on_change=_ask_preset,
            args=(context, presets, key),
            width=380,
        )
        _range(context, RANGE, period, _ask_range)
        if context.slicer.supports_timezone:
            _zone(context, query)
        if period[1] >= now:
            st.caption("Today is not over: its figures still grow.")


def draw_comparison(context: PageContext) -> None:
    """Draw the comparison picker."""
    query, view = question.current(context), question.view(context)
    now = ask.today(context, query)
    period = periods.resolved(query.start_date, query.end_date, now)
    other = periods.compared_days(view.compare, period, now)
    pair = other and periods.match_days(period, other, context.slicer, now)
    label = f"vs {numbers.days(*pair.before)}" if pair else "Not compared"
    with st.popover(label, icon=":material/compare_arrows:", key="compare"):
        key = followed_key(COMPARE, _kind(view))
        st.pills(
            "Compare with",
            list(KINDS),
            format_func=lambda kind: KINDS[kind],
            key=key,
            required=True,
            on_change=_look_up_compared,
            args=(context, period, key),
            width=380,
        )
        if other and _kind(view) == "range":
            _range(context, COMPARE_RANGE, other, _look_range)


def _range(context: PageContext, name: str, shown: Days, changed: Callable[..., None]) -> None:
    """Two dates in one field. Its key contains them, so that other dates get a new widget."""
    known = (date.fromisoformat(day) for day in (context.slicer.first_date, context.slicer.last_date) if day)
    there = [*shown, *known]
    key = f"{name}_{shown[0]}_{shown[1]}"
    st.date_input(
        "From and to",
        shown,
        min_value=min(there),
        max_value=max(there),
        format="YYYY-MM-DD",
        key=key,
        required=True,
        on_change=changed,
        args=(context, key),
    )


def _zone(context: PageContext, query: AudienceQuery) -> None:
    key = followed_key(ZONE, context.slicer.timezone if query.timezone is None else query.timezone)
    st.selectbox(
        "Days begin at midnight of",
        range(-12, 13),
        format_func=lambda hours: (
            f"UTC{hours:+d}" + (" (the slicer's own)" if hours == context.slicer.timezone else "")
        ),
        key=key,
        on_change=_ask_zone,
        args=(context, key),
    )


def _preset(presets: list[Preset], query: AudienceQuery) -> Preset | None:
    dates = (query.start_date, query.end_date)
    return next((preset for preset in presets if (preset.start, preset.end) == dates), None)


def _kind(view: View) -> str:
    return view.compare[0] if len(view.compare) == 1 else "range" if view.compare else "none"


def _ask_preset(context: PageContext, presets: list[Preset], key: str) -> None:
    """Apply a preset; deselecting one keeps its days as fixed dates."""
    query = question.current(context)
    label = st.session_state[key]
    found = next((preset for preset in presets if preset.label == label), None)
    period = periods.resolved(query.start_date, query.end_date, ask.today(context, query))
    start, end = (found.start, found.end) if found else (day.isoformat() for day in period)
    _ask_dates(context, query, start, end)


def _ask_range(context: PageContext, key: str) -> None:
    start, end = (day.isoformat() for day in st.session_state[key])
    _ask_dates(context, question.current(context), start, end)


def _ask_zone(context: PageContext, key: str) -> None:
    zone = st.session_state[key]
    timezone = None if zone == context.slicer.timezone else zone
    question.ask(question.current(context).model_copy(update={"timezone": timezone}))
    st.rerun()


def _ask_dates(context: PageContext, query: AudienceQuery, start: str, end: str) -> None:
    """Apply other dates and end a zoom."""
    question.look(context, query.model_copy(update={"start_date": start, "end_date": end}), zoom=())
    st.rerun()


def _look_up_compared(context: PageContext, period: Days, key: str) -> None:
    before = periods.compared_days((PREVIOUS,), period, period[1])
    kinds = {"none": (), "range": tuple(day.isoformat() for day in before or period)}
    kind = st.session_state[key]
    question.look(context, compare=kinds.get(kind, (kind,)))
    st.rerun()


def _look_range(context: PageContext, key: str) -> None:
    question.look(context, compare=tuple(day.isoformat() for day in st.session_state[key]))
    st.rerun()
