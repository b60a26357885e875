"""The tools side by side: each answers a case, and gives keys and figures for the comparison."""

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from lib.engines import Question, prepare
from lib.engines.resident import ResidentEngine
from lib.slicers.definition import Definition
from lib.slicers.measures import pairs
from lib.slicers.warehouse import StoredSlicer, Warehouse
from lib.wire.deadline import Deadline
from lib.wire.filters import Filter
from splits.rows import CARDINALITY, SITES, Case

THREADS = 2
Columns = tuple[list[np.ndarray], list[np.ndarray]]


class Tranche:
    """The resident engine on a slicer in `folder`."""

    def __init__(self, rows: pd.DataFrame, fields: list[str], folder: Path) -> None:
        self.fields, self.stored = fields, store(rows, fields, folder)
        self.engine = ResidentEngine(THREADS)

    def ask(self, case: Case) -> Any:
        """Sums of every record."""
        return self.engine.audience(self.stored, self.question(case), Deadline())

    def question(self, case: Case) -> Question:
        """The case as a question about every record."""
        return question(self.stored, case)

    def columns(self, case: Case, answer: Any) -> Columns:
        """Keys and figures of such an answer."""
        atoms = ["unique:users"] if case.distinct else [f"sum:{name}" for name in self.fields]
        keys = [answer.groups[name].astype(object).to_numpy() for name in answer.groups]
        return keys, [answer.rows.estimate[atom] for atom in atoms]

    def bytes(self) -> int:
        """The layout on disk, which is mapped."""
        return sum(path.stat().st_size for path in self.stored.layout_folder.iterdir())


class DuckDB:
    """A table in memory, key fields as enums."""

    def __init__(self, rows: pd.DataFrame, fields: list[str]) -> None:
        self.fields, self.db = fields, duckdb.connect()
        self.db.execute(f"set threads to {THREADS}")
        given = pa.Table.from_pandas(rows, preserve_index=False)  # noqa: F841
        self.db.execute("create table t as select * from given")

    def query(self, case: Case) -> str:
        """The case in SQL."""
        keys = [*(["tag"] if case.segmented else []), *case.split]
        figures = ["count(distinct users)"] if case.distinct else [f"sum({name})" for name in self.fields]
        names = ", ".join(f"'{site}'" for site in SITES)
        return (
            f"select {', '.join([*keys, *figures])} from "
            + ("(select unnest(tags) as tag, * from t)" if case.segmented else "t")
            + (f" where site in ({names})" if case.filtered else "")
            + f" group by {', '.join(keys)}"
        )

    def ask(self, case: Case) -> Any:
        """The answer as numpy columns."""
        return self.db.execute(self.query(case)).fetchnumpy()

    def columns(self, case: Case, answer: Any) -> Columns:
        """Keys and figures of such an answer."""
        found, keys = list(answer.values()), len(case.split) + case.segmented
        return [np.asarray(key, dtype=object) for key in found[:keys]], found[keys:]


class Polars:
    """A frame, key fields as enums."""

    def __init__(self, rows: pd.DataFrame, fields: list[str]) -> None:
        self.fields, self.frame = fields, pl.from_pandas(rows)

    def ask(self, case: Case) -> Any:
        """The answer as a frame."""
        frame = self.frame.lazy()
        if case.filtered:
            frame = frame.filter(pl.col("site").is_in(list(SITES)))
        if case.segmented:
            frame = frame.explode("tags")
        figures = [pl.col("users").n_unique()] if case.distinct else [pl.col(n).sum() for n in self.fields]
        keys = ["tags", *case.split] if case.segmented else list(case.split)
        return frame.group_by(keys).agg(figures).collect()

    def columns(self, case: Case, answer: Any) -> Columns:
        """Keys and figures of such an answer."""
        keys, found = len(case.split) + case.segmented, answer.get_columns()
        texts = [key.cast(pl.String).to_numpy() for key in found[:keys]]
        return texts, [one.to_numpy() for one in found[keys:]]


class Pandas:
    """A frame, key fields as categories."""

    def __init__(self, rows: pd.DataFrame, fields: list[str]) -> None:
        self.fields, self.frame = fields, rows

    def ask(self, case: Case) -> Any:
        """The answer as a frame indexed by its keys."""
        frame = self.frame[self.frame["site"].isin(SITES)] if case.filtered else self.frame
        if case.segmented:
            frame = frame[["tags", *self.fields]].explode("tags")
        keys = ["tags", *case.split] if case.segmented else list(case.split)
        grouped = frame.groupby(keys, observed=True)
        return grouped[["users"]].nunique() if case.distinct else grouped[self.fields].sum()

    def columns(self, case: Case, answer: Any) -> Columns:
        """Keys and figures of such an answer."""
        flat = answer.reset_index()
        keys = len(flat.columns) - len(answer.columns)
        texts = [flat[name].astype(object).to_numpy() for name in flat.columns[:keys]]
        return texts, [flat[name].to_numpy() for name in flat.columns[keys:]]


def definition(fields: list[str]) -> Definition:
    """The definition of the slicer bench/rows with these data fields."""
    return Definition.model_validate(
        {
            "time": {"column": "time", "granularity": "hour"},
            "key_fields": [*({"name": name} for name in CARDINALITY), {"name": "tags", "segmented": "|"}],
            "data_fields": [{"name": name} for name in fields],
            "audience_sources": [{"name": "users"}],
        }
    )


def question(stored: StoredSlicer, case: Case, rows_limit: int | None = None) -> Question:
    """The case as a question about all days; exact, or from a sample of at most so many records."""
    days = list(stored.rows)
    found = [known for name, known in stored.measures.items() if (name == "unique_users") == case.distinct]
    return Question(
        first=days[0],
        last=days[-1],
        timezone=0,
        split_by=(*(("tags",) if case.segmented else ()), *case.split),
        filters=(Filter(name="site", match="equals", value=SITES),) if case.filtered else (),
        atoms=frozenset().union(*(known.atoms for known in found)),
        pairs=pairs(found) if rows_limit is not None else frozenset(),
        rows_limit=rows_limit,
    )


def store(rows: pd.DataFrame, fields: list[str], folder: Path) -> StoredSlicer:
    """The rows as the slicer bench/rows in a warehouse, with its layout built."""
    known = definition(fields)
    warehouse = Warehouse(folder)
    with warehouse.writer("bench", "rows", known) as writer:
        table = pa.Table.from_pandas(rows, preserve_index=False)
        writer.write(table.select(known.schema().names).cast(known.schema()))
        writer.commit("made", "0")
    stored = warehouse.open("bench", "rows")
    prepare(stored)
    return stored
