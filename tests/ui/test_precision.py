"""The precision shown with figures holds for each of them, unique users included."""

from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest

from lib.figures.numbers import Numbers
from lib.figures.query import precision
from lib.reporting.answers import Audience, Precision, Total
from lib.slicers.models import DataField, Slicer

NUMBERS = Numbers()
IMPS = DataField(name="imps", description="Impressions")
CTR = DataField(name="ctr", description="CTR", formula="clicks / imps")
USERS = DataField(name="unique_users", description="Unique users")
FIELDS = (IMPS, CTR, USERS)


def answer(**sides: float) -> Audience:
    """An answer of 100 of each field, of which those named may be off by so many percent."""
    values = {field.name: 100.0 for field in FIELDS}
    frame = pd.DataFrame([values])
    low = {name: 100 - sides.get(name, 0) for name in values}
    high = {name: 100 + sides.get(name, 0) for name in values}
    total = Total(values, 1, low=low, high=high)
    read = Precision(10_000, 83_365)
    return Audience(frame[[]], frame, frame[[]], total, low=frame, high=frame, precision=read)


@pytest.mark.parametrize(
    ("sides", "said"),
    [
        ({}, "Exact"),
        ({"unique_users": 2.34}, "Exact except Unique users ± 2.3 % (10,000 of 83,365 rows)"),
        ({"imps": 1.3}, "± 1.3 % (10,000 of 83,365 rows)"),
        ({"imps": 1.3, "ctr": 0.4}, "± 1.3 % (10,000 of 83,365 rows)"),
        ({"imps": 1.3, "unique_users": 2.34}, "± 1.3 % (10,000 of 83,365 rows); Unique users ± 2.3 %"),
    ],
    ids=str,
)
def test_exact_means_every_figure(sides: dict[str, float], said: str) -> None:
    """Figures are called exact if all of them are; an estimate wider than the first one's is named."""
    assert precision.summary(answer(**sides), FIELDS, NUMBERS) == said


def test_one_figure_alone() -> None:
    """About one figure that is what its own range says."""
    assert precision.summary(answer(unique_users=2), [IMPS], NUMBERS) == "Exact"
    assert precision.summary(answer(unique_users=2), [USERS], NUMBERS).startswith("± 2.0 %")


@pytest.mark.parametrize(
    ("age", "words"),
    [
        (timedelta(seconds=3), "less than a minute old"),
        (timedelta(minutes=1), "1 minute old"),
        (timedelta(hours=3, minutes=59), "3 hours old"),
        (timedelta(days=2), "2 days old"),
    ],
    ids=str,
)
def test_what_reads_the_rows_and_how_old_they_are(age: timedelta, words: str) -> None:
    """The engine that the service names, with the age in its largest unit; nothing where it names none."""
    slicer = Slicer(engine="PostgreSQL, live", as_of=(datetime.now(UTC) - age).isoformat())
    assert precision.source(slicer) == f"PostgreSQL, live, {words}"
    assert precision.source(Slicer()) == ""
