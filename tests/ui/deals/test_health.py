"""The health of deals on the screen: a column, a switch, a number in the navigation, and the funnel."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
from boards import components
from conftest import COUNTRIES, LAST_DAY
from dealing import DEFINITION, SOLD, Visit, clean, date_back, listed, sold_rows
from streamlit.testing.v1 import AppTest

from lib.deals.client import Deals
from lib.deals.delivery import FIGURES
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.people import Grant
from lib.serving import connect
from lib.serving.health_watch import HealthWatch
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.ui.deals import catalog
from lib.wire.filters import Filter


def compute(home: Path) -> int:
    """What the desk's background thread does at once; how many deals it has computed."""
    return HealthWatch(Settings(home=home, demo=True)).look(dt.datetime.now(dt.UTC))


def healths(desk: AppTest, title: str = "Health") -> dict[str, str]:
    """A column by the deals' names."""
    data = next(data for data in components(desk) if "rows" in data)
    place = [column["title"] for column in data["columns"]].index(title)
    return {row["cells"][0]["text"]: row["cells"][place]["text"] for row in data["rows"]}


def broken(deals: Deals) -> None:
    """The package of deal 4 is paused, deal 2 is paused itself, and a fifth deal has never had a bid."""
    deals.change(SupplyPackage, 2, {"is_active": False})
    deals.change(DemandDeal, 2, {"is_active": False})
    linked = (SupplyPackage(id=1),)
    deals.create(DemandDeal, DemandDeal(name="Unseen", seat=Seat(id=1), price="2", supply_deals=linked))


def test_the_column_the_switch_and_the_number(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """Each deal says how it is, the switch leaves those that need attention, and they are counted."""
    broken(deals)
    date_back(own_deals_home)
    compute(own_deals_home)
    desk = visit("deals", slicer=SOLD, deals_kind="Deals")
    assert healths(desk) == {
        "Morning News - Alpha Buying": "Delivers",
        "Morning News - Beta Media": "Paused",
        "Morning News - Gamma Trading": "Delivers",
        "Evening Sports - Alpha Buying": "Package paused",
        "Unseen": "No bids",
    }
    assert desk.session_state["deals_attention_count"] == 1
    assert visit("audience", slicer=SOLD).session_state["deals_attention_count"] == 1
    assert any(caption.value.startswith("Health as of") for caption in desk.caption)
    assert listed(clean(desk.selectbox(key="show").set_value("attention").run())) == ["Unseen"]


def test_what_deals_delivered(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """The figures of the last days stand to the right, by plain pandas; those that are chosen are shown, and
    the list is ordered by one that is not; a deal without a goal has no pacing."""
    broken(deals)
    compute(own_deals_home)
    rows = sold_rows().to_pandas()
    rows = rows[rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7)]
    spend, imps = (rows.groupby("deal")[name].sum() for name in ("spend", "imps"))
    names = {1: "Morning News - Alpha Buying", 2: "Morning News - Beta Media"}
    names |= {3: "Morning News - Gamma Trading", 4: "Evening Sports - Alpha Buying"}
    desk = visit("deals", slicer=SOLD, deals_order="-impressions_7_days")
    expected = {name: f"{spend[str(deal)]:,.2f}" for deal, name in names.items()} | {"Unseen": "0.00"}
    assert healths(desk, "Spend, 7 days") == expected
    by_imps = sorted(names, key=lambda deal: -imps[str(deal)])
    assert listed(desk) == [*(names[deal] for deal in by_imps), "Unseen"]
    desk = visit("deals", slicer=SOLD, deal_columns=["Spend, 7 days", "Pacing, 30 days"])
    data = next(data for data in components(desk) if "rows" in data)
    assert [(column["id"], column["is_right"], column["order"]) for column in data["columns"][1:]] == [
        ("spend_7_days", True, "desc"), ("pacing_30_days", True, "desc"),
    ]  # fmt: skip
    assert {*healths(desk, "Pacing, 30 days").values()} == {""}


def test_who_sees_some_rows(visit: Visit, own_deals_home: Path) -> None:
    """Figures and health of somebody who sees the rows of one country are of these alone, and computed while
    they look; the list is not ordered by what is stored of all rows."""
    compute(own_deals_home)
    only = Grant("demo", SOLD, (Filter(name="geo.country", value=("US",), match="equals"),))
    connect.installation(Settings(home=own_deals_home, demo=True)).people.change("manager", grants=(only,))
    desk = visit("deals", slicer=SOLD, deals_order="-spend_7_days")
    for entry in [*desk.session_state[catalog.HEALTH]._entries.values()]:
        entry.future.result(60)
    desk = clean(desk.run())
    rows = sold_rows().to_pandas()
    rows = rows[(rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7)) & (rows["geo.country"] == "US")]
    spend = rows.groupby("deal")["spend"].sum()
    figures = healths(desk, "Spend, 7 days")
    assert figures["Morning News - Beta Media"] == f"{spend['2']:,.2f}"
    assert next(iter(figures)) == "Evening Sports - Alpha Buying"  # the newest
    data = next(data for data in components(desk) if "rows" in data)
    assert {column["order"] for column in data["columns"] if column["id"] in FIGURES} == {None}


