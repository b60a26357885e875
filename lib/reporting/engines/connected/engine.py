"""The engine of connected slicers: exact, or estimates from the sample that was written beside the rows."""

from dataclasses import dataclass
from functools import cached_property

import ibis
import ibis.expr.types as ir
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from lib.reporting.dates import format_time
from lib.reporting.engines.connected.columns import DAY_HOURS, Columns
from lib.reporting.engines.connected.exact import Exact
from lib.reporting.engines.connected.live import LiveSample, LiveSlicers
from lib.reporting.engines.connected.samples import HOUR, ORDER, SIZE, WHOLE, DrawnColumns, semantic
from lib.reporting.engines.connected.statements import FIRST_DAY, Cells, Statements
from lib.reporting.engines.resident import sampling
from lib.reporting.engines.resident.sampling import SMALLEST_SAMPLE
from lib.reporting.engines.sample_sums import REFERENCE_RECORDS, SampleSums
from lib.reporting.engines.sums import Aggregate, Numbers, Question, Sample, Sums
from lib.reporting.measures import RECORDS, is_additive
from lib.reporting.models import TIME_KEY_FIELDS
from lib.reporting.warehouse import StoredSlicer
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned, DeadlineExceeded


@dataclass(frozen=True)
class Plan:
    """Records with q below `tau` of the sample, but for the days `changed_days`, which are read whole.

    `reads` is how many records that is.
    """

    sample: LiveSample
    tau: float
    changed_days: frozenset[int]
    reads: int


