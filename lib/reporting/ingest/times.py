"""Raw cells → time: ISO 8601, a format of strptime, seconds or milliseconds since 1970, timestamps."""

import datetime as dt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from lib.reporting.definition import TimeColumn
from lib.reporting.definition.zones import hours_zone, time_zone
from lib.reporting.ingest.cells import text, trimmed

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
HOUR, DAY = 3600, 86_400
MISSING = np.iinfo(np.int64).min
_ISO_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}"
_ISO_TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?: ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)
_EPOCHS = {
    1: r"[0-9]{9,10}(?:\.[0-9]+)?",
    10**3: r"[0-9]{12,13}",
    10**6: r"[0-9]{15,16}",
    10**9: r"[0-9]{18,19}",
}
_FIRST, _LAST = (int(dt.datetime(year, 1, 1, tzinfo=dt.UTC).timestamp()) for year in (1900, 2200))


class Instants(NamedTuple):
    """Seconds since 1970: of UTC, or (where `is_date`) of a calendar date at 00:00. MISSING: unreadable."""

    seconds: Ints
    is_date: Flags


def stored_times(column: pa.Array, time: TimeColumn, zone_hours: int) -> tuple[Ints, Flags, Flags]:
    """Seconds to store, cut to the hour or to the slicer's day; which are unreadable; which are missing.

    `zone_hours` is the slicer's zone. A stamp without an offset is in `time.timezone`, else in the slicer's
    zone; one of an hour that the clock shows twice is the first of the two. A date without a time of day
    is that day for granularity day, and its midnight for granularity hour.
    """
    zone = time_zone(time.timezone) if time.timezone else hours_zone(zone_hours)
    found = native_instants(column, zone)
    if found is None:
        column = trimmed(text(column))
        found = _texts(column, time.format, zone)
    readable = (found.seconds >= _FIRST) & (found.seconds < _LAST)
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return _cut(found, time.granularity == "day", zone, zone_hours), ~readable & ~missing, missing


def instants(texts: pd.Series, format_: str | None, zone: dt.tzinfo) -> Instants:
    """What texts say, all of one format, or (None) of those that need no telling."""
    if format_ is not None:
        return _formatted(texts, format_, zone)
    texts = texts.str.replace(",", ".", regex=False)
    is_date = texts.str.fullmatch(_ISO_DATE).to_numpy(bool)
    is_time = texts.str.fullmatch(_ISO_TIME).to_numpy(bool)
    has_offset = is_time & texts.str.slice(10).str.contains("[Z+-]").to_numpy(bool)
    seconds = np.full(len(texts), MISSING)
    for rows, own_zone in ((is_date | has_offset, None), (is_time & ~has_offset, zone)):
        parsed = pd.to_datetime(texts[rows], format="ISO8601", errors="coerce", utc=own_zone is None)
        seconds[rows] = _seconds(parsed, own_zone)
    for unit, pattern in _EPOCHS.items():
        rows = texts.str.fullmatch(pattern).to_numpy(bool)
        seconds[rows] = (texts[rows].astype(float) / unit).to_numpy().astype(np.int64)
    return Instants(seconds, is_date)


def _texts(column: pa.Array, format_: str | None, zone: dt.tzinfo) -> Instants:
    """Each different text is read once."""
    encoded = column.dictionary_encode()
    different = pd.Series(encoded.dictionary.to_pandas(), dtype="str")
    found = instants(different, format_, zone)
    codes = encoded.indices.fill_null(len(different)).to_numpy()
    return Instants(np.append(found.seconds, MISSING)[codes], np.append(found.is_date, False)[codes])


def _formatted(texts: pd.Series, format_: str, zone: dt.tzinfo) -> Instants:
    has_zone = "%z" in format_ or "%Z" in format_
    parsed = pd.to_datetime(texts, format=format_, errors="coerce", utc=has_zone)
    is_date = not has_zone and not any(code in format_ for code in ("%H", "%I"))
    seconds = _seconds(parsed, None if has_zone or is_date else zone)
    return Instants(seconds, np.full(len(texts), is_date))


def native_instants(column: pa.Array, zone: dt.tzinfo) -> Instants | None:
    """What a column of Arrow's own dates or timestamps says; None for other columns."""
    kind = column.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return None
    naive = pd.Series(column.cast(pa.timestamp("us")).to_numpy(zero_copy_only=False))
    is_local = pa.types.is_timestamp(kind) and kind.tz is None
    return Instants(_seconds(naive, zone if is_local else None), np.full(len(column), pa.types.is_date(kind)))


def _seconds(stamps: pd.Series, zone: dt.tzinfo | None) -> Ints:
    """Seconds since 1970 of stamps, read on the clock of `zone` (None: of UTC)."""
    if zone is not None:
        first = np.ones(len(stamps), bool)
        stamps = stamps.dt.tz_localize(zone, ambiguous=first, nonexistent="shift_forward")
    if stamps.dt.tz is not None:
        stamps = stamps.dt.tz_convert("UTC").dt.tz_localize(None)
    values = stamps.to_numpy("datetime64[us]")
    seconds = values.astype(np.int64) // 10**6
    seconds[np.isnat(values)] = MISSING
    return seconds


def _cut(found: Instants, is_daily: bool, zone: dt.tzinfo, zone_hours: int) -> Ints:
    if is_daily:
        own = np.where(found.is_date, found.seconds, found.seconds + zone_hours * HOUR)
        return own // DAY * DAY
    midnights = pd.Series(found.seconds[found.is_date].astype("datetime64[s]"))
    seconds = found.seconds.copy()
    seconds[found.is_date] = _seconds(midnights, zone)
    return seconds // HOUR * HOUR
