"""The supply path of packages: shares of bids against pandas on the same rows; health, filter, drawer."""

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from conftest import LAST_DAY
from dealing import DEFINITION, SOLD, Visit, clean, clients, listed, sold_rows
from opening import Popover
from standin.app import served
from standin.known import CachedSlicer
from standin.state import TOKEN, State

from lib.deals.client import Deals
from lib.deals.models import DomainList, SupplyPackage
from lib.deals.supply.states import SupplyIndex
from lib.deals.targeting.filters import entries
from lib.insight import supply_path
from lib.insight.deal_report import DealReport
from lib.reporting.models import InfoQuery
from lib.serving.connect import Clients
from lib.serving.health_watch import HealthWatch
from lib.settings import Settings

US, DAYS = "exchange.example", 7
SELLERS = {"sellers": [{"seller_id": "1", "seller_type": "PUBLISHER", "domain": "news.example"}]}
FILES = (
    (f"{US}.sellers.json", json.dumps(SELLERS).encode()),
    ("news.example.ads.txt", f"{US}, 1, DIRECT".encode()),
    ("cats.example.ads.txt", b"rival.example, 1, DIRECT"),
)


@pytest.fixture
def desk(own_deals_home: Path) -> Clients:
    """The manager's clients of a desk where news.example authorizes us, and cats.example does not."""
    manager = clients(Settings(home=own_deals_home, demo=True))
    manager.supply_files.add(FILES)
    return manager


def report(desk: Clients) -> DealReport:
    """The slicer with the sold rows."""
    slicer = desk.reporting.info(InfoQuery(project_name="demo", slicer_name=SOLD))
    today = LAST_DAY + dt.timedelta(days=1)
    return DealReport("demo", SOLD, slicer, today, lambda query: desk.reporting.audience(query, slicer))


def last_rows() -> pd.DataFrame:
    """The rows of the last days."""
    frame = sold_rows().to_pandas()
    return frame[pd.to_datetime(frame["time"]).dt.date > LAST_DAY - dt.timedelta(days=DAYS)]


@pytest.fixture(params=["embedded", "specification alone"])
def of(request: pytest.FixtureRequest, desk: Clients, own_deals_home: Path) -> Iterator[DealReport]:
    """The report of a service of our own, and of one that knows the specification and nothing more."""
    if request.param == "embedded":
        yield report(desk)
        return
    fields = tuple({"name": field.name, "description": field.description} for field in DEFINITION.key_fields)
    bids = ({"name": "bids", "description": "Bids"},)
    known = CachedSlicer("", fields, bids, (), sold_rows().to_pandas(), {})
    with served(State({("demo", SOLD): known})) as service:
        remote = {"base_url": service.address, "reporting_token": TOKEN, "slicers": f"demo/{SOLD}"}
        yield report(clients(Settings(home=own_deals_home, demo=True, **remote)))


@pytest.mark.parametrize("by", ["deal", "supply_package"])
def test_shares_against_pandas(desk: Clients, of: DealReport, by: str) -> None:
    """The share of bids for unauthorized sites is that of the rows; without files it is none."""
    index = desk.supply_files.index()
    frame = last_rows()
    bids = frame.groupby(by)["bids"].sum()
    wrong = frame[frame["site_domain"] == "cats.example"].groupby(by)["bids"].sum()
    expected = (100 * wrong / bids).to_dict()
    assert supply_path.unauthorized_shares(of, index, by, "bids", DAYS) == pytest.approx(expected)
    assert supply_path.unauthorized_shares(of, SupplyIndex(), by, "bids", DAYS) == {}


def test_a_package_with_a_list(desk: Clients) -> None:
    """A package has the entries of its list, with bids or without, and what the report has; worst first."""
    desk.deals.change(DomainList, 1, {"domains": ("news.example", "new.example", "cats.example")})
    of, package = report(desk), desk.deals.get(SupplyPackage, 2)
    listed_entries = supply_path.entries_in(package, entries([desk.deals.get(DomainList, 1)]))
    split = (*supply_path.split_fields(of.slicer).values(),)
    query = of.query(DAYS).model_copy(update={"data_fields": ("bids",), "split_by": split})
    path = supply_path.supply_path(
        desk.supply_files.index(), listed_entries, of.slicer, of.ask(query), "bids"
    )
    states = [(row.name, row.state.state) for row in path.rows]
    assert states == [
        ("cats.example", "unauthorized"),
        ("new.example", "unknown"),
        ("news.example", "direct"),
    ]
    bids = last_rows().groupby("site_domain")["bids"].sum()
    assert path.share("unauthorized") == pytest.approx(100 * bids["cats.example"] / bids.sum())
    assert (path.share("unknown"), path.bids, path.is_exact) == (0, bids.sum(), True)


