"""From a slicer's Parquet rows to its resident layout: only days that changed are made from rows.

Memory: two days of at most MOST_CELLS cells, or a few columns of a larger one; the dictionaries; and, where
users are counted, some bytes a record.
"""

import fcntl
import logging
import os
import shutil
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import date
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lib.engines.resident import column_writer, days, sampling
from lib.engines.resident.accumulate import distinct
from lib.engines.resident.addends import sums_by_hour
from lib.engines.resident.checksums import DamagedLayout, OtherFormat, Sum
from lib.engines.resident.column_writer import (
    Before,
    CodeWriter,
    IdentityWriter,
    KeyWriter,
    LaneWriter,
    Local,
    Places,
    SegmentedKeyWriter,
    merge,
)
from lib.engines.resident.days import EPOCH, Bounds, Day
from lib.engines.resident.earlier import Earlier, find_earlier
from lib.engines.resident.lanes import Floats, Form, Lane, Stored, spans
from lib.engines.resident.layout import Contents, Ints, Layout, narrowest
from lib.slicers.definition import TIME
from lib.slicers.digits import DECIMAL_DIGITS, LARGEST_WHOLE, MOST_DECIMALS, decimals, unit
from lib.slicers.measures import RECORDS, additive_atoms
from lib.slicers.warehouse import StoredSlicer
from lib.slicers.warehouse.slicer import read_manifest

ENDING = ".draft"
SEED = 20_151
GROUP_CELLS = 1 << 18  # of several data fields at once, where calls take longer than their few numbers
THREADS = 2  # texts are coded while numbers are written
Progress = Callable[[float], None]
_log = logging.getLogger(__name__)


@contextmanager
def draft_folder(target: Path) -> Iterator[Path]:
    """A new folder beside `target`, gone afterwards unless it was renamed.

    The kernel lets go of it when the process ends, however that happens.
    """
    draft = target.with_name(f"{target.name}.{uuid.uuid4().hex}{ENDING}")
    draft.mkdir(parents=True)
    handle = os.open(draft, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield draft
    finally:
        # before the lock ends: somebody else would take a half-removed draft for one that was left behind
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)


def is_in_use(folder: Path) -> bool:
    """Whether somebody works on this draft; an empty one may have been made a moment ago, and is left."""
    if not folder.name.endswith(ENDING):
        return False
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return not any(folder.iterdir())
    finally:
        os.close(handle)


def build(slicer: StoredSlicer, progress: Progress | None = None, seed: int = SEED) -> Path:
    """Make the layout of the slicer's version if it is not there whole, and return its folder.

    It is put together beside its place and renamed into it: a layout is whole or absent, and two processes
    that build the same one don't meet. One that is damaged is put aside. `progress` is told the share done,
    0 to 1. Damaged names a file of rows that can't be read.
    """
    target = slicer.layout_folder
    if _is_whole(target, slicer):
        return target
    report = progress or (lambda share: None)
    with find_earlier(slicer, days.recipe(slicer.definition, seed)) as earlier:
        try:
            _build(slicer, target, report, seed, earlier)
        except (DamagedLayout, FileNotFoundError) as problem:
            if earlier is None:
                raise
            # one that somebody else removed needs no message
            if isinstance(problem, DamagedLayout) and earlier.layout.folder.exists():
                log_damage(slicer, problem.reason)
                put_aside(earlier.layout.folder)
            _build(slicer, target, report, seed, None)
        manifest = read_manifest(slicer.folder)
        # one that is finished late leaves that of a later import; who has an earlier one open keeps its maps
        if manifest is None or manifest.version == slicer.version:
            for other in target.parent.iterdir():
                if other != target and not is_in_use(other):
                    shutil.rmtree(other, ignore_errors=True)
    return target


def _build(
    slicer: StoredSlicer, target: Path, progress: Progress, seed: int, earlier: Earlier | None
) -> None:
    """Put the layout together in a draft, and that in its place."""
    with draft_folder(target) as draft:
        try:
            Builder(slicer, draft, seed, earlier).build(progress)
            draft.rename(target)
        except OSError:
            # another process was quicker with the same layout: a folder can't be renamed onto one with files
            if not _is_whole(target, slicer):
                raise


