"""The order of an answer's rows, whole or by its first rows alone."""

import numpy as np
import pytest

from lib.reporting.compose import Numbers, ascending, first_rows

RANDOM = np.random.default_rng(20_151)
COLUMNS = {
    "many ties": RANDOM.integers(-3, 3, 999).astype(float),
    "decimals": RANDOM.integers(-(10**7), 10**7, 999) / 100,
    "both zeros": RANDOM.choice([0.0, -0.0, 1.0, -1.0], 999),
    "missing and infinite": RANDOM.choice([np.nan, -np.nan, np.inf, -np.inf, 1.0, 2.5], 999),
    "told apart by the last bits": np.nextafter(1e6, np.inf) + RANDOM.integers(-9, 9, 999) * 2e-10,
    "missing alone": np.full(5, np.nan),
    "none": np.zeros(0),
}


@pytest.mark.parametrize("numbers", COLUMNS.values(), ids=COLUMNS)
def test_equal_numbers_stay_in_their_order(numbers: Numbers) -> None:
    """Rows are sorted as a stable sort does it, missing values last."""
    assert np.array_equal(ascending(numbers), np.argsort(numbers, kind="stable"))


@pytest.mark.parametrize("numbers", COLUMNS.values(), ids=COLUMNS)
@pytest.mark.parametrize("most", [0, 1, 10, 10**4])
def test_a_page_is_the_beginning_of_all_rows(numbers: Numbers, most: int) -> None:
    """The first rows are those of the whole order, by one field or by several."""
    more = np.arange(len(numbers), dtype=float)[::-1] % 7
    for keys in ([numbers], [numbers, more], [more, numbers]):
        whole = np.lexsort(keys[::-1])
        assert np.array_equal(first_rows(keys, len(numbers), None), whole)
        assert np.array_equal(first_rows(keys, len(numbers), most), whole[:most])
