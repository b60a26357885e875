"""Reading ahead: what one thread reads, another gets in the same order, however it ends."""

import threading
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from lib.ingest.files import RawRows, Refuse, Reject
from lib.ingest.importing import BATCHES, read_ahead


def batch(number: int) -> RawRows:
    """One row, in this line."""
    return RawRows(pa.table({"a": [number]}), np.array([number]), str)


def reject(line: int) -> Reject:
    """A row that can't be read."""
    return Reject(line, "bad", "", "")


def reading_threads() -> int:
    """How many threads read."""
    return sum(thread.name == "reading" for thread in threading.enumerate())


def test_rejects_come_before_the_rows_that_follow_them() -> None:
    """Also where thousands come before any row, and after the last."""

    def read(refuse: Refuse) -> Iterator[RawRows]:
        for line in range(5_000):
            refuse(reject(line))
        yield batch(5_000)
        refuse(reject(5_001))

    numbers: list[int] = []
    for rows in read_ahead(read, lambda one: numbers.append(one.line)):
        numbers.extend(rows.lines.tolist())
    assert numbers == list(range(5_002))
    assert reading_threads() == 0


def test_an_error_is_raised_after_the_rows_before_it() -> None:
    """It is the reader's own."""

    def read(refuse: Refuse) -> Iterator[RawRows]:
        yield batch(1)
        refuse(reject(2))
        raise OSError("the disk is gone")

    numbers: list[int] = []
    with pytest.raises(OSError, match="the disk is gone"):
        for rows in read_ahead(read, lambda one: numbers.append(one.line)):
            numbers.extend(rows.lines.tolist())
    assert numbers == [1, 2]


def test_reading_stays_a_few_batches_ahead_and_ends_when_nobody_wants_more() -> None:
    """A file of a million batches is not read into memory; closing ends the thread."""
    numbers: list[int] = []

    def read(refuse: Refuse) -> Iterator[RawRows]:
        for number in range(1_000_000):
            numbers.append(number)
            yield batch(number)

    batches = read_ahead(read, lambda one: None)
    assert [next(batches).lines[0] for _ in range(3)] == [0, 1, 2]
    batches.close()
    assert reading_threads() == 0
    assert len(numbers) <= 3 + BATCHES + 1
