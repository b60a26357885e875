"""The resident engine: opens layouts, bounds memory, answers queries. One per process, thread-safe.

Building a layout doesn't block other slicers. A layout is verified in the background once it is open, and
again when it is used an hour later.
"""

import functools
import math
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, TimeoutError
from pathlib import Path

import numpy as np

from lib.engines.resident.accumulate import Rows, chunks, count
from lib.engines.resident.adding import LARGEST_PIECE
from lib.engines.resident.build import build, log_damage, put_aside
from lib.engines.resident.checksums import DamagedLayout, ReplacedLayout
from lib.engines.resident.draw import Draw
from lib.engines.resident.identities import count_distinct, extreme, only_value, users_below
from lib.engines.resident.lanes import Floats
from lib.engines.resident.layout import Ints, Layout
from lib.engines.resident.query import Query
from lib.engines.sums import Aggregate, Question, Sums, check_bytes
from lib.slicers.digits import settle
from lib.slicers.measures import RECORDS, currency_number, is_additive
from lib.slicers.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import Damaged, DeadlineExceeded

COPIES = 3  # sums of each of two threads, and of both together
SIDES = 5  # of a data field in an answer: value, percent, low, high, n_eff
NAME_BYTES, KEY_BYTES, NUMBER_BYTES = 40, 16, 8
PLACE_BYTES = 8  # the place of an element's group, and where a record's elements end
MOST_OPEN = 32
SECONDS_BETWEEN_CHECKS = 0.25
SECONDS_UNTIL_VERIFIED_AGAIN = 3600
ATTEMPTS = 3


def needed_bytes(query: Query) -> int:
    """The most bytes that sums, keys and answer take together; what is mapped from disk is not counted.

    Filters are not looked at: what they leave is known only afterwards.
    """
    if query.is_timed:
        return 0
    place = query.grid_place
    records = query.records_in_range if place is None else query.draw_size(place)
    # How many pairs of a record and a group the period has, and the most that one piece of it has.
    columns = query.layout.contents.keys
    names = [field.name for field in query.split.fields if field.hours is None]
    pieces = chunks(query.layout, query.period, None, LARGEST_PIECE)
    counts = [_products(query, piece, [n for n in names if columns[n].segmented]) for piece in pieces]
    every, largest_piece = sum(counts), max(counts, default=0)
    elements = math.ceil(every * records / max(1, query.records_in_range))
    groups = min(query.split.groups, elements)
    if query.question.max_groups is not None:
        groups = min(groups, query.question.max_groups)
    width = query.addends.width if place is None else 3 * len(query.atoms) + len(query.question.pairs)
    sums = COPIES * groups * NUMBER_BYTES * width
    fields = max(1, len(query.question.atoms))
    answer = groups * (SIDES * fields * NUMBER_BYTES + NAME_BYTES * len(query.split.fields))
    piece = min(elements, largest_piece) * 2 * KEY_BYTES * query.threads
    # The largest set of pairs of a group and a value that a distinct count may need.
    distinct = query.layout.contents.distinct
    distinct_names = (atom.partition(":")[2] for atom in query.question.atoms if not is_additive(atom))
    values = [distinct[name].values for name in distinct_names if name in distinct]
    identities = max((KEY_BYTES * min(elements, groups * value) for value in values), default=0)
    return sums + answer + piece + PLACE_BYTES * elements + identities


def _products(query: Query, piece: Rows, segmented: list[str]) -> int:
    """How many combinations of elements these records have, of these key fields."""
    if not segmented or not isinstance(piece, slice):
        return count(piece)
    edges = [query.layout.indptr(name, slice(piece.start, piece.stop + 1)) for name in segmented]
    if len(edges) == 1:
        return int(edges[0][-1] - edges[0][0])
    return int(functools.reduce(np.multiply, map(np.diff, edges)).sum())


