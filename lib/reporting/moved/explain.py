"""Explain a change ("What moved"): combines queries, contributions, noise and surprise.

The usual differences of values: those of the same days in one to four earlier periods.

A step back is whole weeks, so that weekdays stay the same, and at least the length of the period now: steps
of less would compare days with themselves.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np
import pandas as pd

from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, DataField, Slicer, time_key_field
from lib.reporting.moved import movers, noise, sides
from lib.reporting.moved.contributions import Numbers, Pair, contributions
from lib.reporting.moved.movers import Candidate, Moves
from lib.reporting.moved.quantity import Own, Quantity, Ratio, leaves, quantity, values
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
    for (name, field_codes), answer in zip(codes.items(), answers, strict=True):
        daily = _days_of(answer, about)
        past = [_pair(daily, field_codes, whole, pair, about.weight) for pair in pairs]
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


MOST_FIELDS, TESTED_FIELDS = 30, 10
MOST_RANKED, MOST_OVERLAPPING = 5, 2
Segmented = Collection[str]


@dataclass(frozen=True)
class Moved:
    """The figure before and now, and per key field what moved it: strongest first, overlapping ones last.

    Key fields of which all values changed alike are in `alike`, for they explain nothing. `weeks` is how
    many earlier differences a movement was held against, `considered` how many values there were.
    """

    kind: Quantity
    before: float
    now: float
    moves: tuple[Moves, ...]
    weeks: int
    considered: int
    alike: tuple[Moves, ...] = ()

    @property
    def shown(self) -> tuple[Moves, ...]:
        """The key fields that a reader is shown: the strongest, then a few that overlap."""
        ranked = [moves for moves in self.moves if not moves.is_overlapping][:MOST_RANKED]
        return (*ranked, *[moves for moves in self.moves if moves.is_overlapping][:MOST_OVERLAPPING])

    @property
    def scale(self) -> float:
        """The largest contribution of all that are shown: the bars of all key fields are parts of it."""
        return max((abs(one.contribution) for moves in self.shown for one in moves.movers), default=0.0)

    @property
    def difference(self) -> float:
        """By how much the figure moved."""
        return self.now - self.before


def explained(
    ask: Ask,
    query: AudienceQuery,
    slicer: Slicer,
    field: DataField,
    days: tuple[Days, Days],
    names: Sequence[str],
) -> Moved:
    """The values of the key fields `names` that moved a data field between two periods, `days` (before, now).

    `ask` answers questions in their order, side by side where it can; it is called four times, with at most
    2 · MOST_FIELDS questions, TESTED_FIELDS of the key fields being looked at closely. Raises what it raises.
    """
    fields = [name for name in names if name not in TIME_KEY_FIELDS][:MOST_FIELDS]
    segmented = {name for name in fields if slicer.key_field(name).is_segmented}
    about, of, whole = _figure(ask, query, slicer, field, days, fields)
    first = [
        movers.candidate(of, found, whole, found.name in segmented)
        for found in sides.asked(ask, about, fields)
        if len(found.codes) > 1
    ]
    complete = sides.completed(ask, about, [one.sides for one in _strongest(first)])
    candidates = [movers.candidate(of, found, whole, found.name in segmented) for found in complete]
    pairs = earlier(days, slicer)
    usual = _usual(ask, about, of, candidates, pairs, segmented)
    considered = sum(len(one.sides.codes) for one in first)
    before, now = (float(values(of, one)[0]) for one in (whole.whole_before, whole.whole_now))
    weeks = 0 if isinstance(of, Own) else len(pairs)
    found = _moves(candidates, usual, considered)
    moves = tuple(one for one in found if one.alike is None)
    alike = tuple(one for one in found if one.alike is not None)
    return Moved(of, before, now, moves, weeks, considered, alike)


def _figure(
    ask: Ask,
    query: AudienceQuery,
    slicer: Slicer,
    field: DataField,
    days: tuple[Days, Days],
    fields: Sequence[str],
) -> tuple[About, Quantity, Pair]:
    """The kind of the figure, by the data fields that add up, and its sums before and now."""
    about = About(query, tuple(dict.fromkeys((*leaves(field, slicer), field.name))), days)
    shares = [about.top(days[1], name).model_copy(update={"limit": 1}) for name in fields[:1]]
    old, new, *split = ask([*(about.asked(day) for day in days), *shares])
    of = quantity(field, slicer, {str(name) for answer in (old, new, *split) for name in answer.percents})
    weight = 1.0 if isinstance(of, Own) else _days(new, days[1]) / _days(old, days[0])
    about = About(query, _by_volume(of), days, weight)
    before, now = sides.whole(old, about, weight), sides.whole(new, about)
    return about, of, Pair(before, now, before, now)


def _by_volume(of: Quantity) -> tuple[str, ...]:
    """The data fields of a figure, that by which values are large first."""
    first = sorted(of.below.fields()) if isinstance(of, Ratio) else []
    return tuple(dict.fromkeys((*first, *sorted(of.expression.fields()))))


def _days(answer: Audience, days: Days) -> int:
    """The number of days with data; all of them if the service does not say."""
    return len(answer.total.dates) or (days[1] - days[0]).days + 1


def _strongest(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The key fields to analyse in detail."""
    return sorted(candidates, key=lambda one: one.explanation.rank, reverse=True)[:TESTED_FIELDS]


def _usual(
    ask: Ask,
    about: About,
    of: Quantity,
    candidates: Sequence[Candidate],
    pairs: Sequence[Earlier],
    segmented: Segmented,
) -> dict[str, Numbers]:
    """The earlier differences of the values that are tested."""
    codes = {one.sides.name: [one.sides.codes[place] for place in one.largest] for one in candidates}
    return differences(ask, about, of, codes, pairs, segmented)


def _moves(
    candidates: Sequence[Candidate], usual: Mapping[str, Numbers], considered: int
) -> tuple[Moves, ...]:
    """The movers of each key field: all values are tested together."""
    if not candidates:
        return ()
    tested = [(one, place) for one in candidates for place in one.largest]
    p = noise.p_values(
        np.array([one.found.whole[place] for one, place in tested]),
        np.array([one.error[place] for one, place in tested]),
        np.concatenate([usual[one.sides.name] for one in candidates]),
        np.array([one.volume[place] for one, place in tested]),
    )
    kept = [pair for pair, is_kept in zip(tested, noise.discoveries(p, considered), strict=True) if is_kept]
    movess = [one.moves([place for other, place in kept if other is one]) for one in candidates]
    movess.sort(key=lambda moves: (not moves.is_overlapping, *moves.explanation.rank), reverse=True)
    return tuple(moves for moves in movess if moves.movers)
