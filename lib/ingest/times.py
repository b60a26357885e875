"""Raw cells → times: ISO 8601, a format of strptime, seconds since 1970.

Dates may have names in other languages, and be ranges of days, which count as their first.
"""

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.ingest import cells
from lib.ingest.cells import Missing, text, trim, without_missing
from lib.ingest.clock_changes import in_second_hour
from lib.ingest.column_names import without_accents
from lib.slicers.definition import TimeColumn
from lib.slicers.definition.reading import SERIALS, hours_zone, time_zone

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
HOUR, DAY = 3600, 86_400
MISSING = np.iinfo(np.int64).min
EPOCH = dt.datetime(1970, 1, 1)  # noqa: DTZ001  (a clock, of any zone)
_FIRST, _LAST = (int(dt.datetime(year, 1, 1, tzinfo=dt.UTC).timestamp()) for year in (1900, 2200))
_ISO_DATE = r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}"
_ISO_TIME = (
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]{1,9})?)?"
    r"(?: ?(?:Z|UTC|[+-][0-9]{2}(?::?[0-9]{2})?))?"
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
_OFFSET_AT_END = r"(?:[0-9]Z|[+-][0-9]{2}:?[0-9]{2}|[A-Z]{3,4})$|^[0-9]+(?:\.[0-9]+)?$"
_LITERAL_UTC = re.compile(r"%[HMSf] ?Z$")
RANGE_MARKS = (" - ", " – ", " — ", " to ", " bis ", " au ", "–", "~", "/", "-")
# Names of months beside the English ones, without accents and full stops; each belongs to one month.
_MONTHS = (
    "januar janner janv janvier enero ene janeiro gennaio gen januari stycznia styczen ianuarie ocak",
    "februar feber fev fevr fevrier febrero fevereiro febbraio februari lutego luty subat",
    "marz maerz mrz mars marzo marco maart mrt marca marzec mart",
    "avr avril abr abril aprile april kwietnia kwiecien nisan",
    "mai mayo maio mag maggio mei maja mayis",
    "juni juin junio junho giu giugno czerwca czerwiec haziran",
    "juli juil juillet julio julho lug luglio lipca lipiec temmuz",
    "aout ago agosto augustus sierpnia sierpien agustos",
    "sept septembre septiembre setembro settembre set wrzesnia wrzesien eylul",
    "okt oktober octobre octubre out outubro ott ottobre pazdziernika ekim",
    "novembre noviembre novembro listopada kasim",
    "dez dezember decembre dic diciembre dezembro dicembre december grudnia aralik",
)
_WEEKDAYS = (
    "mon tue tues wed thu thur thurs fri sat sun monday tuesday wednesday thursday friday saturday sunday "
    "mo di mi do fr sa so montag dienstag mittwoch donnerstag freitag samstag sonntag "
    "lun mer jeu ven sam dim lundi mardi mercredi jeudi vendredi samedi dimanche "
    "mie jue vie sab dom lunes martes miercoles jueves viernes sabado domingo "
    "gio lunedi martedi mercoledi giovedi venerdi sabato domenica "
    "ma wo za zo maandag dinsdag woensdag donderdag vrijdag zaterdag zondag"
)
MONTH_OF = {name: month for month, names in enumerate(_MONTHS, 1) for name in names.split()} | {
    name.lower(): month
    for month in range(1, 13)
    for name in (calendar.month_name[month], calendar.month_abbr[month])
}
_NAME = re.compile(r"([^\W\d_]{2,})\.?")
_WEEKDAY = re.compile(r"^([^\W\d_]{2,9})(?:\.,|[.,])? (?=\D{0,12}\d)")
_ORDINAL = re.compile(r"(?<=\d)(?:st|nd|rd|th|er|º)\b")
_TOKEN = re.compile(r"\d+|[^\W\d_]+")


class Instants(NamedTuple):
    """Seconds since 1970: of UTC, or (where `is_date`) of a calendar date at 00:00. MISSING: unreadable."""

    seconds: Ints
    is_date: Flags

    @property
    def share(self) -> float:
        """The share that could be read."""
        return float((self.seconds != MISSING).mean()) if len(self.seconds) else 0.0