def plan_of(statements: Statements) -> Plan | None:
    """The largest draw within the question's limit of rows, as the resident engine takes it (accumulate.py).

    None where all records are to be read: without a limit or a sample, where they are within the limit, or
    where the sample has too few of them.
    """
    sample, limit = statements.live.sample, statements.question.rows_limit
    if sample is None or limit is None or statements.records <= limit:
        return None
    manifest, hourly = sample.manifest, statements.live.definition.time.granularity == "hour"
    own, zone = (statements.live.definition.timezone, statements.question.timezone) if hourly else (0, 0)
    begin, end = (
        (day - FIRST_DAY).days * DAY_HOURS for day in (statements.question.first, statements.question.last)
    )
    opens = np.array(manifest.days, dtype=np.int64) * DAY_HOURS - own + zone
    overlaps = (opens < end + DAY_HOURS) & (opens + DAY_HOURS > begin)
    is_usable = overlaps & ~np.isin(manifest.days, sorted(sample.changed_days))
    days_now = (statements.live.shown_hours(own) // DAY_HOURS)[statements.inside]
    is_changed = np.isin(days_now, sorted(sample.changed_days))
    whole = int(statements.live.counts[statements.inside][is_changed].sum())
    records = manifest.drawn_by_day[is_usable].sum(axis=0)
    place = int(np.searchsorted(records, limit - whole, side="right")) - 1
    if whole >= limit or not is_usable.any() or (place == len(records) - 1 and manifest.is_whole):
        return None
    place = max(0, place)
    tau = float(manifest.thresholds[place])
    is_sparse = not manifest.is_whole and records[place] < min(limit - whole, SMALLEST_SAMPLE)
    if is_sparse or tau * manifest.smallest_size >= 1:
        return None
    return Plan(sample, tau, frozenset(days_now[is_changed].tolist()), whole + int(records[place]))


Ints = npt.NDArray[np.int64]


class SampledAnswer:
    """The answer to one question from the sample of a plan."""

    def __init__(self, statements: Statements, plan: Plan) -> None:
        self._statements, self._plan, self._question = statements, plan, statements.question
        others = sorted(atom for atom in self._question.atoms if is_additive(atom) and atom != RECORDS)
        self._sample_sums = SampleSums(plan.tau, [RECORDS, *others], sorted(self._question.pairs))
        self._is_timed = statements.conditions(statements.live.columns).is_timed

    def sums(self) -> Sums:
        """The answer. What time alone decides is known exactly, from the sums per hour."""
        split_by = self._question.split_by
        is_known = self._is_timed and all(name in TIME_KEY_FIELDS for name in split_by)
        sample, missing = None, {}
        if is_known:
            groups, rows = self._sums_by_time()
            total = self._exact(self._hour_sums[1].sum(axis=0)[None, :])
        else:
            groups, sums, whole = self._estimate()
            rows, total = self._sample_sums.aggregate(sums), self._sample_sums.aggregate(whole)
            sample, missing = self._sample(), self._sample_sums.missing(sums)
            if self._is_timed:
                total = self._exact(self._hour_sums[1].sum(axis=0)[None, :])
        unread = self._others(groups, rows, total, is_known)
        return Sums(
            groups=groups,
            rows=rows,
            total=total,
            dates=self._statements.dates,
            records_read=self._statements.records if is_known else self._plan.reads,
            records_in_range=self._statements.records,
            sample=sample,
            missing=missing,
            unread=unread,
        )

    def _estimate(self) -> tuple[pd.DataFrame, Numbers, Numbers]:
        """The groups, the draw's columns per group, and those of all records; see SampleSums."""
        statements, columns = self._statements, self._statements.filter(self._columns())
        weight = ibis.greatest(1.0, 1.0 / (columns.table[SIZE] * self._plan.tau))
        cells = {**_cells(columns, self._sample_sums.atoms), "w": weight}
        if not self._question.split_by:
            whole = self._block(statements.fetch(self._whole(columns, cells)))
            groups = pd.DataFrame(index=pd.RangeIndex(min(1, int(whole[0, 0]))))
            return groups, whole[: len(groups)], whole
        table = statements.fetch(statements.group(columns, cells, self._aggregates))
        sums = self._block(table)
        if not statements.has_segmented or self._is_timed:
            return statements.names(table), sums, sums.sum(axis=0)[None, :]
        whole = self._block(statements.fetch(self._whole(columns, cells)))
        return statements.names(table), sums, whole

    def _whole(self, columns: Columns, cells: Cells) -> ir.Table:
        table = columns.table.select(**cells)
        return table.aggregate(**self._aggregates(table))

    def _columns(self) -> DrawnColumns:
        """The records drawn, and all records of the days that have changed since."""
        sample, changed_days = self._plan.sample, sorted(self._plan.changed_days)
        table = sample.columns.table.filter(sample.columns.table[ORDER] < self._plan.tau)
        if sample.changed_days:
            table = table.filter(~_day(sample.columns).isin(sorted(sample.changed_days)))
        if changed_days:
            theirs = self._statements.live.columns
            whole = theirs.table.filter(_day(theirs).isin(changed_days)).select(
                **semantic(theirs), **{SIZE: ibis.literal(WHOLE), ORDER: ibis.literal(0.0)}
            )
            table = table.union(whole.cast(table.schema()))
        return DrawnColumns(table, sample.columns.definition)

    def _aggregates(self, table: Cells | ir.Table) -> dict[str, ir.Scalar]:
        """The draw's columns (SampleSums), summed."""
        atoms = [table[f"a{place}"] for place in range(len(self._sample_sums.atoms))]
        weight, light = table["w"], table["w"] * (table["w"] - 1.0)
        cells = [*atoms, *(atom * weight for atom in atoms)]
        cells += [ibis.ifelse(weight == 1.0, atom, 0.0) for atom in atoms]
        firsts, seconds = self._sample_sums.places
        cells += [
            atoms[first] * atoms[second] * light
            for first, second in zip(firsts.tolist(), seconds.tolist(), strict=True)
        ]
        return {f"s{place}": cell.sum().fill_null(0.0) for place, cell in enumerate(cells)}

    def _block(self, table: pa.Table) -> Numbers:
        width = 3 * len(self._sample_sums.atoms) + len(self._sample_sums.pairs)
        return np.column_stack([np.asarray(table[f"s{place}"], np.float64) for place in range(width)])

    def _sample(self) -> Sample:
        """What intervals need, by the reference records (sample_sums.py): the largest draw with few."""
        sample, statements = self._plan.sample, self._statements
        manifest, records = sample.manifest, sample.manifest.drawn_by_day.sum(axis=0)
        atoms, place = manifest.lanes, max(0, int(np.searchsorted(records, REFERENCE_RECORDS, "right")) - 1)
        tau = float(manifest.thresholds[place])
        if sample.reference is None:
            table = sample.columns.table
            cells = {**_cells(sample.columns, atoms), SIZE: table[SIZE]}
            draw = table.filter(table[ORDER] < tau).select(**cells)
            sample.reference = statements.slicers.rows(statements.live, draw, statements.deadline)
        rows = sample.reference
        plain = np.column_stack(
            [np.asarray(rows[f"a{atoms.index(atom)}"], np.float64) for atom in self._sample_sums.atoms]
        )
        size = np.asarray(rows[SIZE], np.float64)
        return self._sample_sums.sample(manifest.population, plain, size, sampling.weights(size, tau))

    @cached_property
    def _hour_sums(self) -> tuple[Ints, Numbers]:
        """The hours that count, on the question's clock, and the sums of the atoms in each: exact."""
        live, manifest = self._statements.live, self._plan.sample.manifest
        lanes = [manifest.lanes.index(atom) for atom in self._sample_sums.atoms]
        hours = np.array(manifest.hours, dtype=np.int64)
        day = (hours + _shift(live.columns)) // DAY_HOURS
        is_stored = ~np.isin(day, sorted(self._plan.sample.changed_days)) & np.isin(
            hours, live.hours[self._statements.inside]
        )
        parts, sums = [hours[is_stored]], [manifest.sums[is_stored][:, lanes]]
        if self._plan.changed_days:
            fresh, more = self._changed_hours()
            parts, sums = [*parts, fresh], [*sums, more]
        together = np.concatenate(parts) + (live.shown_hours(self._question.timezone) - live.hours)[0]
        passing = self._statements.conditions(live.columns).passing(together)
        return together[passing], np.concatenate(sums)[passing]

    def _changed_hours(self) -> tuple[Ints, Numbers]:
        """Hours of days that have changed (Live.hours), and the sums of the atoms in each."""
        statements, columns = self._statements, self._statements.live.columns
        table = columns.table.filter(_day(columns).isin(sorted(self._plan.changed_days)))
        table = table.select(hour=columns.hour(), **_cells(columns, self._sample_sums.atoms))
        sums = {f"s{place}": table[f"a{place}"].sum() for place in range(len(self._sample_sums.atoms))}
        answer = statements.slicers.rows(
            statements.live, table.group_by(HOUR).aggregate(**sums), statements.deadline
        )
        hours = np.asarray(answer[HOUR], np.int64)
        block = np.column_stack([np.asarray(answer[name], np.float64) for name in sums])
        inside = np.isin(hours, statements.live.hours[statements.inside])
        return hours[inside], block[inside]

    def _sums_by_time(self) -> tuple[pd.DataFrame, Aggregate]:
        """The groups of a split by time alone, from the sums per hour."""
        hours, sums = self._hour_sums
        split_by = self._question.split_by
        if not split_by:
            groups = pd.DataFrame(index=pd.RangeIndex(min(1, len(hours))))
            return groups, self._exact(sums.sum(axis=0)[None, :][: len(groups)])
        labels = {name: format_time(TIME_KEY_FIELDS[name], hours).astype(str) for name in split_by}
        frame = pd.DataFrame(sums).groupby(list(labels.values()), sort=True).sum()
        names = {}
        for level, name in enumerate(split_by):
            texts = frame.index.get_level_values(level).tolist()
            names[name] = pd.Categorical(texts, categories=sorted(set(texts)))
        return pd.DataFrame(names), self._exact(frame.to_numpy(np.float64))

    def _exact(self, sums: Numbers) -> Aggregate:
        estimate = dict(zip(self._sample_sums.atoms, sums.T, strict=True))
        return Aggregate(estimate=estimate, records=estimate[RECORDS])

    def _others(
        self, groups: pd.DataFrame, rows: Aggregate, total: Aggregate, is_known: bool
    ) -> frozenset[str]:
        """Add the atoms that can't be added up, over all records; returns those that take too long."""
        atoms = frozenset(atom for atom in self._question.atoms if not is_additive(atom))
        if not atoms:
            return frozenset()
        deadline = self._statements.deadline if is_known else self._statements.deadline.half()
        try:
            names, aggregate, whole = Exact(self._statements, atoms, deadline).answer()
        except Abandoned:
            raise
        except DeadlineExceeded:
            if is_known or self._statements.deadline.remaining() == 0:
                raise
            for atom in atoms:
                rows.estimate[atom], total.estimate[atom] = np.full(len(groups), np.nan), np.array([np.nan])
            return atoms
        places = _places(names, groups)
        for atom in atoms:
            rows.estimate[atom], total.estimate[atom] = aggregate.estimate[atom][places], whole.estimate[atom]
        return frozenset()


def _places(names: pd.DataFrame, groups: pd.DataFrame) -> Ints:
    """Where each of the wanted groups is among others."""
    if groups.shape[1] == 0:
        return np.arange(len(groups))
    multi_index, group_index = (pd.MultiIndex.from_frame(frame.astype("str")) for frame in (names, groups))
    return np.asarray(multi_index.get_indexer(group_index), dtype=np.int64)


def _cells(columns: Columns, atoms: list[str]) -> dict[str, ir.Value]:
    """The additive atoms of each record, 0 where a value is missing."""
    cells: dict[str, ir.Value] = {}
    for place, atom in enumerate(atoms):
        kind, _, name = atom.partition(":")
        if atom == RECORDS:
            cells[f"a{place}"] = _one_where(columns.hour().notnull())
        elif kind == "sum":
            cells[f"a{place}"] = columns.number(name).fill_null(0.0)
        else:
            cells[f"a{place}"] = _one_where(columns.number(name).notnull())
    return cells


def _one_where(condition: ir.BooleanValue) -> ir.Value:
    """1 or 0 as double precision everywhere: PostgreSQL's own 1.0 is a decimal number."""
    return ibis.ifelse(condition, 1.0, ibis.null("float64")).fill_null(0.0)


def _shift(columns: Columns) -> int:
    """Hours from the hours of a slicer to its own days."""
    return columns.definition.timezone if columns.definition.time.granularity == "hour" else 0


def _day(columns: Columns) -> ir.IntegerColumn:
    """The day in the slicer's own zone."""
    return columns.day(columns.definition.timezone)


class IbisEngine:
    """Answers questions in the database that has the rows.

    They are exact, but where a slicer has a sample (samples.py) and a question a limit of rows. Time and
    memory there are the database's; here they grow with the groups of the answer alone.
    """

    def __init__(self, live: LiveSlicers) -> None:
        self._live = live

    def audience(self, slicer: StoredSlicer, question: Question, deadline: Deadline) -> Sums:
        """See Engine. A statement that takes longer than the deadline is interrupted where it runs."""
        statements = Statements(self._live, slicer, question, deadline)
        plan = plan_of(statements)
        if plan is not None:
            return SampledAnswer(statements, plan).sums()
        groups, rows, total = Exact(statements, question.atoms).answer()
        return Sums(
            groups=groups,
            rows=rows,
            total=total,
            dates=statements.dates,
            records_read=statements.records,
            records_in_range=statements.records,
        )
