"""The comparison of two periods: which data fields can be compared, how a change is drawn, and notes.

A change is good or bad news where the field says which (`polarity`), and where it is more than noise: more
than the uncertainty of a sample, and not within what the two periods' parts (their days, mostly) differ by.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

from lib.figures import numbers
from lib.figures.numbers import unit
from lib.figures.query import ask, periods, precision
from lib.figures.query.focus import Focus
from lib.reporting import time_filters
from lib.reporting.answers import TAIL, Audience, Estimate, remainder
from lib.reporting.models import AudienceQuery
from lib.slicers.dates import ONE_DAY, Days
from lib.slicers.models import DataField
from lib.wire.filters import Filter

Key = tuple[str, ...]
SMALLEST, FEWEST = 0.0005, 4
Arrow = Literal["off", "up", "down"]
Values = npt.NDArray[np.float64]


class Coverage(NamedTuple):
    """On how many days of either side there is data, of how many that are over."""

    now: int = 1
    now_of: int = 1
    before: int = 1
    before_of: int = 1

    @property
    def is_thin(self) -> bool:
        """Whether either side lacks more than half of its days or has none: a change would mislead."""
        return (
            not self.now or not self.before or 2 * self.now < self.now_of or 2 * self.before < self.before_of
        )

    @property
    def text(self) -> str:
        """What is missing or unlike, to stand beside a change; empty where both have all of as many days."""
        (now, before), (now_of, before_of) = (self.now, self.before), (self.now_of, self.before_of)
        if now == now_of and before == before_of:
            return "" if now == before else f"{now} {'day' if now == 1 else 'days'}, {before} before"
        if (now, now_of) == (before, before_of):
            return f"{now} of {now_of} days"
        if now == now_of:
            return f"{before} of {before_of} days before"
        return (
            f"{now} of {now_of} days, {before if before == before_of else f'{before} of {before_of}'} before"
        )


WHOLE = Coverage()


@dataclass(frozen=True)
class Change:
    """`ratio` is relative to the earlier figure; None if either is missing or the earlier is zero.
    `amount` is the difference in the field's own unit, with its 95 % range (NaN where it is not known; None
    of exact figures). It is certain when this leaves out zero. `previous` is the earlier figure as it is.
    `coverage` says which days are missing; of a side without most of them there is neither ratio nor amount.
    """

    ratio: float | None
    is_certain: bool = True
    amount: float | None = field(default=None, compare=False)
    low: float | None = field(default=None, compare=False)
    high: float | None = field(default=None, compare=False)
    previous: float | None = field(default=None, compare=False)
    coverage: str = field(default="", compare=False)


def change(now: Estimate, before: Estimate) -> Change:
    """The change from one figure to the other.

    The records of two periods are sampled independently, so their errors add up as squares: the range is made
    of the ranges of both, each side with its own (Zou and Donner 2008, MOVER).
    """
    if not _is_there(now.value) or not _is_there(before.value) or not now.is_comparable(before):
        return Change(None)
    value, earlier = now.value or 0.0, before.value or 0.0
    difference, ratio = value - earlier, (value - earlier) / abs(earlier) if earlier else None
    if not now.side and not before.side:
        return Change(ratio, True, difference)
    low = difference - math.hypot(value - _side(now.low, value), _side(before.high, earlier) - earlier)
    high = difference + math.hypot(_side(now.high, value) - value, earlier - _side(before.low, earlier))
    return Change(ratio, low > 0 or high < 0, difference, low, high)


def _side(side: float | None, value: float) -> float:
    """An end of a range; the value itself of an exact figure."""
    return value if side is None else side


def _is_there(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


@dataclass(frozen=True)
class ComparedAnswers:
    """The answers to one question for both periods, and on which days there is data.

    A row of a weekday has those of its days alone, `weekdays` by value: of ten days two may be Mondays, and
    one of the ten before.
    """

    now: Audience
    before: Audience
    coverage: Coverage = WHOLE
    weekdays: Mapping[str, Coverage] = field(default_factory=dict)

    def total(self, field: DataField) -> Change:
        """The change of a data field's total."""
        return self._change(field, self.now.total_of(field.name), self.before.total_of(field.name))

    def rows(self, field: DataField) -> dict[Key, Change]:
        """The change of each row's value; missing for rows that did not exist before."""
        names = [*self.now.names]
        place = names.index(time_filters.WEEKDAY) if time_filters.WEEKDAY in names else None
        return {
            key: self._change(field, *sides, self.weekdays.get("" if place is None else key[place]))
            for key, sides in self.figures(field).items()
        }

    def figures(self, field: DataField) -> dict[Key, tuple[Estimate, Estimate]]:
        """Each row's value now and before, of the rows that both periods have."""
        now, before = self._sides(field.name)
        return {key: (value, before[key]) for key, value in now.items() if key in before}

    def rest(self, field: DataField, whole: tuple[Estimate, Estimate], visible_keys: Sequence[Key]) -> Change:
        """The change of what is left of a whole (now, before) without these rows, of a field that adds up.

        A row that one period does not have had nothing there; where it may just not have come, there is none.
        """
        sides = [
            _rest(total, rows, visible_keys, answer)
            for total, rows, answer in zip(
                whole, self._sides(field.name), (self.now, self.before), strict=True
            )
        ]
        now, before = sides
        return Change(None) if now is None or before is None else self._change(field, now, before)

    def _sides(self, name: str) -> tuple[dict[Key, Estimate], dict[Key, Estimate]]:
        """Each row's value of a data field, now and before."""
        if name not in self._values:
            now, before = (
                dict(zip(answer.names.itertuples(index=False, name=None), answer.rows_of(name), strict=True))
                for answer in (self.now, self.before)
            )
            self._values[name] = now, before
        return self._values[name]

    @cached_property
    def _values(self) -> dict[str, tuple[dict[Key, Estimate], dict[Key, Estimate]]]:
        return {}

    def _change(
        self, field: DataField, now: Estimate, before: Estimate, coverage: Coverage | None = None
    ) -> Change:
        """If periods differ in length: sums are compared per day, ratios directly, others not at all."""
        coverage = coverage or self.coverage
        days, earlier_days = coverage.now, coverage.before
        if coverage.is_thin:
            result = Change(None)
        elif field.name in self.now.percents and days != earlier_days:
            result = change(now, before.times(days / earlier_days))
        elif days == earlier_days or (field.formula is not None and "/" in field.formula):
            result = change(now, before)
        else:
            result = Change(None)
        return replace(result, previous=before.value, coverage=coverage.text)


