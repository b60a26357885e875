"""Which column of a sample is the time, how it is written, and how fine it is."""

import datetime as dt
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.reporting.ingest.cells import NotPlain, text
from lib.reporting.ingest.column_names import sounds_like_time, time_rank
from lib.reporting.ingest.times import DAY, MISSING, Instants, instants, native_instants

_DATES = [
    "%d.%m.%Y",
    "%Y/%m/%d",
    "%m/%d/%Y",
    "%d/%m/%Y",
    "%d-%m-%Y",
    "%d-%b-%Y",
    "%d %b %Y",
    "%b %d, %Y",
    "%B %d, %Y",
]
_CLOCKS = ["", " %H:%M:%S", " %H:%M", " %I:%M:%S %p", " %I:%M %p", " %H"]
_OTHERS = ["%Y-%m-%d %H", "%Y-%m-%dT%H", "%Y-%m-%d %H:%M:%S %Z", "%d/%b/%Y:%H:%M:%S %z"]
FORMATS = [None, *(date + clock for date in _DATES for clock in _CLOCKS), *_OTHERS]
_HOURS = "%Y%m%d%H"
_TESTED = 2_000
_SHARE = 0.99


class TimeGuess(NamedTuple):
    """The time column; without `format` it is ISO 8601, native, or since 1970. `reason` is for people."""

    column: str
    format: str | None
    granularity: str
    reason: str

    def definition(self) -> dict[str, Any]:
        """As it stands in a definition."""
        part = {"column": self.column, "granularity": self.granularity, "format": self.format}
        return {name: value for name, value in part.items() if value is not None}


def guess_time(sample: Mapping[str, pa.Array]) -> TimeGuess | None:
    """The column that is most likely the time of a row: by its values, then its name, then its place."""
    for name in sorted(sample, key=time_rank):
        found = _read(name, sample[name])
        if found is not None:
            return found
    return None


def _read(name: str, column: pa.Array) -> TimeGuess | None:
    native = native_instants(column, dt.UTC)
    if native is not None:
        return (
            _guess(name, None, native, "a column of timestamps") if column.null_count < len(column) else None
        )
    texts = _texts(column)
    if texts.empty or (texts.str.fullmatch(r"[0-9]+(?:\.[0-9]+)?").all() and not sounds_like_time(name)):
        return None
    for format_ in [_HOURS, *FORMATS] if texts.str.fullmatch("[0-9]{10}").all() else FORMATS:
        found = instants(texts, format_, dt.UTC)
        if (found.seconds != MISSING).mean() >= _SHARE:
            return _guess(name, format_, found, _reason(texts, format_))
    return None


def _texts(column: pa.Array) -> "pd.Series[str]":
    try:
        values = text(column).drop_null().unique()
    except NotPlain:
        return pd.Series(dtype="str")
    spread = np.unique(np.linspace(0, max(len(values) - 1, 0), _TESTED).astype(int))
    return pd.Series(
        values.take(pa.array(spread)).to_pylist() if len(values) else [], dtype="str"
    ).str.strip()


def _guess(name: str, format_: str | None, found: Instants, reason: str) -> TimeGuess:
    """Hourly if stamps have a time of day, and days have several of them."""
    seconds = found.seconds[found.seconds != MISSING]
    days = len(np.unique(seconds // DAY))
    is_hourly = not found.is_date.all() and len(np.unique(seconds)) > days and bool((seconds % DAY).any())
    kept = "kept by hour, in UTC" if is_hourly else "kept by day"
    return TimeGuess(name, format_, "hour" if is_hourly else "day", f"{reason}; {kept}")


def _reason(texts: "pd.Series[str]", format_: str | None) -> str:
    example = f"such as {texts.iloc[0]}"
    if format_ is None:
        return f"ISO 8601 or seconds since 1970, {example}"
    twin = format_.replace("%m/%d", "%d/%m")
    if twin != format_ and (instants(texts, twin, dt.UTC).seconds != MISSING).all():
        return f"month/day/year, {example}; it could be day/month/year too"
    return f"{format_}, {example}"
