"""JSON whose numbers stay what they are."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.wire import exact

NUMBERS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**15), max_value=10**15, places=9)


@given(st.recursive(NUMBERS | st.text() | st.booleans() | st.none(), st.lists, max_leaves=20))
def test_there_and_back(value: object) -> None:
    """What is written is read back equal: decimals, texts, lists."""
    assert exact.loads(exact.dumps(value)) == value


@pytest.mark.parametrize(
    ("number", "text"), [("2.50", "2.5"), ("1E+2", "100"), ("0.0", "0"), ("1E-7", "0.0000001"), ("-3", "-3")]
)
def test_numbers_are_written_plainly(number: str, text: str) -> None:
    """Without exponent and trailing zeros."""
    assert exact.dumps(Decimal(number)) == text.encode()


@pytest.mark.parametrize("number", ["NaN", "Infinity", "sNaN"])
def test_what_is_no_number(number: str) -> None:
    """It can't be written as JSON, neither written nor read."""
    with pytest.raises(TypeError):
        exact.dumps(Decimal(number))
    with pytest.raises(ValueError, match=r"not a JSON number|Expecting"):
        exact.loads(number.encode())


@pytest.mark.parametrize("text", [rb'"\ud800"', b'"\xff"', b"[" * 100_000, b""])
def test_what_is_no_json(text: bytes) -> None:
    """Halves of characters, other encodings and towers of brackets are refused."""
    with pytest.raises(ValueError, match=r"."):
        exact.loads(text)


def test_pairs_of_surrogates_are_characters() -> None:
    """`\\ud83d\\ude00` is one character."""
    assert exact.loads(rb'"\ud83d\ude00"') == "😀"


def test_long_numbers() -> None:
    """A number of any length is read in linear time, for its field to judge; a zero is one digit."""
    assert exact.loads(b"9" * 500_000) == Decimal("9" * 500_000)
    assert exact.dumps(exact.loads(b"0e-999999999")) == b"0"
