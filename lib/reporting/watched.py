"""What an alert watches, and when it fires: a query's total past a bound, or out of its noise.

The check and the form of an alert both take it from this file. What would have fired on earlier days is found
by the function that fires today.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import NamedTuple

import numpy as np

from lib.reporting import named_days, noise, time_filters
from lib.reporting.answers import Audience, Estimate
from lib.reporting.models import API_ROWS_LIMIT, AudienceQuery
from lib.slicers.dates import Days
from lib.slicers.granularities import time_key_field
from lib.slicers.models import Slicer

BASE_WEEKS = 4  # before a figure, whose mean on the same weekday it is held against
MOST_WEEKS = 16  # before a figure (or periods, of longer ones), from which its noise is taken
DAY, ONE_DAY, WEEK = time_key_field("day"), timedelta(days=1), timedelta(weeks=1)
Ask = Callable[[AudienceQuery], Audience]


class Judgment(NamedTuple):
    """Whether a figure fires, and the bounds of its noise where it is held against these."""

    fires: bool
    low: float | None = None
    high: float | None = None


class FigureUnavailable(Exception):
    """There is no figure to watch now, or nothing to hold it against; the text says why, as a sentence."""


@dataclass(frozen=True)
class FigureHistory:
    """The figures that an alert watches by their days, the earliest first and the one of now last.

    `season` is how many of them a week has: 7 of single days (fewer where filters leave weekdays out), 1 of
    longer periods.
    """

    days: Sequence[Days]
    figures: Sequence[Estimate]
    season: int = 1

    def judge(self, rule: str, bound: float | None, index: int = -1) -> Judgment:
        """Whether an alert with this rule fires on the figure at this place, by those before it.

        Past a bound is an estimate only with its whole 95 % range. FigureUnavailable where that is not known,
        and for `changed` where too little is known of earlier figures.
        """
        index %= len(self.figures)
        figure = self.figures[index]
        value, side = figure.value, figure.side
        if value is None:
            raise FigureUnavailable(_without_value(figure))
        if math.isinf(side):
            raise FigureUnavailable("The figure is based on too few records.")
        if rule == "changed":
            earlier = self.figures[max(0, index - MOST_WEEKS * self.season) : index]
            bounds = usual(
                [
                    math.nan if past.value is None or not past.is_comparable(figure) else past.value
                    for past in earlier
                ],
                self.season,
            )
            if bounds is None:
                raise FigureUnavailable(
                    f"Too little to compare with: the same weekdays of more than {BASE_WEEKS} earlier "
                    "periods are needed, with figures that vary."
                )
            return Judgment(value - side > bounds[1] or value + side < bounds[0], *bounds)
        bound = bound or 0.0
        return Judgment(value - side > bound if rule == "above" else value + side < bound)

    def past(self, rule: str, bound: float | None) -> list[tuple[Days, bool]]:
        """The earlier days on which such an alert can be judged, and whether it would have fired."""
        judgments = []
        for index, days in enumerate(self.days[:-1]):
            try:
                judgments.append((days, self.judge(rule, bound, index).fires))
            except FigureUnavailable:
                continue
        return judgments


def watch(query: AudienceQuery, field: str, slicer: Slicer, ask: Ask, weeks: int) -> FigureHistory:
    """A data field's total on the query's complete days, and on earlier ones.

    The earlier ones are the days of so many weeks before where the query is about one day, else so many
    periods with the same weekdays, as far as the slicer has them.

    FigureUnavailable where there are no complete days, or no figure.
    """
    days = complete_days(query, slicer)
    if not (passing := time_filters.days(query, days)):
        raise FigureUnavailable(f"The view's filters leave out {' to '.join(map(str, dict.fromkeys(days)))}.")
    now = _total(query, field, days, ask)
    if now.value is None:
        raise FigureUnavailable(_without_value(now))
    if days[0] == days[1] and weeks and DAY in slicer.key_names:
        first = max(days[0] - weeks * WEEK, date.fromisoformat(slicer.first_date or days[0].isoformat()))
        weekdays = {day.weekday() for day in time_filters.days(query, (first, days[0]))}
        span = [first + number * ONE_DAY for number in range((days[0] - first).days)]
        span = [day for day in span if day.weekday() in weekdays]
        figures: list[Estimate] = []
        if span:
            question = total_query(query, field, (span[0], span[-1])).model_copy(update={"split_by": (DAY,)})
            answer = ask(question)
            by_day = dict(zip(answer.names[DAY].astype(str).str[:10], answer.rows_of(field), strict=True))
            # A day with data and no row of the query has a sum of zero, and no ratio; one that filters leave
            # out is unknown.
            without_row = Estimate(0.0 if field in answer.percents else None)
            with_data = {*map(str, time_filters.days(query, (span[0], span[-1])))} & {*answer.total.dates}
            by_day = dict.fromkeys(with_data, without_row) | by_day
            figures = [by_day.get(day.isoformat(), Estimate(None)) for day in span]
        return FigureHistory([*((day, day) for day in span), days], [*figures, now], len(weekdays))
    periods = earlier(days, slicer, weeks)
    figures = [
        _total(query, field, period, ask)
        if len(time_filters.days(query, period)) == len(passing)
        else Estimate(None)
        for period in periods
    ]
    return FigureHistory([*periods, days], [*figures, now])


def _total(query: AudienceQuery, field: str, days: Days, ask: Ask) -> Estimate:
    """The data field's total on these days; unknown, and no zero, where fewer than half of them have data."""
    answer = ask(total_query(query, field, days))
    passing = {*map(str, time_filters.days(query, days))}
    with_data = passing & {*answer.total.dates}
    if answer.has_data and not answer.total.dates:
        with_data = passing  # a service that doesn't say
    return Estimate(None) if 2 * len(with_data) < len(passing) else answer.total_of(field)


