"""The date picker and the comparison picker: two popovers whose labels show the choice.

Their values can also change by a brush, a link or the browser's Back. A picker in a closed popover, or one
behind a slow network, is not told of the new value at once. The browser goes on sending the one that was
picked there last, which looks like a fresh choice and would undo the change. So such a picker gets a new key,
under which the browser has no value to send.
"""

from collections.abc import Callable, Mapping
from datetime import date
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lib.figures import numbers
from lib.figures.query import ask, periods
from lib.figures.query.periods import PREVIOUS, WEEKDAYS, YEAR, Preset
from lib.figures.query.state import NONE, PageState
from lib.reporting import named_days
from lib.slicers import zones
from lib.slicers.dates import Days
from lib.slicers.zones import Zone
from lib.ui.kit import reader
from lib.ui.kit.frame import PageContext
from lib.ui.kit.markdown import plain
from lib.ui.query import history
from lib.wire.errors import BadRequest
from lib.wire.text import write_day

PICKER_COUNTS = "followed_pickers"
DATES, PRESET, RANGE, ZONE = "dates", "dates_preset", "dates_range", "dates_zone"
LAST, UNREAD = "dates_last", "dates_last_unread"
LASTS = (
    "Last 28 days", "Last 60 days", "Last 4 weeks", "Last 8 weeks", "Last 3 months", "Last 6 months",
    "Last 12 months",
)  # fmt: skip
COMPARE, ALSO = "compare", "also"
COMPARISON = "comparison"  # not as the parameter in the URL: the session has it while it is drawn
KINDS = {
    PREVIOUS: "Previous period",
    WEEKDAYS: "Same weekdays",
    YEAR: "A year ago",
    "range": "Custom range",
    NONE: "Nothing",
}


def followed_key(name: str, value: object) -> str:
    """The widget key for `value`; it stays the same while the value is the one picked there."""
    counts: dict[str, int] = st.session_state.get(PICKER_COUNTS, {})
    number_key = _number_name(name, counts.get(name, 0))
    if st.session_state.get(number_key, value) != value:
        counts = {**counts, name: counts.get(name, 0) + 1}
        st.session_state[PICKER_COUNTS] = counts
        number_key = _number_name(name, counts[name])
    st.session_state[number_key] = value  # always: in a popover that is closed the browser has it not yet
    return number_key


def _number_name(name: str, count: int) -> str:
    return f"{name}_{count}" if count else name


def draw(context: PageContext) -> None:
    """Draw the date picker; a choice changes the question at once."""
    query = history.current(context).query
    now = ask.today(context, query)
    presets, period = periods.presets(context.slicer, now), named_days.days_of(query, context.slicer)
    active = periods.preset_of(context.slicer, query.start_date, query.end_date, now)
    label = numbers.days(*period) + ("" if query.timezone is None else f" · {zones.title(query.timezone)}")
    label = f"{plain(active.label)} · {label}" if active else label
    popover = _open_popover(label, ":material/calendar_month:", DATES)
    if popover is None:
        return
    with popover:
        current = active.label if active in presets else None
        key = followed_key(PRESET, current)
        st.pills(
            "Days", [preset.label for preset in presets], format_func=plain, key=key, on_change=_ask_preset,
            args=(context, presets, key, current), width=380,
        )  # fmt: skip
        # Any number of days, weeks or months, typed or chosen; what can't be read stays in the field.
        unread: str | None = st.session_state.get(UNREAD)
        last = active.label if active and active not in presets else None
        key = followed_key(LAST, unread or last)
        st.selectbox(
            "Last days, weeks or months", dict.fromkeys([*LASTS, *filter(None, (unread or last,))]),
            index=None, key=key, placeholder="Choose or type: 45 days, 6 weeks, 3 months",
            accept_new_options=True, on_change=_ask_last, args=(context, key, last),
        )  # fmt: skip
        if unread:
            st.error(f"{periods.LAST_FORM}.")
        _range(context, RANGE, period, _ask_range)
        zone, own = named_days.zone(query, context.slicer), context.slicer.timezone
        if context.slicer.supports_timezone:
            key = followed_key(ZONE, zone)
            titles: dict[Zone, str] = {own: f"{zones.title(own)} (the slicer's own)"}
            titles |= dict(reader.zone_titles().items()) if context.slicer.knows("time_zones") else {}
            titles |= {hours: zones.title(hours) for hours in range(-12, 13) if hours != own}
            st.selectbox(
                "Time zone", titles, format_func=titles.__getitem__, key=key, placeholder=reader.FIND_ZONE,
                filter_mode="contains", on_change=_ask_zone, args=(context, key, zone),
            )  # fmt: skip
        for day, hours in zones.odd_days(zone, period).items():
            st.caption(f"{write_day(day)} has {hours} hours: clocks change.")
        if period[1] >= now:
            st.caption("Today is not over: its figures still grow.")


