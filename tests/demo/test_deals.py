"""The demo's deals: asked for once, under the ids that the slicer `curation` has as values."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from conftest import PEOPLE
from peopled import people_in

from lib.deals.client import Deals
from lib.deals.models import AppList, DemandDeal, DomainList, Dsp, Seat, SupplyPackage
from lib.demo import cast
from lib.demo.curation import curation
from lib.demo.deals import FIRST_DAY, GUARANTEED_DEAL, OLDER, PREVIEW, UNSOLD, date_back, seed
from lib.demo.stories import BROKE_DEAL, NARROWED_DAYS, NARROWED_PACKAGE, PRICE_CHANGES
from lib.demo.supply import SIZE_LISTS
from lib.serving import connect
from lib.settings import Settings
from lib.wire.errors import ImportRefused

TODAY = dt.datetime.now(dt.UTC).date()
SCHEMA = Path(__file__).parent.parent / "deals" / "deal_sync.schema.json"
SELLER_STATUS = {"active": 0, "paused": 1, "pending": 2, "complete": 3}


@pytest.fixture
def deals(tmp_path: Path) -> Deals:
    """The deals API over an empty database, in the manager's name."""
    return of_manager(tmp_path)


@pytest.fixture(scope="module")
def seeded(tmp_path_factory: pytest.TempPathFactory) -> Deals:
    """The same with the demo's deals, for tests that change nothing."""
    deals = of_manager(tmp_path_factory.mktemp("seeded"))
    seed(deals, TODAY)
    return deals


def of_manager(home: Path) -> Deals:
    """The deals API over a new data directory, in the manager's name."""
    settings = Settings(home=home, demo=True)
    people = people_in(settings.home)
    for person in PEOPLE:
        people.add(person, "demo")
    return connect.connect(people.get("manager") or PEOPLE[1], settings).deals


def test_as_in_the_report(seeded: Deals) -> None:
    """Each package, deal, seat and DSP of the cast is there under its id, and what is delivered is theirs."""
    by_id = {deal.id: deal for deal in seeded.everything(DemandDeal)}
    for wanted in cast.DEALS:
        deal = by_id[wanted.id]
        factor = PRICE_CHANGES[wanted.id].price if wanted.id in PRICE_CHANGES else 1.0
        assert (deal.name, float(deal.price or 0)) == (wanted.name, round(wanted.price * factor, 2))
        assert [package.id for package in deal.supply_deals] == [wanted.package.id]
        assert deal.seat is not None
        assert deal.dsp is not None
        assert (deal.seat.id, deal.seat.name, deal.dsp.id) == (
            wanted.seat.id, wanted.seat.name, wanted.seat.dsp.id,
        )  # fmt: skip
    table = curation(np.random.default_rng(1), TODAY, 20_000)
    assert {int(deal) for deal in set(table["deal"].to_pylist())} == set(by_id)


def test_goals_pace(seeded: Deals) -> None:
    """A deal with guaranteed impressions and one with a budget have an end, so that their pacing is known."""
    for number, goal in ((GUARANTEED_DEAL, "units"), (BROKE_DEAL, "budget")):
        deal = seeded.get(DemandDeal, number)
        [package] = deal.supply_deals
        assert getattr(deal, goal) > 0
        assert seeded.get(SupplyPackage, package.id or 0).end_date is not None


def test_the_targeting_holds_for_the_delivery(seeded: Deals) -> None:
    """What a package is restricted to is true of the rows of its deals, since it was narrowed."""
    rows = curation(np.random.default_rng(1), TODAY, 20_000).to_pandas()
    for package in seeded.everything(SupplyPackage):
        mine = rows[rows["supply_package"] == str(package.id)]
        if package.id == NARROWED_PACKAGE:
            day = dt.datetime.combine(TODAY - dt.timedelta(days=NARROWED_DAYS), dt.time(), dt.UTC)
            mine = mine[mine["time"] >= day]
        places = {targeting.value for targeting in package.geo_targetings}
        devices = {targeting.value for targeting in package.device_targetings}
        assert not places or set(mine["country"]) <= places
        assert not devices or set(mine["device_type"]) <= devices
        assert set(mine["media_type"]) <= {package.media_type}


def test_one_target_is_dead(seeded: Deals) -> None:
    """A package asks for a size that no site of the demo sells."""
    sold = {size for sizes in SIZE_LISTS for size in sizes}
    asked = {
        (package.id, f"{targeting.width}x{targeting.height}")
        for package in seeded.everything(SupplyPackage)
        for targeting in package.size_targetings
    }
    assert {country for country in asked if country[1] not in sold} == set(UNSOLD.items())


