"""Files of a layout while they are written: days of an earlier one are kept or new ones added.

Key fields and users are written as codes, a day at a time; a day's codes point into that day's own values.
When the last day is in, the union of all values is sorted and the codes are rewritten to point there, in the
narrowest type that holds them. Those of an earlier layout are rewritten only where they changed.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csc_array

from lib.engines.resident.accumulate import ranges
from lib.engines.resident.checksums import Sum
from lib.engines.resident.earlier import Earlier
from lib.engines.resident.lanes import Floats, Form, Stored
from lib.engines.resident.layout import Codes, DistinctColumn, Ints, KeyColumn, narrowest

CHUNK = 1 << 20
MOST_CELLS = 1 << 23
_BLOCK_ROWS = 1 << 16
MOST_ELEMENTS = 2**32 - 1
Local = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
Records = npt.NDArray[np.uint32]
Hashes = npt.NDArray[np.uint64]
MISSING = np.uint64(2**64 - 1)


class LaneWriter:
    """Writes a file with as many bytes for each record, after those of `head`."""

    def __init__(self, path: Path, earlier: Earlier | None, head: bytes = b"") -> None:
        self.path, self.earlier, self.same = path, earlier, 0
        if earlier is None:
            path.write_bytes(head)
            return
        self.width = (earlier.sum_of(path.name).size - len(head)) // earlier.layout.contents.records
        self.same = len(head) + self.width * int(earlier.layout.starts[earlier.matching_days])
        earlier.begin(path, self.same)
        if len(earlier.common_places) > earlier.matching_days:
            earlier.check(path.name)

    def add(self, lane: npt.NDArray[Any]) -> None:
        """Add a day."""
        with self.path.open("ab") as target:
            lane.tofile(target)

    def add_block(
        self, lanes: Iterable[Floats], records: int, width: int, store: Callable[[Floats], Stored]
    ) -> None:
        """Add a day, lane by lane: a record's numbers lie side by side, as `store` makes them of its lanes.

        Those of a large day wait in a file until all are there, so that memory is bounded.
        """
        if records * width <= MOST_CELLS:
            self.add(store(np.stack(list(lanes), axis=1)))
            return
        with TemporaryFile(dir=self.path.parent) as waiting:
            for lane in lanes:
                lane.tofile(waiting)
            for start in range(0, records, _BLOCK_ROWS):
                block = np.empty((min(_BLOCK_ROWS, records - start), width))
                for place in range(width):
                    waiting.seek((place * records + start) * block.itemsize)
                    block[:, place] = np.fromfile(waiting, count=len(block))
                self.add(store(block))

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout; those that it begins with are there."""
        if self.earlier is None or place < self.earlier.matching_days:
            return
        records = self.earlier.records(place)
        with (self.earlier.layout.folder / self.path.name).open("rb") as source:
            source.seek(records.start * self.width)
            content = source.read((records.stop - records.start) * self.width)
        with self.path.open("ab") as target:
            target.write(content)

    def convert(self, days: Sequence[tuple[slice, Form]], form: Form) -> None:
        """Store all records in this form: those of each day are in another, or in this one already."""
        if all(before == form for _, before in days):
            return
        if self.earlier is not None:
            self.earlier.check(self.path.name)
        copy = self.path.with_suffix(".copy")  # what the earlier layout has is never written to
        with copy.open("wb") as target, self.path.open("rb") as source:
            for records, before in days:
                for start in range(records.start, records.stop, _BLOCK_ROWS):
                    rows = min(_BLOCK_ROWS, records.stop - start)
                    block = np.fromfile(source, before.dtype, rows * before.width).reshape(rows, -1)
                    (block if before == form else form.store(before.restore(block))).tofile(target)
        copy.replace(self.path)
        self.same = 0

    def sum(self) -> Sum:
        """The checksums of the file."""
        return Sum.of(self.path, self.earlier.sum_of(self.path.name) if self.earlier else None, self.same)


@dataclass(frozen=True)
class Before:
    """A file of codes of an earlier layout: its codes, and which of them are a day's."""

    earlier: Earlier
    codes: Codes
    elements: Callable[[int], slice]