def test_nothing_needs_attention(visit: Visit, own_deals_home: Path) -> None:
    """Where all deals deliver, the switch leaves none."""
    compute(own_deals_home)
    desk = visit("deals", slicer=SOLD, deals_kind="Deals")
    assert set(healths(desk).values()) == {"Delivers"}
    desk = clean(desk.selectbox(key="show").set_value("attention").run())
    assert any("No deals match" in info.value for info in desk.info)


def test_packages_have_no_switch(visit: Visit) -> None:
    """Packages are no deals: nothing is checked for them."""
    desk = visit("deals", slicer=SOLD, deals_kind="Packages")
    assert "show" not in {picker.key for picker in desk.selectbox}


def test_the_funnel_in_the_drawer(visit: Visit, own_deals_home: Path) -> None:
    """The drawer of a deal has its funnel of the last seven days, each step as a share of the one before."""
    compute(own_deals_home)
    desk = visit("deals", slicer=SOLD, deals_kind="Deals", open="demand_deals-1")
    clean(desk.button_group(key="drawer_shown").set_value("Delivery").run())
    rows = sold_rows().to_pandas()
    mine = rows[(rows["deal"] == "1") & (rows["time"].dt.date > LAST_DAY - dt.timedelta(days=7))]
    bids, imps = mine["bids"].sum(), mine["imps"].sum()
    shown = next(table.value for table in desk.table if "Of the step before" in table.value)
    assert list(shown.index) == ["Bids", "Impressions"]
    assert list(shown["Last 7 days"]) == [f"{bids:,.0f}", f"{imps:,.0f}"]
    assert list(shown["Of the step before"]) == ["–", f"{100 * imps / bids:.1f} %"]


def test_a_change_that_is_not_counted_in_yet(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """The drawer says that a deal was changed since its health was computed, until that is done anew."""
    compute(own_deals_home)
    deals.change(DemandDeal, 1, {"price": 1.5})

    def is_said() -> bool:
        desk = visit("deals", slicer=SOLD, deals_kind="Deals", open="demand_deals-1")
        clean(desk.button_group(key="drawer_shown").set_value("Delivery").run())
        return any("Its last change is not counted in yet" in text.value for text in desk.caption)

    assert is_said()
    compute(own_deals_home)
    assert not is_said()


def test_a_saved_change_follows_in_the_list(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """After a save the list draws itself again as soon as the health of its deals counts the change in."""
    compute(own_deals_home)
    desk = visit("deals", slicer=SOLD, deals_kind="Deals")
    deals.change(DemandDeal, 1, {"is_active": False})
    waiting = "The last changes are not counted in yet"

    def is_waiting() -> bool:
        return any(waiting in text.value for text in clean(desk.run()).caption)

    assert is_waiting()
    compute(own_deals_home)
    assert not is_waiting()
    assert healths(desk)["Morning News - Alpha Buying"] == "Paused"


def lost(home: Path) -> None:
    """Ten bids of deal 5 yesterday, none of which won."""
    at = dt.datetime.combine(LAST_DAY, dt.time(9), dt.UTC)
    row = {**sold_rows().slice(0, 1).to_pylist()[0], "time": at, "deal": "5", "imps": 0.0, "bids": 10.0}
    rows = pa.Table.from_pylist([{**row, "spend": 0.0}], schema=DEFINITION.schema())
    folder = Warehouse(home / "warehouse")
    with folder.writer("demo", SOLD, DEFINITION, {"country": COUNTRIES}, "append") as writer:
        writer.write(rows)
        writer.commit("made for the tests", "lost")


def test_a_low_floor_is_not_blamed(visit: Visit, deals: Deals, own_deals_home: Path) -> None:
    """A deal with bids and no wins is said to have them; its price, a floor, is no cause however low."""
    lost(own_deals_home)
    linked = (SupplyPackage(id=1),)
    deals.create(DemandDeal, DemandDeal(name="Cheap", seat=Seat(id=1), price="0.1", supply_deals=linked))
    compute(own_deals_home)
    desk = visit("deals", slicer=SOLD, deals_kind="Deals", open="demand_deals-5")
    assert healths(desk)["Cheap"] == "Bids, no impressions"
    desk = clean(desk.button_group(key="drawer_shown").set_value("Delivery").run())
    assert "Health: **Bids, no impressions**" in [
        markdown.value.replace("\\", "") for markdown in desk.markdown
    ]


def test_a_filter_that_can_not_be_applied(visit: Visit) -> None:
    """Before health is computed no list is shown as filtered: a sentence says so, and a button shows all."""
    desk = visit("deals", slicer=SOLD, deals_kind="Deals", show="Needs attention")
    assert not [data for data in components(desk) if "rows" in data]
    [said] = [warning.value for warning in desk.warning]
    assert said.startswith("The list can't be filtered so now.")
    desk = clean(desk.button(key="show_all").click().run())
    assert len(listed(desk)) == 4
