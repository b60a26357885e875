"""One question on one layout: which records, which of them count, which group each belongs to.

Filters as lookup tables: each is evaluated once per distinct value, then taken by code.

A positive match on a segmented key field holds if any element matches, a negative one if none does.
"""

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.engines.resident.accumulate import (
    CHUNK,
    Period,
    Rows,
    chunks,
    count,
    distinct,
    elements,
    numbers,
    one_each,
    parts,
    product,
    threshold,
)
from lib.engines.resident.addends import Addends
from lib.engines.resident.adding import Adding, Columns, Location
from lib.engines.resident.draw import Draw
from lib.engines.resident.identities import Membership
from lib.engines.resident.lanes import Floats
from lib.engines.resident.layout import Ints, Layout
from lib.engines.resident.split import Split
from lib.engines.resident.substrings import TESTS, matching_any
from lib.engines.sums import Question
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.measures import RECORDS, is_additive
from lib.slicers.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter, rule

# A draw has many columns, of 8 bytes each: so many records of them stay in the cache.
DRAWN_CHUNK = 1 << 14
LARGEST_TABLE = 1 << 22
FEW = 8  # values that are looked for one after the other in less time than all together
Mask = npt.NDArray[np.bool_]
EPOCH = date(1970, 1, 1)
KeySums = tuple[Ints, list[Floats], list[Floats]]


@dataclass(frozen=True)
class Condition:
    """A table of the values that match (over hours where `name` is None); `is_negated`: none may match."""

    name: str | None
    table: Mask
    is_negated: bool = False

    def mask(self, layout: Layout, rows: Rows) -> Mask:
        """A mask of these records that pass the condition."""
        if self.name is None:
            passes = self.table[layout.time[rows]]
        elif layout.contents.keys[self.name].segmented:
            codes, lengths = elements(layout, self.name, rows)
            starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
            passes = (
                np.logical_or.reduceat(self.table[codes], starts) if len(lengths) else np.zeros(0, dtype=bool)
            )
        else:
            passes = self.table[layout.codes(self.name)[rows]]
        return ~passes if self.is_negated else passes


@dataclass(frozen=True)
class AnyOf:
    """Records that pass any of the conditions."""

    conditions: Sequence[Condition]
    name: str = "any of"

    def mask(self, layout: Layout, rows: Rows) -> Mask:
        """A mask of these records that pass."""
        masks = (condition.mask(layout, rows) for condition in self.conditions)
        return functools.reduce(np.logical_or, masks)


@dataclass(frozen=True)
class InGroups:
    """Records that belong to one of the groups `keys` of a split."""

    split: Split
    keys: Ints
    name: str = "groups"

    def mask(self, layout: Layout, rows: Rows) -> Mask:
        """A mask of these records that pass the condition."""
        keys, indptr = self.split.keys(rows, None)
        passes = np.concatenate([[0], np.cumsum(np.isin(keys, self.keys))])
        return np.asarray(np.diff(passes[indptr]) > 0)


def matching(texts: pa.Array, filter_: Filter, mapping: Mapping[str, str], deadline: Deadline) -> Mask:
    """A mask of `texts` (or, with search_mappings, descriptions) that match any of the filter's values.

    The negation in `not equals` and `not contains` is left to the caller: it concerns records, not values.
    A filter may have many thousand values, so the deadline holds here too.
    """
    deadline.check()
    matches = _any(texts, filter_, deadline)
    if filter_.search_mappings and mapping:
        descriptions = pa.array([mapping.get(text) for text in texts.to_pylist()], pa.string())
        matches = matches | _any(descriptions, filter_, deadline)
    return matches


def _any(texts: pa.Array, filter_: Filter, deadline: Deadline) -> Mask:
    values = pa.array(filter_.value, pa.string())
    if filter_.case_insensitive:
        texts, values = pc.utf8_lower(texts), pc.utf8_lower(values)
    match = rule(filter_.match)
    if match.test == "equals":
        return _mask(pc.is_in(texts, value_set=values, skip_nulls=True))
    different = values.unique().to_pylist()
    is_few = match.test == "contains" and len(different) <= FEW
    if match.test in TESTS and not is_few:
        return matching_any(texts, different, match.test, deadline)
    matches = np.zeros(len(texts), dtype=bool)
    if is_few:
        for value in different:
            deadline.check()
            matches |= _mask(pc.match_substring(texts, value))
        return matches
    # A text at a time, for a test that has no quicker way.
    for place, text in enumerate(texts.to_pylist()):
        deadline.check()
        matches[place] = text is not None and any(match.holds(text, value) for value in different)
    return matches


