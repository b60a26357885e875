"""Questions as statements: one of the groups, and one of the total where it does not follow from them."""

import datetime as dt
from collections.abc import Callable, Mapping

import ibis.expr.types as ir
import numpy as np
import pandas as pd
import pyarrow as pa

from lib.reporting.engines.connected.columns import DAY_HOURS, Columns
from lib.reporting.engines.connected.conditions import Conditions
from lib.reporting.engines.connected.live import Live, LiveSlicers
from lib.reporting.engines.connected.times import TimeKey
from lib.reporting.engines.sums import Question, check_groups
from lib.reporting.models import TIME_KEY_FIELDS
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline

FIRST_DAY = dt.date(1970, 1, 1)
Cells = Mapping[str, ir.Value]
Aggregates = Callable[[ir.Table], dict[str, ir.Scalar]]


class Statements:
    """The statements of one question about one slicer, over its own table or over that of its sample.

    `hours` are the hours of the period that have records, on the question's clock, and `records` how many
    records these are.
    """

    def __init__(
        self, slicers: LiveSlicers, stored: StoredSlicer, question: Question, deadline: Deadline
    ) -> None:
        self.slicers, self.question, self.deadline = slicers, question, deadline
        self._stored = stored
        self.live: Live = slicers.of(stored)
        shown = self.live.shown_hours(question.timezone)
        days = shown // DAY_HOURS
        first, last = ((day - FIRST_DAY).days for day in (question.first, question.last))
        self.inside = (days >= first) & (days <= last)
        self.hours, self.records = shown[self.inside], int(self.live.counts[self.inside].sum())
        self._times = {
            name: TimeKey(TIME_KEY_FIELDS[name], self.hours)
            for name in question.split_by
            if name in TIME_KEY_FIELDS
        }

    @property
    def dates(self) -> tuple[dt.date, ...]:
        """The days of the period that have data."""
        days = sorted(set((self.hours // DAY_HOURS).tolist()))
        return tuple(FIRST_DAY + dt.timedelta(days=day) for day in days)

    @property
    def has_segmented(self) -> bool:
        """Whether a record may belong to several groups."""
        return any(self.live.columns.is_segmented(name) for name in self.question.split_by)

    def grouped(self, columns: Columns, cells: Cells, aggregates: Aggregates) -> ir.Table:
        """The groups, with aggregates of cells; one more of them than is allowed, if there are that many."""
        keys = {f"k{place}": self._key(columns, name) for place, name in enumerate(self.question.split_by)}
        table = self.counted(columns, {**keys, **cells})
        for place, name in enumerate(self.question.split_by):
            if columns.is_segmented(name):
                table = table.unnest(f"k{place}", keep_empty=True)
                table = table.mutate(**{f"k{place}": table[f"k{place}"].fill_null("")})
        found = table.group_by(list(keys)).aggregate(**aggregates(table))
        most = self.question.max_groups
        return found if most is None else found.limit(most + 1)

    def whole(self, columns: Columns, cells: Cells, aggregates: Aggregates) -> ir.Table:
        """One row: aggregates of all records that count."""
        table = self.counted(columns, cells)
        return table.aggregate(**aggregates(table))

    def counted(self, columns: Columns, shown: Cells) -> ir.Table:
        """The records that count, with these cells."""
        return columns.table.filter(self.conditions(columns).all()).select(**(shown or {"v": columns.hour()}))

    def conditions(self, columns: Columns) -> Conditions:
        """The conditions of the question on a table."""
        live = self.live
        return Conditions(
            columns,
            self.question,
            self.hours,
            lambda name: self.slicers.values(live, name, self.deadline),
            self._described,
        )

    def fetch(self, statement: ir.Table, deadline: Deadline | None = None) -> pa.Table:
        """The rows of a statement. BadRequest for too many groups."""
        found = self.slicers.rows(self.live, statement, deadline or self.deadline)
        check_groups(found.num_rows, self.question.max_groups if self.question.split_by else None)
        return found

    def names(self, found: pa.Table) -> pd.DataFrame:
        """The split fields of fetched groups, as Categoricals with sorted categories."""
        columns = {}
        for place, name in enumerate(self.question.split_by):
            cells = found[f"k{place}"]
            is_time = name in self._times
            texts = self._times[name].names(np.asarray(cells, np.int64)) if is_time else cells.to_pylist()
            columns[name] = pd.Categorical(texts, categories=sorted(set(texts)))
        return pd.DataFrame(columns, index=pd.RangeIndex(found.num_rows))

    def _key(self, columns: Columns, name: str) -> ir.Column:
        if name in self._times:
            return self._times[name].number(columns.hour(self.question.timezone))
        return columns.elements(name) if columns.is_segmented(name) else columns.text(name)

    def _described(self, name: str) -> dict[str, str]:
        mappings = {field.name: field.mapping for field in self._stored.definition.key_fields}
        mapping = mappings.get(name)
        return self._stored.mapping(mapping) if mapping else {}
