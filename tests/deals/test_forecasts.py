"""The ledger of forecasts, once per database: what is added, who may see it, and scores that race."""

import datetime as dt
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import Engine

from lib import database
from lib.deals.forecasts import GIVEN_UP, Forecasts, ForecastScores, NewForecast
from lib.people import DealsGrant, Grant, Person

NOW = dt.datetime(2026, 12, 20, 9, tzinfo=dt.UTC)
MANAGER = Person("manager", "Max", None, "manager", (Grant("demo"),), deals=DealsGrant("write"))
ONE = NewForecast(
    kind="targeting", project="demo", slicer="sold", field="bids", first_day="2026-12-01",
    last_day="2026-12-07", data_day="2026-11-30", subject={"filters": []}, estimate=100.0, low=50.0,
    high=200.0, raw_low=70.0, raw_high=140.0, scale=2.0,
)  # fmt: skip


@pytest.fixture
def engine(database_url: str) -> Engine:
    """An empty database."""
    made = database.engine(database_url)
    database.migrate(made)
    return made


@pytest.fixture
def of(engine: Engine) -> Callable[..., Forecasts]:
    """The ledger as this person may use it."""
    return lambda person=MANAGER, reporting="": Forecasts(engine, "", reporting, person)


def test_a_forecast_is_added_once_a_day_and_person(of: Callable[..., Forecasts]) -> None:
    """However often it is seen, by four at a time; a package that it leads to is noted; of another question,
    person or proposal there is another."""
    ledger = of()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: ledger.keep([ONE]), range(12)))
    ledger.keep([ONE], "supply_deals", 7)
    ledger.keep([ONE], "supply_deals", 8)
    (row,) = ledger.visible()
    assert (row.entity, row.entity_id, row.by, row.low, row.raw_high) == (
        "supply_deals",
        7,
        "manager",
        50,
        140,
    )
    ledger.keep([replace(ONE, field="imps"), replace(ONE, subject={"filters": [{"name": "geo"}]})])
    of(replace(MANAGER, username="other")).keep([ONE])
    proposal = replace(ONE, kind="proposal")
    for number in (1, 2, 2):
        ledger.keep([proposal], "proposals", number)
    assert len(ledger.visible()) == 6


def test_who_may_see_a_forecast(of: Callable[..., Forecasts], engine: Engine) -> None:
    """Those of slicers that one may see; with the deals of some seats one's own alone, and not those of an
    earlier person of the same name; none of another reporting service."""
    of().keep([ONE, replace(ONE, project="other")])
    assert [one.project for one in of().visible()] == ["demo"]
    everything = replace(MANAGER, username="ada", role="admin", grants=())
    assert len(of(everything).visible()) == 2
    seat = replace(MANAGER, deals=DealsGrant("read", frozenset({3})))
    assert len(of(seat).visible()) == 1
    assert not of(replace(seat, username="sam")).visible()
    assert not of(replace(seat, added=dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1))).visible()
    assert not of(reporting="https://reports.example").visible()


def test_it_is_scored_once_though_desks_race(of: Callable[..., Forecasts], engine: Engine) -> None:
    """Four desks come with four figures: one of them is stored, and stays."""
    ledger, scores = of(), ForecastScores(engine, "")
    ledger.keep([ONE])
    assert not scores.waiting(dt.date(2026, 12, 7))
    (row,) = scores.waiting(dt.date(2026, 12, 8))
    with ThreadPoolExecutor(4) as pool:
        settled = list(pool.map(lambda came: scores.settle([(row, came)], NOW), (10.0, 60.0, 190.0, 210.0)))
    assert sorted(settled) == [0, 0, 0, 1]
    came = (10.0, 60.0, 190.0, 210.0)[settled.index(1)]
    (stored,) = ledger.visible()
    assert (stored.actual, stored.has_held, stored.scored_at) == (came, 50 <= came <= 200, NOW)
    assert not scores.waiting(dt.date(2027, 1, 1))


def test_what_can_not_be_scored_is_tried_for_a_month(of: Callable[..., Forecasts], engine: Engine) -> None:
    """It waits behind the others with the reason, then it is given up; nothing is held against its range."""
    ledger, scores = of(), ForecastScores(engine, "")
    ledger.keep([ONE, later := replace(ONE, last_day="2026-12-09")])
    first = scores.waiting(NOW.date())[0]
    assert scores.settle([(first, "The slicer is gone")], NOW) == 0
    assert [one.last_day for one in scores.waiting(NOW.date())] == [later.last_day, ONE.last_day]
    over = dt.datetime(2026, 12, 8, tzinfo=dt.UTC) + GIVEN_UP
    assert scores.settle([(first, "The slicer is gone")], over) == 1
    row = next(one for one in ledger.visible() if one.id == first.id)
    assert (row.problem, row.has_held, row.actual) == ("The slicer is gone", None, None)


def test_what_teaches(of: Callable[..., Forecasts], engine: Engine) -> None:
    """Scored ranges that the desk made, in the order of their last days; what two people saw alike once."""
    other = of(replace(MANAGER, username="other"))
    later, theirs = replace(ONE, last_day="2026-12-08"), replace(ONE, first_day="2026-12-02", scale=None)
    for ledger in (of(), other):
        ledger.keep([later, ONE, theirs, replace(ONE, kind="price")])
    scores = ForecastScores(engine, "")
    scores.settle([(one, 100.0) for one in scores.waiting(NOW.date())], NOW)
    of().keep([replace(ONE, first_day="2026-12-03")])
    assert [one.last_day for one in of().scored_forecasts(("targeting", "proposal"))] == [
        ONE.last_day,
        later.last_day,
    ]
    assert [one.kind for one in of().scored_forecasts(("price",))] == ["price"]
