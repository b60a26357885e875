"""The far-away desk of the browser tests is as far away as it says."""

import time
from pathlib import Path

from playwright.sync_api import Page

from browser.conftest import Serve, enter
from browser.distance import far_away


def test_round_trip(own_home: Path, serve: Serve, page: Page) -> None:
    """A delayed desk opens, and a round trip over its connection takes at least the delay both ways."""
    with serve(own_home) as address, far_away(address, delay=0.15) as distant:
        enter(page, distant)
        started = time.perf_counter()
        page.request.get(f"{distant}/_stcore/health")
        assert time.perf_counter() - started >= 0.3