def _mask(matches: pa.Array) -> Mask:
    return np.asarray(matches.fill_null(False).to_numpy(zero_copy_only=False), dtype=bool)


class Query:
    """A question on an opened layout.

    `KeySums` is keys, the sums of each atom per key, and of all records together (one each).
    """

    def __init__(
        self, layout: Layout, slicer: StoredSlicer, question: Question, deadline: Deadline, threads: int
    ) -> None:
        self.layout, self.slicer, self.question = layout, slicer, question
        self.deadline, self.threads = deadline, threads
        info = slicer.info()
        zone, own = (question.timezone, info.timezone) if info.supports_timezone else (0, 0)
        days = ((question.first - EPOCH).days, (question.last - EPOCH).days)
        self.period = Period.of(layout, days, zone, own)
        self.split = Split(layout, question.split_by, self.period.local)
        self.atoms = [
            RECORDS,
            *sorted(atom for atom in question.atoms if is_additive(atom) and atom != RECORDS),
        ]
        self.addends = Addends(layout, self.atoms)
        edges = [] if self.period.whole else [Condition(None, self.period.inside)]
        self.conditions: list[Condition | AnyOf | InGroups] = [*edges, *map(self._clause, question.clauses)]
        if (within := question.within) is not None:
            split = Split(layout, tuple(map(str, within)), self.period.local)
            self.conditions.append(InGroups(split, split.keys_of(within)))

    @property
    def is_timed(self) -> bool:
        """Whether time alone decides what counts, and where: then sums per hour tell all."""
        return self.is_unfiltered and all(name in TIME_KEY_FIELDS for name in self.question.split_by)

    @property
    def is_unfiltered(self) -> bool:
        """Whether no filter looks at anything but time: then the total is known exactly."""
        return all(condition.name is None for condition in self.conditions)

    @functools.cached_property
    def records_in_range(self) -> int:
        """How many records the period has, whatever the filters."""
        return int(self.layout.hour_sums[self.period.inside, 0].sum())

    @functools.cached_property
    def dates(self) -> tuple[date, ...]:
        """The days of the period that have data, in the question's zone."""
        days = np.unique(self.period.local[self.period.inside] // 24)
        return tuple(days.astype("datetime64[D]").tolist())

    @functools.cached_property
    def grid_place(self) -> int | None:
        """Where in the grid the sample of this question lies; None when every record is read."""
        place = None if self.fits else threshold(self.layout, self.period, self.question.rows_limit)
        if place is None or self.layout.grid[place] * self.layout.contents.smallest_size >= 1:
            return None
        return place

    @property
    def fits(self) -> bool:
        """Whether the rows limit allows to read every record of the period."""
        limit = self.question.rows_limit
        return limit is None or self.records_in_range <= limit

    def users(self, atom: str) -> int:
        """How many users the slicer has, for an atom that counts them; 0 for any other."""
        kind, _, name = atom.partition(":")
        return self.layout.contents.distinct[name].values if kind == "unique" else 0

    @property
    def users_budget(self) -> int:
        """How many records, in order of users, hold about `rows_limit` of the period's."""
        span = self.period.span(self.layout)
        share = self.layout.contents.records / max(1, span.stop - span.start)
        return int((self.question.rows_limit or 0) * share)

    def in_period(self, records: Ints) -> Ints:
        """The records within the period's days."""
        span = self.period.span(self.layout)
        return records[np.searchsorted(records, span.start) : np.searchsorted(records, span.stop)]

    def draw_size(self, place: int) -> int:
        """How many records grid[place] draws from the period's days."""
        return int(self.layout.draw_counts[self.period.low : self.period.high, place].sum())

    def total_from_hours(self) -> list[Floats]:
        """The atoms over the whole period, from the sums per hour kept beside the rows: exact."""
        return self.addends.of_hours(self._counted_hours()[1].sum(axis=0)[None, :])

    def from_hours(self) -> KeySums:
        """Sums of the atoms for a timed question, from the sums per hour: exact."""
        hours, columns = self._counted_hours()
        keys, places = distinct(self.split.hour_keys(hours), self.split.groups)
        sums = product(places, one_each(len(hours)), columns, len(keys))
        return keys, self.addends.of_hours(sums), self.addends.of_hours(columns.sum(axis=0)[None, :])

    def from_records(self) -> KeySums:
        """Sums of the atoms over every record of the period."""
        keys, sums, totals = self._add_up(
            None, lambda rows: [self.layout.block(number)[rows] for number in self.addends.blocks]
        )
        return (
            keys,
            self.addends.of_blocks(sums),
            self.addends.of_blocks([total[None, :] for total in totals]),
        )

    def from_sample(self, draw: Draw, place: int) -> tuple[Ints, Floats, Floats]:
        """Sums of the draw's columns (groups × columns) over the records that grid[place] draws."""
        keys, blocks, whole = self._add_up(place, lambda rows: [draw.columns(numbers(rows))])
        return keys, blocks[0] / draw.scales, whole[0] / draw.scales

    def memberships(self, keys: Ints, records: Ints | None = None) -> Iterator[Membership]:
        """The records that count, of the period or of `records`, and the places of their groups in `keys`."""
        places = _Places(keys)
        pieces = chunks(self.layout, self.period, None) if records is None else parts(records, CHUNK)
        for rows in pieces:
            subset = self._pick(rows)
            counting = rows if subset is None else numbers(rows)[subset]
            group_keys, indptr = self.split.keys(counting, None)
            is_plain = not self.split.is_segmented
            owner = None if is_plain else np.repeat(np.arange(count(counting)), np.diff(indptr))
            yield Membership(numbers(counting), places.of(group_keys), owner)

    def _counted_hours(self) -> tuple[Ints, Floats]:
        conditions = (condition for condition in self.conditions if isinstance(condition, Condition))
        tables = (condition.table ^ condition.is_negated for condition in conditions)
        hours = np.flatnonzero(functools.reduce(np.logical_and, tables, self.period.inside))
        return hours, self.addends.hour_columns(hours)

    def _add_up(self, place: int | None, columns: Columns) -> tuple[Ints, list[Floats], list[Floats]]:
        """The keys that occur, and of each block of columns the sums per key and of all records."""
        adding = Adding(self.split, self._locate, self.threads, self.deadline, self.question.max_groups)
        pieces = functools.partial(chunks, self.layout, self.period, place)
        if place is None:
            result = adding.sum_up(columns, pieces, self.records_in_range)
        else:
            result = adding.sum_up(columns, pieces, self.draw_size(place), DRAWN_CHUNK)
        blocks = result.blocks or [block[:0] for block in columns(slice(0, 0))]
        return result.keys, blocks, result.whole() or [block.sum(axis=0) for block in blocks]

    def _locate(self, rows: Rows) -> Location:
        """The records that pass, and their groups."""
        subset = self._pick(rows)
        if isinstance(rows, np.ndarray) and subset is not None:
            rows, subset = rows[subset], None
        return Location(rows, *self.split.keys(rows, subset))

    def _pick(self, rows: Rows) -> Ints | None:
        """The places among `rows` of the records that count; None where all do."""
        if not self.conditions:
            return None
        masks = (condition.mask(self.layout, rows) for condition in self.conditions)
        return np.flatnonzero(functools.reduce(np.logical_and, masks))

    def _clause(self, clause: Sequence[Filter]) -> Condition | AnyOf:
        """Whether any of the filters holds; those on one thing alone are one table (time: sums per hour)."""
        conditions = [self._condition(filter_) for filter_ in clause]
        if len(conditions) == 1:
            return conditions[0]
        if all(condition.name is None for condition in conditions):
            tables = (condition.table ^ condition.is_negated for condition in conditions)
            return Condition(None, functools.reduce(np.logical_or, tables))
        return AnyOf(conditions)

    def _condition(self, filter_: Filter) -> Condition:
        is_negative = rule(filter_.match).is_negative
        if filter_.name in TIME_KEY_FIELDS:
            labels = pa.array(TIME_KEY_FIELDS[filter_.name].write(self.period.local), pa.string())
            return Condition(None, matching(labels, filter_, {}, self.deadline), is_negative)
        mapping = self.slicer.descriptions(filter_.name) if filter_.search_mappings else {}
        table = matching(self.layout.dictionary(filter_.name), filter_, mapping, self.deadline)
        return Condition(filter_.name, table, is_negative)


class _Places:
    """Where keys stand among those of an answer; -1 for others. A table, as long as it is small."""

    def __init__(self, keys: Ints) -> None:
        self._end = int(keys.max(initial=-1)) + 1
        self._index, self._table = pd.Index(keys), None
        if self._end < LARGEST_TABLE and keys.min(initial=0) >= 0:
            self._table = np.full(self._end + 1, -1, dtype=np.int64)
            self._table[keys] = np.arange(len(keys))

    def of(self, keys: Ints) -> Ints:
        """The place of each key that occurs, none of which is negative."""
        if self._table is None:
            return self._index.get_indexer(pd.Index(keys))
        return self._table[np.minimum(keys, self._end)]
