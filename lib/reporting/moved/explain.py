"""Explain a change ("What moved"): combines queries, contributions, noise and surprise."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from lib.reporting.answers import Audience
from lib.reporting.dates import Days
from lib.reporting.models import TIME_KEY_FIELDS, AudienceQuery, DataField, Slicer
from lib.reporting.moved import movers, noise, sides
from lib.reporting.moved import past as earlier_differences
from lib.reporting.moved.contributions import Numbers, Pair
from lib.reporting.moved.movers import Candidate, Moves
from lib.reporting.moved.noise import Flags
from lib.reporting.moved.past import Past
from lib.reporting.moved.quantity import Own, Quantity, Ratio, leaves, quantity, values
from lib.reporting.moved.sides import About, Ask

MOST_FIELDS, TESTED_FIELDS = 30, 10
MOST_RANKED, MOST_OVERLAPPING = 5, 2
WHOLE_RATE, DIFFERENT_RATE = 0.01, 0.05
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


def explain(
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
        for found in sides.ask_sides(ask, about, fields)
        if len(found.codes) > 1
    ]
    complete = sides.completed(ask, about, [one.sides for one in _strongest(first)])
    candidates = [movers.candidate(of, found, whole, found.name in segmented) for found in complete]
    codes = {one.sides.name: [one.sides.codes[place] for place in one.largest] for one in candidates}
    pairs = earlier_differences.earlier(days, slicer)
    past = earlier_differences.past(ask, about, of, codes, pairs, segmented)
    considered = sum(len(one.sides.codes) for one in first)
    before, now = (float(values(of, one)[0]) for one in (whole.whole_before, whole.whole_now))
    found = _moves(candidates, past, considered)
    moves = tuple(one for one in found if one.alike is None and one.movers)
    alike = tuple(
        one for one in found if one.alike is not None and not past.is_usual(now - before, WHOLE_RATE)
    )
    return Moved(of, before, now, moves, past.steps, considered, alike)


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


def _moves(candidates: Sequence[Candidate], past: Past, considered: int) -> tuple[Moves, ...]:
    """The movers of each key field: all values are tested together.

    A value has moved where it contributes more than it usually does, and the values of its key field did not
    all change alike: what they contribute beyond that must be unusual too, all of them together.
    """
    if not candidates:
        return ()
    error, volume = (_of_tested(candidates, name) for name in ("error", "volume"))
    parts = [past.fields[one.sides.name] for one in candidates]
    contributed, beyond = (
        np.concatenate(of) for of in zip(*((p.contributed, p.beyond) for p in parts), strict=True)
    )
    moved = np.concatenate([one.found.whole[one.largest] for one in candidates])
    p = noise.p_values(moved, error, contributed, volume, past.freedom)
    more = noise.p_values(_of_tested(candidates, "beyond"), error, beyond, volume, past.freedom)
    spread, _ = noise.spreads(error, beyond, volume, past.freedom)
    ends = np.cumsum([len(one.largest) for one in candidates])[:-1]
    differ = [noise.together(of) <= DIFFERENT_RATE / len(candidates) for of in np.split(more, ends)]
    p = np.where(np.repeat(differ, [len(one.largest) for one in candidates]), p, 1.0)
    kept = np.split(noise.discoveries(p, considered), ends)
    movess = [_of_field(*each) for each in zip(candidates, kept, np.split(spread, ends), strict=True)]
    return tuple(
        sorted(movess, key=lambda moves: (not moves.is_overlapping, *moves.explanation.rank), reverse=True)
    )


def _of_tested(candidates: Sequence[Candidate], name: str) -> Numbers:
    """An attribute of the values that are tested, of all key fields."""
    return np.concatenate([getattr(one, name)[one.largest] for one in candidates])


def _of_field(one: Candidate, is_mover: Flags, spread: Numbers) -> Moves:
    """The moves of a key field; `is_mover` and `spread` are of its largest values."""
    of_all = one.error.copy()
    of_all[one.largest] = spread
    return one.moves([place for place, moves in zip(one.largest, is_mover, strict=True) if moves], of_all)
