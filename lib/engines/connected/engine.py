"""The engine of connected slicers: atoms over every record that counts, worked out in the database."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

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
from lib.slicers.digits import DECIMAL_DIGITS, decimal_sum, decimals, settle
from lib.slicers.granularities import TIME_KEY_FIELDS
from lib.slicers.measures import RECORDS, Numbers, currency_number, is_additive
from lib.slicers.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import InternalError

FEW_DIGITS = 11
CURRENCY = "currency:"

Result = TypeVar("Result")


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
            return self._retry_on_change(
                slicer, lambda: self._sums(Statements(self._live, slicer, question, deadline))
            )

    def _sums(self, statements: Statements) -> Sums:
        answer = ExactAnswer(statements)
        groups, rows, total = answer.sums()
        return Sums(
            keys={str(name): pa.array(groups[name]) for name in groups},
            rows=rows,
            total=total,
            dates=statements.dates,
            records_read=statements.records,
            records_in_range=statements.records,
            not_finite=answer.not_finite,
        )

    def records(self, slicer: StoredSlicer, request: RecordsQuestion, deadline: Deadline) -> pd.DataFrame:
        """The records of a question, as `RecordsQuestion.read` has them; errors are those of `audience`."""
        times = tuple(name for name in request.names if name in TIME_KEY_FIELDS)
        with about(slicer):
            question = replace(request.question, split_by=times)
            return self._retry_on_change(
                slicer, lambda: fetch_records(Statements(self._live, slicer, question, deadline), request)
            )

    def _retry_on_change(self, slicer: StoredSlicer, work: Callable[[], Result]) -> Result:
        """Where the database refuses a statement: once more if the table has changed within the last minute.

        Misconfigured if it fits the slicer no longer.
        """
        try:
            return work()
        except InternalError as error:
            if type(error) is not InternalError or not self._live.has_changed(slicer):
                raise
            return work()


class ExactAnswer:
    """The atoms of a question: per group, and of all records.

    Sums of doubles are settled: those of more than FEW_DIGITS, which may be rounding, by the sizes of what
    was added up. Others are exact. `not_finite` is that of Sums, once the sums were fetched.
    """

    def __init__(self, statements: Statements) -> None:
        self._statements, self._atoms = statements, sorted(statements.question.atoms | {RECORDS})
        columns = statements.live.columns
        self._doubles = [
            atom
            for atom in self._atoms
            if atom.startswith("sum:") and columns.number(atom.partition(":")[2]).type().is_floating()
        ]
        kinds = ("sum", "present", "min", "max")
        names = {name for kind, _, name in (atom.partition(":") for atom in self._atoms) if kind in kinds}
        self._fields = [name for name in sorted(names) if columns.not_finite(name) is not None]
        self.not_finite: dict[str, int] = {}

    def sums(self) -> tuple[pd.DataFrame, Aggregate, Aggregate]:
        """The groups, and the atoms of each and of all records together."""
        statements, columns = self._statements, self._statements.filter()
        if not statements.question.split_by:
            total = self._total(self._fetch(columns, lambda cells: self._whole(columns, cells)))
            groups = pd.DataFrame(index=pd.RangeIndex(min(1, int(total.records[0]))))
            nothing = {atom: values[:0] for atom, values in total.estimate.items()}
            return groups, total if len(groups) else Aggregate(nothing, nothing[RECORDS]), total
        table = self._groups(columns, is_bare=not statements.has_segmented)
        # Whether the total is the sum, least or greatest of the groups.
        adds_up = not statements.has_segmented and all(
            is_additive(atom) or _is_extreme(atom) or atom.startswith(CURRENCY) for atom in self._atoms
        )
        total_row = self._total_of(table) if adds_up else None
        if total_row is None:
            total_row = self._fetch(columns, lambda cells: self._whole(columns, cells))
        names = statements.names(table)
        order = np.lexsort([names[name].cat.codes for name in reversed(names.columns)])
        return (
            names.take(order).reset_index(drop=True),
            self._aggregate(table.take(order)),
            self._total(total_row),
        )

    def _total(self, row: pa.Table) -> Aggregate:
        for place, name in enumerate(self._fields):
            if f"n{place}" in row.column_names and (count := int(row[f"n{place}"][0].as_py() or 0)):
                self.not_finite[name] = count
        return self._aggregate(row)

    def _groups(self, columns: Columns, is_bare: bool) -> pa.Table:
        """The rows of the groups. Texts that are missing are empty ones: where a group has both, it is asked
        for by texts that are never missing."""
        statements = self._statements
        table = self._fetch(columns, lambda cells: statements.group(columns, cells, self._scalars, is_bare))
        keys = [f"k{place}" for place in range(len(statements.question.split_by))]
        if not any(table[key].null_count for key in keys):
            return table
        for key in keys:
            if table[key].null_count:
                table = table.set_column(table.column_names.index(key), key, pc.fill_null(table[key], ""))
        is_repeated = table.select(keys).group_by(keys).aggregate([]).num_rows < table.num_rows
        return self._groups(columns, is_bare=False) if is_repeated else table

    def _whole(self, columns: Columns, cells: Cells) -> ir.Table:
        return columns.table.aggregate(**self._scalars(cells))

    def _fetch(self, columns: Columns, statement: Callable[[Cells], ir.Table]) -> pa.Table:
        """The rows of a statement over the cells of the atoms.

        Numbers are added up as they are; only where a result is NaN or infinite they are read once more
        without such, and so from then on. The same with the sizes of what sums of doubles add up.
        """
        statements, live = self._statements, self._statements.live
        table = statements.fetch(statement(self._cells(columns, live.is_plain)))
        names = (name for name in table.column_names if name.startswith(("a", "s")))
        figures = (table[name].cast(pa.float64()) for name in names)
        if live.is_plain and not all(pc.all(pc.is_finite(column)).as_py() for column in figures):
            live.is_plain = False
            table = statements.fetch(statement(self._cells(columns, False)))
        if not self._doubles or live.has_fractions:
            return table
        sums = np.concatenate([self._sum(table, atom) for atom in self._doubles])
        if not _has_more_digits(sums).any():
            return table
        live.has_fractions = True
        return statements.fetch(statement(self._cells(columns, live.is_plain)))

    def _cells(self, columns: Columns, is_plain: bool) -> dict[str, ir.Column]:
        fields = [] if is_plain else self._fields
        return {
            f"v{place}": self._cell(columns, atom, is_plain)
            for place, atom in enumerate(self._atoms)
            if atom != RECORDS
        } | {f"n{place}": columns.not_finite(name) for place, name in enumerate(fields)}

    def _cell(self, columns: Columns, atom: str, is_plain: bool) -> ir.Column:
        kind, _, name = atom.partition(":")
        if kind == "currency":
            return columns.text(name)
        if kind in ("distinct", "unique"):
            return columns.identity(name)
        shows_nan = kind != "present" or f"sum:{name}" in self._atoms
        return columns.number(name, is_plain and shows_nan)

    def _scalars(self, cells: Cells | ir.Table) -> dict[str, ir.Scalar]:
        scalars = {f"a{place}": _scalar(cells, atom, f"v{place}") for place, atom in enumerate(self._atoms)}
        if self._statements.live.has_fractions:
            for atom in self._doubles:
                place = self._atoms.index(atom)
                scalars[f"s{place}"] = cells[f"v{place}"].abs().sum().cast("float64").fill_null(0.0)
        for place, atom in enumerate(self._atoms):
            if atom.startswith(CURRENCY):
                scalars[f"c{place}"] = cells[f"v{place}"].max()
        columns = cells.columns if isinstance(cells, ir.Table) else cells
        counters = (f"n{place}" for place in range(len(self._fields)))
        return scalars | {name: cells[name].sum() for name in counters if name in columns}

    def _sum(self, table: pa.Table, atom: str, part: str = "a") -> Numbers:
        place = self._atoms.index(atom)
        if atom.startswith(CURRENCY):
            counts, texts = table[f"a{place}"].to_pylist(), table[f"c{place}"].to_pylist()
            numbers = [-n if n != 1 else currency_number(text) for n, text in zip(counts, texts, strict=True)]
            return np.array(numbers, dtype=np.float64)
        column = table[f"{part}{place}"]
        return np.array(column.cast(pa.float64()).to_numpy(), dtype=np.float64)

    def _aggregate(self, table: pa.Table) -> Aggregate:
        estimate = {atom: self._sum(table, atom) for atom in self._atoms}
        if self._doubles:
            sums = np.concatenate([estimate[atom] for atom in self._doubles])
            sizes = None
            if self._is_sized(table):
                sizes = np.concatenate([self._sum(table, atom, "s") for atom in self._doubles])
                sizes = np.where(_has_more_digits(sums), sizes, 0.0)
            columns = settle(sums, sizes).reshape(len(self._doubles), -1)
            estimate |= dict(zip(self._doubles, columns, strict=True))
        for atom in self._atoms:
            if atom.startswith("sum:") or _is_extreme(atom):
                estimate[atom] = estimate[atom] / self._statements.live.columns.scale(atom.partition(":")[2])
        return Aggregate(estimate=estimate, records=estimate[RECORDS])

    def _is_sized(self, table: pa.Table) -> bool:
        return any(name.startswith("s") for name in table.column_names)

    def _total_of(self, table: pa.Table) -> pa.Table | None:
        """The row of all groups together; None where sums have more digits than float64, so that it has to be
        asked for."""
        row: dict[str, float | str] = {}
        for place, atom in enumerate(self._atoms):
            if atom.startswith(CURRENCY):
                texts = pc.unique(table[f"c{place}"])
                if len(texts) != 1 or pc.max(table[f"a{place}"]).as_py() > 1:
                    return None
                row |= {f"a{place}": 1.0, f"c{place}": texts[0].as_py()}
                continue
            values = self._sum(table, atom)
            if _is_extreme(atom):
                # The least or greatest of all groups from that of each; NaN is none.
                present = values[~np.isnan(values)]
                extreme = present.min if atom.startswith("min:") else present.max
                row[f"a{place}"] = float(extreme()) if len(present) else np.nan
                continue
            if atom in self._doubles:
                has_more = self._is_sized(table) and _has_more_digits(values)
                values = np.where(has_more, values, settle(values))
            elif decimals(values) is None or np.abs(values).max(initial=0.0) >= 10**DECIMAL_DIGITS:
                return None
            row[f"a{place}"] = decimal_sum(values)
            if self._is_sized(table) and atom in self._doubles:
                row[f"s{place}"] = float(self._sum(table, atom, "s").sum())
        counters = [name for name in table.column_names if name.startswith("n")]
        row |= {name: pc.sum(table[name]).as_py() for name in counters}
        return pa.table({name: [value] for name, value in row.items()})


def _has_more_digits(sums: Numbers) -> np.ndarray:
    """Whether sums of doubles have more digits than those of a few decimals, as what rounding leaves has."""
    return np.asarray(np.isfinite(sums) & (settle(sums) != settle(sums, digits=FEW_DIGITS)))


def _scalar(cells: Cells | ir.Table, atom: str, column: str) -> ir.Scalar:
    match atom.partition(":")[0]:
        case "sum":
            total = cells[column].sum()
            if total.type().is_decimal():  # as text: databases round what they cast, each in its own way
                return total.cast("string").fill_null("0")
            cell = total.cast("float64").fill_null(0.0)
        case "present":
            cell = cells[column].count()
        case "min":
            cell = cells[column].min()
        case "max":
            cell = cells[column].max()
        case "distinct" | "unique" | "currency":
            cell = cells[column].nunique()
        case _:
            cell = ibis._.count()
    return cell.cast("float64")


def _is_extreme(atom: str) -> bool:
    return atom.startswith(("min:", "max:"))
