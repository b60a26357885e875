"""Forecasts scored in the background, whatever became of their slicers; and those of past days."""

import datetime as dt
import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from conftest import LAST_DAY
from dealing import SOLD, clients, sold_rows
from standin.app import served
from standin.known import CachedSlicer
from standin.state import TOKEN, State

from lib import ledger as ledger_module
from lib.connect import Clients
from lib.deals.forecasts import NewForecast, StoredForecast
from lib.deals.proposals.writers import ClientWriter
from lib.insight.conformal import FEWEST
from lib.insight.estimate import Estimate
from lib.insight.forecast import DayFigure
from lib.insight.outcomes import Subject
from lib.ledger import LOOK_EVERY, NO_SLICER, Scorer
from lib.ledger.past import past_forecasts
from lib.reporting.models import InfoQuery
from lib.settings import Settings

ONE, NOW = dt.timedelta(days=1), dt.datetime.now(dt.UTC)
WEEK = ((LAST_DAY - 6 * ONE).isoformat(), LAST_DAY.isoformat())
FIRST = {"name": "deal", "value": ["1"], "match": "equals"}
NEW = NewForecast(
    kind="targeting", project="demo", slicer=SOLD, field="bids", first_day=WEEK[0], last_day=WEEK[1],
    data_day=(LAST_DAY - 7 * ONE).isoformat(), subject={"filters": [FIRST]},
    estimate=100.0, low=50.0, high=10.0**9, raw_low=50.0, raw_high=200.0, scale=1.0,
)  # fmt: skip


@pytest.fixture
def desk(own_deals_home: Path) -> Settings:
    """A desk with deals and the slicer in which they were delivered."""
    return Settings(home=own_deals_home, demo=True)


def stored(settings: Settings) -> list[StoredForecast]:
    """What the manager sees of the ledger."""
    return clients(settings).forecasts.visible()


def bids(deal: str = "1") -> float:
    """What came in the week, by the rows."""
    rows = sold_rows().to_pandas()
    days = rows["time"].dt.date
    return float(rows[(days >= LAST_DAY - 6 * ONE) & (rows["deal"] == deal)]["bids"].sum())


def test_what_is_due_is_scored(desk: Settings) -> None:
    """By the figure of the rows, with the same filters; what has days to come waits."""
    ahead = replace(NEW, last_day=(LAST_DAY + ONE).isoformat())
    clients(desk).forecasts.keep([NEW, ahead, replace(NEW, high=60.0, field="imps")])
    assert Scorer(desk).look(NOW) == 2
    by_day = {(one.field, one.last_day): one for one in stored(desk)}
    assert by_day["bids", WEEK[1]].actual == pytest.approx(bids())
    assert (by_day["bids", WEEK[1]].has_held, by_day["imps", WEEK[1]].has_held) == (True, False)
    assert (by_day["bids", ahead.last_day].has_held, by_day["bids", ahead.last_day].problem) == (None, "")


def test_two_desks_score_it_once(desk: Settings) -> None:
    """Both look at the same moment; each forecast is settled by one of them."""
    clients(desk).forecasts.keep([NEW, replace(NEW, field="imps")])
    with ThreadPoolExecutor(2) as pool:
        assert sum(pool.map(lambda one: one.look(NOW), (Scorer(desk), Scorer(desk)))) == 2


def test_a_slicer_that_is_gone(desk: Settings) -> None:
    """Its forecasts say so and stay, those of others are scored; once it is back they are scored too."""
    clients(desk).forecasts.keep(
        [NEW, replace(NEW, slicer="delivery", field="imps", subject={"filters": []})]
    )
    folder = desk.home / "warehouse" / "demo" / SOLD
    shutil.move(folder, desk.home / "aside")
    scorer = Scorer(desk)
    assert scorer.look(NOW) == 1
    by_slicer = {one.slicer: one for one in stored(desk)}
    assert (by_slicer[SOLD].problem, by_slicer[SOLD].has_held, by_slicer["delivery"].has_held) == (
        NO_SLICER,
        None,
        True,
    )
    shutil.move(desk.home / "aside", folder)
    assert scorer.look(NOW + LOOK_EVERY / 2) == 0
    assert scorer.look(NOW + LOOK_EVERY) == 1


def test_a_field_that_is_gone(desk: Settings) -> None:
    """It is named as the reason."""
    clients(desk).forecasts.keep([replace(NEW, field="clicks")])
    assert Scorer(desk).look(NOW) == 0
    assert "clicks" in stored(desk)[0].problem


def proposal(of: Clients, high: float, price: str = "2.75", **more: object) -> int:
    """A proposal whose days have passed, for bids of deal 1."""
    expected = {
        "project": "demo", "slicer": SOLD, "field": "bids", "first_day": WEEK[0], "last_day": WEEK[1],
        "filters": [FIRST], "low": 1, "high": high, **more,
    }  # fmt: skip
    body = {"entity": "demand_deals", "entity_id": 1, "fields": {"price": Decimal(price)}, "reason": "Why"}
    return of.proposals.propose({**body, "expected": expected}, ClientWriter(of.deals)).id


