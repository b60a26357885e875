"""How a file is read: times, marks of numbers and missing values, and the fields of its columns."""

import datetime as dt
import re
from typing import Annotated, Any, Literal, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from lib.slicers.granularities import GRANULARITIES
from lib.slicers.models import AudienceSource, DataField, KeyField, Polarity, Whole
from lib.wire import time_zones
from lib.wire.currencies import MINOR_UNITS

_OFFSET = re.compile(r"([+-])(\d{2}):?(\d{2})")
Aggregate = Literal["sum", "mean", "min", "max", "count", "distinct"]
KeyRole = Literal["lost_reason", "creative", "seat"]
DataRole = Literal[
    "requests", "bids", "wins", "impressions", "viewable", "lost", "bid_price", "win_price", "spend"
]
BAD = {"nobids", "error", "errors", "anomaly", "timeouts", "latency", "blocked", "invalid"}
MONEY = {"cost", "costs", "spend", "price", "payout", "amount", "fee", "fees", "revenue"}
Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f'\"]+$")]
Decimal = Literal[".", ",", "unknown"]
Thousands = Literal[".", ",", " ", "'"]
MISSING = (
    "NULL", "null", "(null)", r"\N", "N/A", "n/a", "#N/A", "#NV", "#DIV/0!", "NaN", "nan",
    "(not set)", "-", "--", "–", "—",
)  # fmt: skip
GUESS = "A guess: "
"""How the annotation of what was guessed begins."""
Scale = Literal[1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000]
"""Powers of ten: decimal numbers stay decimal ones (digits.py)."""
Spelling = Literal["any", "plain", "decimal"]
Totals = Literal["drop", "keep"]
OverlapRule = Literal["add", "skip"]
ALL_SHEETS: Literal["all"] = "all"
Sheets = Literal["all"] | tuple[str, ...] | None
READING = ("decimal", "thousands", "missing", "header", "names", "unit", "spelling")
# Days since these of a spreadsheet's (ECMA-376, part 1, 18.17.4.1), at 1 January 1970.
SERIALS = {"serial 1900": 25_569, "serial 1904": 24_107}
_TIME_CODES = "YymdHIpMSfzZbBaAjuGVUWw%"
_WHOLE_DATES = [*map(set, ("Ymd", "ymd", "Ybd", "ybd", "YBd", "yBd", "Yj", "yj", "GV", "Ym", "Yb", "YB"))]


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
        return time_zones.zone(name)
    except ZoneInfoNotFoundError:
        raise ValueError(f"'{name}' is not a time zone; write Europe/Berlin, UTC or +02:00") from None


def hours_zone(hours: int) -> dt.tzinfo:
    """The zone so many whole hours east of UTC."""
    return dt.timezone(dt.timedelta(hours=hours))


