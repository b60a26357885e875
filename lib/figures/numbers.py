"""Formats numbers and dates by the reader's locale and the field's precision, with units where requested."""

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from typing import Literal

from lib.figures.palette import MINUS, STEPS
from lib.reporting.answers import half_up
from lib.slicers.models import DURATION, DataField
from lib.wire.currencies import CODES, MINOR_UNITS
from lib.wire.text import write_day

NOTHING, NOT_SET = "–", "(not set)"
THIN = "\u202f"
COMMA_POINT, POINT_COMMA, SPACE_COMMA, QUOTE_POINT = (",", "."), (".", ","), (THIN, ","), ("’", ".")
MARKS = MappingProxyType(
    dict.fromkeys(("de", "nl", "it", "es", "pt", "da", "tr", "el", "id", "hr", "sl", "ro"), POINT_COMMA)
    | dict.fromkeys(("fr", "sv", "nb", "no", "fi", "pl", "cs", "sk", "hu", "ru", "uk", "bg"), SPACE_COMMA)
    | dict.fromkeys(("de-ch", "it-ch", "de-li"), QUOTE_POINT)
    | dict.fromkeys(("es-mx", "es-us"), COMMA_POINT)
)
LONGEST = 1_000_000
LARGE_PERCENT = 10_000
FORMATS = {"en": "1,234.5", "de": "1.234,5", "fr": "1\N{NARROW NO-BREAK SPACE}234,5", "de-CH": "1’234.5"}
"""How numbers can be written, by the language that writes them so."""


class Money(float):
    """An amount and its currency, in a column whose rows may have several."""

    currency = ""

    @classmethod
    def of(cls, value: float, currency: str) -> float:
        """The amount with its currency; a plain number without one."""
        money = cls(value)
        money.currency = currency
        return money if currency else value


def in_currency(field: DataField, code: str) -> DataField:
    """The field as amounts in a currency are written: with its minor units, and its code as the unit."""
    if code not in CODES:
        return field
    is_sum = field.formula is None and field.show_percents > 0
    places = MINOR_UNITS.get(code, field.display_precision) if is_sum else field.display_precision
    pattern = field.display_pattern or f"# {code}"
    return field.model_copy(update={"display_precision": places, "display_pattern": pattern})


@dataclass(frozen=True)
class Numbers:
    """Formats for one reader: the marks between thousands and before decimals."""

    group: str = ","
    decimal: str = "."

    @classmethod
    def of(cls, locale: str | None) -> "Numbers":
        """The marks of a locale like `de-CH`; those of English where it is unknown."""
        name = (locale or "").lower().replace("_", "-")
        return cls(*MARKS.get(name, MARKS.get(name.split("-")[0], COMMA_POINT)))

    @property
    def separators(self) -> str:
        """The marks as Plotly takes them (layout.separators)."""
        return self.decimal + self.group

    def number(self, value: float | None, decimals: int = 0) -> str:
        """A number with so many decimals; a dash where there is none."""
        if value is None or not math.isfinite(value):
            return NOTHING
        text = f"{half_up(abs(value), decimals):,f}"
        sign = MINUS if value < 0 and text.strip("0.,") else ""
        return sign + text.translate({ord(","): self.group, ord("."): self.decimal})

    def with_marks(self, digits: str) -> str:
        """A number as a file writes it (`-1234.50`), with marks; other text as it is."""
        number = re.fullmatch(r"(-?)(\d+)(\.?)(\d*)", digits)
        if number is None:
            return digits
        sign, whole, point, rest = number.groups()
        thousands = f"{int(whole):,}".replace(",", self.group)
        return f"{MINUS if sign else ''}{thousands}{self.decimal if point else ''}{rest}"

    def plain(self, value: float | None, field: DataField) -> str:
        """A value at its field's display precision, without its unit; seconds of a duration as 1:02:03.

        Money of a row has its currency.
        """
        if isinstance(value, Money):
            own = in_currency(field, value.currency)
            return _format_pattern(self.number(value, own.display_precision), own)
        if field.display_pattern == DURATION and value is not None and math.isfinite(value):
            minutes, seconds = divmod(int(half_up(abs(value), 0)), 60)
            sign = MINUS if value < 0 else ""
            return f"{sign}{self.number(minutes // 60)}:{minutes % 60:02}:{seconds:02}"
        return self.number(value, field.display_precision)

    def brief(self, value: float | None, field: DataField) -> str:
        """A value without its unit, cut to three figures from a million on."""
        if value is not None and math.isfinite(value) and abs(value) >= LONGEST:
            return self.rough(value)
        return self.plain(value, field)

    def full(self, value: float | None, field: DataField) -> str:
        """A value with its unit: `$3,874.00`."""
        if isinstance(value, Money):
            return self.plain(value, field)
        return _format_pattern(self.plain(value, field), field)

    def short(self, value: float | None, field: DataField) -> str:
        """A value with its unit, cut to three figures from a million on: `$12.3M`."""
        if field.display_pattern == DURATION:
            return self.plain(value, field)
        if value is None or not math.isfinite(value) or abs(value) < LONGEST:
            decimals = 0 if value is not None and abs(value) >= 1000 else field.display_precision
            return _format_pattern(self.number(value, decimals), field)
        return _format_pattern(self.rough(value), field)

    def rough(self, value: float) -> str:
        """A number to three figures: `1.20M`, `83.4k`; whole below a thousand."""
        for size, letter in STEPS:
            if abs(value) >= size * 0.9995:
                amount = value / size
                decimals = 2 if abs(amount) < 9.995 else 1 if abs(amount) < 99.95 else 0
                return f"{self.number(amount, decimals)}{letter}"
        return self.number(value)

    def percent(self, value: float | None, decimals: int = 1) -> str:
        """A share: `12.3 %`."""
        text = self.number(value, decimals)
        return text if text == NOTHING else f"{text} %"

    def signed(self, amount: float, field: DataField) -> str:
        """A difference in the field's unit: `+1.20M`; of percentages in points: `+0.31 points`."""
        if unit(field) == "%":
            return f"{plus(amount, self.plain(amount, field))} points"
        return plus(amount, self.short(amount, field))

    def change(self, ratio: float | None) -> str:
        """A relative change, signed: `+12.3 %`; cut to three figures where it tells only that the figure
        before was next to nothing: `+443k %`."""
        if ratio is None or not math.isfinite(ratio):
            return NOTHING
        percent = 100 * ratio
        text = f"{self.rough(percent)} %" if abs(percent) >= LARGE_PERCENT else self.percent(percent)
        return plus(ratio, text)


