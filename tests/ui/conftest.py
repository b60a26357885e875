"""Screens without a browser; none of their fragments may leave the rest of the page behind."""

from collections.abc import Iterator

import fragments
import pytest


@pytest.fixture(scope="package", autouse=True)
def _watched() -> Iterator[None]:
    with fragments.watch():
        yield


@pytest.fixture(autouse=True)
def _no_fragment_leaves_others_behind(_watched: None) -> Iterator[None]:
    """What a fragment changes and others draw is drawn anew (`fragments`)."""
    fragments.faults.clear()
    yield
    assert not fragments.faults
