"""The engine of connected slicers: atoms over every record that counts, worked out in the database."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import ibis
import ibis.expr.types as ir
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.engines.connected.backends import about
from lib.engines.connected.columns import Columns
from lib.engines.connected.live import LiveSlicers
from lib.engines.connected.records import fetch_records
from lib.engines.connected.statements import Cells, Statements
from lib.engines.records import RecordsQuestion
from lib.engines.sums import Aggregate, Question, Sums
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.measures import RECORDS, Numbers, is_additive
from lib.slicers.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import InternalError


class IbisEngine:
    """Answers questions in the database that has the rows, exactly, whatever limit of rows they have.

    Time and memory there are the database's; here they grow with the groups of the answer alone.
    """

    def __init__(self, live: LiveSlicers) -> None:
        self._live = live

    def audience(self, slicer: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """See Engine. A statement that takes longer than the deadline is interrupted where it runs.

        Misconfigured, which names the column, where the table fits the slicer no longer.
        """
        with about(slicer):
            statements = Statements(self._live, slicer, question, deadline)
            with self._table_check(slicer):
                groups, rows, total = ExactAnswer(statements).sums()
        return Sums(
            groups=groups,
            rows=rows,
            total=total,
            dates=statements.dates,
            records_read=statements.records,
            records_in_range=statements.records,
        )

    def records(self, slicer: StoredSlicer, request: RecordsQuestion, deadline: Deadline) -> pd.DataFrame:
        """The records of a question, as `RecordsQuestion.read` has them; errors are those of `audience`."""
        times = tuple(name for name in request.names if name in TIME_KEY_FIELDS)
        with about(slicer):
            question = replace(request.question, split_by=times)
            statements = Statements(self._live, slicer, question, deadline)
            with self._table_check(slicer):
                return fetch_records(statements, request)

    @contextmanager
    def _table_check(self, slicer: StoredSlicer) -> Iterator[None]:
        """Where the database refuses a statement: Misconfigured if the table fits the slicer no longer."""
        try:
            yield
        except InternalError as error:
            if type(error) is InternalError:  # refused: the table may have changed within the last minute
                self._live.check_again(slicer)
            raise


class ExactAnswer:
    """The atoms of a question: per group, and of all records."""

    def __init__(self, statements: Statements) -> None:
        self._statements, self._atoms = statements, sorted(statements.question.atoms | {RECORDS})

    def sums(self) -> tuple[pd.DataFrame, Aggregate, Aggregate]:
        """The groups, and the atoms of each and of all records together."""
        statements, columns = self._statements, self._statements.filter()
        if not statements.question.split_by:
            total = self._aggregate(self._fetch(columns, lambda cells: self._whole(columns, cells)))
            groups = pd.DataFrame(index=pd.RangeIndex(min(1, int(total.records[0]))))
            return groups, total if len(groups) else _none_of(total), total
        adds_up = self._adds_up()
        table = self._fetch(
            columns, lambda cells: statements.group(columns, cells, self._scalars, is_bare=adds_up)
        )
        if adds_up:
            table = self._without_nulls(table)
            rows = self._aggregate(table)
            return statements.names(table), rows, _total_of(rows)
        whole = self._fetch(columns, lambda cells: self._whole(columns, cells))
        return statements.names(table), self._aggregate(table), self._aggregate(whole)

    def _whole(self, columns: Columns, cells: Cells) -> ir.Table:
        return columns.table.aggregate(**self._scalars(cells))

    def _fetch(self, columns: Columns, statement: Callable[[Cells], ir.Table]) -> pa.Table:
        """The rows of a statement over the cells of the atoms.

        Numbers are added up as they are; only where a result is NaN they are read once more without NaN, and
        so from then on.
        """
        statements, live = self._statements, self._statements.live
        table = statements.fetch(statement(self._cells(columns, live.is_plain)))
        cells = (table[f"a{place}"] for place in range(len(self._atoms)))
        if live.is_plain and any(pc.any(pc.is_nan(column)).as_py() for column in cells):
            live.is_plain = False
            table = statements.fetch(statement(self._cells(columns, False)))
        return table

    def _cells(self, columns: Columns, is_plain: bool) -> dict[str, ir.Column]:
        return {
            f"v{place}": self._cell(columns, atom, is_plain)
            for place, atom in enumerate(self._atoms)
            if atom != RECORDS
        }

    def _cell(self, columns: Columns, atom: str, is_plain: bool) -> ir.Column:
        kind, _, name = atom.partition(":")
        if kind in ("distinct", "unique"):
            return columns.identity(name)
        shows_nan = kind != "present" or f"sum:{name}" in self._atoms
        return columns.number(name, is_plain and shows_nan)

    def _scalars(self, cells: Cells | ir.Table) -> dict[str, ir.Scalar]:
        return {f"a{place}": _scalar(cells, atom, f"v{place}") for place, atom in enumerate(self._atoms)}

    def _without_nulls(self, table: pa.Table) -> pa.Table:
        """The groups with missing values as empty texts: those that are both become one."""
        keys = [f"k{place}" for place in range(len(self._statements.question.split_by))]
        if not any(table[key].null_count for key in keys):
            return table
        for key in keys:
            if table[key].null_count:
                table = table.set_column(table.column_names.index(key), key, pc.fill_null(table[key], ""))
        sums = [f"a{place}" for place in range(len(self._atoms))]
        ways = [atom[:3] if _is_extreme(atom) else "sum" for atom in self._atoms]
        groups = table.group_by(keys).aggregate(list(zip(sums, ways, strict=True)))
        return groups.rename_columns({f"{cell}_{way}": cell for cell, way in zip(sums, ways, strict=True)})

    def _aggregate(self, table: pa.Table) -> Aggregate:
        estimate = {
            atom: np.array(table[f"a{place}"].to_numpy(), dtype=np.float64)
            for place, atom in enumerate(self._atoms)
        }
        return Aggregate(estimate=estimate, records=estimate[RECORDS])

    def _adds_up(self) -> bool:
        """Whether the total is the sum, least or greatest of the groups."""
        return not self._statements.has_segmented and all(
            is_additive(atom) or _is_extreme(atom) for atom in self._atoms
        )


def _scalar(cells: Cells | ir.Table, atom: str, column: str) -> ir.Scalar:
    match atom.partition(":")[0]:
        case "sum":
            cell = cells[column].sum().fill_null(0.0)
        case "present":
            cell = cells[column].count()
        case "min":
            cell = cells[column].min()
        case "max":
            cell = cells[column].max()
        case "distinct" | "unique":
            cell = cells[column].nunique()
        case _:
            cell = ibis._.count()
    return cell.cast("float64")


def _is_extreme(atom: str) -> bool:
    return atom.startswith(("min:", "max:"))


def _total_of(rows: Aggregate) -> Aggregate:
    estimate = {atom: np.array([_together(atom, values)]) for atom, values in rows.estimate.items()}
    return Aggregate(estimate=estimate, records=estimate[RECORDS])


def _together(atom: str, values: Numbers) -> float:
    """An atom of all groups from that of each; NaN is none."""
    if not _is_extreme(atom):
        return float(values.sum())
    present = values[~np.isnan(values)]
    extreme = present.min if atom.startswith("min:") else present.max
    return float(extreme()) if len(present) else np.nan


def _none_of(total: Aggregate) -> Aggregate:
    estimate = {atom: values[:0] for atom, values in total.estimate.items()}
    return Aggregate(estimate=estimate, records=estimate[RECORDS])
