"""The resident layout on disk: what it holds, and how it is opened.

One folder per version of a slicer, made from its Parquet rows by build.py, read through memory maps:

    layout.json          the Contents below, as JSON, with the checksums of the other files
    layout.json.sha256   the digest of layout.json
    key_N.codes          per record (segmented: per element) the place of its value in the sorted dictionary
    key_N.arrow          that dictionary
    key_N.indptr         segmented fields only: where each record's elements begin, one more than records
    time.codes           per record the place of its hour in `hours`
    block_N.lanes        additive atoms per record, four or eight bytes each: the first eight in block 0, up
                         to 32 in each of the others, and what is stored beside them (lanes.py); the first
                         of all is 1
    share.lane           the size of each record in its day; times that of the day, it is its sampling size
    draw.lane            its random number divided by that, ascending in each day
    value_N.lane         a column of which minimum or maximum is asked, NaN where missing
    distinct_N.codes     places of values or users in random order; the missing are the last place
    distinct_N.hashes    what the places stand for, ascending
    distinct_N.order     audience sources only: records ordered by user
    days.json            what the next layout needs of each day (days.py)

Records lie by day (of the slicer's own zone), inside a day in sampling order. Everything is a cache. Bytes
that are mapped are never written to again, and none is used before it was verified (checksums.py): a layout
that is damaged is put aside, and another built; what is appended for the next version (earlier.py) lies
behind them.
"""

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from lib.engines.resident.checksums import (
    DamagedLayout,
    FileState,
    OtherFormat,
    ReplacedLayout,
    StoredFile,
    Sum,
    VerifiedArray,
)
from lib.engines.resident.lanes import Floats, Form, Lane

LARGEST_COPY = 1 << 22
FORMAT = 9
CONTENTS, DIGEST = "layout.json", "layout.json.sha256"

Codes = VerifiedArray[np.unsignedinteger[Any]]
Numbers = VerifiedArray[np.float64]
Places = VerifiedArray[np.uint32]
Ints = npt.NDArray[np.int64]


def narrowest(values: int) -> str:
    """The smallest unsigned type that tells `values` values apart."""
    return "uint8" if values <= 2**8 else "uint16" if values <= 2**16 else "uint32"


@dataclass(frozen=True)
class KeyColumn:
    """Where a key field lies: the number in its file names, its values, its type."""

    number: int
    values: int
    elements: int
    segmented: bool


@dataclass(frozen=True)
class DistinctColumn:
    """Where the identities of a distinct count or of an audience source lie."""

    number: int
    values: int
    ordered: bool


@dataclass(frozen=True)
class Contents:
    """The table of contents of a layout.

    `day_sizes` are the sampling sizes of the days.
    `hours` are hours since 1970 in UTC, ascending; `hour_sums` has a row of `lanes` for each. By atom,
    `rests` are what float64 can't hold of these, and `sizes` Σ|y| where negative values may leave nothing but
    rounding. `starts` are the first records of each of `days` (days since 1970 in the slicer's zone), and
    the end. `grid` holds the thresholds τ and `drawn` how many records of each day each draws. `bounds` are
    the least and greatest value that a ratio has in a single record (days.py).
    """

    records: int
    days: list[int]
    starts: list[int]
    hours: list[int]
    day_sizes: list[float]
    lanes: dict[str, Lane]
    hour_sums: list[list[float]]
    rests: dict[str, list[float]]
    sizes: dict[str, list[float]]
    typical: list[float]
    bounds: dict[str, tuple[float | None, float | None]]
    signed: list[str]
    smallest_size: float
    grid: list[float]
    drawn: list[list[int]]
    keys: dict[str, KeyColumn]
    values: dict[str, int]
    distinct: dict[str, DistinctColumn]
    sums: dict[str, Sum]
    format: int = FORMAT

    def save(self, folder: Path) -> None:
        """Write layout.json and its digest."""
        # dataclasses as dictionaries, without a copy of every number as `asdict` makes it
        parts = {
            part: {name: vars(value) for name, value in getattr(self, part).items()}
            for part in ("lanes", "keys", "distinct", "sums")
        }
        content = json.dumps(vars(self) | parts).encode()
        (folder / CONTENTS).write_bytes(content)
        (folder / DIGEST).write_text(f"{sha256(content).hexdigest()}  {CONTENTS}\n", encoding="ascii")

    @classmethod
    def load(cls, folder: Path) -> "Contents":
        """Read layout.json; DamagedLayout when it is not as it was written, OtherFormat when of another."""
        try:
            content = (folder / CONTENTS).read_bytes()
            digest = (folder / DIGEST).read_bytes().split()[:1]
        except OSError as error:
            raise DamagedLayout(f"{CONTENTS}: {error.strerror}") from None
        if digest != [sha256(content).hexdigest().encode()]:
            raise DamagedLayout(f"{CONTENTS} has another digest than {DIGEST} says")
        raw = json.loads(content)
        if raw.get("format") != FORMAT:
            raise OtherFormat(f"{CONTENTS} is of format {raw.get('format')}, not {FORMAT}")
        raw["sums"] = {name: Sum(**parts) for name, parts in raw["sums"].items()}
        raw["lanes"] = {name: Lane(**lane) for name, lane in raw["lanes"].items()}
        raw["keys"] = {name: KeyColumn(**column) for name, column in raw["keys"].items()}
        raw["distinct"] = {name: DistinctColumn(**column) for name, column in raw["distinct"].items()}
        return cls(**raw)


