"""Times of the deals API: an instant with its offset from UTC.

An end is exclusive: what runs through a day ends with the next day's first moment. People type and read the
last day instead.
"""

import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

from lib.wire import time_zones
from lib.wire.text import write_day

SHAPE = "YYYY-MM-DD HH:MM:SS+ZZZZ"
PATTERN = r"^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}[+-]\d{4}$"
_DAY = (
    r"((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)|02-(0[1-9]|1[0-9]|2[0-8]))"
)
_LEAP_DAY = r"(2[0-9](0[48]|[2468][048]|[13579][26])|2[048]00)-02-29"
_CLOCK = r"([01][0-9]|2[0-3])(:[0-5][0-9]){2}[+-]([01][0-9]|2[0-3])[0-5][0-9]"
STRICT_PATTERN = f"^(2[0-9]{{3}}-{_DAY}|{_LEAP_DAY}) {_CLOCK}$"  # days and times that there are, for OpenAPI
FIRST, LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
Zone = int | str
"""Minutes east of UTC, or the name of a zone, such as Europe/Berlin. An answer has offsets alone."""
_EXAMPLE = "2026-11-20 09:00:00+0100"


def parse(text: str) -> datetime:
    """The time with its offset. ValueError, saying what is expected, for any other shape.

    The years are those from 2000 to 2999: others are slips of the keyboard.
    """
    if not re.fullmatch(PATTERN, text, re.ASCII):
        raise ValueError(f"must be a time like '{_EXAMPLE}' ({SHAPE})")
    with suppress(ValueError, OverflowError):
        moment = datetime.strptime(text, "%Y-%m-%d %H:%M:%S%z")
        if FIRST <= moment < LAST:
            return moment
    raise ValueError(f"is no time of the years 2000 to 2999; '{_EXAMPLE}' would be one")


def read(text: str) -> datetime:
    """A time in an answer, which another service may write in any of ISO 8601's ways, offset included."""
    moment = datetime.fromisoformat(text.strip())
    if moment.tzinfo is None:
        raise ValueError(f"a time without its offset from UTC: {text}")
    return moment


def write(moment: datetime) -> str:
    """`2026-11-20 09:00:00+0100`."""
    text = moment.isoformat(" ", "seconds")
    return f"{text[:-3]}{text[-2:]}"  # several times as fast as strftime, for lists


def last_day(end: datetime) -> date | None:
    """The last day of what has this end, in the end's own zone; None for an end within a day."""
    return end.date() - timedelta(days=1) if end.timetz().replace(tzinfo=None) == time() else None


def end_text(end: datetime | None) -> str:
    """An end in a file, as it is read again: `2026-12-31`, the last day, or `2026-12-31 14:00:00+01:00`."""
    return "" if end is None else str(last_day(end) or end.isoformat(" "))


def end_words(end: datetime) -> str:
    """An end as people read it: `31 Dec 2026`, the last day, or `until 31 Dec 2026, 14:00`, in its zone."""
    if day := last_day(end):
        return write_day(day)
    return f"until {write_day(end)}, {end:%H:%M}"


def rules(zone: Zone) -> tzinfo:
    """The clocks of a zone. ZoneInfoNotFoundError, a KeyError, for a name that is not known."""
    return time_zones.zone(zone) if isinstance(zone, str) else timezone(timedelta(minutes=zone))


def zone_of(times: Iterable[datetime | None], usual: Zone) -> Zone:
    """In which zone these were written: the usual one where its clocks have their offsets, else the offset of
    the first."""
    present, clocks = [at for at in times if at is not None], rules(usual)
    # fold=0: what a form reads of an hour that comes twice is the first.
    if all(at.astimezone(clocks).replace(fold=0).utcoffset() == at.utcoffset() for at in present):
        return usual
    return offset_minutes(present[0])


def clock_fault(local: datetime, clocks: tzinfo) -> str:
    """Why a time without a zone is none, or two, on these clocks, as a sentence; empty for all others."""
    first, second = (local.replace(tzinfo=clocks, fold=fold).utcoffset() for fold in (0, 1))
    if first is None or second is None or first == second:
        return ""
    if first < second:
        return f"Clocks go forward: there is no {local:%H:%M} in {clocks} on this day."
    return f"Clocks go back: {local:%H:%M} comes twice in {clocks} on this day. Choose an offset, like UTC+1."


def offset_minutes(moment: datetime) -> int:
    """Minutes east of UTC."""
    offset = moment.utcoffset() or timedelta(0)
    return int(offset.total_seconds() // 60)


def at_offset(moment: datetime, minutes: int) -> datetime:
    """The same instant with this offset in minutes east of UTC."""
    return moment.astimezone(timezone(timedelta(minutes=minutes)))
