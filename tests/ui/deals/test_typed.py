"""Numbers and times that are typed as text: read strictly, stored to the digit, or said to be wrong."""

import datetime as dt
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from lib.figures import amounts
from lib.figures.query.state import DATA_FILTER_LIMITS
from lib.ui.kit import times


@pytest.mark.parametrize(
    ("text", "number"),
    [("2.50", "2.50"), ("12", "12"), (" 0.5 ", "0.5"), (".5", "0.5"), ("12.345678", "12.345678"), ("0", "0"),
     ("007", "7"), ("2.5000000000", "2.5")],
)  # fmt: skip
def test_numbers(text: str, number: str) -> None:
    """Plain digits with a point are read exactly."""
    assert amounts.read(text) == Decimal(number)
    assert amounts.fault(text) == ""


def test_a_number_is_sent_while_it_is_typed() -> None:
    """What is said of a number keeps up with the keys: its field sends it after a pause, without Tab."""
    desk = AppTest.from_function(_draw_price)
    field = desk.run().text_input(key="price")
    assert field.proto.live_debounce_ms > 0
    assert not desk.markdown
    assert "Write decimals with a point" in field.set_value("2,5").run().markdown[0].value


def _draw_price() -> None:
    import streamlit

    from lib.figures import amounts
    from lib.ui.kit import amount_field
    from lib.ui.kit.field_problems import beside

    amount_field.field("Price", "price")
    beside(filter(None, [amounts.fault(streamlit.session_state.price)]))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-5", "Must be 0 or more."),
        ("1e308", "Not a number"),
        ("12,50", "Write decimals with a point"),
        ("1,250.75", "Write decimals with a point"),
        ("2.5.1", "Not a number"),
        ("2.", "Not a number"),
        ("nan", "Not a number"),
        ("٣", "Not a number"),
        ("0x10", "Not a number"),
        ("1_000", "Not a number"),
        ("9" * 5000, "Must be less than 1,000,000,000,000."),
        ("0.1234567", "At most 6 decimals."),
    ],
)
def test_what_is_no_number(text: str, words: str) -> None:
    """Anything else is said to be wrong: a comma means one thing here and another there."""
    assert words in amounts.fault(text)
    with pytest.raises(ValueError, match=words[:10]):
        amounts.read(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("2.10\t", "2.10"), ("$2.10", "2.10"), ("$ 2.10 ", "2.10"), ("2.10 USD", "2.10"), ("2,10 €", "2.10"),
     ("€2,10", "2.10"), ("1.250,75 €", "1250.75"), ("$1,250.75", "1250.75"), ("USD 1,250", "1250"),
     ("2\u00a0£", "2"), ("EUR 0.5", "0.5")],
)  # fmt: skip
def test_pasted_amounts(text: str, number: str) -> None:
    """An amount that is pasted with its currency is read as that currency is written."""
    assert amounts.read(text) == Decimal(number)


@pytest.mark.parametrize(
    "text", ["2,10", "1,250", "1.250 €", "1,250 €", "$2,10", "2,10 $", "€ -2,10", "2.10 % "]
)
def test_a_decimal_comma_stays_a_question(text: str) -> None:
    """What could be two numbers is not read, however it was pasted."""
    with pytest.raises(ValueError, match=r"Write decimals|Not a number"):
        amounts.read(text)


@pytest.mark.parametrize(("text", "code"), [("$2.10", "USD"), ("2,10 €", "EUR"), ("GBP 2", "GBP"), ("2", "")])
def test_the_currency_that_was_pasted(text: str, code: str) -> None:
    """A pasted currency is known, so that a form can ask about another one than its own."""
    assert amounts.currency(text) == code


def test_an_empty_field() -> None:
    """Nothing typed is no number; whether that is wrong is for the field to say."""
    assert amounts.read(" ") is None
    assert amounts.fault("") == ""
    assert amounts.fault("", "Type a price.") == "Type a price."


@given(st.decimals(min_value=0, max_value=10**11, places=6))
def test_there_and_back(number: Decimal) -> None:
    """A number that is shown in a field is read back as it was."""
    assert amounts.read(amounts.to_text(number)) == number


@pytest.mark.parametrize(
    ("text", "value"), [("1500", 1500.0), ("-3", -3.0), ("0.1", 0.1), ("1e9", None), ("1,5", None)]
)
def test_numbers_of_data_filters(text: str, value: float | None) -> None:
    """The value of a data filter is read by the same rule, and may be negative."""
    assert bool(amounts.fault(text, limits=DATA_FILTER_LIMITS)) is (value is None)
    if value is not None:
        assert float(amounts.read(text, DATA_FILTER_LIMITS) or 0) == value


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2041-05-06", dt.datetime(2041, 5, 6)),  # noqa: DTZ001
        (" 2041-05-06  10:30 ", dt.datetime(2041, 5, 6, 10, 30)),  # noqa: DTZ001
        ("2999-12-31 23:59:59", dt.datetime(2999, 12, 31, 23, 59, 59)),  # noqa: DTZ001
        ("31.12.2026", dt.datetime(2026, 12, 31)),  # noqa: DTZ001
        ("1.2.2026 09:30\t", dt.datetime(2026, 2, 1, 9, 30)),  # noqa: DTZ001
        ("12/31/2026", dt.datetime(2026, 12, 31)),  # noqa: DTZ001
        ("31/12/2026", dt.datetime(2026, 12, 31)),  # noqa: DTZ001
    ],
)  # fmt: skip
def test_times(text: str, moment: dt.datetime) -> None:
    """A day, with or without an hour, however far away."""
    assert times.read(text) == moment
    assert times.read(times.to_text(moment)) == moment


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2026-02-31", "no such day"),
        ("2026-12-01 25:00", "no such day or time"),
        ("2026-12", "Not a date"),
        ("1.12.26", "Not a date"),
        ("31/31/2026", "no such day"),
        ("12/01/2026", "It could be two days: write 2026-12-01 or 2026-01-12."),
        ("2026-12-01 9", "Not a date"),
        ("0026-12-01", "The year must be from 2000 to 2999"),
    ],
)
def test_what_is_no_time(text: str, words: str) -> None:
    """What is half a date, or none, is said to be wrong and not taken for no end."""
    assert words in times.fault(text)


@pytest.mark.parametrize("text", ["2.10 CPM", "2.10 cpm", "2.10 USD CPM", "$2.10CPM"])
def test_the_unit_of_a_price_is_no_currency(text: str) -> None:
    """A price that is pasted with CPM is read, and its currency is what else it says, or none."""
    assert amounts.read(text) == Decimal("2.10")
    assert amounts.currency(text) == ("USD" if "USD" in text or "$" in text else "")
    assert amounts.currency("2.10 XYZ") == ""
