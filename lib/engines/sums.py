"""The seam between the API and whatever adds things up: a Question goes in, Sums come out.

An engine knows atoms, not data fields: an atom is one column aggregated one way (measures.py names them).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

import numpy as np
import pandas as pd
import pyarrow as pa

from lib.slicers.measures import Numbers, is_additive
from lib.slicers.warehouse import StoredSlicer
from lib.slicers.zones import Zone
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest, Misconfigured
from lib.wire.filters import Filter

Pair = tuple[str, str]
Keys = Mapping[str, pa.DictionaryArray]


@dataclass(frozen=True, eq=False)
class Question:
    """A question to an engine, about the records that pass all `filters` and any of each group of `any_of`.

    `atoms` are the columns to aggregate; `pairs` those additive atoms whose joint second moments a formula's
    error needs; `first` and `last` are days in the zone `timezone`; `rows_limit` the most records to read,
    None for all of them; `max_groups` the most groups that may come back, `max_bytes` the most memory that
    may be needed. `within` has a row per group of a split and a text column per key field, named by it: only
    records that belong to one of these groups count, each once.
    """

    first: date
    last: date
    timezone: Zone
    split_by: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    any_of: tuple[tuple[Filter, ...], ...] = ()
    atoms: frozenset[str] = frozenset()
    pairs: frozenset[Pair] = frozenset()
    rows_limit: int | None = None
    max_groups: int | None = None
    max_bytes: int | None = None
    within: pd.DataFrame | None = None

    @property
    def clauses(self) -> tuple[tuple[Filter, ...], ...]:
        """All filters as groups, of each of which any holds: those of `filters` have one of their own."""
        return (*((filter_,) for filter_ in self.filters), *self.any_of)


@dataclass(frozen=True)
class Sample:
    """How records were drawn (docs/computation.md, Samples).

    `contribution` is, per atom, what one more record that was drawn with a weight above 1 usually adds, and
    `moments` the mean w(w-1)·a·b of such records per pair; `signed` are the atoms with negative values, and
    `bounds` limits that a data field can't leave in any group (None: no limit on that side).
    """

    contribution: dict[str, float]
    moments: dict[Pair, float]
    signed: frozenset[str]
    bounds: Mapping[str, tuple[float | None, float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Aggregate:
    """Atoms over G groups; every array has length G.

    `estimate` holds Σ w·y for additive atoms, and the value itself for the others (NaN: nothing there). The
    rest is there for atoms that were sampled: `certain` Σ y over records with w = 1; `moments`
    Σ w(w-1)·a·b per pair of atoms; `records` how many records fell in a group; `share` the share of users
    that a `unique:` atom was counted on, of the slicer's `users`. `exact` says that nothing was left out
    of the additive atoms.
    """

    estimate: dict[str, Numbers]
    records: Numbers
    exact: bool = True
    certain: dict[str, Numbers] = field(default_factory=dict)
    moments: dict[Pair, Numbers] = field(default_factory=dict)
    share: dict[str, float] = field(default_factory=dict)
    users: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sums:
    """The answer of an engine.

    `keys` has a column per split field, named by it, with a row per group; dictionaries are sorted by text,
    and rows by their places there. `dates` are the days with data in the range, whatever the filters.
    `missing` is, per additive atom, the volume expected in groups that no record of the sample fell in.
    `unread` names atoms that would have taken longer than the deadline allowed. `not_finite` is how many
    records have NaN or an infinite number in a data field, where any has: it counts as missing.
    """

    keys: Keys
    rows: Aggregate
    total: Aggregate
    dates: tuple[date, ...]
    records_read: int
    records_in_range: int
    sample: Sample | None = None
    missing: dict[str, float] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()
    not_finite: Mapping[str, int] = field(default_factory=dict)

    @property
    def groups(self) -> pd.DataFrame:
        """The keys as a frame of Categoricals."""
        columns = {name: column.to_pandas() for name, column in self.keys.items()}
        return pd.DataFrame(columns, index=pd.RangeIndex(len(self.rows.records)))

    def check_finite(self, slicer: str) -> None:
        """Raise Misconfigured when a sum is no number, or too large for one: it is no answer."""
        aggregates = (self.rows.estimate, self.total.estimate)
        with np.errstate(all="ignore"):
            totals = {
                atom: sum(e[atom].sum() for e in aggregates) for atom in filter(is_additive, aggregates[0])
            }
        for atom in (atom for atom, total in totals.items() if not np.isfinite(total)):
            name = atom.partition(":")[2] or atom
            raise Misconfigured(
                f"The sum of {name} in {slicer} is not a finite number: `tranche verify` finds "
                "damaged files; if there are none, the rows have numbers that are too large to add "
                "up: import them again without these"
            )


class Engine(Protocol):
    """Turns questions about a stored slicer into sums."""

    def audience(self, slicer: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """The sums; raises BadRequest (too many groups) and DeadlineExceeded."""
        ...


def check_groups(groups: int, most: int | None) -> None:
    """Raise BadRequest when an answer would have more than `most` rows (specification, Errors)."""
    if most is not None and groups > most:
        raise BadRequest(
            f"This split gives more than {most:,} rows; "
            "split by fewer key fields, ask for fewer days or add a filter"
        )


def check_bytes(size: int, most: int | None) -> None:
    """Raise BadRequest when a question may need more than `most` bytes of memory."""
    if most is not None and size > most:
        raise BadRequest(
            f"This question may need {size / 1e6:,.0f} MB of memory, more than the {most / 1e6:,.0f} MB "
            "allowed; split by fewer key fields, ask for fewer data fields or fewer days"
        )
