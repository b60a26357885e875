"""Exact or an estimate: by the records in range, never by the load of the moment or what was asked before."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from conftest import DEFINITION, LAST_DAY, small_rows

from lib.reporting import service
from lib.reporting.client import Reporting
from lib.reporting.models import API_ROWS_LIMIT, AudienceQuery
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.wire.filters import Filter

DAY = pd.Timedelta(days=1).to_pytimedelta()
FIRST = {"audience_rows_limit": 10_000, "exact_within": 200, "precision": 1}


def days(first: int, last: int) -> dict[str, str]:
    """A range of so many days before the last one with data."""
    return {
        "start_date": (LAST_DAY - first * DAY).isoformat(),
        "end_date": (LAST_DAY - last * DAY).isoformat(),
    }


def query(**changes: object) -> AudienceQuery:
    """A question as a screen asks it first."""
    whole = AudienceQuery(project_name="demo", slicer_name="delivery", **days(19, 0))
    few = Filter(name="geo.country", value=("US",), match="not equals")
    return whole.model_copy(update={**FIRST, "filters": (few,), **changes})


@pytest.fixture
def reporting(own_home: Path) -> Iterator[Reporting]:
    """The embedded client of a desk with 42,000 records."""
    many = pa.concat_tables([small_rows(seed) for seed in range(10)])
    with Warehouse(own_home / "warehouse").writer("demo", "delivery", DEFINITION, {}, "replace") as writer:
        writer.write(many)
        writer.commit("made for the tests", "many")
    settings = Settings(home=own_home, demo=True, throttle_questions=10**6)
    yield connect.connect(connect.installation(settings).people.get("manager"), settings).reporting


@pytest.fixture
def slow_machine(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """Makes reading a record take so many nanoseconds, as far as the decision goes."""
    return lambda nanoseconds: monkeypatch.setattr(service, "_nanoseconds", lambda: nanoseconds)


def is_sampled(reporting: Reporting, query: AudienceQuery) -> bool:
    """Whether the answer is an estimate."""
    precision = reporting.audience(query).precision
    assert precision is not None
    return precision.is_sampled


def test_load_changes_no_precision(reporting: Reporting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question that is answered slowly, again and again, stays exact where its records are few."""
    service = reporting._service  # type: ignore[attr-defined]
    compute = service.engine.audience

    def slow(*args: object) -> object:
        time.sleep(0.3)
        return compute(*args)

    monkeypatch.setattr(service.engine, "audience", slow)
    for split in ((), ("geo.country",), ("campaign_id",), ("categories",), ("geo.country", "campaign_id")):
        assert not is_sampled(reporting, query(split_by=split))


def test_an_exact_answer_is_not_replaced_by_an_estimate(
    reporting: Reporting, slow_machine: Callable[[float], None]
) -> None:
    """Where somebody got all records, the next one who asks first for an estimate gets these."""
    slow_machine(1e6)
    assert is_sampled(reporting, query())
    exact = reporting.audience(query(exact_within=None, audience_rows_limit=API_ROWS_LIMIT))
    again = reporting.audience(query())
    assert again.total == exact.total
    assert not is_sampled(reporting, query())


@pytest.mark.parametrize("limit", [10_000, 20_000])
def test_days_shown_together_have_one_precision(
    reporting: Reporting, slow_machine: Callable[[float], None], limit: int
) -> None:
    """A day that would be exact alone is a sample beside three weeks that can't be, at one rate."""
    slow_machine(1e6)
    both = [days(19, 0), days(0, 0)]
    pairs = tuple((part["start_date"], part["end_date"]) for part in both)
    rates = []
    for part in both:
        answer = reporting.audience(query(**part, same_precision_as=pairs, audience_rows_limit=limit))
        assert answer.precision is not None and answer.precision.is_sampled
        rates.append(answer.precision.records_read / answer.precision.records_in_range)
    assert rates[1] == pytest.approx(rates[0], rel=0.1)
    assert not is_sampled(reporting, query(**both[1]))
    slow_machine(1)
    assert not any(is_sampled(reporting, query(**part, same_precision_as=pairs)) for part in both)


def test_a_record_takes_the_same_time_all_along() -> None:
    """The measurement is made once: so many records always take the same time."""
    first = service.reading_milliseconds(1_000_000)
    assert {service.reading_milliseconds(1_000_000) for _ in range(50)} == {first}
    assert service.reading_milliseconds(0) < first