def test_an_approved_proposal_is_scored_here_alone(desk: Settings) -> None:
    """Its range held or not by the ledger; one that is open, declined or edited is not in it."""
    manager = clients(desk)
    held, missed = proposal(manager, 10**9), proposal(manager, 2, price="2.8")
    declined, edited = proposal(manager, 3, price="2.9"), proposal(manager, 4, price="3")
    unscaled = {"low": 1, "high": 5, "scale": 2.5}
    scaled = proposal(manager, 25, price="3.5", unscaled=unscaled)
    for number in (held, missed, scaled):
        manager.proposals.approve(number, {"overwrites": True}, ClientWriter(manager.deals))
    manager.proposals.decline(declined, {"word": "No"})
    manager.proposals.approve(edited, {"fields": {"price": Decimal("3.1")}}, ClientWriter(manager.deals))
    assert {(one.entity, one.entity_id, one.by) for one in stored(desk)} == {
        ("proposals", number, "manager") for number in (held, missed, scaled)
    }
    assert Scorer(desk).look(NOW) == 3
    outcomes = [manager.proposals.get(number).has_held for number in (held, missed, declined, edited)]
    assert outcomes == [True, False, None, None]
    assert manager.proposals.get(held).actual == pytest.approx(bids())
    score = manager.proposals.scores()["manager"]
    assert (score.hits, score.count, score.waiting) == (1, 3, 0)
    own = next(one for one in stored(desk) if one.entity_id == scaled)
    assert (own.raw_low, own.raw_high, own.scale) == (1, 5, 2.5)
    assert [one.entity_id for one in manager.forecasts.scored_forecasts(("proposal",))] == [scaled]


@pytest.mark.parametrize("api", ["deals", "reporting"])
def test_remote_services(own_deals_home: Path, api: str) -> None:
    """Beside a remote deals service, and of a remote slicer, the ledger is the desk's own, and scored."""
    rows = sold_rows().to_pandas()
    fields = [{"name": name} for name in ("deal",)]
    data = ({"name": "bids"},)
    state = State({("demo", SOLD): CachedSlicer("", tuple(fields), data, (), rows)})
    with served(state) as remote:
        usual = {"home": own_deals_home, "demo": True}
        settings = (
            Settings(**usual, base_url=remote.address, reporting_token=TOKEN, slicers=[f"demo/{SOLD}"])
            if api == "reporting"
            else Settings(**usual, curate_url=remote.address, deals_token=TOKEN)
        )
        clients(settings).forecasts.keep([NEW])
        assert Scorer(settings).look(NOW) == 1
        (one,) = stored(settings)
        assert one.actual == pytest.approx(bids())
        assert stored(Settings(**usual)) == []


def series(after: float) -> dict[Subject, list[DayFigure]]:
    """Ten histories of 84 days; from day 60 on they are so many times as high."""
    draw, first = np.random.default_rng(11), LAST_DAY - 83 * ONE
    levels = [100 * draw.lognormal(0, 0.05, 84) * np.where(np.arange(84) < 60, 1, after) for _ in range(10)]
    return {
        Subject("demo", SOLD, "bids", (), parts=(1.0, 1.0 - 1e-9 * number)): [
            DayFigure(first + day * ONE, Estimate(float(level))) for day, level in enumerate(values)
        ]
        for number, values in enumerate(levels)
    }


def test_past_forecasts_know_no_later_day() -> None:
    """Whatever came after an origin, its forecasts are the same with their scales; later ones are scaled."""
    origins = [LAST_DAY - number * ONE for number in range(50, 0, -1)]
    plain, broken = (past_forecasts(series(after), origins) for after in (1.0, 5.0))
    turn = (LAST_DAY - 24 * ONE).isoformat()
    before = [one for one in plain if one.data_day <= turn]
    assert before == [one for one in broken if one.data_day <= turn]
    assert plain != broken
    assert len({one.scale for one in before}) > 2
    first = min(one.last_day for one in plain)
    assert {one.scale for one in plain if one.data_day < first} == {1.0}
    assert len(before) > FEWEST


def test_the_days_of_a_fresh_slicer_end_yesterday(installation) -> None:
    """A day that is not over is not counted, though it has data."""
    slicer = clients(installation.settings).reporting.info(
        InfoQuery(project_name="demo", slicer_name="delivery")
    )
    today = slicer.model_copy(update={"last_date": (LAST_DAY + ONE).isoformat()})
    noon = dt.datetime.combine(LAST_DAY + ONE, dt.time(12), dt.UTC)
    assert ledger_module.complete_day(today, noon) == LAST_DAY
    assert ledger_module.complete_day(today, noon + 9 * ONE) == LAST_DAY + ONE
