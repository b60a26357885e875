"""The usual differences of values: those of the same days in one to four earlier periods.

A step back is whole weeks, so that weekdays stay the same, and at least the length of the period now: steps
of less would compare days with themselves.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, timedelta

import numpy as np
import pandas as pd

from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import Slicer, time_key_field
from lib.reporting.moved.contributions import Numbers, Pair, contributions
from lib.reporting.moved.quantity import Own, Quantity
from lib.reporting.moved.sides import About, Ask

STEPS, LONGEST = 4, 120
DAY = time_key_field("day")
Earlier = tuple[Days, Days]


def earlier(days: tuple[Days, Days], slicer: Slicer) -> list[Earlier]:
    """The pairs of periods before these of which the slicer has all days; none where it knows no days."""
    if slicer.first_date is None or DAY not in {field.name for field in slicer.key_fields}:
        return []
    first = date.fromisoformat(slicer.first_date)
    length = (days[1][1] - days[1][0]).days + 1
    step = timedelta(weeks=-(-length // 7))
    found = [(_back(days[0], n * step), _back(days[1], n * step)) for n in range(1, STEPS + 1)]
    there = [pair for pair in found if min(pair[0][0], pair[1][0]) >= first]
    return there if there and _length(_span(there)) <= LONGEST else []


def differences(
    ask: Ask,
    about: About,
    of: Quantity,
    codes: Mapping[str, Sequence[str]],
    pairs: Sequence[Earlier],
    segmented: Collection[str],
) -> dict[str, Numbers]:
    """Per key field what each of its values contributed to each earlier difference: values × pairs."""
    if not pairs or isinstance(of, Own):
        return {name: np.empty((len(values), 0)) for name, values in codes.items()}
    span = _span(pairs)
    questions = [about.of(span, name, values, DAY) for name, values in codes.items()]
    total, *answers = ask([about.asked(span, split_by=(DAY,)), *questions])
    whole = total.values.reindex(columns=list(about.leaves)).set_axis(total.names[DAY].astype(str), axis=0)
    found = {}
    for (name, values), answer in zip(codes.items(), answers, strict=True):
        daily = _days_of(answer, about)
        past = [_pair(daily, values, whole, pair, about.weight) for pair in pairs]
        moved = [contributions(of, pair, name in segmented).whole for pair in past]
        found[name] = np.stack(moved, axis=1)
    return found


def _pair(
    daily: pd.DataFrame, codes: Sequence[str], whole: pd.DataFrame, pair: Earlier, weight: float
) -> Pair:
    before, now = (_summed(daily, codes, days) for days in pair)
    all_before, all_now = (whole.loc[_within(whole.index, days)].sum().to_frame().T for days in pair)
    return Pair(weight * before, now, weight * all_before, all_now)


def _days_of(answer: Audience, about: About) -> pd.DataFrame:
    """A row per value and day, indexed by both."""
    frame = answer.values.reindex(columns=list(about.leaves)).fillna(0.0)
    return frame.set_axis(pd.MultiIndex.from_frame(answer.names.astype(str)), axis=0)


def _summed(daily: pd.DataFrame, codes: Sequence[str], days: Days) -> pd.DataFrame:
    there = daily[_within(daily.index.get_level_values(1), days)]
    return there.groupby(level=0).sum().reindex(list(codes)).fillna(0.0)


def _within(names: pd.Index, days: Days) -> np.ndarray:
    return np.asarray((names >= days[0].isoformat()) & (names <= days[1].isoformat()))


def _span(pairs: Sequence[Earlier]) -> Days:
    days = [day for pair in pairs for period in pair for day in period]
    return min(days), max(days)


def _length(days: Days) -> int:
    return (days[1] - days[0]).days + 1


def _back(days: Days, step: timedelta) -> Days:
    return days[0] - step, days[1] - step
