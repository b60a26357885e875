"""The resident engine: opens layouts and answers questions on them. One per process, safe among threads."""

from collections.abc import Callable, Sequence

import numpy as np

from lib.reporting.engines.resident.build import build
from lib.reporting.engines.resident.checksums import Damaged, Replaced
from lib.reporting.engines.resident.draw import Draw
from lib.reporting.engines.resident.identities import count_distinct, extreme, users_below
from lib.reporting.engines.resident.layout import Floats, Ints
from lib.reporting.engines.resident.needed import needed_bytes
from lib.reporting.engines.resident.opened import OpenLayouts
from lib.reporting.engines.resident.query import Query
from lib.reporting.engines.sums import Aggregate, Question, Sums, check_bytes
from lib.reporting.measures import RECORDS, is_additive
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import DeadlineExceeded, Misconfigured

ATTEMPTS = 3


class ResidentEngine:
    """Answers questions from memory-mapped layouts, which it builds when they are not there."""

    def __init__(self, threads: int = 2) -> None:
        """`threads` add up the parts of one question."""
        self.threads = threads
        self._layouts = OpenLayouts()

    def audience(self, stored: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """See Engine."""
        for _ in range(ATTEMPTS):
            layout = self._layouts.layout(stored, deadline)
            try:
                return _answer(Query(layout, stored, question, deadline, self.threads))
            except Replaced:
                self._layouts.forget(layout)
            except Damaged as damage:
                self._layouts.replace(stored, layout, damage.reason)
        raise Misconfigured(
            f"{stored.layout_folder} holds the layout of {stored.project}/{stored.name} and is damaged again "
            "after it was rebuilt from the rows: check the disk"
        )


def prepare(stored: StoredSlicer, progress: Callable[[float], None] | None = None) -> None:
    """Build a slicer's layout ahead of the first question; `progress` hears shares from 0 to 1."""
    build(stored, progress)


def _answer(query: Query) -> Sums:
    check_bytes(needed_bytes(query), query.question.max_bytes)
    place = None if query.is_timed else query.grid_place
    sample, missing = None, {}
    if place is None:
        keys, columns, whole = query.from_hours() if query.is_timed else query.from_records()
        rows, total = _exact(query, columns), _exact(query, list(whole[:, None]))
    else:
        draw = Draw(query.layout, float(query.layout.grid[place]), query.atoms, sorted(query.question.pairs))
        keys, sums, whole = query.from_sample(draw, place)
        rows, total = draw.aggregate(sums), draw.aggregate(whole[None, :])
        sample, missing = draw.sample(), draw.missing(sums)
        if query.is_unfiltered:
            total = _exact(query, list(query.total_from_hours()[:, None]))
    unread = _identities(query, keys, rows, total, place is not None)
    read = query.records_in_range if place is None else query.records_drawn(place)
    return Sums(
        groups=query.split.frame(keys),
        rows=rows,
        total=total,
        dates=query.dates,
        records_read=read,
        records_in_range=query.records_in_range,
        sample=sample,
        missing=missing,
        unread=unread,
    )


def _exact(query: Query, columns: Sequence[Floats]) -> Aggregate:
    estimate = dict(zip(query.atoms, columns, strict=True))
    return Aggregate(estimate=estimate, drawn=estimate[RECORDS])


def _identities(query: Query, keys: Ints, rows: Aggregate, total: Aggregate, sampled: bool) -> frozenset[str]:
    """Add the atoms that can't be added up to both aggregates; returns those that would take too long."""
    unread = set()
    for atom in sorted(atom for atom in query.question.atoms if not is_additive(atom)):
        try:
            found, whole, share = _identity(query, keys, atom, sampled)
        except DeadlineExceeded:
            if not sampled or query.deadline.remaining() == 0:
                raise
            unread.add(atom)
            found, whole, share = np.full(len(keys), np.nan), float("nan"), 1.0
        for aggregate, values in ((rows, found), (total, np.array([whole]))):
            aggregate.estimate[atom] = values
            aggregate.share[atom] = share
            aggregate.users[atom] = query.users(atom)
    return frozenset(unread)


def _identity(query: Query, keys: Ints, atom: str, sampled: bool) -> tuple[Floats, float, float]:
    """One such atom: its values per key and for all records, and the share of users that it was counted on.

    Under sampling all records are read all the same, but in half of the time that is left.
    """
    kind, _, name = atom.partition(":")
    deadline = query.deadline.half() if sampled else query.deadline
    if kind in ("min", "max"):
        return *extreme(
            query.memberships(keys), query.layout.value(name), kind == "max", len(keys), deadline
        ), 1.0
    codes, values = query.layout.distinct(name), query.layout.contents.distinct[name].values
    if kind == "distinct" or query.fits:
        return *count_distinct(query.memberships(keys), codes, values, len(keys), deadline), 1.0
    records, users = users_below(query.layout.by_user(name), codes, query.users_budget)
    counted = query.memberships(keys, query.in_period(records))
    found, whole = count_distinct(counted, codes, users, len(keys), deadline)
    share = users / values
    return found / share, whole / share, share
