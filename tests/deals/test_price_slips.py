"""When a price is questioned: beyond a factor of three, up or down, of what it is compared with."""

from decimal import Decimal

import pytest

from lib.deals.doubts import PriceScale, factor, price_slip

WINS = PriceScale(Decimal("1.99"), Decimal("2.13"), "the lower quartile", "the upper quartile")
PACKAGE = PriceScale.of_package([Decimal(2), Decimal(5), None])


@pytest.mark.parametrize("price", ["15", "19", "30", "0.19", "0.015", "24", "0.02", "6.40", "0.66"])
def test_prices_beside_wins_that_are_asked(price: str) -> None:
    """Beyond three times the upper quartile, and below a third of the lower one, with both figures named."""
    sentence = price_slip(Decimal(price), [None, WINS, PACKAGE])
    assert f"{Decimal(price):.2f}"[:4] in sentence or price in sentence
    assert ("2.13" if Decimal(price) > 2 else "1.99") in sentence


@pytest.mark.parametrize("price", ["6.39", "0.67", "0.6634", "2", "1.99", "2.13", "1", "5"])
def test_prices_beside_wins_that_pass(price: str) -> None:
    """Up to three times the upper quartile, and down to a third of the lower one."""
    assert price_slip(Decimal(price), [None, WINS, PACKAGE]) == ""


@pytest.mark.parametrize(
    ("before", "price", "sentence"),
    [
        ("1.61", "16.1", "a price of 16.10, 10 times the price before (1.61)"),
        ("2.16", "19.00", "a price of 19.00, 8.8 times the price before (2.16)"),
        ("2.00", "0.2", "a price of 0.20, 10 times below the price before (2.00)"),
        ("2", "6", ""),
        ("2", "6.000001", "a price of 6.000001, 3 times the price before (2.00)"),
        ("3", "1", ""),
        ("3", "0.999999", "a price of 0.999999, 3 times below the price before (3.00)"),
        ("2", "0", "a price of 0"),
        ("900", "1000", "a price of 1,000.00"),
        ("900", "999.99", ""),
    ],
)
def test_the_price_before_counts_first(before: str, price: str, sentence: str) -> None:
    """A change is compared with the price that it replaces, whatever was won; three times is no slip."""
    assert price_slip(Decimal(price), [PriceScale.before(Decimal(before)), WINS]) == sentence


def test_list_prices_of_the_package_count_last() -> None:
    """Without a price before and without wins it is compared with the lowest and highest of the package."""
    scales = [PriceScale.before(None), None, PACKAGE]
    assert price_slip(Decimal("15.01"), scales).endswith("the highest other price in the package (5.00)")
    assert price_slip(Decimal("0.66"), scales).endswith("the lowest other price in the package (2.00)")
    assert price_slip(Decimal(15), scales) == ""


def test_nothing_to_compare_with() -> None:
    """A price before of 0, or none, is no scale; a price alone is asked from 1,000 up, and for 0."""
    assert PriceScale.before(Decimal(0)) is None
    assert PriceScale.of_package([None, Decimal(0)]) is None
    assert price_slip(Decimal(999)) == ""
    assert price_slip(None) == ""
    assert (price_slip(Decimal(1000)), price_slip(Decimal(0))) == ("a price of 1,000.00", "a price of 0")


@pytest.mark.parametrize(("larger", "smaller", "text"), [("19", "2.16", "8.8"), ("10000", "1", "10,000")])
def test_factors(larger: str, smaller: str, text: str) -> None:
    """With at most two decimals, and none that say nothing."""
    assert factor(Decimal(larger), Decimal(smaller)) == text
