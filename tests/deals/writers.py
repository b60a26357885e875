"""Writers in processes of their own, for test_reliability.py."""

import time
from concurrent.futures import ThreadPoolExecutor

from lib import database
from lib.deals.service import DealsRequest, DealsService
from lib.deals.store.work import DealsScope
from lib.wire.deadline import Deadline

THREADS = 4


def write(url: str, name: str, writes: int) -> float:
    """So many DSPs from each of four threads; returns the seconds of the slowest write."""
    service = DealsService(database.engine(url))

    def writer(thread: int) -> float:
        return max(_seconds(service, f"{name} {thread} {number}") for number in range(writes))

    with ThreadPoolExecutor(THREADS) as pool:
        return max(pool.map(writer, range(THREADS)))


def _seconds(service: DealsService, name: str) -> float:
    begin = time.monotonic()
    service.create("dsps", DealsRequest(DealsScope("writer"), Deadline(30), body={"name": name}))
    return time.monotonic() - begin
