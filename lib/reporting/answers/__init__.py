"""The answer to an AudienceQuery: one value, by columns, with the totals that belong to it.

Its sums are settled: 13 digits of fractions and of whole numbers from 2⁵³ on, all of other whole numbers.
Further digits depend on the order in which float64 was added up. A settled sum is what is shown, compared,
ordered and exported: a filter by the figure that an answer had keeps its row. Its intervals have one
confidence: `TAIL` on each side, in words `LEVEL`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from lib.slicers.digits import DIGITS, LARGEST_WHOLE, last_place

Values = dict[str, float | None]
Numbers = npt.NDArray[np.float64]
LARGEST_MEANT = 1e15
ANY_LENGTH = Context(prec=400)
TAIL = 0.025
NORMAL = NormalDist().inv_cdf(1 - TAIL)
LEVEL = f"{100 * (1 - 2 * TAIL):g} %"


@dataclass(frozen=True)
class Total:
    """The summary of the whole result (specification, Audience / export result fields).

    `missing` is, per additive data field, the volume expected in rows that no record of the sample fell in
    (*extension*). `low`, `high` and `n_eff` are there when the question asked for precision. `currencies` are
    those of money, by data field; of one without a value it says why: `3 currencies: split or filter by
    currency_code`.
    """

    values: Values
    records_found: int
    dates: tuple[str, ...] = ()
    confidence_range: str | None = None
    missing: Values = field(default_factory=dict)
    low: Values = field(default_factory=dict)
    high: Values = field(default_factory=dict)
    n_eff: Values = field(default_factory=dict)
    currencies: dict[str, str] = field(default_factory=dict)

    def withheld(self, field: str) -> str:
        """Why the figure of money has no value; empty where it has one."""
        return self.currencies.get(field, "") if self.values.get(field) is None else ""


@dataclass(frozen=True)
class Precision:
    """How many records were read (*extension*).

    `unread` names data fields that would have taken longer than the deadline allowed. `exact_milliseconds` is
    what an answer from all records in range is expected to take, where the service says so. `not_finite` is
    how many of the records have NaN or an infinite number in a data field, where any has.
    """

    records_read: int
    records_in_range: int
    unread: tuple[str, ...] = ()
    exact_milliseconds: int | None = None
    not_finite: dict[str, int] = field(default_factory=dict)

    @property
    def is_sampled(self) -> bool:
        """Whether fewer records were read than there are."""
        return self.records_read < self.records_in_range


@dataclass(frozen=True)
class Estimate:
    """A figure of an answer; None where the report has no data. Without a range (None) it is exact; a range
    that is NaN is not known. The `currency` of one without value is why there is none; empty: of none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    currency: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether every record was read for it."""
        return self.low is None or self.high is None

    @property
    def side(self) -> float:
        """The larger side of the range: 0 without one, infinite where it is not known."""
        if self.value is None or self.low is None or self.high is None:
            return 0.0
        side = max(self.high - self.value, self.value - self.low)
        return side if math.isfinite(side) else math.inf

    def is_comparable(self, other: "Estimate") -> bool:
        """Whether both are in one currency; the zero of no records is in any."""
        return self.currency == other.currency or any(
            figure.value == 0 and not figure.currency for figure in (self, other)
        )

    def times(self, factor: float) -> "Estimate":
        """The same as a multiple of itself."""
        sides = (self.value, self.low, self.high)
        value, low, high = (None if side is None else side * factor for side in sides)
        return Estimate(value, low, high, self.currency)


@dataclass(frozen=True)
class DayFigure:
    """A day and its figure; without data where the slicer has none of that day, whatever the filters."""

    day: date
    figure: Estimate


@dataclass(frozen=True)
class Audience:
    """Rows and their total. All frames have one row per result row, in the order of the answer.

    `names` and `descriptions` have a text column per split key field (`keys`: as frame, or as
    Arrow has them, with their codes); `values` and `percents` a float
    column per data field (NaN: nothing there; `percents` has only the additive ones). `currencies` has a text
    column per data field of money whose currency a key field tells, as those of the Total. `low`, `high` and
    `n_eff` are there when the question asked for precision, `confidence_range` when records were sampled.
    """

    keys: pd.DataFrame | Mapping[str, pa.Array]
    values: pd.DataFrame
    percents: pd.DataFrame
    total: Total
    descriptions: pd.DataFrame | None = None
    confidence_range: pd.Series | None = None
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None
    n_eff: pd.DataFrame | None = None
    currencies: pd.DataFrame | None = None
    precision: Precision | None = None

    @property
    def names(self) -> pd.DataFrame:
        """The keys as a frame."""
        return self.keys if isinstance(self.keys, pd.DataFrame) else text_frame(self.keys, len(self))

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_sampled(self) -> bool:
        """Whether any figure is an estimate.

        Fewer records were read than there are, or all of them but not all users; a plain service says so by a
        confidence range alone.
        """
        has_range = self.confidence_range is not None or self.total.confidence_range is not None
        return has_range or (self.precision is not None and self.precision.is_sampled)

    @property
    def has_data(self) -> bool:
        """Whether the days that were asked for have data at all, whatever the filters."""
        return bool(self.total.dates) or any(self.total.values.values())

    def total_of(self, field: str) -> Estimate:
        """The total of a data field; of a plain service with its confidence range."""
        total = self.total
        value, currency = total.values.get(field), total.currencies.get(field, "")
        if value is None or not math.isfinite(value):
            return Estimate(None, currency=currency)
        if field in total.low or total.confidence_range is None:
            return self._estimate(value, total.low.get(field), total.high.get(field), currency)
        side = abs(value) * float(total.confidence_range) / 100 if value else math.nan
        return Estimate(value, value - side, value + side, currency)

    def rows_of(self, field: str) -> list[Estimate]:
        """The rows' values of a data field."""
        nothing = [None] * len(self)
        sides = (
            nothing if side is None or field not in side else side[field] for side in (self.low, self.high)
        )
        has_currency = self.currencies is not None and field in self.currencies
        texts = self.currencies[field] if self.currencies is not None and has_currency else [""] * len(self)
        return [self._estimate(*row) for row in zip(self.values[field], *sides, texts, strict=True)]

    def _estimate(self, value: float, low: float | None, high: float | None, currency: str) -> Estimate:
        """A figure that may be an estimate; a range that is missing then is not known."""
        if math.isnan(value):
            return Estimate(None, currency=currency)
        if low is None or high is None:
            low = high = math.nan if self.is_sampled else None
        if low == high == value:
            low = high = None
        return Estimate(float(value), low, high, currency)

    def row_currencies(self, field: str) -> "pd.Series[str] | None":
        """The currency of each row's money, where they differ and no key field of the split tells them."""
        if self.currencies is None or field not in self.currencies:
            return None
        codes = self.currencies[field].where(self.values[field].notna(), "")
        is_told = any((self.names[key].astype(str) == codes).all() for key in self.names)
        return None if is_told or codes[codes != ""].nunique() < 2 else codes

    def comparable(self, field: str) -> Numbers:
        """The rows' values of a data field, to be added up or compared with one another.

        NaN where the whole is in several currencies.
        """
        values = self.values[field].to_numpy(dtype=np.float64)
        return np.full_like(values, np.nan) if self.total.withheld(field) else values

    def by_day(self, field: str, days: tuple[date, date]) -> tuple[DayFigure, ...]:
        """A data field on every one of the days (first and last), from an answer that is split by day."""
        figures = dict(zip(map(str, self.names["granularity_day"]), self.rows_of(field), strict=True))
        nothing = dict.fromkeys(self.total.dates, Estimate(0.0))
        if self.total.withheld(field):
            figures = nothing = {}
        every = map(date.fromordinal, range(days[0].toordinal(), days[1].toordinal() + 1))
        return tuple(
            DayFigure(day, (nothing | figures).get(day.isoformat(), Estimate(None))) for day in every
        )