def fetch(focus: Focus, query: AudienceQuery, whole: Audience) -> ComparedAnswers | None:
    """Both sides of a question, given its answer `whole` for the period; None without a comparison."""
    if focus.comparison is None:
        return None
    days_now, days_before = focus.comparison
    before = ask.estimate(focus.context, focus.in_days(query, days_before))
    now = whole if days_now == focus.period else ask.estimate(focus.context, focus.in_days(query, days_now))
    if now.is_sampled != before.is_sampled:
        # One of them was there already, exact: an estimate is never divided by an exact figure.
        now, before = (
            ask.wait_for_exact(focus.context, focus.in_days(query, days)) for days in focus.comparison
        )
    is_by_weekday = time_filters.WEEKDAY in query.split_by
    # Where rows are weekdays, those that are shown narrow the question, and not its total.
    about, sides = focus.query if is_by_weekday else query, ((now, days_now), (before, days_before))
    counts = [len(time_filters.days(about, days, answer.total.dates)) for answer, days in sides]
    both = ComparedAnswers(now, before, coverage(focus, counts[0], counts[1], about))
    if not is_by_weekday or focus.compared_days is None:
        return both
    by_weekday = partial(time_filters.days_by, time_filters.WEEKDAY, query)
    some = [by_weekday(days, answer.total.dates) for answer, days in sides]
    every = [by_weekday(days) for days in _whole_sides(focus, focus.compared_days)]
    rows = {name: Coverage(some[0][name], every[0][name], some[1][name], every[1][name]) for name in every[0]}
    return replace(both, weekdays=rows)


def coverage(focus: Focus, now: int, before: int, query: AudienceQuery | None = None) -> Coverage:
    """The coverage of a comparison with so many days of data that the filters let through."""
    if focus.compared_days is None:
        return WHOLE
    sides = _whole_sides(focus, focus.compared_days)
    now_of, before_of = (len(time_filters.days(query or focus.query, side)) for side in sides)
    return Coverage(now, now_of, before, before_of)