def stored_times(
    columns: Sequence[pa.Array], time: TimeColumn, zone_hours: int, absent: Missing = None
) -> tuple[Ints, Flags, Flags]:
    """Seconds to store, cut to the hour or to the slicer's day; which are unreadable; which are missing.

    `zone_hours` is the slicer's zone. A stamp without an offset is in `time.timezone`, else in the slicer's
    zone; which of two equal hours it is in is told by the rows beside it. A date without a time of day is
    that day for granularity day, and its midnight for granularity hour.
    """
    zone = time_zone(time.timezone) if time.timezone else hours_zone(zone_hours)
    column, native = columns[0], native_instants(columns[0], zone) if len(columns) == 1 else None
    if native is None:
        column = join_texts(columns, time.year, absent)
        lengths = set(pc.min_max(pc.binary_length(column)).as_py().values())
        if time.format is None and not column.null_count and lengths == {_STAMP_LENGTH}:
            with suppress(pa.ArrowInvalid):  # nothing but 2026-01-05 13:00:00, not looked at one by one
                stamps = pd.Series(column.cast(pa.timestamp("s")).to_numpy(zero_copy_only=False))
                native = Instants(_seconds(stamps, zone), np.zeros(len(column), bool))
    if native is None:  # each different text is read once
        array = column.dictionary_encode()
        different = pd.Series(array.dictionary.to_pandas(), dtype="str")
        times = instants(different, time.full_format, zone)
        codes = array.indices.fill_null(len(different)).to_numpy()
        native = Instants(np.append(times.seconds, MISSING)[codes], np.append(times.is_date, False)[codes])
    if isinstance(zone, ZoneInfo) and not has_offsets(column, time):
        native = native._replace(seconds=in_second_hour(native.seconds, zone))
    readable = _in_range(native).seconds != MISSING
    missing = column.is_null().to_numpy(zero_copy_only=False)
    if time.has_zones:
        midnights = pd.Series(native.seconds[native.is_date].astype("datetime64[s]"))
        seconds = native.seconds.copy()
        seconds[native.is_date] = _seconds(midnights, zone)
        seconds = seconds // HOUR * HOUR
    else:
        own = np.where(native.is_date, native.seconds, native.seconds + zone_hours * HOUR)
        seconds = own // DAY * DAY
    return seconds, ~readable & ~missing, missing


def has_offsets(column: pa.Array, time: TimeColumn) -> bool:
    """Whether times of this column name their zone, or count from 1970."""
    if pa.types.is_timestamp(column.type):
        return column.type.tz is not None
    if not cells.is_text(column.type) or (time.format and set("zZ") & set(re.findall("%(.)", time.format))):
        return True
    return bool(pc.any(pc.match_substring_regex(column, _OFFSET_AT_END)).as_py())


def join_texts(columns: Sequence[pa.Array], year: int | None = None, absent: Missing = None) -> pa.Array:
    """The trimmed texts of columns with blanks between them, and a year last; null if one is missing."""
    texts = []
    for column in columns:
        if pa.types.is_timestamp(column.type) and column.type.tz is None:
            days = column.cast(pa.timestamp("us"), safe=False)
            if pc.all(pc.equal(pc.floor_temporal(days, unit="day"), days)).as_py():
                column = days.cast(pa.date32(), safe=False)  # midnights, as a workbook has for dates
        texts.append(without_missing(trim(text(column)), absent))
    texts += [pa.scalar(str(year))] if year else []
    return pc.binary_join_element_wise(*texts, " ") if len(texts) > 1 else texts[0]


def native_instants(column: pa.Array, zone: dt.tzinfo) -> Instants | None:
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
    return Instants(_seconds(naive, zone if is_local else None), np.full(len(column), pa.types.is_date(kind)))


