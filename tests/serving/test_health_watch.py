"""The stored health of deals: all of them, what is computed again, and who may see it."""

import datetime as dt
import importlib.util
import shutil
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest
from conftest import COUNTRIES, LAST_DAY
from dealing import DEFINITION, SOLD, clients, date_back, sold_rows
from file_settings import changed
from peopled import people_in
from sqlalchemy import update

from lib import database
from lib.deals.client import Deals
from lib.deals.delivery import PERIODS
from lib.deals.models import DemandDeal, Dsp, Seat, SupplyPackage
from lib.deals.store.tables import demand_deals
from lib.people import Grant, Person
from lib.serving import connect
from lib.serving.connect import Clients
from lib.serving.health_watch import HealthWatch
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.wire.errors import Invalid
from lib.wire.filters import Filter

NOW, DAY = dt.datetime.now(dt.UTC), dt.timedelta(days=1)
MANY, PACKAGES = 2_500, 900
REPORT = f"demo/{SOLD}"


def bench() -> ModuleType:
    """The bench of long lists, whose deals these tests use."""
    path = Path(__file__).parents[2] / "bench/deals.py"
    spec = importlib.util.spec_from_file_location("bench_deals", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def desk(own_deals_home: Path) -> Settings:
    """A desk with four deals that a slicer tells apart."""
    return Settings(home=own_deals_home, demo=True)


@pytest.fixture
def watch(desk: Settings) -> HealthWatch:
    """Computes there when told to."""
    return HealthWatch(desk)


def found(deals: Deals, report: str = REPORT, **params: object) -> list[int]:
    """The ids of the deals in this order or state."""
    return [deal.id or 0 for deal in deals.everything(DemandDeal, report=report, **params)]


def states(settings: Settings, ids: range, pair: tuple[str, str] = ("demo", SOLD)) -> dict[int, str]:
    """The stored words of deals by id."""
    store = clients(settings).healths
    assert store is not None
    return {deal: health.facts["words"] for deal, health in store.of(pair, ids).items()}


def test_more_deals_than_were_ever_checked(home: Path, tmp_path: Path, database_url: str) -> None:
    """2,500 deals all have health, and the filter finds those whose settings have a fault: not one that a
    person paused."""
    engine = database.engine(database_url)
    people_in(tmp_path / "home", database_url).add(Person("ada", "Ada", None, "admin"), "a password")
    with database.writing(engine).begin() as connection:
        bench().fill(connection, PACKAGES, MANY)
        connection.execute(update(demand_deals).where(demand_deals.c.id % 10 == 0).values(price=Decimal(0)))
    settings = Settings(home=tmp_path / "home", database_url=database_url)
    assert HealthWatch(settings).look(NOW) == MANY
    deals = clients(settings, "ada").deals
    packages = {package.id: package for package in deals.everything(SupplyPackage)}
    expected = []
    for deal in deals.everything(DemandDeal, ordering="id"):
        [package] = [packages[reference.id] for reference in deal.supply_deals]
        assert package.start_date is not None
        has_ended = package.end_date is not None and package.end_date <= NOW
        if deal.is_active and not has_ended and package.start_date <= NOW and package.is_active:
            expected += [deal.id] if deal.price == 0 else []
    assert len(expected) > 100
    assert found(deals, "", health="attention", ordering="id") == expected
    order = found(deals, "", ordering="health,id")
    assert (len(order), order[: len(expected)]) == (MANY, expected)
    assert HealthWatch(settings).look(NOW) == 0


def delivered(days: int) -> pd.DataFrame:
    """What each deal delivered in the last days, by plain pandas."""
    rows = sold_rows().to_pandas()
    rows = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=days)]
    sums = rows.groupby(rows["deal"].astype(int))[["imps", "spend", "bids"]].sum()
    columns = {
        "impressions": sums["imps"],
        "spend": sums["spend"],
        "win_rate": 100 * sums["imps"] / sums["bids"],
    }
    return pd.DataFrame(columns)


