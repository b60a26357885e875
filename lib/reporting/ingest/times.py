"""Raw cells → times (ISO 8601, a format of strptime, since 1970); which columns of a sample are its times."""

import datetime as dt
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.definition import TimeColumn
from lib.reporting.definition.reading import hours_zone, time_zone
from lib.reporting.ingest.cells import Missing, NotPlain, is_total, text, trim, without_missing
from lib.reporting.ingest.column_names import sounds_like_clock, sounds_like_time, split_words, time_rank

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Texts: TypeAlias = "pd.Series[str]"
Sample: TypeAlias = Mapping[str, pa.Array]
HOUR, DAY = 3600, 86_400
MISSING = np.iinfo(np.int64).min
_FIRST, _LAST = (int(dt.datetime(year, 1, 1, tzinfo=dt.UTC).timestamp()) for year in (1900, 2200))
_ISO_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}"
_ISO_TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?: ?(?:Z|[+-][0-9]{2}(?::?[0-9]{2})?))?"
)
_NUMBER = r"[0-9]{8,19}(?:\.[0-9]*)?|[0-9]\.[0-9]+[eE]\+?[0-9]{1,2}"
_EPOCHS = {1: (1e8, 1e10), 10**3: (1e11, 1e13), 10**6: (1e14, 1e16), 10**9: (1e17, 1e19)}
_ZONE_HOURS = {
    "UTC": 0, "UT": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8,
    "PDT": -7, "WET": 0, "WEST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3, "MSK": 3, "JST": 9, "KST": 9,
    "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13,
}  # fmt: skip
_ZONE_NAME = re.compile(rf"(?<![A-Za-z])({'|'.join(_ZONE_HOURS)})(?![A-Za-z])")
_STAMP_LENGTH = len("2026-01-05 13:00:00")
_LITERAL_UTC = re.compile(r"%[HMSf] ?Z$")
# The formats that are tried on a sample, the most usual first.
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
    "%m/%d", "%d/%m", "%d.%m.", "%d.%m", "%m-%d", "%d %m", "%d %b", "%d-%b", "%b %d", "%d %B", "%B %d",
]  # fmt: skip
_CLOCK_FORMATS = [
    "%H:%M:%S", "%H:%M", "%H:%M:%S.%f", "%I:%M:%S %p", "%I:%M %p", "%I %p", "%H", "%H Uhr", "%Hh", "%H.%M",
    "%H%M%S", "%H%M",
]  # fmt: skip
_CLOCK_COLUMN_FORMATS = ["%H", "%H:%M", "%H:%M:%S", "%I %p", "%I:%M %p", "%I:%M:%S %p"]
_ZONES = ["", "%z", " %z", " %Z", " %z UTC"]
_BETWEEN = [" ", "T", ", ", ":", " - ", " at "]
_STAMPS = {
    6: "%Y%m", 8: "%y%m%d%H", 10: "%Y%m%d%H", 12: "%Y%m%d%H%M", 14: "%Y%m%d%H%M%S", 17: "%Y%m%d%H%M%S%f",
    20: "%Y%m%d%H%M%S%f",
}  # fmt: skip
_SHAPE_CODES = {"a": "%b %a %B %A %p %Z", "9": "%Y %m %d %y %H %I %M %S %f %G %V %u"}
_SHAPES = {code: shape for shape, codes in _SHAPE_CODES.items() for code in codes.split()}
_ZONE_SHAPES = ["a", "+9", "+9:9", "-9", "-9:9"]
_SURE, _NEARLY = 0.99, 0.5
_MOST_TESTS = 2_000
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


class _Instants(NamedTuple):
    """Seconds since 1970: of UTC, or (where `is_date`) of a calendar date at 00:00. MISSING: unreadable."""

    seconds: Ints
    is_date: Flags

    @property
    def share(self) -> float:
        """The share that could be read."""
        return float((self.seconds != MISSING).mean()) if len(self.seconds) else 0.0


class _TimeReading(NamedTuple):
    """How the texts of some columns are read, and the share that can be."""

    columns: tuple[str, ...]
    format: str | None
    times: _Instants
    share: float
    reason: str
    year: int | None = None


