"""Deals for the tests of the screens: a few of each entity, and a slicer in which they were delivered."""

import datetime as dt
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from boards import components
from conftest import COUNTRIES, LAST_DAY, copied, without_database
from opening import opened
from streamlit.testing.v1 import AppTest

from lib.deals.bulk_actions import BulkActions
from lib.deals.client import Deals
from lib.deals.models import (
    AppList,
    CreateDemandDeals,
    DemandDeal,
    DemandDealOption,
    DomainList,
    Dsp,
    GeoTarget,
    ListTarget,
    Reference,
    Seat,
    SupplyPackage,
    ValueTarget,
)
from lib.deals.negotiation import seat_number
from lib.deals.package_records import Drafts
from lib.engines.resident import prepare
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.definition import (
    AudienceSourceDefinition,
    DataFieldDefinition,
    Definition,
    KeyFieldDefinition,
    TimeColumn,
)
from lib.slicers.warehouse import Warehouse
from lib.ui.deals.changes.creation import CreationPlan
from lib.ui.deals.csv.csv_deals import CsvCheck, CsvSource
from lib.ui.kit.job import Job
from lib.views.share_links import SharedDeal
from lib.wire import private

Serve = Callable[[Path], AbstractContextManager[str]]
Visit = Callable[..., AppTest]
SOLD = "sold"
DATABASE = "tranche.db"
DEVICES, DOMAINS = ("desktop", "smartphone"), ("news.example", "cats.example")
SEATS = ("Alpha Buying", "Beta Media", "Gamma Trading")
START = dt.datetime(2026, 1, 1, 9, 30, tzinfo=dt.timezone(dt.timedelta(hours=1)))
DEFINITION = Definition(
    time=TimeColumn(column="time", granularity="hour"),
    key_fields=(
        KeyFieldDefinition(name="supply_package", description="Supply package"),
        KeyFieldDefinition(name="deal", description="Deal"),
        KeyFieldDefinition(name="geo.country", description="Country", mapping="country"),
        KeyFieldDefinition(name="device_type", description="Device type"),
        KeyFieldDefinition(name="site_domain", description="Site domain"),
        KeyFieldDefinition(name="media_type", description="Media type"),
    ),
    data_fields=(
        DataFieldDefinition(name="imps", description="Impressions"),
        DataFieldDefinition(name="spend", description="Spend", display_type="float"),
        DataFieldDefinition(name="bids", description="Bids"),
        DataFieldDefinition(
            name="win_cpm", description="Win CPM", formula="1000 * spend / imps", display_pattern="$#"
        ),
    ),
    audience_sources=(AudienceSourceDefinition(name="users", description="Unique users"),),
)


@dataclass(frozen=True)
class Desk:
    """Where a desk is served; the deals API of the same data directory, and the manager's draft."""

    address: str
    deals: Deals
    drafts: Drafts


