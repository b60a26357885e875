"""Key fields as codes: written a day at a time, by a dictionary that is sorted once all values are known.

A day's codes point into that day's own values. When the last day is in, the union of all values is sorted
and the codes are rewritten to point there, in the narrowest type that holds them. Those of an earlier layout
are rewritten only where they changed.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.engines.resident.checksums import Sum
from lib.reporting.engines.resident.earlier import Earlier
from lib.reporting.engines.resident.layout import KeyColumn, narrowest
from lib.reporting.engines.resident.written import Before, CodeWriter, LaneWriter, Local

Places = npt.NDArray[np.int64]


def encode(column: pa.Array | pa.ChunkedArray) -> tuple[Local, pa.Array]:
    """Codes into the column's own values, and those values; a missing value becomes the empty string."""
    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    if not pa.types.is_dictionary(chunked.type):
        chunked = chunked.dictionary_encode()
    if chunked.num_chunks == 0:
        return np.zeros(0, np.int32), pa.array([""], pa.string())
    coded = chunked.unify_dictionaries().combine_chunks()
    coded = coded.chunk(0) if isinstance(coded, pa.ChunkedArray) else coded
    values = coded.dictionary.cast(pa.string()).fill_null("")
    codes = coded.indices.cast(pa.int32()).fill_null(len(values)).to_numpy(zero_copy_only=False)
    values = pa.concat_arrays([values, pa.array([""], pa.string())])
    return _one_empty(codes, values), values


def _one_empty(codes: Local, values: pa.Array) -> Local:
    """The codes with one place, the last, for the empty string: given as text, as null, or missing."""
    empty = pc.equal(values, "").to_numpy(zero_copy_only=False)
    if empty.sum() == 1:
        return codes
    return np.where(empty, len(values) - 1, np.arange(len(values))).astype(np.int32)[codes]


def occurring(codes: Local, values: int) -> npt.NDArray[np.bool_]:
    """Which of so many values have a code here."""
    found = np.zeros(values, dtype=bool)
    found[codes] = True
    return found


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
        before = self._before()
        used = self.codes.used(len(before))
        everything = pa.concat_arrays([before.filter(pa.array(used)), *self.values])
        unique = everything.unique()
        dictionary = unique.take(pc.sort_indices(unique))
        places = pc.index_in(everything, value_set=dictionary).to_numpy(zero_copy_only=False).astype(np.int64)
        table = np.full(len(before), -1, np.int64)
        table[used] = places[: used.sum()]
        tables = np.split(places[used.sum() :], np.cumsum([len(values) for values in self.values]))[:-1]
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
        there = occurring(codes, len(values))
        if not there[:-1].all():
            codes = (np.cumsum(there, dtype=np.int32) - 1)[codes]
        self.codes.add(codes)
        self.values.append(values.filter(pa.array(there)))

    def _before(self) -> pa.Array:
        if self.earlier is None:
            return pa.array([], pa.string())
        return self.earlier.layout.dictionary(self.name)


class SegmentedKeyWriter(KeyWriter):
    """The same for a key field with several values per record; writes `<stem>.indptr` too.

    A record without elements belongs to the empty string; an element repeated in a record counts once.
    """

    is_segmented = True

    def __init__(self, stem: Path, number: int, name: str, earlier: Earlier | None) -> None:
        super().__init__(stem, number, name, earlier)
        self.ends = LaneWriter(stem.with_suffix(".indptr"), earlier, np.zeros(1, np.int64).tobytes())
        self.written = 0

    def elements(self, place: int) -> slice:
        """Which codes of the earlier layout are a day's."""
        if self.earlier is None:
            return slice(0, 0)
        records, indptr = self.earlier.records(place), self.earlier.layout.indptr(self.name)
        return slice(int(indptr[records.start]), int(indptr[records.stop]))

    def add(self, column: pa.ChunkedArray, order: Places) -> None:
        """Add a day: its list column in file order, and the order in which its records shall lie."""
        lists = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        codes, values = encode(lists.flatten())
        starts, lengths, codes = _whole(lengths, codes, len(values) - 1)
        self._add(codes[_ranges(starts[order], lengths[order])], values)
        self._end(np.cumsum(lengths[order]))

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout."""
        super().keep(place)
        if self.earlier is None:
            return
        records, indptr = self.earlier.records(place), self.earlier.layout.indptr(self.name)
        if place < self.earlier.led:
            self.written = int(indptr[records.stop])
        else:
            self._end(indptr[records.start + 1 : records.stop + 1] - indptr[records.start])

    def sums(self) -> dict[str, Sum]:
        """The checksums of its files."""
        return super().sums() | {self.ends.path.name: self.ends.sum()}

    def _end(self, ends: Places) -> None:
        """Add where the records of a day end, counted from its first element."""
        self.ends.add(self.written + ends)
        self.written += int(ends[-1]) if len(ends) else 0


def _whole(lengths: Places, codes: Local, missing: int) -> tuple[Places, Places, Local]:
    """Starts, lengths and codes with no repeated element, and `missing` for each record without one."""
    record = np.repeat(np.arange(len(lengths)), lengths)
    first = ~pd.Series(record * (missing + 1) + codes).duplicated().to_numpy()
    record, codes = record[first], codes[first]
    lengths = np.bincount(record, minlength=len(lengths))
    empty = np.flatnonzero(lengths == 0)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]]) if len(lengths) else lengths
    starts[empty] = len(codes) + np.arange(len(empty))
    lengths[empty] = 1
    return starts, lengths, np.concatenate([codes, np.full(len(empty), missing, np.int32)])


def _ranges(starts: Places, lengths: Places) -> Places:
    """`starts[0] … starts[0]+lengths[0]-1, starts[1] …` as one array."""
    ends = np.cumsum(lengths)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(starts - ends + lengths, lengths)