def put_aside(layout: Path) -> None:
    """Take a layout away, so that another can be built; whoever has it open keeps its maps."""
    aside = layout.with_name(f"{layout.name}.{uuid.uuid4().hex}.damaged")
    try:
        layout.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _is_whole(layout: Path, slicer: StoredSlicer) -> bool:
    """Whether it is there, by its sizes; what is damaged or of another version is put aside, and said."""
    if not layout.exists():
        return False
    try:
        Layout(layout)
    except OtherFormat as other:
        text = "The layout of %s/%s is another version's (%s); it is rebuilt from the rows"
        _log.info(text, slicer.project, slicer.name, other.reason)
        put_aside(layout)
        return False
    except DamagedLayout as damage:
        log_damage(slicer, damage.reason)
        put_aside(layout)
        return False
    return True


def log_damage(slicer: StoredSlicer, reason: str) -> None:
    """For the log: what is damaged, and what happens now."""
    _log.warning(
        "The layout of %s/%s is damaged (%s); it is rebuilt from the rows",
        slicer.project,
        slicer.name,
        reason,
    )


class DayRows:
    """The rows of a day: read whole, or column by column where they are many."""

    def __init__(self, slicer: StoredSlicer, day: date) -> None:
        self._slicer, self._paths, self.records = slicer, slicer.files[day], slicer.rows[day]
        schema = slicer.definition.schema()
        self._texts = [field.name for field in schema if pa.types.is_string(field.type)]
        is_small = self.records * len(schema) <= column_writer.MOST_CELLS
        self._table = self._read(schema.names) if is_small else None

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        """A column, in the order of the files."""
        return (self._read([name]) if self._table is None else self._table)[name]

    def floats(self, name: str) -> Floats:
        """A column of numbers, NaN where one is missing."""
        return np.asarray(self[name].to_numpy(), dtype=np.float64)

    def lane(self, atom: str) -> Floats:
        """What each record adds to an additive atom; see measures.py."""
        if atom == RECORDS:
            return np.ones(self.records)
        kind, _, name = atom.partition(":")
        column = self.floats(name)
        is_missing = np.isnan(column)
        return np.where(is_missing, 0.0, column) if kind == "sum" else (~is_missing).astype(np.float64)

    def _read(self, names: list[str]) -> pa.Table:
        texts = [name for name in self._texts if name in names]
        tables = [self._slicer.table(path, names, dictionaries=texts) for path in self._paths]
        return pa.concat_tables(tables, promote_options="permissive")


