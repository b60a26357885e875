"""The usual differences of values: those between the same two periods, one week earlier, two, and so on.

These are placebos (lib/reporting/noise.py). A step back is whole weeks, so that weekdays stay the same, and
reaches back before the period now, whose days may have changed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd

from lib.reporting import noise
from lib.reporting.answers import Audience
from lib.reporting.moved.quantity import Numbers, Own, Pair, Quantity, beyond, contributions, values
from lib.reporting.moved.sides import About, Ask
from lib.slicers.dates import Days
from lib.slicers.granularities import time_key_field
from lib.slicers.models import Slicer

WEEK = 7  # days
DAY = time_key_field("day")
Periods = tuple[Days, Days]


@dataclass(frozen=True)
class Placebos:
    """What the values of a key field did at earlier steps; values × steps.

    `contribution` is what they contributed, `beyond` how much of it is beyond the change that most had.
    """

    contribution: Numbers
    beyond: Numbers


@dataclass(frozen=True)
class EarlierDifferences:
    """The placebos per key field at so many `steps`, and the earlier differences of the whole, at which there
    may be more.

    `freedom` is how many degrees of freedom a mean square over the steps has, `whole_freedom` one of those of
    the whole.
    """

    fields: Mapping[str, Placebos]
    steps: int
    freedom: float
    whole: Numbers
    whole_freedom: float

    def is_usual(self, movement: float, level: float) -> bool:
        """Whether the whole moves this much by itself; not where nothing is known of that."""
        scale = float(np.sqrt(np.mean(self.whole**2))) if self.steps else 0.0
        usual = noise.Spread(scale, self.whole_freedom, np.abs(self.whole))
        return scale > 0 and usual.p_value(movement) > level


@dataclass(frozen=True)
class _Daily:
    """Sums of values up to each day: values × data fields × days, with a zero before the first one."""

    sums: Numbers
    first: date
    codes: Sequence[str]
    leaves: Sequence[str]

    def over(self, days: Days) -> pd.DataFrame:
        """The sums of a period: a row per value, a column per data field."""
        start, end = (days[0] - self.first).days, (days[1] - self.first).days + 1
        sums = self.sums[..., end] - self.sums[..., start]
        return pd.DataFrame(sums, index=pd.Index(self.codes), columns=pd.Index(self.leaves))

    def series(self) -> Numbers:
        """The first data field by value and day."""
        each: Numbers = np.diff(self.sums[:, 0, :], axis=1)
        return each


MOST_STEPS = 8  # earlier differences, each a week before the last
LONGEST_SPAN = 120  # days from the first to the last of all earlier periods


def earlier_periods(days: tuple[Days, Days], slicer: Slicer) -> list[Periods]:
    """The pairs of periods before these of which the slicer has all days; none where it knows no days."""
    if slicer.first_date is None or DAY not in slicer.key_names:
        return []
    first = date.fromisoformat(slicer.first_date)
    begin = -(-((days[1][1] - days[1][0]).days + 1) // WEEK)
    steps = (timedelta(weeks=begin + number) for number in range(MOST_STEPS))
    pairs = [(_back(days[0], step), _back(days[1], step)) for step in steps]
    complete = [pair for pair in pairs if min(pair[0][0], pair[1][0]) >= first]
    while complete and _length(_span(complete)) > LONGEST_SPAN:
        complete.pop()
    return complete


def earlier_differences(
    ask: Ask,
    about: About,
    quantity: Quantity,
    codes: Mapping[str, Sequence[str]],
    pairs: Sequence[Periods],
    segmented: Collection[str],
) -> EarlierDifferences:
    """The placebos of these values per key field, one for each earlier pair of periods."""
    if not pairs or isinstance(quantity, Own):
        nothing = {name: np.empty((len(values), 0)) for name, values in codes.items()}
        fields = {name: Placebos(empty, empty) for name, empty in nothing.items()}
        return EarlierDifferences(fields, 0, 0.0, np.empty(0), 0.0)
    span = _span(pairs)
    questions = [about.of(span, name, values, DAY) for name, values in codes.items()]
    total, *answers = ask([about.query_of(span, split_by=(DAY,)), *questions])
    whole = _daily(total, None, about, span)
    wholes = [(about.weight * whole.over(before), whole.over(now)) for before, now in pairs]
    differences, persistence = {}, [0.0]
    for (name, field_codes), answer in zip(codes.items(), answers, strict=True):
        daily = _daily(answer, field_codes, about, span)
        earlier_pairs = [
            Pair(about.weight * daily.over(before), daily.over(now), *sums)
            for (before, now), sums in zip(pairs, wholes, strict=True)
        ]
        is_segmented = name in segmented
        parts = [contributions(quantity, pair, is_segmented).whole for pair in earlier_pairs]
        more = [
            beyond(quantity, pair, part, is_segmented)
            for pair, part in zip(earlier_pairs, parts, strict=True)
        ]
        differences[name] = Placebos(np.stack(parts, axis=1), np.stack(more, axis=1))
        persistence.append(_persistence(daily.series()))
    # The earlier differences of the whole: of whole weeks, at each day from the last pair to the first.
    days = 1 if all(_length(period) % WEEK == 0 for period in pairs[0]) else WEEK
    shifts = [timedelta(days=days * number) for number in range(WEEK // days * (len(pairs) - 1) + 1)]
    before, now = pairs[0]
    moves = [
        float(values(quantity, whole.over(_back(now, by)))[0])
        - float(values(quantity, about.weight * whole.over(_back(before, by)))[0])
        for by in shifts
    ]
    weights = _weights(pairs[0])
    freedom = noise.freedom(len(pairs), weights, max(persistence), WEEK)
    whole_freedom = noise.freedom(len(moves), weights, _persistence(whole.series()), days)
    whole_moves = np.nan_to_num(np.array(moves))
    return EarlierDifferences(differences, len(pairs), freedom, whole_moves, whole_freedom)


def _daily(answer: Audience, codes: Sequence[str] | None, about: About, span: Days) -> _Daily:
    """The sums by day of these values, or of the whole."""
    leaves, places = list(about.leaves), [""] if codes is None else list(codes)
    sums = np.zeros((len(places), len(leaves), _length(span) + 1))
    days = [(date.fromisoformat(day[:10]) - span[0]).days for day in answer.names[DAY].astype(str)]
    rows = np.zeros(len(days), dtype=int)
    if codes is not None:
        rows = pd.Index(places).get_indexer(pd.Index(answer.names.iloc[:, 0].astype(str)))
    figures = answer.values.reindex(columns=leaves).fillna(0.0).to_numpy()
    inside = rows >= 0
    sums[rows[inside], :, np.array(days, dtype=int)[inside] + 1] = figures[inside]
    return _Daily(sums.cumsum(axis=2), span[0], places, leaves)


PERSISTENT_VALUES = 10  # the values of the largest volume, whose mean persistence counts


def _persistence(series: Numbers) -> float:
    """The persistence of the largest values, weighted by their volume."""
    volume = np.abs(series).sum(axis=1)
    largest = [at for at in np.argsort(-volume)[:PERSISTENT_VALUES] if volume[at] > 0]
    if not largest:
        return 0.0
    with np.errstate(all="ignore"):
        logs = np.where(series > 0, np.log(series), np.nan)
    return float(np.average([noise.persistence(logs[at]) for at in largest], weights=volume[largest]))


def _weights(pair: Periods) -> list[float]:
    """What each day counts in the difference of two periods."""
    start, end = _span([pair])
    days = [start + number * timedelta(days=1) for number in range((end - start).days + 1)]
    (before, now), lengths = pair, [_length(period) for period in pair]
    return [
        (now[0] <= day <= now[1]) / lengths[1] - (before[0] <= day <= before[1]) / lengths[0] for day in days
    ]


def _span(pairs: Sequence[Periods]) -> Days:
    days = [day for pair in pairs for period in pair for day in period]
    return min(days), max(days)


def _length(days: Days) -> int:
    return (days[1] - days[0]).days + 1


def _back(days: Days, step: timedelta) -> Days:
    return days[0] - step, days[1] - step