def number_frame(block: npt.NDArray[np.float64], names: Iterable[str]) -> pd.DataFrame:
    """The columns of a block (rows × names) of float64."""
    return pd.DataFrame(block, index=pd.RangeIndex(len(block)), columns=_index(tuple(names)))


def text_frame(columns: Mapping[str, pa.Array], length: int) -> pd.DataFrame:
    """A text column for each of these, which may be dictionary-coded."""
    texts = {name: column.cast(pa.large_string()).to_pandas() for name, column in columns.items()}
    return pd.DataFrame(texts, index=pd.RangeIndex(length))


@lru_cache(maxsize=1024)
def _index(names: tuple[str, ...]) -> pd.Index:
    """Shared by frames, and among threads: its table of places is made before anybody has it."""
    index = pd.Index(names) if names else pd.RangeIndex(0)
    index.get_indexer(index)
    return index


def remainder(whole: float | None, parts: Iterable[float | None], is_estimate: bool = False) -> float | None:
    """What is left of a settled sum beside its parts; below zero where refunds outweigh charges.

    0 where it is no more than the rounding of what is added. None without a sum, and below zero where any
    of them is an estimate: parts may then add up to more than their sum.
    """
    if whole is None:
        return None
    addends = [whole, *(-part for part in parts if part is not None and not math.isnan(part))]
    rest = math.fsum(addends)
    if abs(rest) <= math.fsum(map(abs, addends)) / 10 ** (DIGITS - 1):
        return 0.0
    return None if is_estimate and rest < 0 else rest


def half_up(value: float, decimals: int) -> Decimal:
    """The number with so many decimals, a half away from zero, by the decimal that was meant: 1.005 → 1.01.

    That are 15 digits, which a float keeps of any decimal, and by which spreadsheets round; whole numbers
    and those from 10¹⁵ on are themselves.
    """
    value = float(value)
    is_meant = abs(value) < LARGEST_MEANT and not value.is_integer()
    number = Decimal(f"{value:.15g}" if is_meant else repr(value))
    return number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, ANY_LENGTH)


def slack(sums: Numbers) -> Numbers:
    """By how much settled sums may be off: from 2⁵³ on by one in the last digit, others by 0."""
    is_large = np.isfinite(sums) & (np.abs(sums) >= LARGEST_WHOLE)
    if not is_large.any():
        return np.zeros_like(sums)
    return np.where(is_large, 10.0 ** last_place(np.abs(np.where(is_large, sums, 1.0))), 0.0)
