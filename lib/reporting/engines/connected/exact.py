"""Atoms over every record that counts, worked out in the database."""

import ibis.expr.types as ir
import numpy as np
import pandas as pd
import pyarrow as pa

from lib.reporting.engines.connected.statements import Statements
from lib.reporting.engines.sums import Aggregate, Numbers
from lib.reporting.measures import RECORDS, is_additive
from lib.wire.deadline import Deadline


class Exact:
    """Some atoms of a question, exactly: per group, and of all records."""

    def __init__(
        self, statements: Statements, atoms: frozenset[str], deadline: Deadline | None = None
    ) -> None:
        self._asked, self._atoms = statements, sorted(atoms | {RECORDS})
        self._deadline = deadline or statements.deadline

    def answer(self) -> tuple[pd.DataFrame, Aggregate, Aggregate]:
        """The groups, and the atoms of each and of all records together."""
        statements, columns = self._asked, self._asked.live.columns
        cells = {f"v{place}": self._cell(atom) for place, atom in enumerate(self._atoms) if atom != RECORDS}
        if not statements.question.split_by:
            total = self._aggregate(
                statements.fetch(statements.whole(columns, cells, self._aggregates), self._deadline)
            )
            groups = pd.DataFrame(index=pd.RangeIndex(min(1, int(total.drawn[0]))))
            return groups, total if len(groups) else _none_of(total), total
        found = statements.fetch(statements.grouped(columns, cells, self._aggregates), self._deadline)
        rows = self._aggregate(found)
        if self._adds_up():
            return statements.names(found), rows, _total_of(rows)
        whole = statements.fetch(statements.whole(columns, cells, self._aggregates), self._deadline)
        return statements.names(found), rows, self._aggregate(whole)

    def _cell(self, atom: str) -> ir.Column:
        kind, _, name = atom.partition(":")
        columns = self._asked.live.columns
        return columns.identity(name) if kind in ("distinct", "unique") else columns.number(name)

    def _aggregates(self, table: ir.Table) -> dict[str, ir.Scalar]:
        return {f"a{place}": _aggregated(table, atom, f"v{place}") for place, atom in enumerate(self._atoms)}

    def _aggregate(self, found: pa.Table) -> Aggregate:
        estimate = {
            atom: np.array(found[f"a{place}"].to_numpy(), dtype=np.float64)
            for place, atom in enumerate(self._atoms)
        }
        return Aggregate(estimate=estimate, drawn=estimate[RECORDS])

    def _adds_up(self) -> bool:
        """Whether the total is the sum, least or greatest of the groups."""
        return not self._asked.has_segmented and all(
            is_additive(atom) or _is_extreme(atom) for atom in self._atoms
        )


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


def _total_of(rows: Aggregate) -> Aggregate:
    estimate = {atom: np.array([_together(atom, values)]) for atom, values in rows.estimate.items()}
    return Aggregate(estimate=estimate, drawn=estimate[RECORDS])


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