@pytest.fixture(scope="session")
def deals_home(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with deals, for tests that change nothing in it."""
    stocked: Path = copied(home, tmp_path_factory.mktemp("deals") / "home")
    stock(stocked)
    return stocked


@pytest.fixture(scope="module")
def selling(home: Path, tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[Desk]:
    """A desk with deals, served to browsers; its changes are seen by the tests of one module."""
    stocked: Path = copied(home, tmp_path_factory.mktemp("selling") / "home")
    settings = stock(stocked)
    with serve(stocked) as address:
        manager = clients(settings)
        yield Desk(address, manager.deals, manager.drafts)


@pytest.fixture(scope="session")
def untouched_deals_home(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, which nobody uses but to copy it."""
    stocked: Path = copied(home, tmp_path_factory.mktemp("untouched") / "home")
    stock(stocked)
    return stocked


@pytest.fixture
def own_deals_home(untouched_deals_home: Path, tmp_path: Path) -> Path:
    """A copy of it for a test that changes something."""
    return own_copy(untouched_deals_home, tmp_path / "home")


def own_copy(untouched_deals_home: Path, folder: Path) -> Path:
    """A copy of it in this folder; the database is copied by SQLite (see `without_database`)."""
    target: Path = without_database(untouched_deals_home, folder)
    file = f"file:{untouched_deals_home / DATABASE}?mode=ro"
    with closing(sqlite3.connect(file, uri=True)) as database:
        database.execute("VACUUM INTO ?", [str(target / DATABASE)])
    (target / DATABASE).chmod(private.FILE_MODE)
    return target


def date_back(home: Path) -> None:
    """Let all deals and packages, and what was done to them, date from before the report's days."""
    before = LAST_DAY - dt.timedelta(days=60)
    with closing(sqlite3.connect(home / DATABASE)) as database, database:
        for table in ("demand_deals", "supply_packages"):
            ([stored],) = database.execute(f"SELECT max(created_at) FROM {table}")
            stored = f"{before}{stored[10:]}"
            database.execute(f"UPDATE {table} SET created_at = ?, updated_at = ?", [stored, stored])
        ([stored],) = database.execute("SELECT max(at) FROM changes")
        database.execute("UPDATE changes SET at = ?", [f"{before}{stored[10:]}"])


def sold_rows() -> pa.Table:
    """What the deals 1 to 4 delivered in the forty days up to yesterday."""
    draw, size = np.random.default_rng(7), 4000
    first = dt.datetime.combine(LAST_DAY - dt.timedelta(days=39), dt.time(), dt.UTC)
    deal = draw.integers(1, 5, size)
    imps = draw.integers(1, 100, size).astype(float)
    columns = {
        "time": [first + dt.timedelta(hours=int(hour)) for hour in np.sort(draw.integers(0, 40 * 24, size))],
        "supply_package": [str(1 + (number > 3)) for number in deal],
        "deal": deal.astype(str).tolist(),
        "geo.country": draw.choice([*COUNTRIES], size).tolist(),
        "device_type": draw.choice(DEVICES, size, p=[0.3, 0.7]).tolist(),
        "site_domain": draw.choice(DOMAINS, size).tolist(),
        "media_type": ["banner"] * size,
        "imps": imps,
        "spend": imps * draw.gamma(2, 0.001, size),
        "bids": imps * draw.integers(2, 5, size),
        "users": draw.integers(1, 300, size).astype(str).tolist(),
    }
    return pa.table(columns, schema=DEFINITION.schema())


def stock(home: Path) -> Settings:
    """Add the slicer and the deals to a data directory; returns its settings.

    Package 1 "Morning News" has the deals 1 to 3, one for each seat; package 2 "Evening Sports" has deal 4.
    """
    warehouse = Warehouse(home / "warehouse")
    with warehouse.writer("demo", SOLD, DEFINITION, {"country": COUNTRIES}) as writer:
        writer.write(sold_rows())
        writer.commit("made for the tests", "sold")
    prepare(warehouse.open("demo", SOLD))
    settings = Settings(home=home, demo=True)
    deals = clients(settings).deals
    for name, syncs in (("Syncing DSP", True), ("Plain DSP", False)):
        deals.create(Dsp, Dsp(name=name, supports_deal_sync=syncs))
    for number, name in enumerate(SEATS):
        deals.create(Seat, Seat(name=name, external_id=f"x{number}", dsp=Dsp(id=1 + number // 2)))
    deals.create(DomainList, DomainList(name="News sites", domains=("news.example",)))
    deals.create(AppList, AppList(name="Games", apps=("example.game",)))
    deals.create(
        SupplyPackage,
        package(
            "Morning News",
            {1: "2.5", 2: "3", 3: "3.25"},
            geo_targetings=(GeoTarget(type="country", value="US"), GeoTarget(type="country", value="DE")),
            device_targetings=(ValueTarget(value="smartphone", is_excluded=True),),
        ),
    )
    sports = {"domain_list_targetings": (ListTarget(id=1),), "end_date": START + dt.timedelta(days=3650)}
    deals.create(SupplyPackage, package("Evening Sports", {1: "7"}, **sports))
    return settings


def package(name: str, prices: dict[int, str], **more: object) -> SupplyPackage:
    """A package to create, with a deal for each seat at its price."""
    options = tuple(DemandDealOption(seat=Reference(id=s), price=Decimal(p)) for s, p in prices.items())
    created = {"create_demand_deals": CreateDemandDeals(demand_deals_options=options)} if prices else {}
    return SupplyPackage(name=name, media_type="banner", start_date=START, **created, **more)


def clients(settings: Settings, username: str = "manager") -> connect.Clients:
    """The APIs, in the name of a person."""
    person = connect.installation(settings).people.get(username)
    assert person is not None
    return connect.connect(person, settings)


def deal_link(house: connect.Clients, deal: int, name: str = "", **more: str) -> str:
    """The key of a new share link to a deal, for the seat that it has now."""
    links, shared = house.view_store.share_links, shared_deal(house, deal)
    return links.make("demo", SOLD, name or f"Offer {deal}", {}, deal=shared, **more)[1]


def shared_deal(house: connect.Clients, deal: int) -> SharedDeal:
    """A deal with the seat that it has now."""
    return SharedDeal(deal, seat_number(house.deals.get(DemandDeal, deal)))


def listed(desk: AppTest, place: int = 0) -> list[str]:
    """The names in a list of the screen, in order."""
    tables = [data for data in components(desk) if "rows" in data]
    return [row["cells"][0]["text"] for row in tables[place]["rows"]]


def clean(desk: AppTest) -> AppTest:
    """The screen, once it is sure that nothing went wrong on it."""
    assert not desk.exception
    return desk


def visiting(home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Opens screens as a demo person sees them, with URL parameters."""
    monkeypatch.setenv("TRANCHE_HOME", str(home))

    def visited(screen: str, person: str = "manager", **params: str) -> AppTest:
        return clean(opened(screen, person, **params))

    return visited


@pytest.fixture
def visit(own_deals_home: Path, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """Opens a screen of a data directory of the test's own, as a demo person sees it."""
    return visiting(own_deals_home, monkeypatch)


def table_rows(desk: AppTest, *alts: str) -> list[dict[str, str]]:
    """The rows of the tables with these alternative texts, of all without any, as they read on screen."""
    values = [table.value for table in desk.table if not alts or table.proto.alt in alts]
    rows = [row for frame in values for row in frame.to_dict("records")]
    return [{name: re.sub(r"\\(.)|\u2060", r"\1", text) for name, text in row.items()} for row in rows]


@pytest.fixture
def actions(own_deals_home: Path) -> BulkActions:
    """The actions on several that can be undone in the same data directory, in the manager's name."""
    return clients(Settings(home=own_deals_home, demo=True)).bulk_actions


@pytest.fixture
def deals(own_deals_home: Path) -> Deals:
    """The deals API of the same data directory, in the manager's name."""
    return clients(Settings(home=own_deals_home, demo=True)).deals


def finish(job: Job, client: Deals) -> None:
    """Run a job's steps to its end, as the screen does."""
    while job.is_running:
        job.step(client)


def creation(actions: BulkActions, check: CsvCheck) -> CreationPlan:
    """The plan that creates what a file asks for, at its preview."""
    source = CsvSource(parts=iter([check]), total=1)
    plan = CreationPlan(source=source, record=actions.record("Created from a CSV"))
    plan.begin()
    plan.read(None)  # type: ignore[arg-type]
    return plan


def upload(desk: AppTest, kind: str, parts: Iterator[CsvCheck], actions: BulkActions) -> AppTest:
    """The dialog of a file (`deals` or `packages`) that was chosen, once its lines are checked."""
    clean(desk.button(key=f"{kind}_from_csv_open").click().run())
    source = CsvSource(parts=parts, total=3)
    plan = CreationPlan(source=source, record=actions.record("Created from a CSV"))
    plan.begin()
    desk.session_state[f"{kind}_from_csv"].plan = plan
    while plan.is_running:
        clean(desk.run())
    return clean(desk.run())


def create_from_csv(desk: AppTest, kind: str) -> None:
    """Press the button that creates the entries of a file (`deals` or `packages`), and run all its steps."""
    clean(desk.button(key=f"{kind}_from_csv_save").click().run())
    while desk.session_state[f"{kind}_from_csv"].plan.is_running:
        clean(desk.run())
