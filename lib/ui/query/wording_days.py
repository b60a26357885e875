"""Days in words: named periods, so many days back, dates, months, quarters, weekdays, and ranges of these."""

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cached_property

from lib.figures.query import periods
from lib.slicers.models import Slicer
from lib.wire.errors import BadRequest

DateValues = tuple[str, str]
"""Start and end, as links have them."""
OTHER_NAMES = {
    "wtd": "week to date", "mtd": "month to date", "qtd": "quarter to date", "today": "today so far",
    "previous week": "last week", "past week": "last 7 days", "previous month": "last month",
    "past month": "last 30 days", "previous quarter": "last quarter", "all time": "all data",
    "ever": "all data",
}  # fmt: skip
NUMBERS = (
    "a", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
BACK = re.compile(
    r"(?:(?:the )?(?:last|past|previous) )?(?:(?:full|complete|whole|entire) )?"
    rf"(?:(\d{{1,3}}|{'|'.join(NUMBERS)}) )?(?:(?:full|complete|whole|entire) )?(day|week|month|quarter)s?"
)
MONTHS = {
    name.casefold(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}
DAY_NUMBERS = {
    form: number
    for number, name in enumerate(calendar.day_name)
    for form in (name.casefold(), name[:3].casefold(), {"Tue": "tues", "Thu": "thurs"}.get(name[:3], ""))
    if form
} | {"thur": 3}
WEEKLY = {
    **{name: (day,) for form, day in DAY_NUMBERS.items() for name in (form, f"{form}s")},
    **dict.fromkeys(("weekend", "weekends"), (5, 6)),
    **dict.fromkeys(("weekdays", "workdays", "working days"), (0, 1, 2, 3, 4)),
}
"""Days of the week, Monday as 0, by the words for them."""
_MONTH = "|".join(MONTHS)
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_RANGE = re.compile(r"(?:from |between )?(.+?) (?:to|until|till|through|-|–|and) (.+)")
_FORMS = (
    (re.compile(r"([12]\d{3})-(\d\d)-(\d\d)"), (1, 2, 3)),
    (re.compile(rf"{_DAY} (?:of )?({_MONTH})(?: ([12]\d{{3}}))?"), (3, 2, 1)),
    (re.compile(rf"({_MONTH}) {_DAY}(?: ([12]\d{{3}}))?"), (3, 1, 2)),
    (re.compile(rf"({_MONTH})(?: ([12]\d{{3}}))?"), (2, 1, None)),
)


@dataclass(frozen=True)
class DayWords:
    """The words for days of a slicer, `today` in its zone."""

    slicer: Slicer
    today: date

    @cached_property
    def names(self) -> dict[str, DateValues]:
        """The periods that the date picker offers, by the phrases for them."""
        presets = {
            preset.label.casefold(): (preset.start, preset.end)
            for preset in periods.presets(self.slicer, self.today)
        }
        presets |= {name: presets[label] for name, label in OTHER_NAMES.items() if label in presets}
        return presets | {f"the {name}": days for name, days in presets.items() if name.startswith("last")}

    @property
    def phrases(self) -> list[str]:
        """All of them, for typos."""
        return [*self.names, *MONTHS, *WEEKLY, "since", "between", "full"]

    def read(self, phrase: str) -> DateValues | None:
        """The days that a phrase names; None where it names none."""
        if (days := self.names.get(phrase) or self._back(phrase)) is not None:
            return days
        if since := re.fullmatch("since (.+)", phrase):
            days = self.read(since[1])
            return days and (days[0], "yesterday")
        if dates := self._dates(phrase):
            return dates[0].isoformat(), dates[1].isoformat()
        if not (ends := _RANGE.fullmatch(phrase)):
            return None
        first, last = ends.groups()
        if first.isdigit() and (month := re.search(rf"(?:{_MONTH})(?: \d{{4}})?$", last)):
            first = f"{first} {month[0]}"  # 1 to 7 November
        elif last.isdigit() and (month := re.match(_MONTH, first)):
            last = f"{month[0]} {last}"  # November 1 to 7
        start, end = self._dates(first), self._dates(last)
        return (start[0].isoformat(), end[1].isoformat()) if start and end and start[0] <= end[1] else None

    def _back(self, phrase: str) -> DateValues | None:
        """So many whole days, weeks or months back, or the last whole one: `last full week`."""
        match = BACK.fullmatch(phrase)
        if match is None or (match[1] is None and " " not in phrase):
            return None
        unit, count = match[2], match[1] or "1"
        number = int(count) if count.isdigit() else max(NUMBERS.index(count), 1)
        if unit == "quarter":
            return self.names.get("last quarter") if number == 1 else None
        try:
            return periods.parse_last(f"{number} {unit}", self.slicer, self.today)[1:]
        except BadRequest:
            return None

    def _dates(self, text: str) -> tuple[date, date] | None:
        """The first and last day of a date, month, quarter or weekday; without a year the latest."""
        phrase = text.removeprefix("last ").removeprefix("this ")
        if phrase in DAY_NUMBERS:
            latest = self.today - timedelta(days=(self.today.weekday() - DAY_NUMBERS[phrase] - 1) % 7 + 1)
            return latest, latest
        if quarter := re.fullmatch(r"q([1-4])(?: ([12]\d{3}))?", phrase):
            return self._months(quarter[2], 3 * int(quarter[1]) - 2, 3)
        for form, groups in _FORMS:
            if not (match := form.fullmatch(phrase)):
                continue
            year, month, number = (match[group] if group else None for group in groups)
            month_number = MONTHS.get(month or "") or int(month or 0)
            if number is None:
                return self._months(year, month_number, 1)
            for candidate in [int(year)] if year else [self.today.year, self.today.year - 1]:
                try:
                    day = date(candidate, month_number, int(number))
                except ValueError:
                    continue
                if year or day <= self.today:
                    return day, day
        return None

    def _months(self, year: str | None, month: int, count: int) -> tuple[date, date]:
        """The first and last day of so many months from one on; without a year the latest that has begun."""
        first_year = int(year) if year else self.today.year - (month > self.today.month)
        last = month + count - 1
        return date(first_year, month, 1), date(first_year, last, calendar.monthrange(first_year, last)[1])