def _open_popover(label: str, icon: str, key: str) -> DeltaGenerator | None:
    """The popover if it is open; a closed one has no pickers, which cost each click on the page."""
    label_key = f"{key}_label"
    # Streamlit knows a popover by its label: under that of another choice it would be closed.
    if st.session_state.get(key) and st.session_state.get(label_key) != label:
        st.session_state[key] = True
    st.session_state[label_key] = label
    popover = st.popover(label, icon=icon, key=key, on_change="rerun")
    return popover if popover.open else None


def draw_comparison(context: PageContext) -> None:
    """Draw the comparison picker: the days compared, and others beside them."""
    page_state = history.current(context)
    query, view = page_state.query, page_state.view
    now = ask.today(context, query)
    period = named_days.days_of(query, context.slicer)
    whole = view.zoom.days(now, context.slicer) if view.zoom else None
    (days, pair), (other_days, other_pair) = (
        periods.comparison(compare, period, context.slicer, now, whole, view.start_name(query))
        for compare in (view.compare, view.also)
    )
    texts = list(dict.fromkeys(numbers.days(*both.before) for both in (pair, other_pair) if both))
    label = f"vs {' and '.join(texts)}" if texts else "Not compared"
    popover = _open_popover(label, ":material/compare_arrows:", COMPARISON)
    if popover is None:
        return
    with popover:
        if whole is not None:
            st.caption(f"Counted from {numbers.days(*whole)}, from which you zoomed in.")
        part = named_days.part_before(view.start_name(query), whole or period, now, context.slicer)
        titles = {**KINDS, PREVIOUS: part.name}
        _kinds(context, COMPARE, "Compare with", view.compare, days, titles)
        if view.compare:
            _kinds(context, ALSO, "Second comparison", view.also, other_days, titles)
        if view.also and pair == other_pair:
            st.caption("Both mean the same days here, which are compared once.")


def _kinds(
    context: PageContext,
    name: str,
    label: str,
    compare: tuple[str, ...],
    days: Days | None,
    titles: Mapping[str, str],
) -> None:
    kind = compare[0] if len(compare) == 1 else "range" if compare else NONE
    key = followed_key(f"{name}_kind", kind)
    st.pills(
        label, list(titles), format_func=titles.__getitem__, key=key, required=True, on_change=_compare_kind,
        args=(context, name, key, kind), width=380,
    )  # fmt: skip
    if kind == "range" and days is not None:
        _range(context, f"{name}_range", days, partial(_compare_range, name=name))


def _range(context: PageContext, name: str, period: Days, on_change: Callable[..., None]) -> None:
    """Two dates in one field. Its key contains them, so that other dates get a new widget."""
    slicer_days = (
        date.fromisoformat(day) for day in (context.slicer.first_date, context.slicer.last_date) if day
    )
    days = [*period, *slicer_days]
    key = f"{name}_{period[0]}_{period[1]}"
    st.date_input(
        "Custom range", period, min_value=min(days), max_value=max(days), format="YYYY-MM-DD", key=key,
        required=True, on_change=on_change, args=(context, key),
    )  # fmt: skip