def test_something_of_each_status(seeded: Deals) -> None:
    """There is something pending, active, paused and complete to look at, and a list of each kind."""
    assert {package.status for package in seeded.everything(SupplyPackage)} == {
        "pending",
        "active",
        "paused",
        "complete",
    }
    assert seeded.list(SupplyPackage, search=PREVIEW[0]).results[0].demand_deals == ()
    assert seeded.list(DomainList).count > 0
    assert seeded.list(AppList).count > 0


def test_once(deals: Deals) -> None:
    """A second time nothing is created; what was changed or removed since stays so."""
    assert seed(deals, TODAY) == len(cast.DSPS) + len(cast.SEATS) + 3 + len(cast.PACKAGES) + 1 + len(
        cast.DEALS
    )
    deals.remove(DemandDeal, 5)
    deals.change(SupplyPackage, 2, {"name": "Renamed"})
    assert seed(deals, TODAY) == 0
    assert deals.list(DemandDeal).count == len(cast.DEALS) - 1
    assert deals.get(SupplyPackage, 2).name == "Renamed"


def test_going_on(deals: Deals) -> None:
    """A demo that was broken off is completed, without anything twice."""
    for dsp in cast.DSPS[:2]:
        deals.create(Dsp, Dsp(name=dsp.name, supports_deal_sync=dsp.supports_deal_sync))
    seed(deals, TODAY)
    assert deals.list(Dsp).count == len(cast.DSPS)
    assert deals.list(DemandDeal).count == len(cast.DEALS)


def test_not_among_others(deals: Deals) -> None:
    """A database that holds somebody's own deals is refused, and left as it was."""
    deals.create(Dsp, Dsp(name="Somebody's own"))
    with pytest.raises(ImportRefused, match="of its own"):
        seed(deals, TODAY)
    assert (deals.list(Dsp).count, deals.list(Seat).count) == (1, 0)


def test_every_document_is_valid(deals: Deals, tmp_path: Path) -> None:
    """Each deal with deal sync has a document that is valid by the specification; no other has."""
    seed(deals, TODAY)
    desk = connect.installation(Settings(home=tmp_path, demo=True))
    token = desk.access.issue("manager", "deals", "documents", None)
    answer = desk.http.get("/api/deal_sync/?limit=500", headers={"Authorization": f"Bearer {token}"})
    results = answer.json()["results"]
    schema = json.loads(SCHEMA.read_text()) | {"$ref": "#/$defs/Deal"}
    check = jsonschema.Draft202012Validator(schema)
    assert not [error.message for result in results for error in check.iter_errors(result)]
    synced = [deal for deal in deals.everything(DemandDeal) if deal.deal_sync]
    assert {result["id"]: result["sellerstatus"] for result in results} == {
        deal.deal_id: SELLER_STATUS[deal.status or ""] for deal in synced
    }
    assert {result["origin"] for result in results} == {"tranche.example"}
    assert {kind for result in results for kind in result["adtypes"]} == {1, 2, 3, 4}


def test_changes_lie_in_the_past(deals: Deals, tmp_path: Path) -> None:
    """Everything is older than the report but for the raised floors, which were changed on their days."""
    started = dt.datetime.now(dt.UTC)
    seed(deals, TODAY)
    date_back(connect.installation(Settings(home=tmp_path, demo=True)).access.store.engine, TODAY, started)
    for deal in deals.everything(DemandDeal):
        changed = PRICE_CHANGES.get(deal.id or 0)
        age = changed.days if changed else FIRST_DAY + OLDER
        assert deal.updated_at is not None and deal.created_at is not None
        assert (TODAY - deal.updated_at.date()).days == age
        assert (TODAY - deal.created_at.date()).days == FIRST_DAY + OLDER
    raises = [edit for edit in deals.history("demand_deals", 8) if edit.action == "changed"]
    assert [(TODAY - edit.at.date()).days for edit in raises] == [PRICE_CHANGES[8].days]
    narrowed = deals.history("supply_deals", NARROWED_PACKAGE)[0]
    assert (TODAY - narrowed.at.date()).days == NARROWED_DAYS


def test_an_edit_keeps_its_date(deals: Deals, tmp_path: Path) -> None:
    """What somebody did before the demo was completed stays when it was done."""
    seed(deals, TODAY)
    deals.change(DemandDeal, 8, {"price": Decimal("2.5")})
    edited = deals.get(DemandDeal, 8)
    engine = connect.installation(Settings(home=tmp_path, demo=True)).access.store.engine
    date_back(engine, TODAY, dt.datetime.now(dt.UTC) + dt.timedelta(seconds=1))
    assert deals.get(DemandDeal, 8).updated_at == edited.updated_at
    assert deals.history("demand_deals", 8)[0].at.date() == dt.datetime.now(dt.UTC).date()
