"""Names of time zones: IANA (`Europe/Berlin`), `UTC`, or an offset (`+02:00`)."""

import datetime as dt
import re
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")


def time_zone(name: str) -> dt.tzinfo:
    """The time zone of that name; ValueError says how one is written."""
    if name.upper() in ("UTC", "Z"):
        return dt.UTC
    if match := _OFFSET.fullmatch(name):
        sign, hours, minutes = match.groups()
        offset = dt.timedelta(hours=int(hours), minutes=int(minutes))
        if int(minutes) < 60 and offset <= dt.timedelta(hours=14):
            return dt.timezone(-offset if sign == "-" else offset)
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"'{name}' is not a time zone; write Europe/Berlin, UTC or +02:00") from None


def hours_zone(hours: int) -> dt.tzinfo:
    """The zone so many whole hours east of UTC."""
    return dt.timezone(dt.timedelta(hours=hours))