def stored_times(
    columns: Sequence[pa.Array], time: TimeColumn, zone_hours: int, absent: Missing = None
) -> tuple[Ints, Flags, Flags]:
    """Seconds to store, cut to the hour or to the slicer's day; which are unreadable; which are missing.

    `zone_hours` is the slicer's zone. A stamp without an offset is in `time.timezone`, else in the slicer's
    zone; one of an hour that the clock shows twice is the first of the two. A date without a time of day
    is that day for granularity day, and its midnight for granularity hour.
    """
    zone = time_zone(time.timezone) if time.timezone else hours_zone(zone_hours)
    column, native = columns[0], _native_instants(columns[0], zone) if len(columns) == 1 else None
    if native is None:
        column = _join(columns, time.year, absent)
        quick = _whole_stamps(column, zone) if time.format is None else None
        native = quick or _text_instants(column, time.full_format, zone)
    readable = _in_range(native).seconds != MISSING
    missing = column.is_null().to_numpy(zero_copy_only=False)
    return _truncate(native, time.granularity == "day", zone, zone_hours), ~readable & ~missing, missing


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
    return _TimeSearch(sample, lines, missing, year).guess()


def date_parts(columns: Mapping[str, object]) -> dict[str, str]:
    """The columns that are called day, month or year, by that word."""
    return {
        split_words(name)[-1]: name
        for name in columns
        if split_words(name)[-1:] in (["day"], ["month"], ["year"])
    }


def _join(columns: Sequence[pa.Array], year: int | None = None, absent: Missing = None) -> pa.Array:
    """The trimmed texts of columns with blanks between them, and a year last; null if one is missing."""
    texts = [without_missing(trim(_cell_text(column)), absent) for column in columns]
    texts += [pa.scalar(str(year))] if year else []
    return pc.binary_join_element_wise(*texts, " ") if len(texts) > 1 else texts[0]


def _cell_text(column: pa.Array) -> pa.Array:
    """A column's text; of midnights, as a workbook has for dates, the date alone."""
    if pa.types.is_timestamp(column.type) and column.type.tz is None:
        days = column.cast(pa.timestamp("us"), safe=False)
        if pc.all(pc.equal(pc.floor_temporal(days, unit="day"), days)).as_py():
            return days.cast(pa.date32(), safe=False).cast(pa.string())
    return text(column)


def _native_instants(column: pa.Array, zone: dt.tzinfo) -> _Instants | None:
    """Times of a column of Arrow's own dates or timestamps; None for other columns."""
    kind = column.type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return None
    is_local = pa.types.is_timestamp(kind) and kind.tz is None
    micros = pa.timestamp("us", None if is_local or pa.types.is_date(kind) else kind.tz)
    naive = pd.Series(
        column.cast(micros, safe=False)
        .cast(pa.int64())
        .cast(pa.timestamp("us"))
        .to_numpy(zero_copy_only=False)
    )
    return _Instants(
        _seconds(naive, zone if is_local else None), np.full(len(column), pa.types.is_date(kind))
    )


def _whole_stamps(column: pa.Array, zone: dt.tzinfo) -> _Instants | None:
    """The same of a column of nothing but 2026-01-05 13:00:00, without looking at each text; else None."""
    lengths = pc.min_max(pc.binary_length(column)).as_py()
    if column.null_count or set(lengths.values()) != {_STAMP_LENGTH}:
        return None
    try:
        stamps = column.cast(pa.timestamp("s"))
    except pa.ArrowInvalid:
        return None
    naive = pd.Series(stamps.to_numpy(zero_copy_only=False))
    return _Instants(_seconds(naive, zone), np.zeros(len(column), bool))


def _text_instants(column: pa.Array, format_: str | None, zone: dt.tzinfo) -> _Instants:
    """Each different text is read once."""
    array = column.dictionary_encode()
    different = pd.Series(array.dictionary.to_pandas(), dtype="str")
    times = _instants(different, format_, zone)
    codes = array.indices.fill_null(len(different)).to_numpy()
    return _Instants(np.append(times.seconds, MISSING)[codes], np.append(times.is_date, False)[codes])


