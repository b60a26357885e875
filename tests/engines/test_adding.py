"""Adding up by groups: which keys occur, and their sums, however many keys, pieces and threads there are."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest

from lib.engines.resident import accumulate, adding
from lib.engines.resident.accumulate import Rows, distinct, one_each
from lib.engines.resident.adding import Adding, Location
from lib.engines.resident.lanes import LARGEST_SMALL, SAFE_RECORDS, spans
from lib.wire.deadline import Deadline
from lib.wire.errors import BadRequest

RECORDS = 5_000
KEYS = np.random.default_rng(3).zipf(1.3, RECORDS) % 3_000
BLOCKS = [np.column_stack([np.ones(RECORDS), np.random.default_rng(4).integers(-9, 9, (RECORDS, 6))])]

Keys = npt.NDArray[np.int64]


class Split:
    """As much of a split as adding up looks at."""

    is_segmented = False

    def __init__(self, groups: int) -> None:
        self.groups = groups


def added(possible: int, threads: int, most: int | None = None) -> adding.SplitSums:
    """The sums of BLOCKS by KEYS, in four pieces."""

    def located(rows: Rows) -> Location:
        assert isinstance(rows, slice)
        return Location(rows, KEYS[rows], one_each(rows.stop - rows.start))

    pieces = [slice(at, at + RECORDS // 4) for at in range(0, RECORDS, RECORDS // 4)]
    work = Adding(Split(possible), located, threads, Deadline(), most)  # type: ignore[arg-type]
    return work.sum_up(lambda rows: [block[rows] for block in BLOCKS], lambda size: [*pieces], RECORDS)


@pytest.mark.parametrize("possible", [3_000, 10**9, 2**62])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_distinct_keys(possible: int, kind: Callable[..., Keys]) -> None:
    """The keys that occur come ascending, with each key's place: by table, by sorting, by factorize."""
    known, places = np.unique(KEYS, return_inverse=True)
    keys, codes = distinct(np.asarray(KEYS, dtype=kind), possible)
    assert np.array_equal(keys, known)
    assert np.array_equal(codes, places)


def test_no_keys_are_distinct_keys() -> None:
    """Of no records no key occurs, whatever was possible."""
    for possible in (1, 10**9, 2**62):
        keys, places = distinct(np.zeros(0, np.int64), possible)
        assert (len(keys), len(places)) == (0, 0)


@pytest.mark.parametrize("possible", [3_000, 10**9, 2**62])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_sums_are_those_of_pandas(possible: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few possible groups or many, one thread or several: sums and total are those of a pandas groupby."""
    monkeypatch.setattr(adding, "WORTH_THREADS", 2)
    summed = added(possible, threads)
    wanted = pd.DataFrame(BLOCKS[0]).groupby(KEYS).sum()
    assert np.array_equal(summed.keys, wanted.index)
    assert np.array_equal(summed.blocks[0], wanted.to_numpy())
    assert np.array_equal(summed.whole()[0], BLOCKS[0].sum(axis=0))


def test_too_many_groups_are_refused_before_they_are_added_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """More groups than an answer may have are refused once they are counted: nothing was multiplied."""
    monkeypatch.setattr(accumulate, "csc_array", None)
    with pytest.raises(BadRequest, match="more than 10 rows"):
        added(10**9, threads=1, most=10)


@pytest.mark.parametrize("lanes", [1, 6, 8, 9, 25, 40, 41, 100])
def test_blocks_hold_every_lane_once(lanes: int) -> None:
    """The blocks of a layout hold all lanes in order, the first at most eight of them, others at most 32."""
    blocks = spans(lanes)
    assert [place for span in blocks for place in range(lanes)[span]] == list(range(lanes))
    assert len(range(lanes)[blocks[0]]) <= 8
    assert max(len(range(lanes)[span]) for span in blocks) <= 32


@pytest.mark.parametrize("groups", [1, 3, 100_000])
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_of_small_numbers_are_exact(groups: int, sign: int) -> None:
    """As many numbers of four bytes as are added up at once, and more, have the sums of whole numbers."""
    for records in (SAFE_RECORDS, SAFE_RECORDS + 1, 3 * SAFE_RECORDS):
        keys = np.where(np.arange(records) % 7, 0, np.arange(records) % groups).astype(np.int32)
        numbers = np.full((records, 2), sign * LARGEST_SMALL).astype(np.int32)
        sums = accumulate.GroupSums(groups)
        for _ in range(2):
            sums.add(keys, one_each(records), [numbers])
        wanted = 2 * int(sign * LARGEST_SMALL) * np.bincount(keys, minlength=groups)
        assert (sums.blocks[0] == wanted[:, None]).all()