def _ask_preset(context: PageContext, presets: list[Preset], key: str, current: str | None) -> None:
    """Apply a preset; deselecting one keeps its days as fixed dates.

    What was shown, sent again once other days have been brushed, is no choice: it would end their zoom.
    """
    query = history.current(context).query
    label = st.session_state[key]
    if label == current:
        return
    match = next((preset for preset in presets if preset.label == label), None)
    period = named_days.days_of(query, context.slicer)
    start, end = (match.start, match.end) if match else (day.isoformat() for day in period)
    _ask_dates(context, start, end)


def _ask_last(context: PageContext, key: str, current: str | None) -> None:
    """Apply the days of a text, if it can be read; clearing the field keeps the days.

    What was shown, sent again late, is no choice (see `_ask_preset`).
    """
    query, text = history.current(context).query, st.session_state[key] or ""
    if text == current:
        return
    try:
        preset = periods.parse_last(text, context.slicer, ask.today(context, query))
    except BadRequest:
        st.session_state[UNREAD] = text
    else:
        _ask_dates(context, preset.start, preset.end)


def _ask_range(context: PageContext, key: str) -> None:
    """Apply the days picked; a field's own days, sent again late, are no choice (see `_ask_preset`)."""
    start, end = (day.isoformat() for day in st.session_state[key])
    if key != f"{RANGE}_{start}_{end}":
        _ask_dates(context, start, end)


def _ask_zone(context: PageContext, key: str, current: Zone) -> None:
    """Apply a zone; the one that was shown, sent again late, is no choice (see `_ask_preset`)."""
    zone = st.session_state[key]
    if zone == current:
        return
    # The slicer's own is named where a question without a zone would be in the reader's.
    timezone = None if zone == context.slicer.timezone and not context.own_zone else zone
    history.change(history.current(context).with_query(timezone=timezone))


def _ask_dates(context: PageContext, start: str, end: str) -> None:
    """Apply other dates and end a zoom."""
    st.session_state.pop(UNREAD, None)
    page_state = history.current(context).with_query(start_date=start, end_date=end)
    history.change(page_state.with_view(zoom=None))


def _compare_kind(context: PageContext, name: str, key: str, current: str) -> None:
    """Compare with days of another kind; the one that was shown is no choice (see `_ask_preset`)."""
    if st.session_state[key] == current:
        return
    page_state = history.current(context)
    zoom, now = page_state.view.zoom, ask.today(context, page_state.query)
    period = zoom.days(now, context.slicer) if zoom else named_days.days_of(page_state.query, context.slicer)
    start = page_state.view.start_name(page_state.query)
    before = named_days.part_before(start, period, now, context.slicer).days
    kinds = {NONE: (), "range": _texts(before)}
    kind = st.session_state[key]
    _compare(page_state, name, kinds.get(kind, (kind,)))


def _compare_range(context: PageContext, key: str, name: str) -> None:
    """Compare with the days picked, of a zoom too; those of another length end it, as they have no offset."""
    page_state, days = history.current(context), st.session_state[key]
    period = named_days.days_of(page_state.query, context.slicer)
    if (zoom := page_state.view.zoom) and periods.length(days) == periods.length(period):
        whole = zoom.days(ask.today(context, page_state.query), context.slicer)
        _compare(page_state, name, _texts(periods.shift(whole, period, days)))
    else:
        _compare(page_state.with_view(zoom=None), name, _texts(days))


def _texts(days: Days) -> tuple[str, ...]:
    return tuple(day.isoformat() for day in days)


def _compare(page_state: PageState, name: str, compare: tuple[str, ...]) -> None:
    changes: dict[str, Any] = {name: compare}
    history.change(page_state.with_view(**changes))
