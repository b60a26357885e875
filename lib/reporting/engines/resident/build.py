"""From a slicer's Parquet rows to its resident layout, a day at a time.

Memory: the rows of the two largest days, the dictionaries, and four bytes a record.
"""

import logging
import shutil
import uuid
from collections.abc import Callable, Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.reporting.definition import TIME
from lib.reporting.engines.resident import drafts, sampling
from lib.reporting.engines.resident.bounds import Bounds
from lib.reporting.engines.resident.checksums import Damaged, of_folder
from lib.reporting.engines.resident.dictionaries import IdentityWriter, KeyWriter, SegmentedKeyWriter
from lib.reporting.engines.resident.layout import Contents, Floats, Layout, narrowest, spans
from lib.reporting.measures import RECORDS, additive_atoms
from lib.reporting.warehouse import StoredSlicer

_log = logging.getLogger(__name__)
Progress = Callable[[float], None]
CHUNK = 1 << 17
EPOCH = date(1970, 1, 1)
SEED = 20_151
READERS = 2


def build(stored: StoredSlicer, progress: Progress | None = None, seed: int = SEED) -> Path:
    """Make the layout of the slicer's version if it is not there whole, and return its folder.

    It is put together beside its place and renamed into it: a layout is whole or absent, and two processes
    that build the same one don't meet. One that is damaged is put aside. `progress` is told the share done,
    0 to 1. Misconfigured names a file of rows that can't be read.
    """
    target = stored.layout_folder
    if _is_whole(target, stored):
        return target
    with drafts.begun(target) as draft:
        try:
            _Builder(stored, draft, seed).build(progress or (lambda share: None))
            draft.rename(target)
        except OSError:
            if not _is_whole(target, stored):
                raise
    _forget_others(target)
    return target


def put_aside(layout: Path) -> None:
    """Take a layout away, so that another can be built; whoever has it open keeps its maps."""
    aside = layout.with_name(f"{layout.name}.{uuid.uuid4().hex}.damaged")
    try:
        layout.rename(aside)
    except FileNotFoundError:
        return
    shutil.rmtree(aside, ignore_errors=True)


def _is_whole(layout: Path, stored: StoredSlicer) -> bool:
    """Whether it is there, by its sizes; what is there and damaged is put aside, with a message."""
    if not layout.exists():
        return False
    try:
        Layout(layout)
    except Damaged as damage:
        say_damaged(stored, damage.reason)
        put_aside(layout)
        return False
    return True


def say_damaged(stored: StoredSlicer, reason: str) -> None:
    """For the log: what is damaged, and what happens now."""
    _log.warning(
        "The layout of %s/%s is damaged (%s); it is rebuilt from the rows",
        stored.project,
        stored.name,
        reason,
    )


def _forget_others(target: Path) -> None:
    """Remove the layouts of earlier versions, and drafts that were left; who has one open keeps its maps."""
    for other in target.parent.iterdir():
        if other != target and not drafts.is_in_use(other):
            shutil.rmtree(other, ignore_errors=True)


