"""Where the real data lies, and what tests say without it."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("TRANCHE_TEST_DATA", ""))
HERE = Path(__file__).parent
needs_data = pytest.mark.skipif(
    not os.environ.get("TRANCHE_TEST_DATA"),
    reason="REAL DATA NOT TESTED: TRANCHE_TEST_DATA does not name its folder",
)
