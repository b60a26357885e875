"""How the texts of a column, or of several, are read as times: the format that fits, and how well."""

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.reporting.ingest.cells import Missing, NotPlain
from lib.reporting.ingest.column_names import sounds_like_clock, sounds_like_time, words
from lib.reporting.ingest.times import MISSING, Instants, instants, is_coarse, join, native_instants
from lib.reporting.ingest.totals import is_total

Texts: TypeAlias = "pd.Series[str]"
Sample: TypeAlias = Mapping[str, pa.Array]
SURE, NEARLY = 0.99, 0.5
_CLOCKS = ["%H", "%H:%M", "%H:%M:%S", "%I %p", "%I:%M %p", "%I:%M:%S %p"]
_MOST_TESTS = 2_000


_DATES = [
    "%Y-%m-%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%Y/%m/%d", "%Y.%m.%d", "%d-%m-%Y",
    "%m-%d-%Y", "%m.%d.%Y", "%d-%b-%Y", "%d/%b/%Y", "%d %b %Y", "%b %d, %Y", "%b %d %Y", "%a, %b %d, %Y",
    "%a, %d %b %Y", "%Y-%b-%d",
    "%d-%B-%Y", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%A, %B %d, %Y", "%A, %d %B %Y", "%d. %B %Y",
    "%m/%d/%y", "%d/%m/%y", "%d.%m.%y", "%d-%m-%y", "%d-%b-%y", "%d %b %y", "%b %d, %y",
    "%Y年%m月%d日", "%Y%m%d", "%G-W%V-%u",
]  # fmt: skip
_COARSE = [
    "%Y-%m", "%Y/%m", "%m/%Y", "%b %Y", "%B %Y", "%b-%Y", "%G-W%V", "%GW%V", "Week %V, %G", "KW %V/%G",
]  # fmt: skip
_YEARLESS = [
    "%m/%d",
    "%d/%m",
    "%d.%m.",
    "%d.%m",
    "%m-%d",
    "%d %m",
    "%d %b",
    "%d-%b",
    "%b %d",
    "%d %B",
    "%B %d",
]
_CLOCK_FORMATS = [
    "%H:%M:%S",
    "%H:%M",
    "%H:%M:%S.%f",
    "%I:%M:%S %p",
    "%I:%M %p",
    "%I %p",
    "%H",
    "%H Uhr",
    "%Hh",
    "%H.%M",
    "%H%M%S",
    "%H%M",
]
_ZONES = ["", "%z", " %z", " %Z", " %z UTC"]
_BETWEEN = [" ", "T", ", ", ":", " - ", " at "]
_STAMPS = {
    6: "%Y%m", 8: "%y%m%d%H", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S", 17: "%Y%m%d%H%M%S%f",
    20: "%Y%m%d%H%M%S%f",
}  # fmt: skip
_OF_MONTHS_AND_DAYS = {"a": "%b %a %B %A %p %Z", "9": "%Y %m %d %y %H %I %M %S %f %G %V %u"}
_SHAPES = {code: shape for shape, codes in _OF_MONTHS_AND_DAYS.items() for code in codes.split()}
_ZONE_SHAPES = ["a", "+9", "+9:9", "-9", "-9:9"]


class TimeReading(NamedTuple):
    """How the texts of some columns are read, and the share that can be."""

    columns: tuple[str, ...]
    format: str | None
    times: Instants
    share: float
    reason: str
    year: int | None = None


def read_column(name: str, sample: Sample, missing: Missing, year: int | None) -> TimeReading | None:
    """How a column is read as a time, by the format that reads most of it; None where few are times."""
    native = native_instants(sample[name], dt.UTC)
    if native is not None:
        share = 1 - sample[name].null_count / max(len(sample[name]), 1)
        return TimeReading((name,), None, native, share, "a column of timestamps") if share else None
    texts = _different([sample[name]], missing)
    digits = texts.str.fullmatch(r"[0-9]+(?:\.[0-9]+)?").all()
    if texts.empty or (digits and not sounds_like_time(name) and not _is_stamp(name, texts)):
        return None
    best: TimeReading | None = None
    present = _present(sample[name], missing)
    for format_ in _formats(texts):
        times = instants(texts, format_, dt.UTC)
        share = float((times.seconds != MISSING).mean()) * present
        if share >= NEARLY and share > (best.share if best else 0):
            best = TimeReading((name,), format_, times, share, "")
        if share >= SURE * present:
            break
    if best is None and year is not None:
        return _yearless((name,), texts, year)
    return best and best._replace(**_settle(texts, best))


