"""Screens without a browser; no fragment of them may leave the rest of the page behind, and no thread ask for
a session."""

from collections.abc import Iterator

import fragments
import pytest
import threads


@pytest.fixture(scope="package", autouse=True)
def _watched() -> Iterator[None]:
    with fragments.watch(), threads.watch():
        yield


@pytest.fixture(autouse=True)
def _no_faults(_watched: None) -> Iterator[None]:
    """What a fragment changes and others draw is drawn anew (`fragments`); no thread needs a session."""
    fragments.faults.clear()
    threads.faults.clear()
    yield
    # What sessions drew leads to their desks, which else keep their files open and their threads.
    fragments.sessions.clear()
    assert not fragments.faults
    assert not threads.faults