def instants(texts: pd.Series, format_: str | None, zone: dt.tzinfo) -> Instants:
    """Times parsed from texts of one format, or (None) of those that need none; from 1900 to 2199."""
    if format_ in SERIALS:
        numbers = pd.to_numeric(texts, errors="coerce").to_numpy(np.float64)
        seconds = np.round((np.nan_to_num(numbers, nan=-np.inf) - SERIALS[format_]) * DAY)
        is_day = numbers % 1 == 0
        return _in_range(Instants(np.where(np.isfinite(seconds), seconds, MISSING).astype(np.int64), is_day))
    if format_ is not None:
        # Whether texts may have names in other languages.
        if len(texts) and ("%b" in format_ or "%B" in format_ or texts.iloc[0][:1].isalpha()):
            texts = texts.map(lambda text: english(text, format_))
        day, mark = range_start(format_) or (format_, "")
        if mark:
            texts = texts.map(lambda text: first_day(text, day, mark))
        return _in_range(_formatted_instants(texts, day, zone))
    texts = texts.str.replace(",", ".", regex=False).str.replace(" ?UTC$", "Z", regex=True)
    is_date = texts.str.fullmatch(_ISO_DATE).to_numpy(bool)
    is_time = texts.str.fullmatch(_ISO_TIME).to_numpy(bool)
    has_offset = is_time & texts.str.slice(10).str.contains("[Z+-]").to_numpy(bool)
    seconds = np.full(len(texts), MISSING)
    for rows, own_zone in ((is_date | has_offset, None), (is_time & ~has_offset, zone)):
        stamps = pd.to_datetime(texts[rows], format="ISO8601", errors="coerce", utc=own_zone is None)
        seconds[rows] = _seconds(stamps, own_zone)
    rows = texts.str.fullmatch(_NUMBER).to_numpy(bool) & ~is_date
    numbers = texts[rows].to_numpy(np.float64)
    for unit, (smallest, largest) in _EPOCHS.items():  # seconds since 1970, or parts of them, by their size
        is_unit = (numbers >= smallest) & (numbers < largest)
        seconds[np.flatnonzero(rows)[is_unit]] = (numbers[is_unit] / unit).astype(np.int64)
    return _in_range(Instants(seconds, is_date))


def _in_range(times: Instants) -> Instants:
    in_range = (times.seconds >= _FIRST) & (times.seconds < _LAST)
    return times._replace(seconds=np.where(in_range, times.seconds, MISSING))


def _formatted_instants(texts: pd.Series, format_: str, zone: dt.tzinfo) -> Instants:
    """Times of one format. A month is its first day, a week its Monday.

    The zones of RFC 5322, 4.3, and others that name one offset only, are that offset, whatever the season.
    """
    if is_coarse(format_) and "%V" in format_:
        texts, format_ = texts + " 1", f"{format_} %u"
    if "%Z" in format_:
        offsets = texts.str.replace(_ZONE_NAME, lambda name: f"{_ZONE_HOURS[name[1]]:+03}:00", regex=True)
        if not offsets.equals(texts):
            texts, format_ = offsets, format_.replace("%Z", "%z")
    has_zone = "%z" in format_ or "%Z" in format_
    stamps = pd.to_datetime(texts, format=format_, errors="coerce", utc=has_zone)
    if "%S" in format_ and stamps.isna().any():  # a whole second among fractions, or the other way round
        other = format_.replace(".%f", "") if "%f" in format_ else format_.replace("%S", "%S.%f")
        stamps = stamps.fillna(pd.to_datetime(texts, format=other, errors="coerce", utc=has_zone))
    is_date = not has_zone and not is_hourly(format_)
    if _LITERAL_UTC.search(format_):
        zone = dt.UTC
    seconds = _seconds(stamps, None if has_zone or is_date else zone)
    return Instants(seconds, np.full(len(texts), is_date))


def english(text: str, format_: str) -> str:
    """A date with the English names of its months, as the format has them (%b or %B), without its weekday.

    `So., 1. März 2026` → `1. Mar 2026`, `Nov 1st` → `Nov 1`. What has other words stays.
    """
    names = calendar.month_name if "%B" in format_ else calendar.month_abbr
    weekday = _WEEKDAY.match(text)
    if weekday and "%a" not in format_ and "%A" not in format_ and _plain(weekday[1]) in _WEEKDAYS.split():
        text = text[weekday.end() :]

    def month(name: re.Match[str]) -> str:
        number = MONTH_OF.get(_plain(name[1]))
        return name[0] if number is None else names[number]

    return _NAME.sub(month, _ORDINAL.sub("", text))


def range_start(format_: str) -> tuple[str, str] | None:
    """The format of a range's first day, and the mark after it (`%d %b %Y - %d %b %Y`); None of a day."""
    for mark in RANGE_MARKS:
        parts = format_.split(mark)
        half = len(parts) // 2
        if len(parts) % 2 == 0 and parts[:half] == parts[half:]:
            return mark.join(parts[:half]), mark
    return None