class Builder:
    """One build: what is written, and what is gathered on the way for the table of contents."""

    def __init__(self, slicer: StoredSlicer, folder: Path, seed: int, earlier: Earlier | None) -> None:
        self.slicer, self.folder, self.seed, self.earlier = slicer, folder, seed, earlier
        definition = slicer.definition
        self.atoms = additive_atoms(definition)
        self.spans = spans(len(self.atoms))
        self.bounds = Bounds(definition)
        fields = [f for f in definition.data_fields if f.source]
        self.additive = [f.name for f in fields if f.is_additive]
        extremes = [
            f.name for f in definition.data_fields if f.formula is None and f.aggregate in ("min", "max")
        ]
        self.values = {name: number for number, name in enumerate(extremes)}
        numbers = [f"block_{number}.lanes" for number in range(len(self.spans))]
        numbers += [f"value_{number}.lane" for number in self.values.values()]
        self.lanes = {
            name: LaneWriter(folder / name, earlier) for name in ("draw.lane", "share.lane", *numbers)
        }
        self.keys: dict[str, KeyWriter] = {
            f.name: (SegmentedKeyWriter if f.segmented else KeyWriter)(
                folder / f"key_{number}", number, f.name, earlier
            )
            for number, f in enumerate(definition.key_fields)
        }
        sources = [source.name for source in definition.audience_sources]
        distinct_fields = [f.name for f in fields if f.aggregate == "distinct"]
        self.identities = {
            name: IdentityWriter(folder / f"distinct_{number}", number, name, name in sources, earlier)
            for number, name in enumerate([*sources, *distinct_fields])
        }
        before = Before(earlier, earlier.layout.time, earlier.records) if earlier else None
        self.time = CodeWriter(folder / "time.codes", before)
        self.days: list[Day] = []
        self.stored = list(earlier.layout.contents.lanes.values()) if earlier else [Lane()] * len(self.atoms)
        self.forms: list[list[Form]] = []
        self.threads = ThreadPoolExecutor(THREADS, "layout")

    def build(self, progress: Progress) -> None:
        """Write everything; the table of contents last."""
        places = self.earlier.places if self.earlier else [None] * len(self.slicer.files)
        fresh = [day for day, place in zip(self.slicer.files, places, strict=True) if place is None]
        for path in (path for day in fresh for path in self.slicer.files[day]):
            self.slicer.check(path)
        with closing(self._rows(fresh)) as rows, self.threads:
            for number, (day, place) in enumerate(zip(self.slicer.files, places, strict=True), 1):
                if self.earlier is None or place is None:
                    self._add(day, next(rows))
                else:
                    self.days.append(self.earlier.days[place])
                    self.forms.append(self.earlier.layout.forms)
                    columns = (self.keys | self.identities).values()
                    for writer in (*self.lanes.values(), *columns, self.time):
                        writer.keep(place)
                progress(0.8 * number / len(places))
            contents, recipe = self._contents(), days.recipe(self.slicer.definition, self.seed)
        days.save(self.folder, recipe, self.days)
        sums = {name: lane.sum() for name, lane in self.lanes.items()} | {"time.codes": self.time.sum()}
        for writer in (self.keys | self.identities).values():
            sums |= writer.sums()
        contents.sums.update(sums | {days.DAYS: Sum.of(self.folder / days.DAYS)})
        contents.save(self.folder)
        progress(1.0)

    def _rows(self, days: list[date]) -> Generator[DayRows, None, None]:
        """The rows of each of these days; those of the next are read while one is worked on."""
        with ThreadPoolExecutor(1, "rows") as pool:
            ahead: Future[DayRows] | None = None
            for day in [*days, None]:
                rows = ahead.result() if ahead is not None else None
                ahead = pool.submit(DayRows, self.slicer, day) if day is not None else None
                if rows is not None:
                    yield rows

    def _add(self, date: date, rows: DayRows) -> None:
        day = (date - EPOCH).days
        size, volume = sampling.sizes_in_day(
            ((name, rows.floats(name)) for name in self.additive), rows.records
        )
        draw = sampling.uniform(self.seed, day, rows.records) / size
        order = np.argsort(draw)
        self.lanes["draw.lane"].add(draw[order].astype(np.float32))
        self.lanes["share.lane"].add(size[order])
        for name, number in self.values.items():
            self.lanes[f"value_{number}.lane"].add(rows.floats(name)[order])
        coding = self.threads.submit(self._add_codes, rows, order)
        hours, codes = _hours(rows[TIME])
        codes = codes[order]
        self.time.add(codes)
        self.days.append(
            Day(
                day=day,
                origin=days.origin(self.slicer, date),
                records=rows.records,
                volume=volume,
                smallest=float(size.min(initial=np.inf)),
                hours=hours.tolist(),
                bounds=self.bounds.of(rows.lane),
                **self._add_lanes(rows, order, codes, len(hours)),
            )
        )
        coding.result()

    def _store(self, span: slice, numbers: Floats) -> Stored:
        """Numbers of a block in the form that its lanes have so far."""
        return Form(tuple(self.stored[span])).store(numbers)

    def _add_codes(self, rows: DayRows, order: Places) -> None:
        for name, writer in (self.keys | self.identities).items():
            writer.add(rows[name], order)

    def _add_lanes(self, rows: DayRows, order: Places, hours: Local, hour_count: int) -> dict[str, Any]:
        """Write the blocks of a day; what its Day has of them. `hours` are the hours' places by record."""
        hourly, sums, largest, negative = list[Floats](), list[float](), list[float](), list[bool]()
        day_decimals = list[tuple[int, int] | None]()
        rests, sizes = dict[str, list[float]](), dict[str, list[float]]()

        def lanes(first: int, end: int) -> Iterator[Floats]:
            step = max(1, GROUP_CELLS // max(1, rows.records))
            for start in range(first, end, step):
                atoms = self.atoms[start : min(start + step, end)]
                # each lane by itself in memory, as pairwise sums need it: [:, order] would turn it round
                numbers = np.stack([rows.lane(atom)[order] for atom in atoms])
                absolute = np.abs(numbers)
                sums.extend(absolute.sum(axis=1).tolist())
                largest.extend(absolute.max(axis=1, initial=0.0).tolist())
                negative.extend(least < 0 for least in numbers.min(axis=1, initial=0.0).tolist())
                are_whole = (np.rint(numbers) == numbers).all(axis=1).tolist()
                keys = (hours + hour_count * np.arange(len(atoms))[:, None]).ravel()
                in_hours = np.bincount(keys, numbers.ravel(), len(atoms) * hour_count)
                hourly.extend(in_hours.reshape(-1, hour_count))
                for index, (atom, lane, is_whole) in enumerate(
                    zip(atoms, numbers, are_whole, strict=True), start
                ):
                    places: tuple[int, int] | None = (0, MOST_DECIMALS)
                    if not is_whole or largest[index] * 10**MOST_DECIMALS >= 10**DECIMAL_DIGITS:
                        places = decimals(lane) if atom.startswith("sum:") else places
                        hourly[index], rest = sums_by_hour(
                            lane, hours, hour_count, places and places[0], sums[index]
                        )
                        if rest.any():
                            rests[atom] = rest.tolist()
                    day_decimals.append(places)
                    if negative[index]:
                        sizes[atom] = np.bincount(hours, np.abs(lane), hour_count).tolist()
                    common = self.stored[index]
                    if places != (0, MOST_DECIMALS) or largest[index] > common.largest:
                        before = (
                            common.decimals if common.decimals is None else (common.decimals, MOST_DECIMALS)
                        )
                        self.stored[index] = replace(
                            common,
                            decimals=_common_decimals([before, places]),
                            largest=max(common.largest, largest[index]),
                        )
                    yield lane

        for number, span in enumerate(self.spans):
            block, width = lanes(span.start, span.stop), span.stop - span.start
            store = partial(self._store, span)
            self.lanes[f"block_{number}.lanes"].add_block(block, rows.records, width, store)
        self.forms.append(Form.of(self.stored))
        return {
            "sums": sums,
            "largest": largest,
            "negative": negative,
            "decimals": day_decimals,
            "rests": rests,
            "sizes": sizes,
            "hourly": np.transpose(hourly).tolist(),
        }

    def _convert(self, starts: list[int], typical: list[float], signed: list[str]) -> list[Lane]:
        """Store all days in one form: with the decimals of all, and in two parts where sums may be large."""
        lanes = []
        for index, (atom, mean) in enumerate(zip(self.atoms, typical, strict=True)):
            decimals = _common_decimals([day.decimals[index] for day in self.days])
            volume = mean * starts[-1] * 10.0 ** (decimals or 0)
            is_split = decimals is None or volume >= LARGEST_WHOLE / 2
            is_sized = decimals is None and atom in signed
            largest = max((day.largest[index] for day in self.days), default=0.0)
            lanes.append(Lane(decimals, unit(volume) if is_split else None, is_sized, largest))
        for number, form in enumerate(Form.of(lanes)):
            days = [
                (slice(*edges), forms[number])
                for edges, forms in zip(pairwise(starts), self.forms, strict=True)
            ]
            self.lanes[f"block_{number}.lanes"].convert(days, form)
        return lanes

    def _over_hours(self, name: str) -> dict[str, list[float]]:
        """The rests or sizes in all hours, of each atom that has any on a day."""
        present, values = {atom for day in self.days for atom in getattr(day, name)}, dict[str, list[float]]()
        for index, atom in enumerate(self.atoms):
            for day in self.days if atom in present else ():
                usual = [abs(row[index]) if name == "sizes" else 0.0 for row in day.hourly]
                values.setdefault(atom, []).extend(getattr(day, name).get(atom, usual))
        return values

    def _contents(self) -> Contents:
        """Finish the files that depend on all days; the table of contents, without checksums."""
        rows = [day.records for day in self.days]
        starts = [0, *accumulate(rows)]
        sizes = sampling.sizes_of_days([day.volume for day in self.days], rows)
        if self.earlier:
            self.earlier.check("draw.lane")
        path, records = self.lanes["draw.lane"].path, starts[-1]
        draw = np.asarray(np.memmap(path, "float32", "r", shape=(records,)) if records else [], "float32")
        grid, counts = sampling.thresholds([draw[start:end] for start, end in pairwise(starts)], sizes)
        typical = [
            sum(day.sums[index] for day in self.days) / max(1, records) for index in range(len(self.atoms))
        ]
        signed = [
            atom for index, atom in enumerate(self.atoms) if any(day.negative[index] for day in self.days)
        ]
        lanes = dict(zip(self.atoms, self._convert(starts, typical, signed), strict=True))
        sizes_over_hours = self._over_hours("sizes").items()
        key_columns = self.threads.map(lambda writer: writer.finish(), self.keys.values())
        smallest = [np.float32(day.smallest * size) for day, size in zip(self.days, sizes, strict=True)]
        return Contents(
            records=records,
            days=[day.day for day in self.days],
            starts=starts,
            hours=self._write_hours().tolist(),
            day_sizes=sizes,
            lanes=lanes,
            hour_sums=[row for day in self.days for row in day.hourly],
            rests=self._over_hours("rests"),
            sizes={atom: values for atom, values in sizes_over_hours if lanes[atom].is_sized},
            typical=typical,
            bounds=self.bounds.of_all([day.bounds for day in self.days]),
            signed=signed,
            smallest_size=float(min(smallest)) if records else 1.0,
            grid=grid.tolist(),
            drawn=counts.tolist(),
            keys=dict(zip(self.keys, key_columns, strict=True)),
            values=self.values,
            distinct={name: writer.finish() for name, writer in self.identities.items()},
            sums={},
        )

    def _write_hours(self) -> Ints:
        """Finish the codes of time, and return the hours that they point to."""
        places = self.earlier.places if self.earlier else [None] * len(self.days)
        more = [np.array(day.hours) for day, place in zip(self.days, places, strict=True) if place is None]
        before = self.earlier.layout.hours if self.earlier else np.zeros(0, np.int64)
        hours: Ints
        hours, table, tables = merge(before, self.time.is_used(len(before)), more)
        self.time.finish(table, tables, narrowest(len(hours)))
        return hours


def _common_decimals(places: Sequence[Sequence[int] | None]) -> int | None:
    """The decimals that all numbers can have, each from so few to so many; None: they are no decimal ones."""
    ranges = [*filter(None, places)]
    least = max((least for least, _ in ranges), default=0)
    is_possible = len(ranges) == len(places) and all(least <= most for _, most in ranges)
    return least if is_possible else None


def _hours(times: pa.ChunkedArray) -> tuple[Ints, Local]:
    """The hours since 1970 that occur, ascending, and the place among them of each record's."""
    hours = np.asarray(times.cast(pa.timestamp("s", tz="UTC")).cast(pa.int64())) // 3600
    first, last = int(hours.min(initial=2**62)), int(hours.max(initial=-(2**62)))
    distinct_hours, places = distinct(hours - first, max(1, last - first + 1))
    return distinct_hours + first, places
