"""The answer to an AudienceQuery: one value, by columns, with the totals that belong to it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pandas as pd

Values = dict[str, float | None]


@dataclass(frozen=True)
class Total:
    """The summary of the whole result (specification, Audience / export result fields).

    `missing` is, per additive data field, the volume expected in rows that no record of the sample fell in
    (*extension*). `low`, `high` and `n_eff` are there when the question asked for precision.
    """

    values: Values
    records_found: int
    dates: tuple[str, ...] = ()
    confidence_range: str | None = None
    missing: Values = field(default_factory=dict)
    low: Values = field(default_factory=dict)
    high: Values = field(default_factory=dict)
    n_eff: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Precision:
    """How many records were read (*extension*).

    `unread` names data fields that would have taken longer than the deadline allowed. `exact_milliseconds` is
    what an answer from all records in range is expected to take, where the service says so.
    """

    records_read: int
    records_in_range: int
    unread: tuple[str, ...] = ()
    exact_milliseconds: int | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether fewer records were read than there are."""
        return self.records_read < self.records_in_range


@dataclass(frozen=True)
class Audience:
    """Rows and their total. All frames have one row per result row, in the order of the answer.

    `names` and `descriptions` have a text column per split key field; `values` and `percents` a float
    column per data field (NaN: nothing there; `percents` has only the additive ones). `low`, `high` and
    `n_eff` are there when the question asked for precision, `confidence_range` when records were sampled.
    """

    names: pd.DataFrame
    values: pd.DataFrame
    percents: pd.DataFrame
    total: Total
    descriptions: pd.DataFrame | None = None
    confidence_range: pd.Series | None = None
    low: pd.DataFrame | None = None
    high: pd.DataFrame | None = None
    n_eff: pd.DataFrame | None = None
    precision: Precision | None = None

    def __len__(self) -> int:
        return len(self.values)


def number_frame(block: npt.NDArray[np.float64], names: Iterable[str]) -> pd.DataFrame:
    """The columns of a block (rows × names) of float64."""
    return pd.DataFrame(block, index=pd.RangeIndex(len(block)), columns=_index(tuple(names)))


def texts_at(categories: pd.DataFrame, rows: npt.NDArray[np.intp]) -> pd.DataFrame:
    """The rows at these places of a frame of categories, as texts."""
    columns = {}
    for name, column in categories.items():
        texts = column.array.categories.array.take(np.asarray(column.array.codes)[rows])
        columns[name] = texts if isinstance(texts.dtype, pd.StringDtype) else texts.astype("str")
    return pd.DataFrame(columns, index=pd.RangeIndex(len(rows)))


@lru_cache(maxsize=1024)
def _index(names: tuple[str, ...]) -> pd.Index:
    """Shared by frames, and among threads: its table of places is made before anybody has it."""
    index = pd.Index(names) if names else pd.RangeIndex(0)
    index.get_indexer(index)
    return index
