"""The frame of every screen: its sentence on the data, and its clients."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import threads

from lib.figures.context import NO_SLICER
from lib.people import Person
from lib.slicers.models import Slicer
from lib.ui.kit.frame import PageContext
from lib.wire.errors import TrancheError, Unreachable

ADA = Person("ada", "Ada", None, "viewer")


@pytest.mark.parametrize(
    ("slicer", "trouble", "said"),
    [
        (Slicer(last_date="2026-11-20", timezone=-5), None, "Data to 20 Nov 2026 · UTC-5 fixed, no DST"),
        (Slicer(last_date=None, timezone=1), None, "No data yet · UTC+1 fixed, no DST"),
        (Slicer(timezone=1), None, "UTC+1 fixed, no DST"),
        (Slicer(extensions=("time_zones",)), None, "UTC+0 by default"),
        (NO_SLICER, None, "The report is still loading"),
        (NO_SLICER, Unreachable("gone"), "The report is unavailable"),
    ],
    ids=["with data", "without data", "not told", "with a choice of zones", "awaited", "in trouble"],
)
def test_freshness(slicer: Slicer, trouble: TrancheError | None, said: str) -> None:
    """It says what the service told, and nothing that it did not."""
    assert PageContext(ADA, "demo", "delivery", slicer, None, trouble).freshness == said


def test_a_thread_gets_no_client() -> None:
    """A thread has no session: asking there who is signed in, or for a client, is an error."""
    context = PageContext(ADA, "demo", "delivery", Slicer(), None)
    with ThreadPoolExecutor(1) as pool:
        for ask in (context.now, lambda: context.reporting, lambda: context.deals):
            with pytest.raises(RuntimeError, match="no session"):
                pool.submit(ask).result()
    assert threads.faults
    threads.faults.clear()
