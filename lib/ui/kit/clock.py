"""The clock of the reader: the time zone of the browser."""

from datetime import timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import streamlit as st


def zone() -> tzinfo:
    """The browser's time zone; where its name is not known here, its offset of today."""
    try:
        return ZoneInfo(st.context.timezone or "")
    except (ZoneInfoNotFoundError, ValueError):
        return timezone(timedelta(minutes=offset()))


def offset() -> int:
    """Minutes east of UTC on the reader's clock now."""
    return -(st.context.timezone_offset or 0)