class DefinitionPart(BaseModel):
    """A piece of a definition: frozen, and without fields that nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NumberColumn(DefinitionPart):
    """A field of numbers. `decimal` and `thousands` are the definition's, unless the field has its own.

    `unit` is the sign at its numbers, such as "€" or "%": "12,50 €" is 12.5. Numbers with another sign can't
    be read; with "%" every number but zero needs it. With "h:mm:ss" they are durations, read as seconds.
    """

    decimal: Decimal | None = None
    thousands: Thousands | None = None
    unit: str | None = None

    @field_validator("unit")
    @classmethod
    def _is_a_sign(cls, unit: str | None) -> str | None:
        if unit is not None and not re.fullmatch(r"[^\s0-9.,'()+-]{1,10}", unit):
            raise ValueError('must be the sign next to a number, such as "€", "USD" or "%"')
        return unit

    @model_validator(mode="after")
    def _marks_differ(self) -> Self:
        check_marks(self)
        return self


def check_marks(part: Any) -> None:
    """ValueError where one character is both the decimal and the thousands mark."""
    if part.decimal is not None and part.decimal == part.thousands:
        raise ValueError(f"'{part.decimal}' can't be both the decimal and the thousands mark")


class TimeColumn(DefinitionPart):
    """Where a row's time is, how it is written, and how fine it is kept.

    The texts of several columns (`column: [date, hour]`) are joined by blanks, then read by `format`.
    A format may be that of a range of days, `%d %b %Y - %d %b %Y`, whose first day counts, or the serial days
    of a spreadsheet, `serial 1900` or `serial 1904`. `year` is that of dates that are written without one.
    The `annotation` is shown beside the time's key fields.
    """

    column: str | tuple[str, ...]
    year: Whole | None = Field(default=None, ge=1900, le=2199)
    granularity: Literal["hour", "day"] = "day"
    format: str | None = None
    timezone: str | None = None
    annotation: str = ""

    @property
    def sources(self) -> tuple[str, ...]:
        """The columns of the file that the time is read from."""
        return (self.column,) if isinstance(self.column, str) else self.column

    @property
    def has_zones(self) -> bool:
        """Whether rows can be put on the clocks of other zones."""
        return GRANULARITIES[self.granularity].is_within_day

    @property
    def has_named_zone(self) -> bool:
        """Whether times are of a zone whose clocks are looked up in the data of zones."""
        return self.timezone is not None and isinstance(time_zone(self.timezone), ZoneInfo)

    @property
    def full_format(self) -> str | None:
        """The format of the joined texts, with the year behind them."""
        return f"{self.format} %Y" if self.year else self.format

    @field_validator("column")
    @classmethod
    def _is_not_empty(cls, column: str | tuple[str, ...]) -> str | tuple[str, ...]:
        if not column:
            raise ValueError("names no column")
        return column

    @model_validator(mode="after")
    def _year_has_a_format(self) -> Self:
        if self.year and not self.format:
            raise ValueError("with a year, a format says where day and month are, as in format: %d.%m.")
        return self

    @field_validator("timezone")
    @classmethod
    def _is_a_zone(cls, name: str | None) -> str | None:
        if name is not None:
            time_zone(name)
        return name

    @field_validator("format")
    @classmethod
    def _has_known_codes(cls, text: str | None) -> str | None:
        unknown = [f"%{code}" for code in re.findall("%(.)", text or "") if code not in _TIME_CODES]
        if unknown:
            raise ValueError(f"{unknown[0]} means nothing; the codes are %{' %'.join(_TIME_CODES)}")
        if {"%z", "%Z"} <= set(re.findall("%.", text or "")):
            raise ValueError("%z and %Z can't be used together; write one of the two as text")
        return text

    @field_validator("format")
    @classmethod
    def _holds_a_whole_date(cls, text: str | None, info: Any) -> str | None:
        if text in SERIALS:
            return text
        year = info.data.get("year")
        codes = set(re.findall("%(.)", text or ""))
        if year and codes & set("YyG"):
            raise ValueError(f"'{text}' has a year already; leave out the setting year")
        if text is not None and not any(whole <= codes | set("Y" if year else "") for whole in _WHOLE_DATES):
            raise ValueError(
                f"'{text}' does not hold a date: year and month at least, as in %Y-%m-%d, %Y-%m or %G-W%V"
            )
        return text


class RowSource(DefinitionPart):
    """Where rows are that are asked for in a database: a connection of the settings, and a table there.

    `days_from` is a table of loads there, with a date and how many `rows` (or `records`) came for it.
    """

    connection: Name
    table: Name
    days_from: Name | None = None


class KeyFieldDefinition(NumberColumn):
    """A key field and the column that it is read from.

    `segmented` makes it multi-valued: the separator inside a text column, or true for a list column.
    Of `type` int, 0100 is another spelling of 100, unless `spelling` is plain (100 alone can be read) or
    decimal (100 and 100.0 can).
    """

    name: Name
    column: str | None = None
    description: str | None = None
    annotation: str = ""
    type: Literal["text", "int"] = "text"
    spelling: Spelling = "any"
    segmented: str | bool = False
    mapping: str | None = None
    link: str | None = None

    @field_validator("segmented")
    @classmethod
    def _is_a_separator(cls, segmented: str | bool) -> str | bool:
        if segmented == "":
            raise ValueError("the separator is empty; give it, or true for a list column")
        return segmented

    @property
    def source(self) -> str:
        """The column of the file that the field is read from."""
        return self.column or self.name

    def descriptor(self) -> KeyField:
        """The field as info describes it."""
        return KeyField(
            name=self.name, description=self.description or self.name, annotation=self.annotation,
            type=self.type, is_segmented=1 if self.segmented else 0, mapping=self.mapping, link=self.link,
        )  # fmt: skip


class DataFieldDefinition(NumberColumn):
    """A data field: an aggregate of a column, or a formula over other data fields.

    `currency` is that of money: a code of ISO 4217, or the key field that tells it. `scale` divides the
    column's numbers: with 1000000, 227000000 micros are 227.
    """

    name: Name
    column: str | None = None
    description: str | None = None
    annotation: str = ""
    aggregate: Aggregate = "sum"
    currency: Name | None = None
    scale: Scale = 1
    formula: str | None = None
    formula_description: str | None = None
    display_type: Literal["int", "float"] | None = None
    display_precision: Whole | None = Field(default=None, ge=0, le=12)
    display_pattern: str | None = None
    is_optional: bool = False
    access: Literal["shared", "private"] | None = None
    show_percents: Literal[0, 1, 2] | None = None
    polarity: Polarity | None = None

    @model_validator(mode="after")
    def _is_one_or_the_other(self) -> Self:
        if self.formula is not None and (self.column is not None or self.aggregate != "sum"):
            raise ValueError("a formula has neither column nor aggregate; it is computed from data fields")
        if (self.currency is not None or self.scale != 1) and not self.is_amount:
            raise ValueError("currency and scale are those of a column's numbers: a formula has its fields'")
        return self

    @property
    def source(self) -> str | None:
        """The column of the file that is aggregated; None for a formula and for a count of records."""
        if self.formula is not None or (self.aggregate == "count" and self.column is None):
            return None
        return self.column or self.name

    @property
    def is_amount(self) -> bool:
        """Whether its values are of the size of its column's."""
        return self.formula is None and self.aggregate not in ("count", "distinct")

    @property
    def is_additive(self) -> bool:
        """Whether values of disjoint groups add up: sums and counts of records, nothing else."""
        return self.formula is None and self.aggregate in ("sum", "count")

    @property
    def is_float(self) -> bool:
        """Shown with decimals: as told, else formulas, means and what is scaled."""
        if self.display_type is not None:
            return self.display_type == "float"
        return self.formula is not None or self.aggregate == "mean" or self.scale != 1

    @property
    def usual_polarity(self) -> Polarity:
        """Whether a rise is good news where nobody said: of counts and sums, but for errors and the like.

        Of money, rates, prices, means, minima and maxima it is neither good nor bad.
        """
        words = {*re.split(r"[._ ]", self.name.lower())}
        has_unit = bool((self.display_pattern or "#").replace("#", "").strip())
        if not self.is_additive or has_unit or self.currency is not None or words & MONEY:
            return "none"
        return "down" if words & BAD else "up"

    def descriptor(self) -> DataField:
        """The field as info describes it."""
        usual = MINOR_UNITS.get(self.currency or "", 2) if self.is_float else 0
        precision = usual if self.display_precision is None else self.display_precision
        return DataField(
            name=self.name, description=self.description or self.name, annotation=self.annotation,
            display_type="float" if self.is_float else "int", display_precision=precision,
            display_pattern=self.display_pattern, currency=self.currency, formula=self.formula,
            formula_description=self.formula_description, is_optional=int(self.is_optional),
            access=self.access,
            show_percents=int(self.is_additive) if self.show_percents is None else self.show_percents,
            polarity=self.polarity or self.usual_polarity,
        )  # fmt: skip


class AudienceSourceDefinition(DefinitionPart):
    """A column that identifies users; gives the data field `unique_<name>`."""

    name: Name
    column: str | None = None
    description: str | None = None
    annotation: str = ""

    @property
    def source(self) -> str:
        """The column of the file that identifies users."""
        return self.column or self.name

    @property
    def data_field(self) -> str:
        """The name of the data field that counts this source's users."""
        return f"unique_{self.name}"

    def descriptor(self) -> AudienceSource:
        """The source as info describes it."""
        return AudienceSource(
            name=self.name, description=self.description or self.name, annotation=self.annotation
        )