class ResidentEngine:
    """Answers questions from memory-mapped layouts, which it builds when they are not there."""

    def __init__(self, threads: int = 2) -> None:
        """`threads` add up the parts of one question."""
        self.threads = threads
        self._layouts = OpenLayouts()

    def audience(self, slicer: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """See Engine."""
        for _ in range(ATTEMPTS):
            try:
                layout = self._layouts.layout(slicer, deadline)
            except DamagedLayout:  # another process or thread put it aside while it was opened
                continue
            try:
                return _answer(Query(layout, slicer, question, deadline, self.threads))
            except ReplacedLayout:
                self._layouts.forget(layout)
            except DamagedLayout as damage:
                self._layouts.replace(slicer, layout, damage.reason)
        raise Damaged(
            f"{slicer.layout_folder} holds the layout of {slicer.project}/{slicer.name} and is damaged again "
            "after it was rebuilt from the rows: check the disk"
        )


def repair(slicer: StoredSlicer) -> str | None:
    """What is damaged in a slicer's layout, which is rebuilt from the rows then; None where it is intact."""
    try:
        damage = Layout(slicer.layout_folder).damage()
    except DamagedLayout as error:
        damage = error.reason
    if damage is not None:
        put_aside(slicer.layout_folder)
        build(slicer)
    return damage


def _answer(query: Query) -> Sums:
    check_bytes(needed_bytes(query), query.question.max_bytes)
    place = None if query.is_timed else query.grid_place
    sample, missing = None, {}
    if place is None:
        keys, columns, whole = query.from_hours() if query.is_timed else query.from_records()
        rows, total = _exact(query, columns), _exact(query, whole)
    else:
        draw = Draw(query.layout, float(query.layout.grid[place]), query.atoms, sorted(query.question.pairs))
        keys, sums, drawn_total = query.from_sample(draw, place)
        rows, total = draw.aggregate(sums), draw.aggregate(drawn_total[None, :])
        sample, missing = draw.sample(), draw.missing(sums)
        if query.is_unfiltered:
            total = _exact(query, query.total_from_hours())
    unread = _identities(query, keys, rows, total, place is not None)
    read = query.records_in_range if place is None else query.draw_size(place)
    return Sums(
        keys=query.split.columns(keys),
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
    return Aggregate(estimate=estimate, records=estimate[RECORDS])


def _identities(query: Query, keys: Ints, rows: Aggregate, total: Aggregate, sampled: bool) -> frozenset[str]:
    """Add the atoms that can't be added up to both aggregates; returns those that would take too long."""
    unread = set()
    for atom in sorted(atom for atom in query.question.atoms if not is_additive(atom)):
        try:
            counts, whole, share = _identity(query, keys, atom, sampled)
        except DeadlineExceeded:
            if not sampled or query.deadline.remaining() == 0:
                raise
            unread.add(atom)
            counts, whole, share = np.full(len(keys), np.nan), float("nan"), 1.0
        for aggregate, values in ((rows, counts), (total, np.array([whole]))):
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
    if kind == "currency":
        numbers = np.array([currency_number(text) for text in query.layout.dictionary(name).to_pylist()])
        if len(numbers) == 1:
            return np.full(len(keys), numbers[0]), float(numbers[0]) * bool(len(keys)), 1.0
        members, codes = query.memberships(keys), query.layout.codes(name)
        return *only_value(members, codes, numbers, len(keys), deadline), 1.0
    codes, values = query.layout.distinct(name), query.layout.contents.distinct[name].values
    if kind == "distinct" or query.fits:
        return *count_distinct(query.memberships(keys), codes, values, len(keys), deadline), 1.0
    records, users = users_below(query.layout.by_user(name), codes, query.users_budget)
    members = query.memberships(keys, query.in_period(records))
    counts, whole = count_distinct(members, codes, users, len(keys), deadline)
    share = users / values
    return settle(counts / share), float(settle(np.array(whole / share))), share


class OpenLayouts:
    """Layouts by folder, the most recently used ones; safe among threads."""

    def __init__(self) -> None:
        self._open: dict[Path, Layout] = {}
        self._opening: dict[Path, Future[Layout]] = {}
        self._lock, self._verifying, self._replacing = threading.Lock(), threading.Lock(), threading.Lock()

    def layout(self, slicer: StoredSlicer, deadline: Deadline) -> Layout:
        """The layout of the slicer's version, built if it is not there whole.

        Building goes on by itself, also past the deadline of those who wait for it.
        """
        folder = slicer.layout_folder
        with self._lock:
            layout = self._open.get(folder)
        if layout is not None:
            try:
                layout.refresh()
            except ReplacedLayout:
                self.forget(layout)
                layout = None
            except DamagedLayout as damage:
                self.replace(slicer, layout, damage.reason)
                layout = None
        layout = layout or self._open_layout(slicer, deadline)
        self._keep(folder, layout)
        self._verify_when_due(slicer, layout)
        return layout

    def forget(self, layout: Layout) -> None:
        """Don't answer from this layout any more."""
        with self._lock:
            if self._open.get(layout.folder) is layout:
                del self._open[layout.folder]

    def replace(self, slicer: StoredSlicer, layout: Layout, reason: str) -> None:
        """Put a damaged layout aside, so that the next question builds another.

        It goes before it is forgotten: a question in between would open it again, damaged as it is.
        """
        with self._replacing:
            if not layout.is_replaced:
                log_damage(slicer, reason)
                put_aside(layout.folder)
        self.forget(layout)

    def _verify_when_due(self, slicer: StoredSlicer, layout: Layout) -> None:
        with self._lock:
            if time.monotonic() < layout.verify_after:
                return
            layout.verify_after = time.monotonic() + SECONDS_UNTIL_VERIFIED_AGAIN
        name = f"checksums of {slicer.name}"
        threading.Thread(target=self._verify, args=(slicer, layout), name=name, daemon=True).start()

    def _verify(self, slicer: StoredSlicer, layout: Layout) -> None:
        """Verify a layout, one after the other: a start doesn't read all of them at once."""
        try:
            with self._verifying:
                layout.verify()
        except ReplacedLayout:
            self.forget(layout)
        except DamagedLayout as damage:
            self.replace(slicer, layout, damage.reason)

    def _open_layout(self, slicer: StoredSlicer, deadline: Deadline) -> Layout:
        with self._lock:
            opening = self._opening.get(slicer.layout_folder)
            if opening is None:
                opening = self._opening[slicer.layout_folder] = Future()
                name = f"layout of {slicer.name}"
                threading.Thread(target=self._build, args=(slicer, opening), name=name, daemon=True).start()
        while True:
            deadline.check()
            try:
                return opening.result(SECONDS_BETWEEN_CHECKS)
            except TimeoutError:
                continue

    def _build(self, slicer: StoredSlicer, opening: "Future[Layout]") -> None:
        try:
            layout = Layout(build(slicer))
            self._keep(slicer.layout_folder, layout)
            opening.set_result(layout)
        except BaseException as error:
            opening.set_exception(error)
        finally:
            with self._lock:
                self._opening.pop(slicer.layout_folder, None)

    def _keep(self, folder: Path, layout: Layout) -> None:
        with self._lock:
            self._open.pop(folder, None)
            self._open[folder] = layout
            while len(self._open) > MOST_OPEN:
                del self._open[next(iter(self._open))]
