"""The digits of sums."""

import numpy as np

from lib.reporting.compose import settle


def test_a_sum_has_the_same_digits_in_any_order() -> None:
    """A million amounts in millionths have one sum to the last digit, however they are added up."""
    amounts = np.random.default_rng(3).integers(1, 10**7, 1_000_000) / 10**6
    orders = [amounts, amounts[::-1], np.sort(amounts)]
    sums = [of.cumsum()[-1] for of in orders] + [of.reshape(1000, -1).sum(axis=1).sum() for of in orders]
    assert len({repr(float(one)) for one in sums}) > 1
    exact = round(float(sum(round(one * 10**6) for one in amounts.tolist())) / 10**6, 6)
    assert set(settle(np.array(sums)).tolist()) == {exact}


def test_whole_numbers_stay() -> None:
    """Sums of whole numbers keep all of their digits; what is missing stays so."""
    values = np.array([9_007_199_254_740_991.0, 123_456_789_012_345.0, 0.0, -7.0])
    assert settle(values).tolist() == values.tolist()
    assert np.isnan(settle(np.array([np.nan, 0.5]))[0])
    assert settle(np.array([-39563.119200000125, 1e-9 / 3])).tolist() == [-39563.1192, 3.333333333333e-10]