def test_deals_are_ordered_by_what_they_delivered(desk: Settings, watch: HealthWatch, deals: Deals) -> None:
    """Each figure is that of the rows, and orders both ways; deals without a value come last either way."""
    for deal, units in ((2, 1_000), (4, 10**9)):
        deals.change(DemandDeal, deal, {"deal_type": "guaranteed", "units": units})
    deals.change(SupplyPackage, 1, {"end_date": NOW + 20 * DAY})
    watch.look(NOW)
    store = clients(desk).healths
    assert store is not None
    stored = {deal: health.delivery for deal, health in store.of(("demo", SOLD), range(1, 5)).items()}
    for days in PERIODS:
        figures = delivered(days)
        for kind in figures:
            name = f"{kind}_{days}_days"
            assert {deal: of[name] for deal, of in stored.items()} == pytest.approx(dict(figures[kind]))
            rising = [*figures[kind].sort_values().index]
            assert found(deals, ordering=name) == rising
            assert found(deals, ordering=f"-{name}") == rising[::-1]
        for sign in ("", "-"):
            in_order = found(deals, ordering=f"{sign}pacing_{days}_days,id")
            assert in_order == ([2, 4, 1, 3] if sign else [4, 2, 1, 3])
    assert found(deals, "", ordering="-spend_7_days,id") == [1, 2, 3, 4]


def test_a_list_tells_what_deals_delivered(desk: Settings, watch: HealthWatch, deals: Deals) -> None:
    """With `delivery`: the rows' figures by id, a guarantee to date and in all, and a word; by a report."""
    deals.change(DemandDeal, 2, {"deal_type": "guaranteed", "units": 10**9})
    deals.change(SupplyPackage, 1, {"end_date": NOW + 20 * DAY})
    watch.look(NOW)
    package = deals.get(SupplyPackage, 1)
    page = deals.list(DemandDeal, report=REPORT, delivery=True)
    figures = {
        deal: {name: float(value) if isinstance(value, Decimal) else value for name, value in of.items()}
        for deal, of in page.delivery.items()
    }
    assert {*figures} == {1, 2, 3, 4}
    rows = sold_rows().to_pandas()
    assert package.start_date is not None and package.end_date is not None
    first, ended = package.start_date.date(), dt.datetime.combine(LAST_DAY + DAY, dt.time(), dt.UTC)
    own = rows[(rows["deal"].astype(int) == 2) & (rows["time"].dt.date >= first)]
    to_date = own[own["time"].dt.date <= LAST_DAY]["imps"].sum()
    part = (ended - package.start_date) / (package.end_date - package.start_date)
    assert figures[2]["units_to_date"] == to_date
    assert figures[2]["units_expected"] == pytest.approx(10**9 * part)
    left = (package.end_date - ended) / DAY
    assert figures[2]["units_projected"] == pytest.approx(
        to_date + left * figures[2]["impressions_7_days"] / 7
    )
    assert (figures[2]["pace"], figures[2]["is_estimate"], figures[1]["pace"]) == ("behind", False, None)
    assert figures[1]["units_to_date"] is None
    assert found(deals, ordering="-units_projected,id") == [2, 1, 3, 4]
    with pytest.raises(Invalid, match="needed for delivery"):
        deals.list(DemandDeal, delivery=True)


def test_only_what_changed_is_computed_again(desk: Settings, watch: HealthWatch, deals: Deals) -> None:
    """A changed deal, package, seat or DSP concerns its own deals; each of them, and no others."""
    assert watch.look(NOW) == 8
    assert watch.look(NOW) == 0
    changes: list[tuple[Callable[[], object], int]] = [
        (lambda: deals.change(DemandDeal, 1, {"is_active": False}), 1),
        (lambda: deals.change(SupplyPackage, 1, {"is_active": False}), 3),
        (lambda: deals.change(Seat, 1, {"name": "Another name"}), 2),
        (lambda: deals.change(Dsp, 2, {"name": "Another DSP"}), 1),
        (lambda: deals.change(SupplyPackage, 1, {"is_active": True}), 3),
    ]
    for change, concerned in changes:
        change()
        assert watch.look(NOW) == 2 * concerned, concerned
    assert states(desk, range(1, 5)) == {1: "Paused", 2: "Delivers", 3: "Delivers", 4: "Delivers"}


def test_a_deal_that_is_removed(desk: Settings, watch: HealthWatch, deals: Deals) -> None:
    """Its health goes with it."""
    watch.look(NOW)
    deals.remove(DemandDeal, 4)
    assert watch.look(NOW) == 0
    assert list(states(desk, range(1, 5))) == [1, 2, 3]


def test_time_passes(desk: Settings, watch: HealthWatch, deals: Deals) -> None:
    """A package that ends concerns its deals at that moment, although nobody has changed anything."""
    ends = NOW.replace(microsecond=0) + dt.timedelta(seconds=90)
    deals.change(SupplyPackage, 2, {"end_date": ends})
    watch.look(NOW)
    assert watch.look(ends - dt.timedelta(seconds=1)) == 0
    assert watch.look(ends) == 2
    assert states(desk, range(4, 5)) == {4: "Ended"}


