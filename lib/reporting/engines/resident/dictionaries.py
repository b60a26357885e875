"""Text columns as codes: written a day at a time, sorted once all values are known.

A day's codes point into that day's own values. When the last day is in, the union of all values is sorted
and the codes are rewritten to point there, in the narrowest type that holds them.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from lib.reporting.engines.resident.layout import DistinctColumn, KeyColumn, narrowest

Local = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
CHUNK = 1 << 20
MISSING = np.uint64(2**64 - 1)


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


class KeyWriter:
    """Writes `<stem>.codes` and `<stem>.arrow` for a key field with one value per record."""

    def __init__(self, stem: Path, number: int) -> None:
        self.stem, self.number = stem, number
        self.values: list[pa.Array] = []
        self.elements: list[int] = []
        self.local = stem.with_suffix(".local")
        self.local.touch()

    def add(self, column: pa.ChunkedArray, order: Places) -> None:
        """Add a day: its column in file order, and the order in which its records shall lie."""
        codes, values = encode(column)
        self._append(codes[order], values)

    def finish(self) -> KeyColumn:
        """Sort the dictionary, rewrite the codes, and say what there is now."""
        everything = pa.concat_arrays(self.values) if self.values else pa.array([], pa.string())
        unique = everything.unique()
        dictionary = unique.take(pc.sort_indices(unique))
        places = pc.index_in(everything, value_set=dictionary).to_numpy(zero_copy_only=False)
        used = self._rewrite(places, narrowest(len(dictionary)), len(dictionary))
        dictionary = self._keep_used(dictionary, used)
        with pa.OSFile(str(self.stem.with_suffix(".arrow")), "wb") as sink:
            table = pa.table({"value": dictionary})
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
        return KeyColumn(self.number, len(dictionary), sum(self.elements), self._segmented())

    def _append(self, codes: Local, values: pa.Array) -> None:
        with self.local.open("ab") as file:
            np.ascontiguousarray(codes, dtype=np.int32).tofile(file)
        self.values.append(values)
        self.elements.append(len(codes))

    def _rewrite(self, places: npt.NDArray[Any], dtype: str, values: int) -> npt.NDArray[np.bool_]:
        used = np.zeros(values, dtype=bool)
        start = 0
        with self.local.open("rb") as source, self.stem.with_suffix(".codes").open("wb") as target:
            for own, count in zip(self.values, self.elements, strict=True):
                table = places[start : start + len(own)].astype(dtype)
                codes = table[np.fromfile(source, np.int32, count)]
                used[codes] = True
                codes.tofile(target)
                start += len(own)
        self.local.unlink()
        return used

    def _keep_used(self, dictionary: pa.Array, used: npt.NDArray[np.bool_]) -> pa.Array:
        """Drop values that no record has (each day's dictionary brings the empty string along)."""
        if used.all():
            return dictionary
        path = self.stem.with_suffix(".codes")
        old, new = narrowest(len(dictionary)), narrowest(int(used.sum()))
        shift = (np.cumsum(used) - 1).clip(0).astype(new)
        draft = path.with_suffix(".draft")
        with path.open("rb") as source, draft.open("wb") as target:
            while len(codes := np.fromfile(source, old, CHUNK)):
                shift[codes].tofile(target)
        draft.replace(path)
        return dictionary.filter(pa.array(used))

    def _segmented(self) -> bool:
        return False


class SegmentedKeyWriter(KeyWriter):
    """The same for a key field with several values per record; writes `<stem>.indptr` too.

    A record without elements belongs to the empty string; an element repeated in a record counts once.
    """

    def __init__(self, stem: Path, number: int) -> None:
        super().__init__(stem, number)
        self.written = 0
        with stem.with_suffix(".indptr").open("wb") as file:
            np.zeros(1, np.int64).tofile(file)

    def add(self, column: pa.ChunkedArray, order: Places) -> None:
        """Add a day: its list column in file order, and the order in which its records shall lie."""
        lists = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        lists = lists.chunk(0) if isinstance(lists, pa.ChunkedArray) else lists
        lengths = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        codes, values = encode(lists.flatten())
        starts, lengths, codes = _whole(lengths, codes, len(values) - 1)
        gathered = codes[_ranges(starts[order], lengths[order])]
        self._append(gathered, values)
        with self.stem.with_suffix(".indptr").open("ab") as file:
            (self.written + np.cumsum(lengths[order])).tofile(file)
        self.written += int(lengths.sum())

    def _segmented(self) -> bool:
        return True


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


class IdentityWriter:
    """Writes `<stem>.codes` for values that are counted, never shown: places in the order of their hashes.

    The order of hashes is a random order, so the first θ of all places are a random sample of users. For an
    audience source, `<stem>.order` lists the records by user.
    """

    def __init__(self, stem: Path, number: int, ordered: bool) -> None:
        self.stem, self.number, self.ordered = stem, number, ordered
        self.hashes = stem.with_suffix(".hashes")
        self.hashes.touch()

    def add(self, column: pa.ChunkedArray, order: Places) -> None:
        """Add a day: its column in file order, and the order in which its records shall lie."""
        codes, values = encode(column)
        texts = values.to_numpy(zero_copy_only=False)
        hashed = np.minimum(pd.util.hash_array(texts, categorize=False), MISSING - np.uint64(1))
        hashed[texts == ""] = MISSING
        with self.hashes.open("ab") as file:
            hashed[codes][order].tofile(file)

    def finish(self) -> DistinctColumn:
        """Turn hashes into places, and say how many there are."""
        unique, places = np.unique(np.fromfile(self.hashes, np.uint64), return_inverse=True)
        self.hashes.unlink()
        values = len(unique) - int(len(unique) > 0 and unique[-1] == MISSING)
        places.astype(np.uint32).tofile(self.stem.with_suffix(".codes"))
        if self.ordered:
            np.argsort(places, kind="stable").astype(np.uint32).tofile(self.stem.with_suffix(".order"))
        return DistinctColumn(self.number, values, self.ordered)