def first_day(text: str, format_: str, mark: str) -> str:
    """The first day of a range, in the format of a day, with what only its last day has.

    `Nov 2 – 8, 2026` → `Nov 2, 2026`, `28.12.–3.1.2027` → `28.12.2026`.
    """
    parts = text.split(mark)
    half = len(parts) // 2
    if len(parts) % 2 or len(parts) == 1:
        parts, half = text.split(mark.strip()), 1
    first, last = mark.join(parts[:half]).strip(), mark.join(parts[half:]).strip()
    codes = re.findall("%([dmbBYy])", format_)
    start, end = _date_parts(first, codes), _date_parts(last, codes)
    if start.keys() == {*codes} or not {*codes} <= start.keys() | end.keys():
        return first
    year, month = codes[-1] if codes[-1] in "Yy" else codes[0], {*codes} & {*"mbB"}
    key = month.pop() if month else ""
    if key in start and key in end and _month(start[key]) > _month(end[key]) and end[year].isdigit():
        end[year] = str(int(end[year]) - 1)
    values = end | start
    return re.sub("%(.)", lambda code: values.get(code[1], code[0]), format_)


def is_hourly(format_: str | None) -> bool:
    """Whether a format holds a time of day."""
    return "%H" in str(format_) or "%I" in str(format_)


def is_coarse(format_: str | None) -> bool:
    """Whether a format holds a month or a week (ISO 8601) but no day."""
    codes = set(re.findall("%(.)", format_ or ""))
    return bool(codes) and not codes & set("dju")


def _seconds(stamps: pd.Series, zone: dt.tzinfo | None) -> Ints:
    """Seconds since 1970 of stamps, read on the clock of `zone` (None: of UTC)."""
    if stamps.dt.tz is not None:
        stamps = stamps.dt.tz_convert("UTC").dt.tz_localize(None)
    values = stamps.to_numpy("datetime64[us]")
    is_there = ~np.isnat(values)
    seconds = np.full(len(values), MISSING)
    seconds[is_there] = values[is_there].astype(np.int64) // 10**6
    if zone is not None:
        # By Python, minute by minute: pandas 3.1.1 took the system's rules for our zones, whose class has a
        # `__reduce__`, while their own utcoffset was right.
        minutes, places = np.unique(seconds[is_there] // 60, return_inverse=True)
        offsets = np.array([_offset(minute, zone) for minute in minutes.tolist()], np.int64)
        seconds[is_there] -= offsets[places]
    return seconds


def _offset(minute: int, zone: dt.tzinfo) -> int:
    """The seconds ahead of UTC of a minute on the clock of a zone, counted from 1970 as if it were UTC.

    Of a minute that comes twice the first; one that the clock skips is the moment at which it skips.
    """
    try:
        clock = EPOCH + dt.timedelta(minutes=minute)
    except OverflowError:  # before the year 1, or after 9999: no day of a slicer
        return 0
    before, after = (_seconds_ahead(clock.replace(tzinfo=zone, fold=fold)) for fold in (0, 1))
    if before >= after:
        return before
    earliest = clock - dt.timedelta(seconds=after)  # of UTC: the skip is between it and `clock - before`
    for minutes in range((after - before) // 60 + 1):
        moment = (earliest + dt.timedelta(minutes=minutes)).replace(tzinfo=dt.UTC)
        if _seconds_ahead(moment.astimezone(zone)) == after:
            return after - 60 * minutes
    return before


def _seconds_ahead(clock: dt.datetime) -> int:
    return int((clock.utcoffset() or dt.timedelta()).total_seconds())


def _date_parts(text: str, codes: list[str]) -> dict[str, str]:
    """The values of a format's codes in a date that may lack its year, or its month and year."""
    words = [token for token in _TOKEN.findall(text) if not token.isdigit()]
    numbers = [token for token in _TOKEN.findall(text) if token.isdigit()]
    name = next((code for code in codes if code in "bB"), None)
    all_numbers = [code for code in codes if code != name]
    without_year = [code for code in all_numbers if code not in "Yy"]
    for candidates in (all_numbers, without_year, ["d"]):
        if len(candidates) == len(numbers):
            month = {name: words[0]} if name and words else {}
            return dict(zip(candidates, numbers, strict=True)) | month
    return {}


def _month(text: str) -> int:
    return int(text) if text.isdigit() else MONTH_OF.get(_plain(text), 0)


def _plain(name: str) -> str:
    return without_accents(name).lower().replace("ı", "i")
