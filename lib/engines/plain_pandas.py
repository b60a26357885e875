"""The reference engine: the rows of the days asked for as a pandas frame, and `groupby`.

It reads every record for every question and prepares nothing: easy to check, and slow. Its time and memory
grow with the rows of the days, whatever the split. Other engines are held to its answers.
"""

import datetime as dt
import functools
import itertools
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.engines.sums import Aggregate, Question, Sums, check_bytes, check_groups
from lib.slicers.definition import TIME
from lib.slicers.digits import decimals, settle, whole_numbers
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.measures import RECORDS, Numbers, currency_number
from lib.slicers.warehouse import StoredSlicer
from lib.slicers.zones import clock_hours
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter, rule

MARGIN = dt.timedelta(days=2)  # clocks of UTC+14 are 26 hours ahead of those of UTC-12
HOUR_SECONDS, DAY_HOURS = 3600, 24
CELL_BYTES = 64  # of a column's cell: as read, in the frame, and in the copies that grouping makes


class PandasEngine:
    """Answers questions from the Parquet files themselves, always exactly."""

    def audience(self, slicer: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """See Engine. The deadline is checked between steps: a step of pandas can't be stopped."""
        rows = Rows(slicer, question, deadline)
        records = rows.frame[rows.matching()]
        keys = pd.DataFrame(index=records.index)
        for name in question.split_by:
            deadline.check()
            keys = keys.join(rows.elements(name).rename(name))
            check_groups(len(keys.drop_duplicates()), question.max_groups)
        groups, places = _groups(keys.astype("str"))
        deadline.check()
        atoms = question.atoms | {RECORDS}
        return Sums(
            keys={str(name): pa.array(groups[name]) for name in groups},
            rows=_aggregate(records.loc[keys.index], places, len(groups), atoms),
            total=_aggregate(records, np.zeros(len(records), np.intp), 1, atoms),
            dates=rows.dates,
            records_read=len(rows.frame),
            records_in_range=len(rows.frame),
        )


class Rows:
    """The records of a question's days: `frame` has the columns that it needs, `hours` their local times.

    `files` are the days, in the slicer's own zone, to read of these (None: all), `more` further columns.
    """

    def __init__(
        self,
        slicer: StoredSlicer,
        question: Question,
        deadline: Deadline,
        files: Iterable[dt.date] | None = None,
        more: Iterable[str] = (),
    ) -> None:
        self.slicer, self.question, self.deadline = slicer, question, deadline
        self.segmented = {part.name for part in slicer.definition.key_fields if part.segmented}
        days = [
            day
            for day in (slicer.rows if files is None else files)
            if question.first - day <= MARGIN and day - question.last <= MARGIN
        ]
        filters = itertools.chain.from_iterable(question.clauses)
        names = {*question.split_by, *(filter_.name for filter_ in filters), *more, TIME}
        names |= {atom.partition(":")[2] for atom in question.atoms}
        names |= set() if question.within is None else {*question.within}
        columns = [name for name in slicer.definition.schema().names if name in names]
        records = sum(slicer.rows[day] for day in days)
        check_bytes(records * len(columns) * CELL_BYTES, question.max_bytes)
        frame = slicer.read(days, columns).to_pandas()
        deadline.check()
        zone = question.timezone if slicer.definition.time.has_zones else 0
        utc = frame[TIME].dt.as_unit("s").astype("int64") // HOUR_SECONDS
        hours = pd.Series(clock_hours(zone, utc.to_numpy()), index=frame.index)
        dates = pd.to_datetime(hours // DAY_HOURS, unit="D").dt.date
        inside = (dates >= question.first) & (dates <= question.last)
        self.frame, self.hours = frame[inside], hours[inside]
        self.dates = tuple(sorted(set(dates[inside])))

    def elements(self, name: str) -> "pd.Series[str]":
        """The texts of a key field, indexed by record: one each, or each element of a segmented one once."""
        if name in TIME_KEY_FIELDS:
            labels = TIME_KEY_FIELDS[name].write(self.hours.to_numpy())
            return pd.Series(labels, index=self.frame.index, dtype="str")
        is_segmented = name in self.segmented
        column = self.frame[name].explode() if is_segmented else self.frame[name]
        texts: pd.Series[str] = column.astype("str").fillna("")
        is_repeat = pd.DataFrame({"record": texts.index, "text": texts.to_numpy()}).duplicated()
        return texts[~is_repeat.to_numpy()] if is_segmented else texts

    def matching(self) -> pd.Series:
        """Whether each record passes any filter of every clause."""
        passes = pd.Series(True, index=self.frame.index)
        for clause in self.question.clauses:
            passes &= functools.reduce(operator.or_, map(self._passing, clause))
        if (within := self.question.within) is not None:
            keys = pd.DataFrame(index=self.frame.index)
            for name in map(str, within):
                keys = keys.join(self.elements(name).rename(name))
            is_member = pd.MultiIndex.from_frame(keys).isin(pd.MultiIndex.from_frame(within))
            passes &= self.frame.index.isin(keys.index[is_member])
        return passes

    def _passing(self, filter_: Filter) -> pd.Series:
        self.deadline.check()
        texts = self.elements(filter_.name)
        matches = _matches(texts, filter_)
        if filter_.search_mappings:
            matches |= _matches(texts.map(self.slicer.descriptions(filter_.name)).astype("str"), filter_)
        any_element = matches.groupby(level=0).any().reindex(self.frame.index, fill_value=False)
        return ~any_element if rule(filter_.match).is_negative else any_element


def _matches(texts: pd.Series, filter_: Filter) -> pd.Series:
    """Whether each text matches any of the filter's values; the negation is left to the caller."""
    values = pd.Series(filter_.value, dtype="str")
    if filter_.case_insensitive:
        texts, values = texts.str.lower(), values.str.lower()
    match = rule(filter_.match)
    if match.test == "equals":
        return texts.isin(values)
    return texts.isin([text for text in texts.dropna().unique() if any(match.holds(text, v) for v in values)])


def _groups(keys: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """The different rows of `keys` (Categoricals with sorted categories), and the place of each row there."""
    if keys.shape[1] == 0:
        return pd.DataFrame(index=pd.RangeIndex(min(1, len(keys)))), np.zeros(len(keys), np.intp)
    columns = {name: pd.Categorical(keys[name], categories=sorted(set(keys[name]))) for name in keys}
    frame = pd.DataFrame(columns).reset_index(drop=True)
    places = frame.groupby(list(frame), observed=True, sort=True).ngroup().to_numpy()
    first = np.unique(places, return_index=True)[1]
    return frame.iloc[first].reset_index(drop=True), places


def _aggregate(rows: pd.DataFrame, places: np.ndarray, groups: int, atoms: frozenset[str]) -> Aggregate:
    """Each atom (measures.py) over the rows of each group; an empty text is no value to count."""
    texts: pd.DataFrame = rows.select_dtypes("str")
    groupby = rows.assign(**texts.where(texts != "")).groupby(places)
    estimate = {atom: _atom(groupby, atom, places, groups) for atom in sorted(atoms)}
    return Aggregate(estimate=estimate, records=estimate[RECORDS])


def _sums(column: pd.Series, places: np.ndarray) -> pd.Series:
    """Sums by place: of decimal numbers by whole ones of any size, of others as exact as float64 has them."""
    numbers = column.to_numpy(np.float64, na_value=0.0)
    if not np.isfinite(np.abs(numbers).sum()):
        return column.groupby(places).sum()
    if (fits := decimals(numbers)) is None:
        parts = pd.DataFrame({"sum": numbers, "size": np.abs(numbers)}).groupby(places).agg(math.fsum)
        return pd.Series(settle(*parts.to_numpy(np.float64).T), parts.index)
    whole = pd.Series([int(number) for number in whole_numbers(numbers, fits[0]).tolist()], dtype="object")
    return whole.groupby(places).sum().map(lambda number: number / 10 ** fits[0])


def _atom(groupby: Any, atom: str, places: np.ndarray, groups: int) -> Numbers:
    kind, _, name = atom.partition(":")
    match kind:
        case "sum":
            result = _sums(groupby.obj[name], places)
        case "present":
            result = groupby[name].count()
        case "min" | "max":
            result = groupby[name].agg(kind)
        case "distinct" | "unique":
            result = groupby[name].nunique()
        case "currency":
            texts = groupby.obj[name].fillna("").groupby(places)
            only = texts.first().map(currency_number)
            result = only.where(texts.nunique() == 1, -texts.nunique())
        case _:
            result = groupby.size()
    usual = np.nan if kind in ("min", "max") else 0.0
    return np.asarray(result.reindex(range(groups), fill_value=usual), dtype=np.float64)
