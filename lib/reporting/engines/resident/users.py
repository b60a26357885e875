"""Values that are counted, never shown, as codes: places in the order of their hashes."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
from scipy.sparse import csc_array

from lib.reporting.engines.resident.checksums import Sum
from lib.reporting.engines.resident.dictionaries import Places, encode, occurring
from lib.reporting.engines.resident.earlier import Earlier
from lib.reporting.engines.resident.layout import DistinctColumn
from lib.reporting.engines.resident.written import CHUNK, Before, CodeWriter, merged

Hashes = npt.NDArray[np.uint64]
Records = npt.NDArray[np.uint32]
MISSING = np.uint64(2**64 - 1)


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
        texts = values.to_numpy(zero_copy_only=False)
        hashed = np.minimum(pd.util.hash_array(texts, categorize=False), MISSING - np.uint64(1))
        hashed[texts == ""] = MISSING
        there = occurring(codes, len(values))
        unique, places = np.unique(hashed[there], return_inverse=True)
        self.codes.add(places[(np.cumsum(there) - 1)[codes[order]]].astype(np.int32))
        self.values.append(unique)

    def keep(self, place: int) -> None:
        """Add a day of the earlier layout."""
        self.codes.keep(place)

    def finish(self) -> DistinctColumn:
        """Turn places in a day into places in all, the missing last, and say how many values there are."""
        before = self._before()
        used = self.codes.used(len(before) + 1)[:-1]
        known, table, tables = merged(before, used, [found[found != MISSING] for found in self.values])
        every = [np.append(one, len(known))[: len(own)] for one, own in zip(tables, self.values, strict=True)]
        self.codes.finish(np.append(table, len(known)), every, "uint32")
        known.tofile(self.hashes)
        if self.is_ordered:
            self._write_order(len(known))
        return DistinctColumn(self.number, len(known), self.is_ordered)

    def sums(self) -> dict[str, Sum]:
        """The checksums of its files."""
        others = [self.hashes, *([self.stem.with_suffix(".order")] if self.is_ordered else [])]
        return {self.codes.path.name: self.codes.sum()} | {path.name: Sum.of(path) for path in others}

    def _write_order(self, values: int) -> None:
        """Write the records by user, those of a user ascending."""
        places = np.fromfile(self.codes.path, np.uint32)
        if self.earlier is not None and self.earlier.is_appended:
            order = self._inserted(self.earlier, places, values)
        else:
            order = _by_place(places, values)
        order.astype(np.uint32, copy=False).tofile(self.stem.with_suffix(".order"))

    def _inserted(self, earlier: Earlier, places: Records, values: int) -> Records:
        """The earlier records by user, and among them the new ones, each behind the others of its user."""
        known = earlier.layout.contents.records
        earlier.check(self.codes.path.name)
        counts = np.zeros(values + 1, np.int64)
        for at in range(0, known, CHUNK):
            counts += np.bincount(places[at : min(at + CHUNK, known)], minlength=values + 1)
        new = np.argsort(places[known:], kind="stable")
        behind = np.cumsum(counts)[places[known:][new]]
        return np.insert(earlier.layout.by_user(self.name)[:], behind, known + new)

    def _before(self) -> Hashes:
        if self.earlier is None:
            return np.zeros(0, np.uint64)
        self.earlier.check(self.hashes.name)
        return np.fromfile(self.earlier.layout.folder / self.hashes.name, np.uint64)


def _by_place(places: Records, values: int) -> Records:
    """Records by place: the rows of a sparse matrix with one element in each column."""
    records = len(places)
    each = np.ones(records, np.int8), places.view(np.int32), np.arange(records + 1, dtype=np.int32)
    return np.asarray(csc_array(each, shape=(values + 1, records)).tocsr().indices)