class CodeWriter:
    """Writes a file of codes: places among a day's own values at first, and among all in the end."""

    def __init__(self, path: Path, before: Before | None) -> None:
        self.path, self.before, self.same = path, before, 0
        self.parts: list[slice | int] = []
        self.local = path.with_suffix(".local")
        self.local.touch()

    @property
    def elements(self) -> int:
        """How many codes there are."""
        return sum(part if isinstance(part, int) else part.stop - part.start for part in self.parts)

    def add(self, codes: Local) -> None:
        """Add a day."""
        with self.local.open("ab") as file:
            np.ascontiguousarray(codes, dtype=np.int32).tofile(file)
        self.parts.append(len(codes))

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout."""
        if self.before is not None:
            self.parts.append(self.before.elements(place))

    def is_used(self, values: int) -> npt.NDArray[np.bool_]:
        """Which of the earlier values are those of a day that is kept."""
        if self.before is None or self.before.earlier.is_whole:
            return np.ones(values, dtype=bool)
        is_used = np.zeros(values, dtype=bool)
        for part in self.parts:
            if isinstance(part, slice):
                is_used[self.before.codes[part]] = True
        return is_used

    def finish(self, table: Ints, tables: Sequence[Ints], dtype: str) -> None:
        """Write the file: `table` has the codes of earlier values (-1: none), `tables` those of new days."""
        days, earlier, later = 0, table.astype(dtype), iter(tables)
        if self.before is not None:
            # the days that both begin with are in place, if codes are what they were
            is_same = bool(((table == np.arange(len(table))) | (table < 0)).all())
            if is_same and self.before.codes.dtype == np.dtype(dtype):
                days = self.before.earlier.matching_days
            self.same = self.before.elements(days - 1).stop * np.dtype(dtype).itemsize if days else 0
            self.before.earlier.begin(self.path, self.same)
        with self.local.open("rb") as source, self.path.open("ab") as target:
            for part in self.parts[days:]:
                if isinstance(part, int):
                    next(later).astype(dtype)[np.fromfile(source, np.int32, part)].tofile(target)
                elif self.before is not None:
                    for at in range(part.start, part.stop, CHUNK):
                        earlier[self.before.codes[at : min(at + CHUNK, part.stop)]].tofile(target)
        self.local.unlink()

    def sum(self) -> Sum:
        """The checksums of the file."""
        checksum = self.before.earlier.sum_of(self.path.name) if self.before else None
        return Sum.of(self.path, checksum, self.same)


def merge(before: npt.NDArray[Any], is_used: npt.NDArray[np.bool_], more: Sequence[npt.NDArray[Any]]) -> Any:
    """All values used and `more`, ascending; where those of `before` are (-1: nowhere), and those of `more`.

    Each array is ascending, without repetition.
    """
    union = np.sort(np.concatenate([before[is_used], *more]), kind="stable")  # merges what is sorted
    is_first = np.ones(len(union), dtype=bool)
    np.not_equal(union[1:], union[:-1], out=is_first[1:])
    union = union[is_first]
    table = np.full(len(before), -1, np.int64)
    table[is_used] = np.searchsorted(union, before[is_used])
    return union, table, [np.searchsorted(union, values) for values in more]


def encode(column: pa.Array | pa.ChunkedArray) -> tuple[Local, pa.Array]:
    """Codes into the column's own values, and those values; a missing value becomes the empty string."""
    chunks = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if not pa.types.is_dictionary(chunks.type):
        chunks = chunks.dictionary_encode()
    if chunks.num_chunks == 0:
        return np.zeros(0, np.int32), pa.array([""], pa.string())
    array = chunks.unify_dictionaries().combine_chunks()
    values = array.dictionary.cast(pa.string()).fill_null("")
    codes = array.indices.cast(pa.int32()).fill_null(len(values)).to_numpy(zero_copy_only=False)
    values = pa.concat_arrays([values, pa.array([""], pa.string())])
    # one place, the last, for the empty string: given as text, as null, or missing
    empty = pc.equal(values, "").to_numpy(zero_copy_only=False)
    if empty.sum() > 1:
        codes = np.where(empty, len(values) - 1, np.arange(len(values))).astype(np.int32)[codes]
    return codes, values


def occurring(codes: Local, values: int) -> npt.NDArray[np.bool_]:
    """Which of so many values have a code here."""
    occurs = np.zeros(values, dtype=bool)
    occurs[codes] = True
    return occurs


