"""Match texts that begin with, end with or contain any of many values: one pass per length of value.

A loop over the values would read every text once for each. Values of one length are looked up together: the
beginnings (or ends) of that length in a set; of `contains`, every window of that length by its hash. The hash
is Rabin and Karp's, modulo 2^64: with prefix sums P[i] = Σ b[j]·R^j the window of length n at i has
(P[i+n] - P[i])·R^-i, so that numpy finds those of all windows. What has the hash of a value is compared.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from lib.wire.deadline import Deadline
from lib.wire.errors import UnknownName

Mask = npt.NDArray[np.bool_]
Hashes = npt.NDArray[np.uint64]
Bytes = npt.NDArray[np.uint8]
Edge = Callable[[pa.Array, int], pa.Array]

RADIX = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2^64
CHUNK_BYTES = 1 << 18
SIEVE_BITS = 20
EDGES: dict[str, Edge] = {
    "begins with": lambda texts, length: pc.binary_slice(texts, 0, length),
    "ends with": lambda texts, length: pc.binary_slice(texts, -length, None),
}
TESTS = (*EDGES, "contains")


def matching_any(texts: pa.Array, values: Sequence[str], match: str, deadline: Deadline) -> Mask:
    """A mask of the texts that `match` any value: `begins with`, `ends with`, `contains`; nulls never do.

    UnknownName for another match.
    """
    if match not in TESTS:
        raise UnknownName("match", match, TESTS)
    raw = texts.cast(pa.binary())
    is_valid: Mask = np.asarray(raw.is_valid(), dtype=bool)
    lengths: dict[int, list[bytes]] = defaultdict(list)
    for value in set(values):
        lengths[len(value.encode())].append(value.encode())
    if 0 in lengths:
        return is_valid
    if match in EDGES:
        matches = np.zeros(len(texts), dtype=bool)
        for length, same in lengths.items():
            deadline.check()
            edges = EDGES[match](raw, length)
            hit = pc.is_in(edges, value_set=pa.array(same, pa.binary()), skip_nulls=True)
            matches |= hit.to_numpy(zero_copy_only=False)
        return matches
    needles = [needle for same in lengths.values() for needle in _Needles.of(same)]
    parts = [np.zeros(0, dtype=bool)]
    for part in _parts(raw.fill_null(b"")):
        hay = _Hay(part)
        for needle in needles:
            deadline.check()
            hay.look_for(needle)
        parts.append(hay.has_match)
    return np.concatenate(parts) & is_valid


def _parts(texts: pa.Array) -> Iterator[pa.Array]:
    """The texts in pieces of about CHUNK_BYTES, so that the arrays of a piece stay in the cache."""
    ends = np.cumsum(pc.binary_length(texts).to_numpy(zero_copy_only=False))
    start = 0
    while start < len(texts):
        before = ends[start - 1] if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + CHUNK_BYTES, side="right")))
        yield texts.slice(start, end - start)
        start = end


class _Needles:
    """Values of one length and of different hashes, ordered by these; and a sieve that most windows miss."""

    def __init__(self, block: Bytes, hashes: Hashes) -> None:
        self.length, self.block, self.hashes = block.shape[1], block, hashes
        self.sieve = np.zeros(1 << SIEVE_BITS, dtype=bool)
        self.sieve[_sieve_places(hashes)] = True

    @classmethod
    def of(cls, values: list[bytes]) -> "Iterator[_Needles]":
        """All values of one length; those whose hash another has come apart from it."""
        block = np.frombuffer(b"".join(values), np.uint8).reshape(len(values), -1)
        hashes = (block * _powers(block.shape[1])).sum(axis=1, dtype=np.uint64)
        while len(hashes):
            unique, first = np.unique(hashes, return_index=True)
            yield cls(block[first], unique)
            block, hashes = np.delete(block, first, axis=0), np.delete(hashes, first)


class _Hay:
    """Some texts one after the other, and which of them have been found to contain a value."""

    def __init__(self, texts: pa.Array) -> None:
        content = b"".join(texts.to_pylist())
        lengths = pc.binary_length(texts).to_numpy(zero_copy_only=False).astype(np.int64)
        self.bytes: Bytes = np.frombuffer(content, np.uint8)
        self.owner = np.repeat(np.arange(len(texts)), lengths)
        self.room = np.repeat(np.cumsum(lengths), lengths) - np.arange(len(content))
        sums = np.cumsum(self.bytes * _powers(len(content)), dtype=np.uint64)
        self.sums: Hashes = np.concatenate([np.zeros(1, np.uint64), sums])
        self.inverse = _powers(len(content), pow(RADIX, -1, 1 << 64))
        self.has_match = np.zeros(len(texts), dtype=bool)

    def look_for(self, needles: _Needles) -> None:
        """Mark the texts that contain one of the needles."""
        length, windows = needles.length, len(self.bytes) - needles.length + 1
        if windows <= 0:
            return
        hashes = (self.sums[length:] - self.sums[:windows]) * self.inverse[:windows]
        likely = np.flatnonzero(needles.sieve[_sieve_places(hashes)])
        likely = likely[(self.room[likely] >= length) & ~self.has_match[self.owner[likely]]]
        place = np.searchsorted(needles.hashes, hashes[likely]).clip(max=len(needles.hashes) - 1)
        same = needles.hashes[place] == hashes[likely]
        for at, needle in zip(_batches(likely[same], length), _batches(place[same], length), strict=True):
            candidates = self.bytes[at[:, None] + np.arange(length)]
            equal = (candidates == needles.block[needle]).all(axis=1)
            self.has_match[self.owner[at[equal]]] = True


def _batches(places: npt.NDArray[np.intp], length: int) -> Iterator[npt.NDArray[np.intp]]:
    """So many at a time that their bytes fit a piece."""
    size = max(1, CHUNK_BYTES // length)
    return (places[at : at + size] for at in range(0, len(places), size))


def _sieve_places(hashes: Hashes) -> npt.NDArray[np.intp]:
    """The places of hashes in a sieve: their upper bits, which depend on all of a window."""
    return (hashes >> np.uint64(64 - SIEVE_BITS)).astype(np.intp)


def _powers(count: int, radix: int = RADIX) -> Hashes:
    """R^0, R^1 … modulo 2^64."""
    powers = np.full(max(count, 1), np.uint64(radix), np.uint64)
    powers[0] = 1
    return np.cumprod(powers, dtype=np.uint64)[:count]