def _is_stamp(name: str, texts: Texts) -> bool:
    """Whether digits under a made-up name (column_1, of a file without a header) are those of stamps."""
    return name.startswith("column_") and bool(texts.str.len().isin([8, 14, 17]).all())


def _present(column: pa.Array, missing: Missing) -> float:
    """The share of rows that have a value, totals not counted."""
    texts = join([column], None, missing)
    rows = len(texts) - sum(
        is_total(text) for text in texts.unique().drop_null().slice(0, _MOST_TESTS).to_pylist()
    )
    return (rows - texts.null_count) / max(rows, 1) if texts.null_count else 1.0


def _formats(texts: Texts) -> Iterator[str | None]:
    """Formats to try, the most likely first."""
    stamp = stamp_format(texts.iloc[0]) if texts.str.len().nunique() == 1 else None
    if stamp and len(texts.iloc[0]) > 8:
        yield stamp
    yield None
    if stamp:
        yield stamp
    middle = texts.iloc[len(texts) // 2]
    yield from dict.fromkeys([*formats_like(texts.iloc[0]), *formats_like(middle)])


def _yearless(columns: tuple[str, ...], texts: Texts, year: int) -> TimeReading | None:
    """Dates without a year, such as 05.01., in this year."""
    dates = texts + f" {year}"
    for format_ in formats_like(texts.iloc[0], has_year=False) if len(texts) else []:
        times = instants(dates, f"{format_} %Y", dt.UTC)
        share = float((times.seconds != MISSING).mean())
        if share >= SURE:
            reason = f"{format_} in {year}, such as {texts.iloc[0]}"
            return TimeReading(columns, format_, times, share, reason, year)
    return None


def _settle(texts: Texts, read: TimeReading) -> dict[str, Any]:
    """The format and why; of month/day and day/month, where both fit, the one with the shorter span."""
    example = f"such as {texts.iloc[0]}"
    if is_coarse(read.format):
        first = (
            "a week's rows are those of its Monday"
            if "%V" in str(read.format)
            else "a month's of its first day"
        )
        return {"reason": f"{read.format}, {example}; {first}"}
    if read.format is None:
        is_number = texts.iloc[0].replace(".", "").isdecimal() and not read.times.is_date.any()
        return {"reason": f"{'a number since 1970' if is_number else 'ISO 8601'}, {example}"}
    twin = read.format if "." in read.format else _swap_day_and_month(read.format)
    other = instants(texts, twin, dt.UTC) if twin != read.format else None
    if other is None or not (other.seconds != MISSING).all() or read.share < 1:
        return {"reason": f"{read.format}, {example}"}
    if _span(other) < _span(read.times):
        reason = f"{_order(twin)}, {example}; as {_order(read.format)} the days would be further apart"
        return {"format": twin, "times": other, "reason": reason}
    return {"reason": f"{_order(read.format)}, {example}; it could be {_order(twin)} too"}


def _order(format_: str) -> str:
    return "month/day/year" if format_.index("%m") < format_.index("%d") else "day/month/year"


def _swap_day_and_month(format_: str) -> str:
    """The same with day and month in each other's place, where both are numbers and no year comes first."""
    if not {"%d", "%m"} <= {format_[:2], format_[3:5]}:
        return format_
    return format_.replace("%d", "%_").replace("%m", "%d").replace("%_", "%m")


def _span(times: Instants) -> int:
    return int(times.seconds.max() - times.seconds.min())


def with_clock(read: TimeReading, sample: Sample, missing: Missing) -> TimeReading:
    """The same with the hour from a column of its own, where dates have none."""
    if not read.times.is_date.all():
        return read
    for name in sample:
        if name in read.columns or not sounds_like_clock(name):
            continue
        texts = _different([sample[name]], missing)
        clock = next((clock for clock in _CLOCKS if _is_clock(texts, clock)), None)
        if clock is None:
            continue
        columns = (*read.columns, name)
        both = _different([sample[column] for column in columns], missing)
        format_ = f"{_date_format(read, sample, missing)} {clock}"
        full, dates = (f"{format_} %Y", both + f" {read.year}") if read.year else (format_, both)
        times = instants(dates, full, dt.UTC)
        share = float((times.seconds != MISSING).mean())
        if share >= min(SURE, read.share):
            reason = f"{format_}, such as {both.iloc[0]}"
            return TimeReading(columns, format_, times, share, reason, read.year)
    return read


def _is_clock(texts: Texts, clock: str) -> bool:
    if texts.empty:
        return False
    clock_times = pd.to_datetime(texts, format=clock, errors="coerce")
    return bool(clock_times.notna().mean() >= SURE)


def _date_format(read: TimeReading, sample: Sample, missing: Missing) -> str:
    if read.format is not None:
        return read.format
    texts = _different([sample[column] for column in read.columns], missing)
    return "%Y%m%d" if texts.str.fullmatch("[0-9]{8}").mean() > NEARLY else "%Y-%m-%d"


def date_in_parts(sample: Sample, missing: Missing, year: int | None) -> TimeReading | None:
    """A date in columns called day, month and perhaps year."""
    parts = date_parts(sample)
    if not {"day", "month"} <= parts.keys() or ("year" not in parts and year is None):
        return None
    columns = tuple(parts[word] for word in ("day", "month", "year") if word in parts)
    texts = _different([sample[column] for column in columns], missing)
    for month in ("%m", "%b", "%B"):
        format_ = f"%d {month}" + (" %Y" if "year" in parts else "")
        dates = texts if "year" in parts else texts + f" {year}"
        times = instants(dates, format_ if "year" in parts else f"{format_} %Y", dt.UTC)
        share = float((times.seconds != MISSING).mean()) if len(texts) else 0.0
        if share >= NEARLY:
            reason = f"{format_}, such as {texts.iloc[0]}" + ("" if "year" in parts else f" in {year}")
            return TimeReading(columns, format_, times, share, reason, None if "year" in parts else year)
    return None


def date_parts(columns: Mapping[str, object]) -> dict[str, str]:
    """The columns that are called day, month or year, by that word."""
    return {words(name)[-1]: name for name in columns if words(name)[-1:] in (["day"], ["month"], ["year"])}


def _different(columns: Sequence[pa.Array], missing: Missing) -> Texts:
    """Up to some thousand different texts, from all over the sample, without missing ones and totals."""
    try:
        values = join(columns, None, missing).drop_null().unique()
    except NotPlain:
        return pd.Series(dtype="str")
    spread = np.unique(np.linspace(0, max(len(values) - 1, 0), _MOST_TESTS).astype(int))
    sample = values.take(pa.array(spread)).to_pylist() if len(values) else []
    return pd.Series([value for value in sample if not is_total(value)], dtype="str")


def stamp_format(text: str) -> str | None:
    """The format of a date and time in digits alone, by their number: 2026010105, 20260101050000."""
    return _STAMPS.get(len(text)) if text.isdecimal() and text.isascii() else None


def formats_like(text: str, has_year: bool = True) -> list[str]:
    """The formats whose texts look like this one, the most usual first."""
    return _by_shape(has_year).get(_shape(text), [])


def _shape(text: str) -> str:
    """`31.12.2025 14:05` → `9.9.9 9:9`: digits in a row are one 9, letters one a."""
    return re.sub(r"[^\W\d_年月日]+", "a", re.sub("[0-9]+", "9", text))


def _shapes(format_: str) -> list[str]:
    """Patterns of a format's texts: an offset is written in several ways."""
    plain = re.sub("%[a-yA-Z]", lambda code: _SHAPES.get(code[0], code[0]), format_)
    ends = _ZONE_SHAPES if "%z" in plain else [""]
    return [_shape(plain.replace("%z", end)) for end in ends]


@cache
def _by_shape(has_year: bool) -> dict[str, list[str]]:
    dates = _DATES if has_year else _YEARLESS
    clocks = [clock + zone for zone, clock in itertools.product(_ZONES, _CLOCK_FORMATS)]
    stamps = [date + between + clock for between, clock, date in itertools.product(_BETWEEN, clocks, dates)]
    texts_of: dict[str, list[str]] = {}
    for format_ in [*dates, *stamps, "[%d/%b/%Y:%H:%M:%S %z]", *(_COARSE if has_year else ())]:
        for shape in _shapes(format_):
            texts_of.setdefault(shape, []).append(format_)
    return texts_of