class KeyWriter:
    """Writes `<stem>.codes` and `<stem>.arrow` for the key field `name`, which has one value per record."""

    is_segmented = False

    def __init__(self, stem: Path, number: int, name: str, earlier: Earlier | None) -> None:
        self.stem, self.number, self.name, self.earlier = stem, number, name, earlier
        before = Before(earlier, earlier.layout.codes(name), self.elements) if earlier else None
        self.codes = CodeWriter(stem.with_suffix(".codes"), before)
        self.values: list[pa.Array] = []

    def elements(self, place: int) -> slice:
        """Which codes of the earlier layout are a day's."""
        return self.earlier.records(place) if self.earlier else slice(0, 0)

    def add(self, column: pa.ChunkedArray, order: Places) -> None:
        """Add a day: its column in file order, and the order in which its records shall lie."""
        codes, values = encode(column)
        self._add(codes[order], values)

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout."""
        self.codes.keep(place)

    def finish(self) -> KeyColumn:
        """Sort the dictionary, rewrite the codes, and say what there is now."""
        before = self.earlier.layout.dictionary(self.name) if self.earlier else pa.array([], pa.string())
        is_used = self.codes.is_used(len(before))
        everything = pa.concat_arrays([before.filter(pa.array(is_used)), *self.values]).dictionary_encode()
        order = pc.sort_indices(everything.dictionary)
        dictionary = everything.dictionary.take(order)
        places = np.argsort(order)[everything.indices]
        table = np.full(len(before), -1, np.int64)
        table[is_used] = places[: is_used.sum()]
        tables = np.split(places[is_used.sum() :], np.cumsum([len(values) for values in self.values]))[:-1]
        self.codes.finish(table, tables, narrowest(len(dictionary)))
        with pa.OSFile(str(self.stem.with_suffix(".arrow")), "wb") as sink:
            content = pa.table({"value": dictionary})
            with pa.ipc.new_file(sink, content.schema) as writer:
                writer.write_table(content)
        return KeyColumn(self.number, len(dictionary), self.codes.elements, self.is_segmented)

    def sums(self) -> dict[str, Sum]:
        """The checksums of its files."""
        dictionary = self.stem.with_suffix(".arrow")
        return {self.codes.path.name: self.codes.sum(), dictionary.name: Sum.of(dictionary)}

    def _add(self, codes: Local, values: pa.Array) -> None:
        """Add the codes of a day, and of its values those that occur."""
        is_present = occurring(codes, len(values))
        if not is_present[:-1].all():
            codes = (np.cumsum(is_present, dtype=np.int32) - 1)[codes]
        self.codes.add(codes)
        self.values.append(values.filter(pa.array(is_present)))


class SegmentedKeyWriter(KeyWriter):
    """The same for a key field with several values per record; writes `<stem>.indptr` too.

    A record without elements belongs to the empty string; an element repeated in a record counts once.
    """

    is_segmented = True

    def __init__(self, stem: Path, number: int, name: str, earlier: Earlier | None) -> None:
        super().__init__(stem, number, name, earlier)
        self.ends = LaneWriter(stem.with_suffix(".indptr"), earlier, np.zeros(1, np.uint32).tobytes())
        self.count = 0

    def elements(self, place: int) -> slice:
        """Which codes of the earlier layout are a day's."""
        if self.earlier is None:
            return slice(0, 0)
        edges = self._edges(self.earlier, place)
        return slice(int(edges[0]), int(edges[-1]))

    def add(self, column: pa.ChunkedArray, order: Places) -> None:
        """Add a day: its list column in file order, and the order in which its records shall lie."""
        lists = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        codes, values = encode(lists.flatten())
        lengths, codes = _distinct_elements(lengths, codes, len(values) - 1)
        starts = np.cumsum(lengths) - lengths
        blocks = [order[at : at + _BLOCK_ROWS] for at in range(0, len(order), _BLOCK_ROWS)]
        elements = [codes[ranges(starts[block], lengths[block])] for block in blocks]
        self._add(np.concatenate([codes[:0], *elements]), values)
        self._end(np.cumsum(lengths[order]))

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout."""
        super().keep(place)
        if self.earlier is None:
            return
        edges = self._edges(self.earlier, place)
        if place < self.earlier.matching_days:
            self.count = int(edges[-1])
        else:
            self._end(edges[1:] - edges[0])

    def sums(self) -> dict[str, Sum]:
        """The checksums of its files."""
        return super().sums() | {self.ends.path.name: self.ends.sum()}

    def _edges(self, earlier: Earlier, place: int) -> Places:
        """Where the elements of a day's records begin in the earlier layout, and where the last ones end."""
        records = earlier.records(place)
        return earlier.layout.indptr(self.name, slice(records.start, records.stop + 1))

    def _end(self, ends: Places) -> None:
        """Add where the records of a day end, counted from its first element."""
        new_count = self.count + (int(ends[-1]) if len(ends) else 0)
        if new_count > MOST_ELEMENTS:
            raise OverflowError(f"The key field {self.name} has more than {MOST_ELEMENTS:,} elements")
        self.ends.add((self.count + ends).astype(np.uint32))
        self.count = new_count


