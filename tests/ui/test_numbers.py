"""Numbers, changes and precision as a reader sees them."""

import math
from datetime import date

import pandas as pd
import pytest

from lib.figures import numbers
from lib.figures.numbers import Numbers
from lib.figures.query import precision
from lib.figures.query.compared_answers import Change, change
from lib.reporting.answers import Audience, Estimate, Precision, Total
from lib.slicers.models import DataField

IMPS = DataField(name="imps", description="Impressions")
COST = DataField(name="cost", description="Cost", display_precision=2, display_pattern="$#")
CTR = DataField(name="ctr", description="CTR", display_precision=3, display_pattern="#%")
ENGLISH = Numbers.of("en-US")


@pytest.mark.parametrize(
    ("locale", "text"),
    [
        ("en-US", "1,234,567.89"),
        ("de-DE", "1.234.567,89"),
        ("de-CH", "1’234’567.89"),
        ("fr-FR", "1\u202f234\u202f567,89"),
        ("pt_BR", "1.234.567,89"),
        ("es-MX", "1,234,567.89"),
        (None, "1,234,567.89"),
        ("tlh", "1,234,567.89"),
    ],
)
def test_marks_of_the_reader(locale: str | None, text: str) -> None:
    """Thousands and decimals are marked as the reader's locale does; English where it is not known."""
    assert Numbers.of(locale).number(1234567.891, 2) == text


@pytest.mark.parametrize("nothing", [None, math.nan, math.inf])
def test_nothing_is_a_dash(nothing: float | None) -> None:
    """What has no value is a dash: not 0, not NaN, and without a unit."""
    assert {ENGLISH.plain(nothing, COST), ENGLISH.full(nothing, COST), ENGLISH.short(nothing, COST)} == {"–"}
    assert {ENGLISH.percent(nothing), ENGLISH.change(nothing)} == {"–"}


def test_values_of_fields() -> None:
    """A value has its field's decimals, and its unit where it stands alone."""
    assert ENGLISH.plain(3873.994, COST) == "3,873.99"
    assert ENGLISH.full(3873.994, COST) == "$3,873.99"
    assert ENGLISH.full(0.45926, CTR) == "0.459 %"
    assert ENGLISH.full(-3, COST) == "−$3.00"
    assert ENGLISH.number(-0.001, 2) == "0.00"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4.126, "$4.13"),
        (3873.994, "$3,874"),
        (938020, "$938,020"),
        (12_345_678, "$12.3M"),
        (9.9996e8, "$1.00B"),
    ],
)
def test_short_values(value: float, text: str) -> None:
    """A headline has room for six digits; from a million on three figures are shown."""
    assert ENGLISH.short(value, COST) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.123, "+12.3 %"),
        (-0.5, "−50.0 %"),
        (0.0001, "0.0 %"),
        (0, "0.0 %"),
        (99.994, "+9,999.4 %"),
        (4425.96, "+443k %"),
        (-120, "−12.0k %"),
    ],
)
def test_changes_are_signed(ratio: float, text: str) -> None:
    """A change has a sign, unless it rounds to nothing; one from next to nothing has three figures."""
    assert ENGLISH.change(ratio) == text


def test_units_stand_in_the_header() -> None:
    """A column's title has the unit once."""
    assert [numbers.title(field, with_unit=True) for field in (IMPS, COST, CTR)] == [
        "Impressions",
        "Cost, $",
        "CTR, %",
    ]


@pytest.mark.parametrize(
    ("first", "last", "text"),
    [
        (date(2026, 11, 14), date(2026, 11, 14), "14 Nov 2026"),
        (date(2026, 11, 1), date(2026, 11, 14), "1–14 Nov 2026"),
        (date(2026, 10, 22), date(2026, 11, 20), "22 Oct – 20 Nov 2026"),
        (date(2025, 12, 30), date(2026, 1, 2), "30 Dec 2025 – 2 Jan 2026"),
    ],
)
def test_days_in_words(first: date, last: date, text: str) -> None:
    """A range of days says no more than it must."""
    assert numbers.days(first, last) == text


def answer(
    low: float, value: float, high: float, read: int = 10_000, rows: tuple[float, float] = (1, 1)
) -> Audience:
    """An answer with one row and one data field."""
    frame = pd.DataFrame({"imps": [value]})
    return Audience(
        keys=pd.DataFrame(index=[0]),
        values=frame,
        percents=frame,
        total=Total({"imps": value}, 1, low={"imps": low}, high={"imps": high}),
        low=pd.DataFrame({"imps": [rows[0]]}),
        high=pd.DataFrame({"imps": [rows[1]]}),
        precision=Precision(read, 1_234_567),
    )


def test_precision_is_the_larger_side() -> None:
    """Precision is the larger side of the range in percent, with how many rows were read for it."""
    assert precision.sentence(answer(99, 100, 101.3), "imps", ENGLISH) == "± 1.3 % (10,000 of 1.23M rows)"


def test_precision_of_an_exact_answer() -> None:
    """Where nothing was left out, it says so; where only the total is exact, that."""
    assert precision.sentence(answer(100, 100, 100, read=1_234_567), "imps", ENGLISH) == "Exact"
    estimated = answer(100, 100, 100, rows=(90, 110))
    assert (
        precision.sentence(estimated, "imps", ENGLISH) == "Total exact, rows estimated (10,000 of 1.23M rows)"
    )


def test_precision_of_a_plain_service() -> None:
    """A service that knows no more than the specification gives its confidence_range."""
    frame = pd.DataFrame({"imps": [100.0]})
    plain = Audience(
        pd.DataFrame(index=[0]), frame, frame, Total({"imps": 100.0}, 1, confidence_range="2.50")
    )
    assert precision.sentence(plain, "imps", ENGLISH) == "± 2.5 %"


def test_change_is_certain_beyond_its_uncertainty() -> None:
    """A change is certain only where its own range leaves out zero."""
    before = Estimate(100, 97, 103)
    assert change(Estimate(104, 100, 108), before) == Change(0.04, is_certain=False)
    assert change(Estimate(108, 104, 112), before) == Change(0.08, is_certain=True)
    assert change(Estimate(106), Estimate(100)) == Change(0.06)


@pytest.mark.parametrize(("now", "before"), [(None, 1.0), (1.0, None), (math.nan, 1.0), (1.0, 0.0)])
def test_no_change_from_nothing(now: float | None, before: float | None) -> None:
    """Where one of the figures is missing, or the earlier is zero, there is no relative change."""
    assert change(Estimate(now), Estimate(before)).ratio is None


@pytest.mark.parametrize(
    ("digits", "text"),
    [("1234567.50", "1.234.567,50"), ("-0.5", "−0,5"), ("12", "12"), ("n/a", "n/a"), ("", "")],
)
def test_a_files_number_with_marks(digits: str, text: str) -> None:
    """A number keeps all digits that the file has, with a reader's marks; other texts stay."""
    assert Numbers.of("de").with_marks(digits) == text