def _instants(texts: pd.Series, format_: str | None, zone: dt.tzinfo) -> _Instants:
    """Times parsed from texts of one format, or (None) of those that need none; from 1900 to 2199."""
    if format_ is not None:
        return _in_range(_formatted_instants(texts, format_, zone))
    texts = texts.str.replace(",", ".", regex=False)
    is_date = texts.str.fullmatch(_ISO_DATE).to_numpy(bool)
    is_time = texts.str.fullmatch(_ISO_TIME).to_numpy(bool)
    has_offset = is_time & texts.str.slice(10).str.contains("[Z+-]").to_numpy(bool)
    seconds = np.full(len(texts), MISSING)
    for rows, own_zone in ((is_date | has_offset, None), (is_time & ~has_offset, zone)):
        stamps = pd.to_datetime(texts[rows], format="ISO8601", errors="coerce", utc=own_zone is None)
        seconds[rows] = _seconds(stamps, own_zone)
    rows = texts.str.fullmatch(_NUMBER).to_numpy(bool) & ~is_date
    seconds[rows] = _since_1970(texts[rows].to_numpy(np.float64))
    return _in_range(_Instants(seconds, is_date))


def _since_1970(numbers: npt.NDArray[np.float64]) -> Ints:
    """Seconds of numbers of seconds, or of thousandths, millionths or billionths, by their size."""
    seconds = np.full(len(numbers), MISSING)
    for unit, (smallest, largest) in _EPOCHS.items():
        rows = (numbers >= smallest) & (numbers < largest)
        seconds[rows] = (numbers[rows] / unit).astype(np.int64)
    return seconds


def _in_range(times: _Instants) -> _Instants:
    in_range = (times.seconds >= _FIRST) & (times.seconds < _LAST)
    return times._replace(seconds=np.where(in_range, times.seconds, MISSING))


def _formatted_instants(texts: pd.Series, format_: str, zone: dt.tzinfo) -> _Instants:
    """Times of one format. A month is its first day, a week its Monday.

    The zones of RFC 5322, 4.3, and others that name one offset only, are that offset, whatever the season.
    """
    if _is_coarse(format_) and "%V" in format_:
        texts, format_ = texts + " 1", f"{format_} %u"
    if "%Z" in format_:
        offsets = texts.str.replace(_ZONE_NAME, lambda name: f"{_ZONE_HOURS[name[1]]:+03}:00", regex=True)
        if not offsets.equals(texts):
            texts, format_ = offsets, format_.replace("%Z", "%z")
    has_zone = "%z" in format_ or "%Z" in format_
    stamps = pd.to_datetime(texts, format=format_, errors="coerce", utc=has_zone)
    is_date = not has_zone and not any(code in format_ for code in ("%H", "%I"))
    if _LITERAL_UTC.search(format_):
        zone = dt.UTC
    seconds = _seconds(stamps, None if has_zone or is_date else zone)
    return _Instants(seconds, np.full(len(texts), is_date))


def _is_coarse(format_: str | None) -> bool:
    """Whether a format holds a month or a week (ISO 8601) but no day."""
    codes = set(re.findall("%(.)", format_ or ""))
    return bool(codes) and not codes & set("dju")


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


def _truncate(times: _Instants, is_daily: bool, zone: dt.tzinfo, zone_hours: int) -> Ints:
    if is_daily:
        own = np.where(times.is_date, times.seconds, times.seconds + zone_hours * HOUR)
        return own // DAY * DAY
    midnights = pd.Series(times.seconds[times.is_date].astype("datetime64[s]"))
    seconds = times.seconds.copy()
    seconds[times.is_date] = _seconds(midnights, zone)
    return seconds // HOUR * HOUR