class IdentityWriter:
    """Writes `<stem>.codes` and `<stem>.hashes`, and for an audience source `<stem>.order`.

    The order of hashes is a random order, so the first θ of all places are a random sample of users.
    """

    def __init__(self, stem: Path, number: int, name: str, is_ordered: bool, earlier: Earlier | None) -> None:
        self.stem, self.number, self.name = stem, number, name
        self.is_ordered, self.earlier = is_ordered, earlier
        before = Before(earlier, earlier.layout.distinct(name), earlier.records) if earlier else None
        self.codes = CodeWriter(stem.with_suffix(".codes"), before)
        self.hashes = stem.with_suffix(".hashes")
        self.values: list[Hashes] = []

    def add(self, column: pa.ChunkedArray, order: Places) -> None:
        """Add a day: its column in file order, and the order in which its records shall lie."""
        codes, values = encode(column)
        hashes = np.concatenate([_hashes(values[at : at + CHUNK]) for at in range(0, len(values), CHUNK)])
        occurs = occurring(codes, len(values))
        unique, places = np.unique(hashes[occurs], return_inverse=True)
        self.codes.add(places[(np.cumsum(occurs) - 1)[codes[order]]].astype(np.int32))
        self.values.append(unique)

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout."""
        self.codes.keep(place)

    def finish(self) -> DistinctColumn:
        """Turn places in a day into places in all, the missing last, and say how many values there are."""
        before: Hashes = np.zeros(0, np.uint64)
        if self.earlier is not None:
            self.earlier.check(self.hashes.name)
            before = np.fromfile(self.earlier.layout.folder / self.hashes.name, np.uint64)
        is_used = self.codes.is_used(len(before) + 1)[:-1]
        dictionary, table, tables = merge(before, is_used, [codes[codes != MISSING] for codes in self.values])
        every = [
            np.append(places, len(dictionary))[: len(hashes)]
            for places, hashes in zip(tables, self.values, strict=True)
        ]
        self.codes.finish(np.append(table, len(dictionary)), every, "uint32")
        dictionary.tofile(self.hashes)
        if self.is_ordered:
            # The records by user, those of a user ascending.
            users = np.fromfile(self.codes.path, np.uint32)
            if self.earlier is not None and self.earlier.matching_days == len(self.earlier.days):
                order = self._insert(self.earlier, users, len(dictionary))
            else:
                # the rows of a sparse matrix with one element in each column
                records = len(users)
                indptr = np.arange(records + 1, dtype=np.int32)
                each = np.ones(records, np.int8), users.view(np.int32), indptr
                order = np.asarray(csc_array(each, shape=(len(dictionary) + 1, records)).tocsr().indices)
            order.astype(np.uint32, copy=False).tofile(self.stem.with_suffix(".order"))
        return DistinctColumn(self.number, len(dictionary), self.is_ordered)

    def sums(self) -> dict[str, Sum]:
        """The checksums of its files."""
        others = [self.hashes, *([self.stem.with_suffix(".order")] if self.is_ordered else [])]
        return {self.codes.path.name: self.codes.sum()} | {path.name: Sum.of(path) for path in others}

    def _insert(self, earlier: Earlier, places: Records, values: int) -> Records:
        """The earlier records by user, and among them the new ones, each behind the others of its user."""
        earlier_records = earlier.layout.contents.records
        earlier.check(self.codes.path.name)
        counts = np.zeros(values + 1, np.int64)
        for at in range(0, earlier_records, CHUNK):
            counts += np.bincount(places[at : min(at + CHUNK, earlier_records)], minlength=values + 1)
        new = np.argsort(places[earlier_records:], kind="stable")
        behind = np.cumsum(counts)[places[earlier_records:][new]]
        return np.insert(earlier.layout.by_user(self.name)[:], behind, earlier_records + new)


def _distinct_elements(lengths: Places, codes: Local, missing: int) -> tuple[Places, Local]:
    """Lengths and codes with no repeated element in a record, and `missing` for each record without one."""
    lengths_by_block, codes_by_block, end = [lengths[:0]], [codes[:0]], 0
    for at in range(0, len(lengths), _BLOCK_ROWS):
        block = lengths[at : at + _BLOCK_ROWS]
        start, end = end, end + int(block.sum())
        record, elements = np.repeat(np.arange(len(block)), block), codes[start:end]
        is_first = ~pd.Series(record * (missing + 1) + elements).duplicated().to_numpy()
        counts = np.bincount(record[is_first], minlength=len(block))
        empty = (np.cumsum(counts) - counts)[counts == 0]
        codes_by_block.append(np.insert(elements[is_first], empty, missing))
        lengths_by_block.append(np.maximum(counts, 1))
    return np.concatenate(lengths_by_block), np.concatenate(codes_by_block)


def _hashes(values: pa.Array) -> Hashes:
    texts = values.to_numpy(zero_copy_only=False)
    hashes: Hashes = np.minimum(pd.util.hash_array(texts, categorize=False), MISSING - np.uint64(1))
    hashes[texts == ""] = MISSING
    return hashes