class _Builder:
    """One build: what is written, and what is gathered on the way for the table of contents."""

    def __init__(self, stored: StoredSlicer, folder: Path, seed: int) -> None:
        self.stored, self.folder, self.seed = stored, folder, seed
        definition = stored.definition
        self.lanes = additive_atoms(definition)
        self.bounds = Bounds(definition)
        self.measured = [f.name for f in definition.data_fields if f.source and f.aggregate != "distinct"]
        self.additive = [f.name for f in definition.data_fields if f.source and f.is_additive]
        extremes = [
            f.name for f in definition.data_fields if f.formula is None and f.aggregate in ("min", "max")
        ]
        self.values = {name: number for number, name in enumerate(extremes)}
        self.keys: dict[str, KeyWriter] = {
            f.name: (SegmentedKeyWriter if f.segmented else KeyWriter)(folder / f"key_{number}", number)
            for number, f in enumerate(definition.key_fields)
        }
        sources = [source.name for source in definition.audience_sources]
        counted = [f.name for f in definition.data_fields if f.source and f.aggregate == "distinct"]
        self.identities = {
            name: IdentityWriter(folder / f"distinct_{number}", number, name in sources)
            for number, name in enumerate([*sources, *counted])
        }
        self.hours: list[npt.NDArray[np.int32]] = []
        self.hour_sums: dict[int, Floats] = {}
        self.size_sums = np.zeros(len(self.lanes))
        self.negative = np.zeros(len(self.lanes), dtype=bool)
        self.smallest = np.inf
        self.sorted_q: list[Floats] = []

    def build(self, progress: Progress) -> None:
        """Write everything; the table of contents last."""
        days = list(self.stored.files.items())
        for path in (path for _, files in days for path in files):
            self.stored.check(path)
        scale = self._scale()
        with closing(self._tables()) as tables:
            for place, ((day, _), table) in enumerate(zip(days, tables, strict=True)):
                self._add_day((day - EPOCH).days, table, scale)
                progress(0.8 * (place + 1) / len(days))
        hours = np.array(sorted(self.hour_sums), dtype=np.int64)
        with (self.folder / "time.codes").open("wb") as file:
            for part in self.hours:
                np.searchsorted(hours, part).astype(narrowest(len(hours))).tofile(file)
        contents = self._contents(hours)
        replace(contents, sums=of_folder(self.folder)).save(self.folder)
        progress(1.0)

    def _scale(self) -> dict[str, float]:
        """Mean |y| of the additive fields over all records (one pass over those columns alone)."""
        sums = dict.fromkeys(self.additive, 0.0)
        paths = [path for files in self.stored.files.values() for path in files]
        with ThreadPoolExecutor(READERS, "sums") as pool:
            for found in pool.map(self._sums, paths):
                for name in self.additive:
                    sums[name] += found[name]
        return sampling.scales(sums, sum(self.stored.rows.values()))

    def _sums(self, path: Path) -> dict[str, float]:
        """Σ|y| of the additive fields in a file of rows."""
        table = self.stored.table(path, self.additive)
        return {name: float(np.nansum(np.abs(_floats(table[name])))) for name in self.additive}

    def _tables(self) -> Generator[pa.Table, None, None]:
        """The rows of each day; those of the next are read while one is worked on."""
        with ThreadPoolExecutor(1, "rows") as pool:
            ahead: Future[pa.Table] | None = None
            for files in [*self.stored.files.values(), None]:
                table = ahead.result() if ahead is not None else None
                ahead = pool.submit(self._read, files) if files is not None else None
                if table is not None:
                    yield table

    def _read(self, files: tuple[Path, ...]) -> pa.Table:
        schema = self.stored.definition.schema()
        texts = [field.name for field in schema if pa.types.is_string(field.type)]
        tables = [self.stored.table(path, schema.names, dictionaries=texts) for path in files]
        return pa.concat_tables(tables, promote_options="permissive")

    def _add_day(self, day: int, table: pa.Table, scale: dict[str, float]) -> None:
        columns = {name: _floats(table[name]) for name in self.measured}
        size = sampling.sizes(columns, scale, table.num_rows)
        q = sampling.uniform(self.seed, day, table.num_rows) / size
        order = np.argsort(q, kind="stable")
        self.sorted_q.append(q[order])
        self.smallest = min(self.smallest, float(size.min(initial=np.inf)))
        self._append("size.lane", size[order])
        for name, number in self.values.items():
            self._append(f"value_{number}.lane", columns[name][order])
        for name, writer in (self.keys | self.identities).items():
            writer.add(table[name], order)
        hours = np.asarray(table[TIME].cast(pa.timestamp("s", tz="UTC")).cast(pa.int64())) // 3600
        self.hours.append(hours[order].astype(np.int32))
        self._add_lanes({name: column[order] for name, column in columns.items()}, hours[order])

    def _add_lanes(self, columns: dict[str, Floats], hours: npt.NDArray[np.int64]) -> None:
        present, places = np.unique(hours, return_inverse=True)
        sums = np.zeros((len(present), len(self.lanes)))
        self.bounds.add({atom: _lane(atom, columns, len(hours)) for atom in self.bounds.atoms})
        for number, span in enumerate(spans(len(self.lanes))):
            block = np.empty((len(hours), span.stop - span.start))
            for place, atom in enumerate(self.lanes[span], span.start):
                lane = _lane(atom, columns, len(hours))
                block[:, place - span.start] = lane
                sums[:, place] = np.bincount(places, lane, len(present))
                self.size_sums[place] += float(np.abs(lane).sum())
                self.negative[place] |= bool((lane < 0).any())
            self._append(f"block_{number}.lanes", block)
        for hour, row in zip(present.tolist(), sums, strict=True):
            self.hour_sums[hour] = self.hour_sums.get(hour, 0.0) + row

    def _append(self, file: str, array: npt.NDArray[np.float64] | npt.NDArray[np.float32]) -> None:
        with (self.folder / file).open("ab") as target:
            array.tofile(target)

    def _contents(self, hours: npt.NDArray[np.int64]) -> Contents:
        rows = [len(day) for day in self.sorted_q]
        grid, drawn = sampling.thresholds(self.sorted_q)
        records = sum(rows)
        return Contents(
            records=records,
            days=[(day - EPOCH).days for day in self.stored.files],
            starts=[0, *np.cumsum(rows, dtype=int).tolist()],
            hours=hours.tolist(),
            lanes=self.lanes,
            hour_sums=[self.hour_sums[hour].tolist() for hour in hours.tolist()],
            typical=(self.size_sums / max(records, 1)).tolist(),
            bounds=self.bounds.known(),
            signed=[atom for atom, negative in zip(self.lanes, self.negative, strict=True) if negative],
            smallest_size=self.smallest if records else 1.0,
            grid=grid.tolist(),
            drawn=drawn.tolist(),
            keys={name: writer.finish() for name, writer in self.keys.items()},
            values=self.values,
            distinct={name: writer.finish() for name, writer in self.identities.items()},
            sums={},
        )


def _floats(column: pa.ChunkedArray) -> Floats:
    """A number column as float64, NaN where missing."""
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _lane(atom: str, columns: dict[str, Floats], records: int) -> Floats:
    """The column of an additive atom; see measures.py."""
    if atom == RECORDS:
        return np.ones(records)
    kind, _, name = atom.partition(":")
    return np.nan_to_num(columns[name]) if kind == "sum" else (~np.isnan(columns[name])).astype(np.float64)
