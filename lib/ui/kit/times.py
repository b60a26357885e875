"""Text fields for dates and times, with a calendar beside them."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo

import streamlit as st

from lib.deals import moments
from lib.slicers import zones
from lib.ui.kit.markdown import plain

SHAPE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}( [0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?")
FOREIGN = re.compile(r"([0-9]{1,2})([./])([0-9]{1,2})\2([0-9]{4})( [0-9]{2}:[0-9]{2})?")
MONTH_FIRST = frozenset({"en-US", "en-PH", "en", "es-US", "es-PR"})
YEARS = range(2000, 3000)
FORM, FORM_HINT = "2026-11-30 or 2026-11-30 09:00", "YYYY-MM-DD HH:MM"
DAY_SUFFIX = "_picked"


def zone_name() -> moments.Zone:
    """The browser's time zone by its name; where that is none of a place, its offset of today."""
    name = st.context.timezone or ""
    return name if name in zones.names() else -(st.context.timezone_offset or 0)


def zone() -> tzinfo:
    """The browser's time zone."""
    return moments.rules(zone_name())


def read(text: str, *, is_end: bool = False) -> datetime | None:
    """The time that is typed, without a zone; None for an empty text. A date alone means midnight, that of an
    end through that day.

    `31.12.2026` is read too, and `12/31/2026`: where it could be two days, as the browser's locale has dates.
    ValueError, with a sentence for the reader, for anything else.
    """
    entry = " ".join(text.split())
    if not entry:
        return None
    if foreign := FOREIGN.fullmatch(entry):
        entry = _as_iso(foreign)
    if not SHAPE.fullmatch(entry):
        raise ValueError(f"Not a date: write it like {FORM}.")
    try:
        moment = datetime.fromisoformat(entry)
    except ValueError:
        raise ValueError(f"There is no such day or time: write it like {FORM}.") from None
    if moment.year not in YEARS:
        raise ValueError(f"The year must be from {YEARS[0]} to {YEARS[-1]}.")
    return moment + timedelta(days=1) if is_end and ":" not in entry else moment


def fault(text: str, clocks: tzinfo = UTC) -> str:
    """A typed time's error as a sentence, or empty; an hour is one on these clocks."""
    try:
        moment = read(text)
        return moments.clock_fault(moment, clocks) if moment is not None and ":" in text else ""
    except ValueError as error:
        return str(error)


def to_text(moment: datetime | None) -> str:
    """A time as one would type it: `2026-11-30 09:00`, or the day alone at midnight."""
    if moment is None:
        return ""
    if moment.time() == time():
        return f"{moment.date()}"
    is_whole = not (moment.second or moment.microsecond)
    return f"{moment:%Y-%m-%d %H:%M}" if is_whole else str(moment.replace(tzinfo=None))


def end_to_text(end: datetime | None) -> str:
    """An end as one would type it: the last day, or the moment of one within a day."""
    day = end and moments.last_day(end)
    return f"{day}" if day else to_text(end)


def calendar(fields: Mapping[str, str], key: str, *, disabled: bool = False) -> None:
    """Draw a calendar for these fields (label → key); a picked day is written into the field."""
    popover = st.popover(
        "Calendar", icon=":material/calendar_month:", key=key, type="tertiary", disabled=disabled,
        on_change="rerun",
    )  # fmt: skip
    if popover.open:
        with popover:
            for label, field in fields.items():
                moment = _read(st.session_state.get(field) or "")
                st.session_state[field + DAY_SUFFIX] = None if moment is None else moment.date()
                st.date_input(
                    f"{plain(label)} on", key=field + DAY_SUFFIX, min_value=date(1, 1, 1),
                    max_value=date(9999, 12, 31), value=None, format="YYYY-MM-DD", on_change=_set_day,
                    args=(field,),
                )  # fmt: skip


def _set_day(key: str) -> None:
    """Write the picked day into the field and keep the hour. A callback."""
    day, moment = st.session_state.get(key + DAY_SUFFIX), _read(st.session_state.get(key) or "")
    if isinstance(day, date):
        st.session_state[key] = to_text(datetime.combine(day, time() if moment is None else moment.time()))


def _read(text: str) -> datetime | None:
    try:
        return read(text)
    except ValueError:
        return None


def _as_iso(foreign: re.Match[str]) -> str:
    """A date with dots or slashes as YYYY-MM-DD. ValueError where it could be two days."""
    first, mark, second, year, clock = foreign.groups(default="")
    day, month = first, second
    if mark == "/":
        locale = st.context.locale or ""
        is_month_first = locale in MONTH_FIRST if locale else None
        if int(first) > 12 or int(second) > 12:
            is_month_first = int(second) > 12
        if is_month_first is None and first != second:
            days = " or ".join(f"{year}-{a:0>2}-{b:0>2}" for a, b in ((first, second), (second, first)))
            raise ValueError(f"It could be two days: write {days}.")
        day, month = (second, first) if is_month_first else (first, second)
    return f"{year}-{month:0>2}-{day:0>2}{clock}"
