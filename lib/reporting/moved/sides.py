"""A key field's values in two periods: the questions about them, and their answers side by side.

A question asks for the largest values alone; a value that is among them in one period only is looked up in
the other. What is in none of them is the rest: the whole less what is shown.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from lib.reporting.answers import NORMAL, Audience
from lib.reporting.models import AudienceQuery
from lib.reporting.moved.quantity import Pair
from lib.slicers.dates import Days
from lib.slicers.models import Order
from lib.wire.filters import Filter

TOP = 50
WIDTH = 2 * NORMAL
Ask = Callable[[Sequence[AudienceQuery]], Sequence[Audience]]


@dataclass(frozen=True)
class About:
    """The query for both periods, `days` (before, now); the split and dates of `query` are ignored.

    `leaves` are the data fields that the figure is computed from; values are ordered by the first. `weight`
    is what a sum of before counts, where the periods are not of one length.
    """

    query: AudienceQuery
    leaves: tuple[str, ...]
    days: tuple[Days, Days]
    weight: float = 1.0

    def query_of(self, days: Days, **changes: object) -> AudienceQuery:
        """The question on these days."""
        usual = {
            "start_date": days[0].isoformat(), "end_date": days[1].isoformat(), "split_by": (),
            "data_fields": self.leaves, "order_by": (), "limit": None, "offset": 0, "precision": 1,
            "include_mappings": 1,
        }  # fmt: skip
        return self.query.model_copy(update=usual | changes)

    def top(self, days: Days, name: str) -> AudienceQuery:
        """A key field's values with the largest volume on these days."""
        return self.query_of(days, split_by=(name,), order_by=(Order(name=self.leaves[0]),), limit=TOP)

    def of(self, days: Days, name: str, codes: Collection[str], *more: str) -> AudienceQuery:
        """These values of a key field on these days, split by `more` key fields too."""
        filter_ = Filter(name=name, value=tuple(sorted(codes)), match="equals")
        return self.query_of(days, split_by=(name, *more), filters=(*self.query.filters, filter_))


@dataclass(frozen=True)
class Side:
    """Sums of values in one period and their standard errors: a row per value (index: codes), a column per
    data field. `is_whole` says whether these are all values that there are.
    """

    sums: pd.DataFrame
    errors: pd.DataFrame
    words: dict[str, str]
    is_whole: bool
    is_sampled: bool

    def sums_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Of these values. One that is not here has nothing; where it may have, as much as the smallest."""
        least = 0.0 if self.is_whole or not len(self.sums) else self.sums.min()
        return self.sums.reindex(list(codes)).fillna(least)

    def errors_of(self, codes: Sequence[str]) -> pd.DataFrame:
        """Of these values; NaN where a sample may have missed one."""
        return self.errors.reindex(list(codes), fill_value=np.nan if self.is_sampled else 0.0)


@dataclass(frozen=True)
class Sides:
    """A key field in both periods."""

    name: str
    before: Side
    now: Side

    @cached_property
    def codes(self) -> list[str]:
        """The values known in either period."""
        return sorted({*self.before.sums.index.tolist(), *self.now.sums.index.tolist()})

    @property
    def words(self) -> dict[str, str]:
        """Descriptions by code."""
        return self.before.words | self.now.words

    def missing(self) -> list[set[str]]:
        """Per side, the values that may exist but are not known."""
        return [
            set() if side.is_whole else {*self.codes} - {*side.sums.index} for side in (self.before, self.now)
        ]

    def pair(self, whole: Pair) -> Pair:
        """The sums of the values, beside those of all records."""
        codes = self.codes
        return replace(whole, before=self.before.sums_of(codes), now=self.now.sums_of(codes))


def ask_sides(ask: Ask, about: About, names: Sequence[str]) -> list[Sides]:
    """Both sides of each key field, by their largest values."""
    answers = ask([about.top(days, name) for name in names for days in about.days])
    both = zip(names, answers[::2], answers[1::2], strict=True)
    return [Sides(name, _side(old, about, about.weight), _side(new, about)) for name, old, new in both]


def complete(ask: Ask, about: About, known_sides: Sequence[Sides]) -> list[Sides]:
    """The same with the values that were not known looked up."""
    missing = [
        (index, which, codes)
        for index, sides in enumerate(known_sides)
        for which, codes in zip(("before", "now"), sides.missing(), strict=True)
        if codes
    ]
    days = {"before": about.days[0], "now": about.days[1]}
    answers = ask([about.of(days[which], known_sides[index].name, codes) for index, which, codes in missing])
    complete = list(known_sides)
    for (index, which, codes), answer in zip(missing, answers, strict=True):
        more = _side(answer, about, about.weight if which == "before" else 1.0)
        sides = complete[index]
        if which == "before":
            complete[index] = replace(sides, before=_join(sides.before, more, codes))
        else:
            complete[index] = replace(sides, now=_join(sides.now, more, codes))
    return complete


def whole(answer: Audience, about: About, weight: float = 1.0) -> pd.DataFrame:
    """The data fields of all records, in one row."""
    return weight * pd.DataFrame(
        [{name: answer.total.values.get(name) for name in about.leaves}], dtype=float
    )


def _side(answer: Audience, about: About, weight: float = 1.0) -> Side:
    codes, leaves = answer.names.iloc[:, 0].astype(str), list(about.leaves)
    values = answer.values.reindex(columns=leaves)
    # Standard errors are from the 95 % ranges; an exact answer has none.
    if answer.low is None or answer.high is None:
        errors = pd.DataFrame(np.nan if answer.is_sampled else 0.0, index=values.index, columns=leaves)
    else:
        widths = answer.high.reindex(columns=leaves) - answer.low.reindex(columns=leaves)
        errors = (widths / WIDTH).where(values.notna(), 0.0)
    texts = answer.descriptions
    words = {} if texts is None else dict(zip(codes, texts.iloc[:, 0].astype(str), strict=True))
    return Side(
        weight * values.set_axis(codes, axis=0).fillna(0.0),
        weight * errors.set_axis(codes, axis=0),
        words,
        answer.total.records_found <= len(answer),
        answer.is_sampled,
    )


def _join(side: Side, more: Side, codes: Collection[str]) -> Side:
    """Adds the values looked up; other values of a segmented key field in the answer are left out."""
    matches = [code for code in more.sums.index if code in codes]
    return replace(
        side,
        sums=pd.concat([side.sums, more.sums.loc[matches]]),
        errors=pd.concat([side.errors, more.errors.loc[matches]]),
        words=side.words | {code: more.words[code] for code in matches if code in more.words},
        is_whole=True,
        is_sampled=side.is_sampled or more.is_sampled,
    )