def read_language(cookie: str) -> str:
    """The language in the value of its cookie; empty for what is none of `FORMATS`."""
    return cookie if cookie in FORMATS else ""


def plus(value: float, text: str) -> str:
    """A difference's text, with its sign where it is above zero, as it is written too."""
    return f"+{text}" if value > 0 and text.strip("0.,$ %") else text


def is_rate(field: DataField) -> bool:
    """Whether a reader may take a relative change of the field for a difference in points, or the reverse."""
    is_ratio = field.formula is not None and "/" in field.formula
    return unit(field) == "%" or (is_ratio and not unit(field))


def change_title(field: DataField, against: str = "") -> str:
    """The title of a column of relative changes, `against` these days."""
    return f"{'Relative change' if is_rate(field) else 'Change'}{against and f' vs {against}'}, %"


def amount_title(field: DataField) -> str:
    """The title of a column of differences."""
    return "Change, points" if unit(field) == "%" else "Change"


def compared_title(name: Literal["previous", "amount"], field: DataField) -> str:
    """The title of a column of the figures of before, or of differences beside relative changes."""
    if name == "previous":
        return "Previous"
    return "Change, points" if unit(field) == "%" else "Change, absolute"


def unit(field: DataField) -> str:
    """The unit in a field's display pattern (`$#`); empty without one."""
    pattern = field.display_pattern or ""
    return pattern.replace("#", "").strip() if pattern.count("#") == 1 else ""


def title(field: DataField, with_unit: bool = False) -> str:
    """A data field's label, with its unit for the header of a column."""
    name = field.description or field.name
    return f"{name}, {unit(field)}" if with_unit and unit(field) else name


def moment(at: datetime) -> str:
    """A time of UTC in words: `20 Nov 2026, 14:05 UTC`."""
    return f"{write_day(at)}, {at:%H:%M} UTC"


def days(first: date, last: date) -> str:
    """A range of days in words: `14–20 Nov 2026`."""
    if first == last:
        return write_day(first)
    if (first.year, first.month) == (last.year, last.month):
        return f"{first.day}–{write_day(last)}"
    start = f"{first.day} {first:%b}" if first.year == last.year else write_day(first)
    return f"{start} – {write_day(last)}"


def span(first: date, last: date, year: int | None = None) -> str:
    """A range of days in short, for a label: `14–20 Nov`; with the year if it is not `year`."""
    return days(first, last).removesuffix(f" {year or last.year}")


def _format_pattern(text: str, field: DataField) -> str:
    pattern = field.display_pattern or ""
    if text == NOTHING or pattern.count("#") != 1:
        return text
    whole = pattern.replace("#%", "# %").replace("#", text.removeprefix(MINUS))
    return MINUS + whole if text.startswith(MINUS) else whole