def _whole_sides(focus: Focus, compared_days: Days) -> tuple[Days, Days]:
    """The days of both sides that are over: today is no part of them, nor its counterpart."""
    (first, last), (start, end) = focus.period, compared_days
    over = min(last, ask.today(focus.context, focus.query) - ONE_DAY)
    is_alike = periods.length(focus.period) == periods.length(compared_days)
    return (first, over), (start, start + (over - first) if is_alike else end)


def fetch_each(focus: Focus, query: AudienceQuery, whole: Audience) -> list[ComparedAnswers | None]:
    """The same for each of the focus's comparisons."""
    return [fetch(comparison, query, whole) for comparison in focus.comparisons]


def whole_query(focus: Focus, filters: tuple[Filter, ...] | None = None) -> AudienceQuery:
    """The question of the headline, which has the totals; under other `filters` that of the total alone."""
    if filters is None or filters == focus.query.filters:
        return focus.over_time()
    changes = {"filters": filters, "split_by": (), "data_fields": (focus.field.name,)}
    return focus.over_time().model_copy(update=changes)


def of_whole(focus: Focus, filters: tuple[Filter, ...] | None = None) -> ComparedAnswers | None:
    """The totals of the question on both sides, as the headline has them; under `filters` if given."""
    query = whole_query(focus, filters)
    return None if focus.comparison is None else fetch(focus, query, ask.estimate(focus.context, query))


def notes(focus: Focus) -> Iterator[str]:
    """A note for the reader where nothing can be compared."""
    if focus.compared_days is not None and focus.comparison is None:
        days = numbers.days(*focus.compared_days)
        yield f"Not compared: no complete days with data on both sides of {days}."


def _rest(
    total: Estimate, rows: dict[Key, Estimate], visible_keys: Sequence[Key], answer: Audience
) -> Estimate | None:
    """A total less the rows shown; an estimate of unknown range where any of them is one.

    None where rows may have not come, or where estimates add up to more than their total.
    """
    parts = [rows[key] for key in visible_keys if key in rows]
    is_cut = answer.total.records_found > len(answer)
    if total.value is None or (is_cut and len(parts) < len(visible_keys)):
        return None
    is_estimate = any(part.side for part in (total, *parts))
    rest = remainder(total.value, [part.value for part in parts], is_estimate)
    if not is_estimate:
        return Estimate(rest)
    return Estimate(rest, math.nan, math.nan) if rest else None


class Style(NamedTuple):
    """The color and the arrow of a change."""

    color: Literal["gray", "green", "red"]
    arrow: Arrow


UNCERTAIN = Style("gray", "off")


def delta(focus: Focus, field: DataField, change: Change, is_noise: bool = False) -> str | None:
    """The change, of a percentage in points, and which days it lacks.

    One that chance may have made begins with ≈. A dash where it is not known, so that nothing below moves.
    """
    if focus.compared_days is None:
        return None
    if change.amount is not None and unit(field) == "%":
        text = focus.numbers.signed(change.amount, field)
    else:
        text = focus.numbers.change(change.ratio)
    if change.ratio and (is_noise or not change.is_certain):
        text = f"≈ {text}"
    return f"{text} ({change.coverage})" if change.coverage else text


def range_text(focus: Focus, field: DataField, now: Audience) -> str | None:
    """The range of the figure, if it is an estimate."""
    half_range = precision.total_range(now, field.name)
    return f"± {focus.numbers.percent(half_range)}" if half_range >= precision.LEAST_RANGE else None


def style(field: DataField, change: Change, is_noise: bool = False) -> Style:
    """The style of a change: UNCERTAIN if chance may have made it or it rounds to 0."""
    if change.ratio is None or not change.is_certain or is_noise or abs(change.ratio) < SMALLEST:
        return UNCERTAIN
    arrow: Arrow = "up" if change.ratio > 0 else "down"
    if field.polarity == "none":
        return Style("gray", arrow)
    return Style("green" if arrow == field.polarity else "red", arrow)


def is_noise(now: Values, before: Values) -> bool:
    """Whether the values of two periods, part by part, differ by chance only: the paired t-test at 5 %.

    NaN where nothing is known. Of fewer than FEWEST pairs there is no telling: that is noise too.
    """
    pair_count = min(len(now), len(before))
    differences = now[:pair_count] - before[:pair_count]
    differences = differences[np.isfinite(differences)]
    if len(differences) < FEWEST:
        return True
    error = float(differences.std(ddof=1)) / math.sqrt(len(differences))
    return abs(float(differences.mean())) <= error * float(stdtrit(len(differences) - 1, 1 - TAIL))