def test_health(own_deals_home: Path, desk: Clients) -> None:
    """A deal that delivers, of whose bids half are for an unauthorized site, needs attention since the file
    is imported, and no longer when that authorizes us."""
    watch, now = HealthWatch(Settings(home=own_deals_home, demo=True)), dt.datetime.now(dt.UTC)

    def health(deal: int = 1) -> tuple[str, dict[str, object]]:
        watch.look(now)
        assert desk.healths is not None
        stored = desk.healths.of(("demo", SOLD), [deal])[deal]
        return stored.state, dict(stored.facts)

    state, facts = health()
    frame = last_rows()[lambda rows: rows["deal"] == "1"]
    share = 100 * frame[frame["site_domain"] == "cats.example"]["bids"].sum() / frame["bids"].sum()
    assert (state, facts["words"]) == ("attention", "Unauthorized")
    assert facts["findings"] == [f"{share:.1f} % of its bids are for sites or apps that don't authorize us."]
    desk.supply_files.add([("cats.example.ads.txt", f"{US}, 1, DIRECT".encode())])
    assert health()[0] == "healthy"


def test_the_screens(visit: Visit, desk: Clients, deals: Deals) -> None:
    """The drawer says the path of a package, the list finds those with unauthorized bids, the form warns."""
    drawer = visit("deals", open="supply_deals-1", project="demo", slicer=SOLD)
    texts = " ".join(markdown.value for markdown in drawer.markdown)
    assert "1 of 2 sites authorized (1 direct), 1 not authorized (" in texts.replace("\\", "")
    found = visit("deals", show="Unauthorized", deals_kind="Packages", project="demo", slicer=SOLD)
    assert listed(found) == ["Evening Sports", "Morning News"]
    views = Popover("deals_views")
    found = views.opened(found)
    found.text_input(key="view_list_name").set_value("Ours to mend")
    views.submit(found, "Save view")
    opened = views.opened(visit("deals", project="demo", slicer=SOLD))
    assert clean(opened.button(key="view_open_list_1").click().run()).selectbox(key="show").value
    unseen = visit("deals", "viewer", show="Unauthorized", deals_kind="Packages")
    assert any("can't be filtered so now. None of the slicers" in warning.value for warning in unseen.warning)
    assert listed(clean(unseen.button(key="show_all").click().run())) == ["Evening Sports", "Morning News"]
    desk.supply_files.add([("cats.example.ads.txt", f"{US}, 1, DIRECT".encode())])
    assert any(
        "No packages match" in info.value
        for info in visit("deals", show="Unauthorized", deals_kind="Packages").info
    )
    desk.supply_files.add([("news.example.ads.txt", b"rival.example, 1, DIRECT")])
    form = visit("deals", open="supply_deals-2", drawer_shown="Change")
    form.segmented_control(key="drawer_shown").set_value("Change").run()
    assert any("1 of 1 in these lists" in warning.value for warning in clean(form).warning)


def test_the_list_of_files(visit: Visit, desk: Clients) -> None:
    """The files are listed, ours first; one opens with its lines, and can be removed."""
    desk.supply_files.add([("cats.example.ads.txt", b"rival.example, 1, DIRECT\nbroken")])
    assert listed(visit("lists", lists_kind="Supply files"))[0] == US
    [number] = [supply_file.id for supply_file in desk.supply_files.files("cats")[1]]
    drawer = visit("lists", list=f"supply_files-{number}")
    assert any("1 line could not be read" in markdown.value for markdown in drawer.markdown)
    clean(drawer.button(key="supply_remove").click().run())
    assert [supply_file.domain for supply_file in desk.supply_files.files()[1]] == [US, "news.example"]
    viewer = visit("lists", "viewer", list=f"supply_files-{desk.supply_files.files('news')[1][0].id}")
    assert "supply_remove" not in {button.key for button in viewer.button}
