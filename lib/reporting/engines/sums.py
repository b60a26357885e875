"""The seam between the API and whatever adds things up: a Question goes in, Sums come out.

An engine knows atoms, not data fields: an atom is one column aggregated one way (measures.py names them).
"""

from dataclasses import dataclass, field
from datetime import date
from typing import Protocol

import numpy as np
import pandas as pd

from lib.reporting.models import Filter
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline

Numbers = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
Pair = tuple[str, str]


@dataclass(frozen=True)
class Question:
    """What an engine is asked.

    `atoms` are the columns to aggregate; `pairs` those additive atoms whose joint second moments a formula's
    error needs; `first` and `last` are days in the zone `timezone` (hours east of UTC); `rows_limit` the most
    records to read, None for all of them; `max_groups` the most groups that may come back.
    """

    first: date
    last: date
    timezone: int
    split_by: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()
    atoms: frozenset[str] = frozenset()
    pairs: frozenset[Pair] = frozenset()
    rows_limit: int | None = None
    max_groups: int | None = None


@dataclass(frozen=True)
class Sample:
    """How records were drawn (engine.md, Sampling).

    `typical` is the mean of an atom over the light records drawn (those with a weight above 1), `max_weight`
    the largest weight that a record in the slicer can have, `signed` the atoms with negative values.
    """

    max_weight: float
    typical: dict[str, float]
    signed: frozenset[str]


@dataclass(frozen=True)
class Aggregate:
    """Atoms over G groups; every array has length G.

    `estimate` holds Σ w·y for additive atoms, and the value itself for the others (NaN: nothing there). The
    rest is there for atoms that were sampled: `certain` Σ y over records with w = 1; `moments`
    Σ w(w-1)·a·b per pair of atoms; `drawn` how many records fell in a group; `share` the share of users
    that a `unique:` atom was counted on, of the slicer's `users`. `exact` says that nothing was left out
    of the additive atoms.
    """

    estimate: dict[str, Numbers]
    drawn: Numbers
    exact: bool = True
    certain: dict[str, Numbers] = field(default_factory=dict)
    moments: dict[Pair, Numbers] = field(default_factory=dict)
    share: dict[str, float] = field(default_factory=dict)
    users: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Sums:
    """The answer of an engine.

    `groups` has one row per group and one Categorical column per split field, named by it; its categories
    are sorted by text. `dates` are the days with data in the range, whatever the filters. `missing` is, per
    additive atom, the volume expected in groups that no record of the sample fell in. `unread` names atoms
    that would have taken longer than the deadline allowed.
    """

    groups: pd.DataFrame
    rows: Aggregate
    total: Aggregate
    dates: tuple[date, ...]
    records_read: int
    records_in_range: int
    sample: Sample | None = None
    missing: dict[str, float] = field(default_factory=dict)
    unread: frozenset[str] = frozenset()


class Engine(Protocol):
    """Turns questions about a stored slicer into sums."""

    def audience(self, stored: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """The sums; raises BadRequest (too many groups) and DeadlineExceeded."""
        ...
