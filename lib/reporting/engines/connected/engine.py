"""Questions as statements: one of the groups, and one of the total where it does not follow from them."""

import datetime as dt

import ibis.expr.types as ir
import numpy as np
import pandas as pd
import pyarrow as pa

from lib.reporting.engines.connected.columns import DAY_HOURS
from lib.reporting.engines.connected.conditions import Conditions
from lib.reporting.engines.connected.live import Live, LiveSlicers
from lib.reporting.engines.connected.times import TimeKey
from lib.reporting.engines.sums import Aggregate, Numbers, Question, Sums, check_groups
from lib.reporting.measures import RECORDS, is_additive
from lib.reporting.models import TIME_KEY_FIELDS
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline

_FIRST_DAY = dt.date(1970, 1, 1)


class IbisEngine:
    """Answers questions in the database that has the rows, always exactly.

    Time and memory there are the database's; here they grow with the groups of the answer alone.
    """

    def __init__(self, live: LiveSlicers) -> None:
        self._live = live

    def audience(self, stored: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """See Engine. A statement that takes longer than the deadline is interrupted where it runs."""
        return _Asked(self._live, stored, question, deadline).sums()


class _Asked:
    """One question about one slicer."""

    def __init__(
        self, slicers: LiveSlicers, stored: StoredSlicer, question: Question, deadline: Deadline
    ) -> None:
        self._slicers, self._stored, self._question, self._deadline = slicers, stored, question, deadline
        self._live: Live = slicers.of(stored)
        shown = self._live.shown_hours(question.timezone)
        days = shown // DAY_HOURS
        first, last = ((day - _FIRST_DAY).days for day in (question.first, question.last))
        inside = (days >= first) & (days <= last)
        self._hours, self._records = shown[inside], int(self._live.counts[inside].sum())
        self._atoms = sorted(question.atoms | {RECORDS})
        self._times = {
            name: TimeKey(TIME_KEY_FIELDS[name], self._hours)
            for name in question.split_by
            if name in TIME_KEY_FIELDS
        }

    def sums(self) -> Sums:
        """The answer."""
        split = self._question.split_by
        found = self._fetch(self._grouped()) if split else None
        groups = self._names(found) if found is not None else None
        rows = self._aggregate(found) if found is not None else None
        total = self._total_of(rows) if rows is not None and self._adds_up() else self._total()
        if groups is None or rows is None:
            groups = pd.DataFrame(index=pd.RangeIndex(min(1, int(total.drawn[0]))))
            rows = total if len(groups) else _none_of(total)
        days = sorted(set((self._hours // DAY_HOURS).tolist()))
        return Sums(
            groups=groups,
            rows=rows,
            total=total,
            dates=tuple(_FIRST_DAY + dt.timedelta(days=day) for day in days),
            records_read=self._records,
            records_in_range=self._records,
        )

    def _grouped(self) -> ir.Table:
        """The statement of the groups; one more of them than is allowed, if there are that many."""
        keys = {f"k{place}": self._key(name) for place, name in enumerate(self._question.split_by)}
        table = self._counted(keys)
        for place, name in enumerate(self._question.split_by):
            if self._live.columns.is_segmented(name):
                table = table.unnest(f"k{place}", keep_empty=True)
                table = table.mutate(**{f"k{place}": table[f"k{place}"].fill_null("")})
        found = table.group_by(list(keys)).aggregate(**self._aggregates(table))
        most = self._question.max_groups
        return found if most is None else found.limit(most + 1)

    def _key(self, name: str) -> ir.Column:
        columns = self._live.columns
        if name in self._times:
            return self._times[name].number(columns.hour(self._question.timezone))
        return columns.elements(name) if columns.is_segmented(name) else columns.text(name)

    def _counted(self, keys: dict[str, ir.Column]) -> ir.Table:
        """The records that count: those keys, and a column for each atom."""
        live, question = self._live, self._question
        conditions = Conditions(
            live.columns,
            question,
            self._hours,
            lambda name: self._slicers.values(live, name, self._deadline),
            self._described,
        )
        cells = {f"v{place}": self._cell(atom) for place, atom in enumerate(self._atoms) if atom != RECORDS}
        shown = {**keys, **cells} or {"v": live.columns.hour()}
        return live.columns.table.filter(conditions.all()).select(**shown)

    def _cell(self, atom: str) -> ir.Column:
        kind, _, name = atom.partition(":")
        columns = self._live.columns
        return columns.identity(name) if kind in ("distinct", "unique") else columns.number(name)

    def _aggregates(self, table: ir.Table) -> dict[str, ir.Scalar]:
        return {f"a{place}": _aggregated(table, atom, f"v{place}") for place, atom in enumerate(self._atoms)}

    def _described(self, name: str) -> dict[str, str]:
        mappings = {field.name: field.mapping for field in self._stored.definition.key_fields}
        mapping = mappings.get(name)
        return self._stored.mapping(mapping) if mapping else {}

    def _fetch(self, statement: ir.Table) -> pa.Table:
        found = self._slicers.rows(self._live, statement, self._deadline)
        check_groups(found.num_rows, self._question.max_groups if self._question.split_by else None)
        return found

    def _names(self, found: pa.Table) -> pd.DataFrame:
        """The split fields as Categoricals with sorted categories."""
        columns = {}
        for place, name in enumerate(self._question.split_by):
            cells = found[f"k{place}"]
            is_time = name in self._times
            texts = self._times[name].names(np.asarray(cells, np.int64)) if is_time else cells.to_pylist()
            columns[name] = pd.Categorical(texts, categories=sorted(set(texts)))
        return pd.DataFrame(columns)

    def _aggregate(self, found: pa.Table) -> Aggregate:
        estimate = {
            atom: np.array(found[f"a{place}"].to_numpy(), dtype=np.float64)
            for place, atom in enumerate(self._atoms)
        }
        return Aggregate(estimate=estimate, drawn=estimate[RECORDS])

    def _adds_up(self) -> bool:
        """Whether the total is the sum, least or greatest of the groups."""
        is_segmented = any(self._live.columns.is_segmented(name) for name in self._question.split_by)
        return not is_segmented and all(is_additive(atom) or _is_extreme(atom) for atom in self._atoms)

    def _total(self) -> Aggregate:
        table = self._counted({})
        return self._aggregate(self._fetch(table.aggregate(**self._aggregates(table))))

    def _total_of(self, rows: Aggregate) -> Aggregate:
        estimate = {atom: np.array([_together(atom, values)]) for atom, values in rows.estimate.items()}
        return Aggregate(estimate=estimate, drawn=estimate[RECORDS])


def _aggregated(table: ir.Table, atom: str, column: str) -> ir.Scalar:
    match atom.partition(":")[0]:
        case "sum":
            found = table[column].sum().fill_null(0.0)
        case "present":
            found = table[column].count()
        case "min":
            found = table[column].min()
        case "max":
            found = table[column].max()
        case "distinct" | "unique":
            found = table[column].nunique()
        case _:
            found = table.count()
    return found.cast("float64")


def _is_extreme(atom: str) -> bool:
    return atom.startswith(("min:", "max:"))


def _together(atom: str, values: Numbers) -> float:
    """An atom of all groups from that of each; NaN is none."""
    if not _is_extreme(atom):
        return float(values.sum())
    present = values[~np.isnan(values)]
    found = present.min if atom.startswith("min:") else present.max
    return float(found()) if len(present) else np.nan


def _none_of(total: Aggregate) -> Aggregate:
    estimate = {atom: values[:0] for atom, values in total.estimate.items()}
    return Aggregate(estimate=estimate, drawn=estimate[RECORDS])
