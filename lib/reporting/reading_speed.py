"""How long this machine takes to read records: measured once, so that a question always has one precision.

What a question takes in truth depends on its split and on what else the machine does. Neither may decide
whether figures are exact: the same question, or the other half of a comparison, would get another answer.
"""

import time
from functools import cache

import numpy as np

OVERHEAD_MILLISECONDS = 3.0
PASSES = 60  # a usual question, with unique users, takes as long as so many weighted counts of its records
RECORDS, ROUNDS = 200_000, 7


def milliseconds(records: int) -> int:
    """The expected time to read all of these records."""
    return round(OVERHEAD_MILLISECONDS + records * _nanoseconds() / 1e6)


@cache
def _nanoseconds() -> float:
    """The time for one record, by the fastest of a few counts."""
    values = np.random.default_rng(0).integers(0, RECORDS, RECORDS)
    weights = np.ones(RECORDS)
    seconds = []
    for _ in range(ROUNDS):
        # The time of this thread alone: others must not make a machine look slow.
        began = time.thread_time()
        np.bincount(values, weights)
        seconds.append(time.thread_time() - began)
    return PASSES * 1e9 * min(seconds) / RECORDS
