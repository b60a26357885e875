"""Guess the time column of a sample (or the two columns), its format and its granularity."""

import datetime as dt
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from lib.reporting.ingest.cells import Missing
from lib.reporting.ingest.column_names import time_rank
from lib.reporting.ingest.time_columns import (
    SURE,
    Sample,
    TimeReading,
    date_in_parts,
    read_column,
    with_clock,
)
from lib.reporting.ingest.times import DAY, MISSING, instants, is_coarse, join
from lib.reporting.ingest.totals import is_total

_EXAMPLES = 3


class TimeGuess(NamedTuple):
    """The time column; without `format` it is ISO 8601, native, or since 1970. `reason` is for people."""

    column: str | tuple[str, ...]
    format: str | None
    granularity: str
    reason: str
    year: int | None = None

    @property
    def label(self) -> str:
        """The column or columns, in words."""
        return self.column if isinstance(self.column, str) else " + ".join(self.column)

    def definition(self) -> dict[str, Any]:
        """As it stands in a definition."""
        part = {name: getattr(self, name) for name in ("column", "year", "granularity", "format")}
        return {name: value for name, value in part.items() if value is not None}


def guess_time(
    sample: Sample,
    lines: Sequence[int] = (),
    missing: Missing = None,
    year: int | None = None,
) -> TimeGuess | None:
    """The column that is most likely the time of a row: by its values, then its name, then its place.

    A date and an hour in two columns are read together; so are a day, a month and a year, where `year` may
    stand for the last. Months and weeks are times only where no column has days. `lines` are those of the
    rows, to name those whose time can't be read.
    """
    nearly: list[TimeReading] = []
    coarse: list[TimeReading] = []
    for name in sorted(sample, key=time_rank):
        read = read_column(name, sample, missing, year)
        if read is not None and is_coarse(read.format):
            coarse += [read] if read.share >= SURE else []
            continue
        if read is not None and read.share >= SURE:
            return _guess(with_clock(read, sample, missing), sample, lines, missing)
        nearly += [read] if read else []
    parts = date_in_parts(sample, missing, year)
    if parts is not None and parts.share >= SURE:
        return _guess(with_clock(parts, sample, missing), sample, lines, missing)
    best = max(nearly or coarse, key=lambda read: read.share, default=None)
    return _guess(with_clock(best, sample, missing), sample, lines, missing) if best else None


def _guess(read: TimeReading, sample: Sample, lines: Sequence[int], missing: Missing) -> TimeGuess:
    """Hourly if stamps have a time of day, and days have several of them."""
    seconds = read.times.seconds[read.times.seconds != MISSING]
    days = len(np.unique(seconds // DAY))
    is_hourly = (
        not read.times.is_date.all() and len(np.unique(seconds)) > days and bool((seconds % DAY).any())
    )
    column = read.columns[0] if len(read.columns) == 1 else read.columns
    resolution = "kept by hour, in UTC" if is_hourly else "kept by day"
    but = _exceptions(read, sample, lines, missing) if read.share < 1 else ""
    return TimeGuess(
        column, read.format, "hour" if is_hourly else "day", f"{read.reason}{but}; {resolution}", read.year
    )


def _exceptions(read: TimeReading, sample: Sample, lines: Sequence[int], missing: Missing) -> str:
    """The lines whose time can't be read: `, but for line 3,214: 'Total'`."""
    texts = join([sample[name] for name in read.columns], read.year, missing)
    full = f"{read.format} %Y" if read.year else read.format
    values = pd.Series(texts.fill_null("").to_pylist(), dtype="str")
    is_exception = np.array([value == "" or is_total(value) for value in values], bool)
    bad = np.flatnonzero((instants(values, full, dt.UTC).seconds == MISSING) & ~is_exception)
    names = [f"line {lines[row]:,}: '{values[row][:40]}'" for row in bad[:_EXAMPLES]] if len(lines) else []
    more = f" and {len(bad) - len(names):,} more" if len(bad) > len(names) else ""
    return f", but for {', '.join(names)}{more}" if names else ""