class Layout:
    """An opened layout. Arrays are memory maps, opened when first asked for and shared by all queries.

    Whatever reads them may raise DamagedLayout, or ReplacedLayout when another layout has taken its place.
    """

    def __init__(self, folder: Path) -> None:
        self.folder, self.verify_after = folder, 0.0
        self._contents_path = folder / CONTENTS
        self._state = self._contents_state()
        self.contents = Contents.load(folder)
        self._files = {
            name: StoredFile(folder / name, checksum) for name, checksum in self.contents.sums.items()
        }
        self.hours = np.array(self.contents.hours, dtype=np.int64)
        self.hour_sums = np.array(self.contents.hour_sums).reshape(len(self.hours), len(self.contents.lanes))
        self.grid = np.array(self.contents.grid)
        self.draw_counts = np.array(self.contents.drawn, dtype=np.int64).reshape(-1, len(self.grid))
        self.starts = np.array(self.contents.starts, dtype=np.int64)
        self.days = np.array(self.contents.days, dtype=np.int64)
        self.forms = Form.of(list(self.contents.lanes.values()))
        places = ((block, columns) for block, form in enumerate(self.forms) for columns in form.columns)
        self.columns = dict(zip(self.contents.lanes, places, strict=True))
        self._open_files: dict[str, StoredFile] = {}
        self._arrays: dict[str, VerifiedArray[Any]] = {}
        self._dictionaries: dict[str, pa.Array] = {}

    def damage(self) -> str | None:
        """The first fault in its files, read whole; None if there is none."""
        try:
            Contents.load(self.folder)
            for name, checksum in self.contents.sums.items():
                checksum.check(self.folder / name)
        except DamagedLayout as damage:
            return damage.reason
        return None

    @property
    def is_replaced(self) -> bool:
        """Whether another layout has taken its place, or none."""
        return self._contents_state() != self._state

    def refresh(self) -> None:
        """Look for changes since it was opened: changed files are verified anew before they are used.

        DamagedLayout where one is cut off or missing.
        """
        if self.is_replaced:
            raise ReplacedLayout
        is_unchanged = [file.refresh() for file in list(self._open_files.values())]
        if not all(is_unchanged):
            self.verify_after = 0.0

    def verify(self) -> None:
        """Verify what isn't yet; files that are, again."""
        for file in self._files.values():
            file.verify(again=file.is_verified)

    def codes(self, name: str) -> Codes:
        """The codes of a key field: one per record, or per element of a segmented field."""
        column = self.contents.keys[name]
        return self._array(f"key_{column.number}.codes", narrowest(column.values), (column.elements,))

    def indptr(self, name: str, places: slice | Ints) -> Ints:
        """Where the elements of these records of a segmented field begin; one place more is their end."""
        number = self.contents.keys[name].number
        edges: Places = self._array(f"key_{number}.indptr", "uint32", (self.contents.records + 1,))
        return edges[places].astype(np.int64)

    def dictionary(self, name: str) -> pa.Array:
        """The values of a key field, sorted; the missing one is the empty string."""
        file = self._file(f"key_{self.contents.keys[name].number}.arrow")
        if not file.is_verified:
            file.verify()
        if name not in self._dictionaries:
            size = self.contents.sums[file.path.name].size
            content = file.map("uint8", (size,))
            # Cached answers keep it: of what is small, a copy, so that later damage does not show there.
            content = content if size > LARGEST_COPY else content.copy()
            column = pa.ipc.open_file(pa.py_buffer(content)).read_all().column(0)
            self._dictionaries[name] = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        return self._dictionaries[name]

    @cached_property
    def time(self) -> Codes:
        """Per record, the place of its hour in `hours`."""
        return self._array("time.codes", narrowest(len(self.hours)), (self.contents.records,))

    def block(self, number: int) -> VerifiedArray[Any]:
        """The additive atoms of a block per record, as its form stores them; shape (records, width)."""
        form = self.forms[number]
        return self._array(f"block_{number}.lanes", form.dtype, (self.contents.records, form.width))

    def sizes(self, records: Ints) -> npt.NDArray[np.float32]:
        """The sampling sizes of these records."""
        share: Floats = self._array("share.lane", "float32", (self.contents.records,))[records]
        days = np.searchsorted(self.starts, records, side="right") - 1
        return np.asarray(share * np.array(self.contents.day_sizes)[days], dtype=np.float32)

    def value(self, name: str) -> Numbers:
        """A column for minimum and maximum, NaN where missing."""
        return self._array(f"value_{self.contents.values[name]}.lane", "float64", (self.contents.records,))

    def distinct(self, name: str) -> Places:
        """Per record the place of its value (or user) in random order; the missing are `values`."""
        number = self.contents.distinct[name].number
        return self._array(f"distinct_{number}.codes", "uint32", (self.contents.records,))

    def by_user(self, name: str) -> Places:
        """Records ordered by the place of their user."""
        number = self.contents.distinct[name].number
        return self._array(f"distinct_{number}.order", "uint32", (self.contents.records,))

    def _array(self, file: str, dtype: str, shape: tuple[int, ...]) -> VerifiedArray[Any]:
        if file not in self._arrays:
            self._arrays[file] = VerifiedArray(self._file(file), dtype, shape)
        return self._arrays[file]

    def _file(self, name: str) -> StoredFile:
        """A file that is used from now on."""
        if name not in self._open_files:
            self._files[name].refresh()
            self._open_files[name] = self._files[name]
        return self._open_files[name]

    def _contents_state(self) -> FileState | None:
        try:
            return FileState.of(self._contents_path.stat())
        except OSError:
            return None