def _without_value(figure: Estimate) -> str:
    reason = f": {figure.currency}" if figure.currency else ""
    return f"The figure has no value on these days{reason}."


CONFIDENCE = 0.99  # of the bounds of noise: about one check in a hundred falls outside by chance
NEGLIGIBLE = 1e-12  # the part of a figure below which it has not varied


def usual(past: Sequence[float], season: int = 1) -> tuple[float, float] | None:
    """Between which bounds the next figure is expected, after the figures before it (NaN: none).

    `season` is how many figures a week has: 7 of days, 1 of weeks. A figure is held against the mean of the
    four a week, two, three and four weeks before it, and that difference against the same one of each
    earlier figure (lib/reporting/noise.py); of figures above zero, on a logarithmic scale. Single figures far
    out of line, such as days of an outage, count as what the weeks around them had. Where nothing has
    changed, about one check in a hundred falls outside.

    None where nothing is known: too few earlier figures, or all of them alike.
    """
    figures = noise.without_outages(np.asarray(past, dtype=np.float64), season)
    is_positive = bool(np.all(figures[np.isfinite(figures)] > 0))
    series = np.log(figures) if is_positive else figures
    weights = np.zeros(BASE_WEEKS * season + 1)
    weights[:-1:season], weights[-1] = -1 / BASE_WEEKS, 1.0
    if len(series) < len(weights):
        return None
    base = float(series[-season * BASE_WEEKS :: season].mean())
    spread = noise.spread(
        np.correlate(series, weights, "valid"), weights.tolist(), noise.persistence(series, season)
    )
    if spread is None or not math.isfinite(base) or spread.scale <= NEGLIGIBLE * max(1.0, abs(base)):
        return None
    side = spread.side(CONFIDENCE)
    low, high = base - side, base + side
    return (math.exp(low), math.exp(high)) if is_positive else (low, high)


def complete_days(query: AudienceQuery, slicer: Slicer) -> Days:
    """The question's days without today, which is not over. In the place of a single day that filters leave
    out stands the last one of its week that they let through: an alert on Mondays has Monday's figure until
    the next.

    FigureUnavailable where there are none, and while the last of them has no data yet.
    """
    first, last = named_days.days_of(query, slicer)
    last = min(last, named_days.today(query, slicer) - ONE_DAY)
    if last < first:
        raise FigureUnavailable("The view's dates have no complete day.")
    if first == last:
        passing = time_filters.days(query, (last - WEEK + ONE_DAY, last))
        first = last = passing[-1] if passing else last
    if slicer.last_date is not None and date.fromisoformat(slicer.last_date) < last:
        raise FigureUnavailable(f"The data of {last.isoformat()} are not there yet.")
    return first, last


def earlier(days: Days, slicer: Slicer, weeks: int = MOST_WEEKS) -> list[Days]:
    """The same weekdays of up to so many earlier periods, the latest last: as far as the slicer has all of
    their days."""
    if slicer.first_date is None:
        return []
    length = (days[1] - days[0]).days + 1
    step, first = -(-length // 7) * WEEK, date.fromisoformat(slicer.first_date)
    shifts = (number * step for number in range(weeks, 0, -1))
    return [(days[0] - shift, days[1] - shift) for shift in shifts if days[0] - shift >= first]


def total_query(query: AudienceQuery, field: str, days: Days) -> AudienceQuery:
    """The question of that data field's total alone, on these days."""
    start, end = (day.isoformat() for day in days)
    changes = {
        "start_date": start, "end_date": end, "data_fields": (field,), "split_by": (), "order_by": (),
        "limit": None, "offset": 0, "precision": 1, "audience_rows_limit": API_ROWS_LIMIT,
    }  # fmt: skip
    return query.model_copy(update=changes)