def imported(home: Path) -> None:
    """Another import, in which nothing was delivered by deal 4 in the last days."""
    rows = sold_rows()
    kept = [row for row in rows.to_pylist() if row["deal"] != "4" or row["time"].date() < LAST_DAY - 10 * DAY]
    rows = rows.from_pylist(kept, schema=DEFINITION.schema())
    folder = Warehouse(home / "warehouse")
    with folder.writer("demo", SOLD, DEFINITION, {"country": COUNTRIES}, "replace") as writer:
        writer.write(rows)
        writer.commit("made for the tests", "again")


def test_data_and_the_day_change(desk: Settings, watch: HealthWatch, own_deals_home: Path) -> None:
    """After an import, and on another day, all deals are computed again by that report alone."""
    date_back(own_deals_home)
    watch.look(NOW)
    imported(own_deals_home)
    later = NOW + dt.timedelta(minutes=6)
    assert watch.look(later) == 4
    assert states(desk, range(3, 5)) == {3: "Delivers", 4: "No bids"}
    assert watch.look(later + DAY) in (0, 4)
    report = watch.store.reports()["demo", SOLD]
    assert (report.last_day, report.checked_at) == (LAST_DAY.isoformat(), later + DAY)


def test_a_clock_that_is_set_back(desk: Settings, watch: HealthWatch) -> None:
    """An import after the clock was set back is looked at once, not when the clock has caught up."""
    watch.look(NOW)
    imported(desk.home)
    assert watch.look(NOW - dt.timedelta(minutes=10)) == 4


def test_a_report_that_fails(desk: Settings, watch: HealthWatch, deals: Deals) -> None:
    """What was computed before stays, with the reason; it is tried again some minutes later."""
    watch.look(NOW)
    deals.change(DemandDeal, 1, {"is_active": False})
    hurried = HealthWatch(changed(desk, deadline_seconds=1e-6))
    hurried.look(NOW)
    failed = watch.store.reports()["demo", SOLD]
    assert failed.problem.startswith("The query took longer")
    assert failed.checked_at == NOW
    assert set(states(desk, range(1, 5)).values()) == {"Delivers"}
    watch.look(NOW)
    assert states(desk, range(1, 3)) == {1: "Paused", 2: "Delivers"}
    assert watch.store.reports()["demo", SOLD].problem == ""


def test_a_slicer_that_is_removed(desk: Settings, watch: HealthWatch, own_deals_home: Path) -> None:
    """What was computed from it goes too."""
    watch.look(NOW)
    shutil.rmtree(own_deals_home / "warehouse/demo" / SOLD)
    watch.look(NOW + DAY)
    assert list(watch.store.reports()) == [("", "")]


def viewer_of(settings: Settings, *grants: str) -> Clients:
    """The APIs of somebody who may read all deals, and see these slicers."""
    people = connect.installation(settings).people
    people.change("viewer", grants=tuple(map(Grant.parse, grants)))
    return clients(settings, "viewer")


ONLY_US = Grant("demo", SOLD, (Filter(name="geo.country", value=("US",), match="equals"),))


@pytest.mark.parametrize("grant", ["demo/delivery", str(ONLY_US)])
def test_who_may_not_see_the_report(desk: Settings, watch: HealthWatch, grant: str) -> None:
    """To them, and to whom only some of its rows are shown, it is as if there were no such slicer; the health
    without a report is everybody's."""
    watch.look(NOW)
    deals = viewer_of(desk, grant).deals
    assert found(deals, "", health="unknown") == [1, 2, 3, 4]
    for report in (REPORT, "demo/nothing"):
        with pytest.raises(Invalid, match="There is no such slicer, or you may not see all of it"):
            found(deals, report, health="healthy")
        with pytest.raises(Invalid, match="There is no such slicer, or you may not see all of it"):
            found(deals, report, ordering="-spend_7_days")
    assert found(viewer_of(desk, REPORT).deals, health="healthy") == [1, 2, 3, 4]


def test_one_desk_of_several_computes(desk: Settings) -> None:
    """While a desk computes, another one over the same database does not."""
    engine = connect.installation(desk).access.store.engine
    with (
        database.process_lock(engine, "deal-health") as first,
        database.process_lock(engine, "deal-health") as second,
    ):
        assert (first(), second()) == (True, False)