class _TimeSearch:
    """The search for the time of a sample, in its columns of texts; see guess_time()."""

    def __init__(self, sample: Sample, lines: Sequence[int], missing: Missing, year: int | None) -> None:
        self._sample, self._lines, self._missing, self._year = sample, lines, missing, year

    def guess(self) -> TimeGuess | None:
        """The most likely time."""
        nearly: list[_TimeReading] = []
        coarse: list[_TimeReading] = []
        for name in sorted(self._sample, key=time_rank):
            read = self._read_column(name)
            if read is not None and _is_coarse(read.format):
                coarse += [read] if read.share >= _SURE else []
                continue
            if read is not None and read.share >= _SURE:
                return self._time_guess(read)
            nearly += [read] if read else []
        parts = self._date_in_parts()
        if parts is not None and parts.share >= _SURE:
            return self._time_guess(parts)
        best = max(nearly or coarse, key=lambda read: read.share, default=None)
        return self._time_guess(best) if best else None

    def _time_guess(self, read: _TimeReading) -> TimeGuess:
        """Hourly if stamps have a time of day, and days have several of them."""
        read = self._with_clock(read)
        seconds = read.times.seconds[read.times.seconds != MISSING]
        days = len(np.unique(seconds // DAY))
        is_hourly = (
            not read.times.is_date.all() and len(np.unique(seconds)) > days and bool((seconds % DAY).any())
        )
        column = read.columns[0] if len(read.columns) == 1 else read.columns
        granularity, resolution = ("hour", "by hour, in UTC") if is_hourly else ("day", "by day")
        but = self._exceptions(read) if read.share < 1 else ""
        reason = f"{read.reason}{but}; kept {resolution}"
        return TimeGuess(column, read.format, granularity, reason, read.year)

    def _exceptions(self, read: _TimeReading) -> str:
        """The lines whose time can't be read: `, but for line 3,214: 'Total'`."""
        texts = _join([self._sample[name] for name in read.columns], read.year, self._missing)
        full = f"{read.format} %Y" if read.year else read.format
        values = pd.Series(texts.fill_null("").to_pylist(), dtype="str")
        is_exception = np.array([value == "" or is_total(value) for value in values], bool)
        bad = np.flatnonzero((_instants(values, full, dt.UTC).seconds == MISSING) & ~is_exception)
        examples = bad[:_EXAMPLES].tolist() if len(self._lines) else []
        names = [f"line {self._lines[row]:,}: '{values[row][:40]}'" for row in examples]
        more = f" and {len(bad) - len(names):,} more" if len(bad) > len(names) else ""
        return f", but for {', '.join(names)}{more}" if names else ""

    def _read_column(self, name: str) -> _TimeReading | None:
        """How a column is read as a time, by the format that reads most of it; None where few are times."""
        column = self._sample[name]
        native = _native_instants(column, dt.UTC)
        if native is not None:
            share = 1 - column.null_count / max(len(column), 1)
            return _TimeReading((name,), None, native, share, "a column of timestamps") if share else None
        texts = self._distinct_texts(name)
        digits = texts.str.fullmatch(r"[0-9]+(?:\.[0-9]+)?").all()
        if texts.empty or (digits and not sounds_like_time(name) and not _is_stamp(name, texts)):
            return None
        best: _TimeReading | None = None
        present = self._present_share(name)
        for format_ in _candidate_formats(texts):
            times = _instants(texts, format_, dt.UTC)
            share = times.share * present
            if share >= _NEARLY and share > (best.share if best else 0):
                best = _TimeReading((name,), format_, times, share, "")
            if share >= _SURE * present:
                break
        if best is None and self._year is not None:
            return _yearless((name,), texts, self._year)
        return best and best._replace(**_settle_format(texts, best))

    def _with_clock(self, read: _TimeReading) -> _TimeReading:
        """The same with the hour from a column of its own, where dates have none."""
        if not read.times.is_date.all():
            return read
        for name in self._sample:
            if name in read.columns or not sounds_like_clock(name):
                continue
            texts = self._distinct_texts(name)
            clock = next((clock for clock in _CLOCK_COLUMN_FORMATS if _is_clock(texts, clock)), None)
            if clock is None:
                continue
            columns = (*read.columns, name)
            both = self._distinct_texts(*columns)
            format_ = f"{self._date_format(read)} {clock}"
            full, dates = (f"{format_} %Y", both + f" {read.year}") if read.year else (format_, both)
            times = _instants(dates, full, dt.UTC)
            if times.share >= min(_SURE, read.share):
                reason = f"{format_}, such as {both.iloc[0]}"
                return _TimeReading(columns, format_, times, times.share, reason, read.year)
        return read

    def _date_format(self, read: _TimeReading) -> str:
        if read.format is not None:
            return read.format
        texts = self._distinct_texts(*read.columns)
        return "%Y%m%d" if texts.str.fullmatch("[0-9]{8}").mean() > _NEARLY else "%Y-%m-%d"

    def _date_in_parts(self) -> _TimeReading | None:
        """A date in columns called day, month and perhaps year."""
        parts = date_parts(self._sample)
        year = None if "year" in parts else self._year
        if not {"day", "month"} <= parts.keys() or ("year" not in parts and year is None):
            return None
        columns = tuple(parts[word] for word in ("day", "month", "year") if word in parts)
        texts = self._distinct_texts(*columns)
        dates = texts + f" {year}" if year else texts
        for month in ("%m", "%b", "%B"):
            times = _instants(dates, f"%d {month} %Y", dt.UTC)
            if times.share >= _NEARLY:
                format_ = f"%d {month}" if year else f"%d {month} %Y"
                reason = f"{format_}, such as {texts.iloc[0]}" + (f" in {year}" if year else "")
                return _TimeReading(columns, format_, times, times.share, reason, year)
        return None

    def _distinct_texts(self, *names: str) -> Texts:
        """Up to some thousand different texts, from all over the sample, without missing ones and totals."""
        try:
            values = _join([self._sample[name] for name in names], None, self._missing).drop_null().unique()
        except NotPlain:
            return pd.Series(dtype="str")
        spread = np.unique(np.linspace(0, max(len(values) - 1, 0), _MOST_TESTS).astype(int))
        texts = values.take(pa.array(spread)).to_pylist() if len(values) else []
        return pd.Series([text for text in texts if not is_total(text)], dtype="str")

    def _present_share(self, name: str) -> float:
        """The share of rows that have a value, totals not counted."""
        texts = _join([self._sample[name]], None, self._missing)
        rows = len(texts) - sum(
            is_total(text) for text in texts.unique().drop_null().slice(0, _MOST_TESTS).to_pylist()
        )
        return (rows - texts.null_count) / max(rows, 1) if texts.null_count else 1.0


def _is_stamp(name: str, texts: Texts) -> bool:
    """Whether digits under a made-up name (column_1, of a file without a header) are those of stamps."""
    return name.startswith("column_") and bool(texts.str.len().isin([8, 14, 17]).all())


def _candidate_formats(texts: Texts) -> Iterator[str | None]:
    """Formats to try, the most likely first."""
    stamp = _stamp_format(texts.iloc[0]) if texts.str.len().nunique() == 1 else None
    if stamp and len(texts.iloc[0]) > 8:
        yield stamp
    yield None
    if stamp:
        yield stamp
    middle = texts.iloc[len(texts) // 2]
    yield from dict.fromkeys([*_formats_like(texts.iloc[0]), *_formats_like(middle)])


def _stamp_format(text: str) -> str | None:
    """The format of a date and time in digits alone, by their number: 2026010105, 20260101050000."""
    return _STAMPS.get(len(text)) if text.isdecimal() and text.isascii() else None


def _formats_like(text: str, has_year: bool = True) -> list[str]:
    """The formats whose texts look like this one, the most usual first."""
    return _by_shape(has_year).get(_shape(text), [])


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


def _shapes(format_: str) -> list[str]:
    """Patterns of a format's texts: an offset is written in several ways."""
    plain = re.sub("%[a-yA-Z]", lambda code: _SHAPES.get(code[0], code[0]), format_)
    ends = _ZONE_SHAPES if "%z" in plain else [""]
    return [_shape(plain.replace("%z", end)) for end in ends]


def _shape(text: str) -> str:
    """`31.12.2025 14:05` → `9.9.9 9:9`: digits in a row are one 9, letters one a."""
    return re.sub(r"[^\W\d_年月日]+", "a", re.sub("[0-9]+", "9", text))


def _yearless(columns: tuple[str, ...], texts: Texts, year: int) -> _TimeReading | None:
    """Dates without a year, such as 05.01., in this year."""
    dates = texts + f" {year}"
    for format_ in _formats_like(texts.iloc[0], has_year=False) if len(texts) else []:
        times = _instants(dates, f"{format_} %Y", dt.UTC)
        if times.share >= _SURE:
            reason = f"{format_} in {year}, such as {texts.iloc[0]}"
            return _TimeReading(columns, format_, times, times.share, reason, year)
    return None


def _settle_format(texts: Texts, read: _TimeReading) -> dict[str, Any]:
    """The format and why; of month/day and day/month, where both fit, the one with the shorter span."""
    example = f"such as {texts.iloc[0]}"
    if _is_coarse(read.format):
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
    other = _instants(texts, twin, dt.UTC) if twin != read.format else None
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


def _span(times: _Instants) -> int:
    return int(times.seconds.max() - times.seconds.min())


def _is_clock(texts: Texts, clock: str) -> bool:
    if texts.empty:
        return False
    clock_times = pd.to_datetime(texts, format=clock, errors="coerce")
    return bool(clock_times.notna().mean() >= _SURE)
