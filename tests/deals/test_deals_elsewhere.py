"""The desk over a deals remote service: which kind it is, who may change what, and the screens over it."""

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import copied
from dealing import listed
from peopled import people_in
from serving import serving
from standin.book import SETTINGS, Book
from standin.deals import deals
from standin.state import TOKEN, State
from streamlit.testing.v1 import AppTest

from lib.deals.abilities import PLAIN
from lib.deals.client import Deals
from lib.deals.compat import PlainDeals
from lib.deals.compat.dialect import Dialect
from lib.deals.models import DemandDeal, Seat, SupplyPackage
from lib.figures.deals import field_text, targeting_text
from lib.people import ALL_DEALS, DealsGrant, Person
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals import catalog
from lib.ui.deals.changes import merge
from lib.ui.deals.drawer import details
from lib.wire.errors import Forbidden, ServiceProblem

MAX = Person("max", "Max", None, "manager", deals=ALL_DEALS)
VERA = Person("vera", "Vera", None, "viewer", deals=DealsGrant("read"))
DESK = str(Path(__file__).parents[2] / "lib" / "desk.py")
SEATS = ({"id": 71, "name": "Alder Trading", "dsp_id": 8, "dsp": "Alder DSP"}, {"id": 72, "name": "Birch"})
SyncState = Callable[..., Settings]
Visit = Callable[..., AppTest]


@pytest.fixture
def book() -> Book:
    """What the remote service has."""
    return Book()


@pytest.fixture
def address(book: Book) -> Iterator[str]:
    """Where it is."""
    with serving(deals(State({}, deals=book))) as served:
        yield served


@pytest.fixture
def told(tmp_path: Path, address: str) -> SyncState:
    """Settings of a desk whose deals are there, its way to write confirmed."""
    usual = {"curate_url": address, "deals_token": TOKEN, "deals_mapping_confirmed": True, "seats": SEATS}
    return lambda **more: Settings(**{"home": tmp_path / "desk"} | usual | SETTINGS | more)


@pytest.fixture
def visit(home: Path, tmp_path: Path, address: str, monkeypatch: pytest.MonkeyPatch) -> Visit:
    """A screen as the demo's manager sees it, under these settings."""
    monkeypatch.setenv("TRANCHE_HOME", str(copied(home, tmp_path / "home")))
    monkeypatch.setenv("TRANCHE_CURATE_URL", address)
    monkeypatch.setenv("TRANCHE_DEALS_TOKEN", TOKEN)

    def visited(screen: str, **settings: str) -> AppTest:
        for name, value in ({"deals_mapping_confirmed": "true"} | settings).items():
            monkeypatch.setenv(f"TRANCHE_{name.upper()}", value)
        desk = AppTest.from_file(DESK, default_timeout=60).run()
        desk.button(key="demo_manager").click().run()
        desk.switch_page(f"../pages/{screen}.py")
        return clean(desk.run())

    return visited


def clean(desk: AppTest) -> AppTest:
    """The screen, once it is sure that nothing went wrong on it."""
    assert not desk.exception
    assert not desk.error
    return desk


def client(settings: Settings, person: Person = MAX) -> Deals:
    """Somebody's client of the deals."""
    return connect.connect(person, settings).deals


def test_seats_and_words_come_from_the_settings(told: SyncState, book: Book) -> None:
    """The client has the seats that the settings name, and writes as they say."""
    there = client(told())
    assert isinstance(there, PlainDeals)
    assert [(seat.name, seat.dsp and seat.dsp.name) for seat in there.list(Seat).results] == [
        ("Alder Trading", "Alder DSP"),
        ("Birch", None),
    ]
    deal = book.add(71, "2", agency_curation_fee_type=30)
    assert there.get(DemandDeal, deal).agency_curation_fee_type == 3
    assert set(there.abilities.fees) == {1, 3}


def test_who_only_looks_and_what_is_not_confirmed(told: SyncState, book: Book) -> None:
    """A viewer, and anybody before the mapping is confirmed, may read; nothing of theirs is sent."""
    deal = book.add(71, "2")
    for there in (client(told(), VERA), client(told(deals_mapping_confirmed=False))):
        assert there.get(DemandDeal, deal).price == Decimal(2)
        with pytest.raises(Forbidden):
            there.change(DemandDeal, deal, {"price": Decimal(3)})
    assert {method for method, _, _ in book.asked} == {"GET"}


def test_what_is_remembered_while_it_does_not_answer(tmp_path: Path, book: Book) -> None:
    """A desk that starts while the service is away lists what was made there before; a new one can't."""
    with serving(deals(State({}, deals=book))) as address:
        usual = {"curate_url": address, "deals_token": TOKEN}
        there = client(Settings(home=tmp_path / "desk", **usual))
        there.get(DemandDeal, book.add(71, "2"))
    away = Settings(home=tmp_path / "desk", connect_seconds=1, **usual)
    assert client(away).list(DemandDeal).count == 1
    with pytest.raises(ServiceProblem):
        client(Settings(home=tmp_path / "other", connect_seconds=1, **usual))


def test_a_deal_is_added_by_its_id(visit: Visit, book: Book) -> None:
    """An empty list offers it; a wrong id says so; the right one opens it, with what can be done to it."""
    deal = book.add(71, "2.50")
    desk = visit("deals")
    assert any("this service has no list" in caption.value for caption in desk.caption)
    desk.text_input(key="bring_in_id").set_value("4711")
    desk.button(key="bring_in_open").click().run()
    assert [error.value for error in desk.error] == ["The service has no deal 4711. Check the id."]
    desk.text_input(key="bring_in_id").set_value(str(deal))
    clean(desk.button(key="bring_in_open").click().run())
    assert desk.query_params["open"] == f"demand_deals-{deal}"
    assert any("can't create or delete a demand deal" in caption.value for caption in desk.caption)
    [raw] = [code.value for code in desk.code if "audit" in code.value]
    assert '"audit"' in raw
    keys = {button.key for button in desk.button}
    assert "action_active" in keys
    assert not {"action_clone", "action_delete_sure"} & keys


@pytest.mark.parametrize("grant", ["read", "none"])
def test_an_open_drawer_looks_at_role_and_grants(
    visit: Visit, book: Book, tmp_path: Path, grant: str
) -> None:
    """A permission that is taken away while the drawer is open counts with the next click."""
    deal = book.add(71, "2")
    desk = visit("deals")
    desk.text_input(key="bring_in_id").set_value(str(deal))
    clean(desk.button(key="bring_in_open").click().run())
    people_in(tmp_path / "home").change("manager", deals=DealsGrant.parse(grant))
    book.asked.clear()
    desk.button(key="action_active").click().run()
    assert not desk.exception
    if grant == "read":
        assert "can see deals, but not change them" in " ".join(error.value for error in desk.error)
    else:
        assert "action_active" not in {button.key for button in desk.button}
    assert "PUT" not in {method for method, _, _ in book.asked}


def test_without_fee_types_no_fee_is_offered(visit: Visit) -> None:
    """The form says why; the same form asks for the contact."""
    desk = visit("new_package")
    assert any("Fees can't be set" in caption.value for caption in desk.caption)
    assert not [box for box in desk.selectbox if box.label == "Agency fee"]
    assert [box for box in desk.text_input if box.label == "Contact e-mail"]


def test_seats_are_typed_where_none_are_known(visit: Visit, book: Book) -> None:
    """Ids typed into the form are those that are asked for; what is no id is left out."""
    desk = visit("new_package")
    desk.text_input(key="np_name").set_value("Typed").run()
    picker = desk.multiselect(key="np_seats")
    picker.options.extend(["72", "nobody"])
    clean(picker.set_value(["72", "nobody"]).run())
    assert desk.session_state["np_seats"] == [72]
    assert catalog.NOT_A_NUMBER in " ".join(caption.value for caption in desk.caption)


def test_from_the_form_to_a_changed_deal(visit: Visit, book: Book) -> None:
    """Two seats of the settings and a targeting become a package, which another session lists; of a deal only
    the new price is sent, and the change is in its history."""
    told = {"seats": json.dumps(SEATS), "targeting_names": json.dumps(SETTINGS["targeting_names"])}
    desk = visit("new_package", **told)
    desk.session_state["np_target_country_only"] = ["US"]
    desk.text_input(key="np_name").set_value("Autumn Evenings")
    desk.multiselect(key="np_seats").set_value([71, 72]).run()
    desk.text_input(key="np_price_71").set_value("2.5")
    desk.text_input(key="np_price_72").set_value("3")
    clean(desk.button(key="np_create_button").click().run())
    [package] = book.packages.values()
    assert package["geo_targetings"] == [{"geo": {"kind": "COUNTRY", "code": "US"}, "exclude": 0}]
    desk = visit("deals", **told)
    assert listed(desk) == ["Autumn Evenings - Birch Media", "Autumn Evenings - Alder Trading"]
    desk.query_params["open"] = f"supply_deals-{package['id']}"
    said = " ".join(caption.value for caption in clean(desk.run()).caption)
    assert "As last known on" in said
    assert "This service can't change or delete a supply package" in said
    assert "Change" not in desk.button_group(key="drawer_shown").options
    [deal] = [number for number, deal in book.deals.items() if deal["price"] == "2.50"]
    desk.query_params["open"] = f"demand_deals-{deal}"
    clean(desk.run().button_group(key="drawer_shown").set_value("Change").run())
    desk.text_input(key=f"change-demand_deals-{deal}-price").set_value("4.25").run()
    clean(desk.button(key=f"change-demand_deals-{deal}-_save").click().run())
    assert {deal["price"] for deal in book.deals.values()} == {"4.25", "3.00"}
    assert [body for method, _, body in book.asked if method == "PUT"] == [{"price": 4.25}]
    clean(desk.button_group(key="drawer_shown").set_value("History").run())
    history = str([table.value for table in desk.table]).replace("\\:", ":")  # its cells are Markdown
    assert "Price, EUR CPM: 2.50 → 4.25" in history


def test_before_the_mapping_is_confirmed_the_form_is_closed(visit: Visit, book: Book) -> None:
    """Every field is shown and none can be filled, a drawer offers no change; the reason stands on top."""
    desk = visit("new_package", deals_mapping_confirmed="false")
    assert desk.info[0].value.replace("\\", "").startswith("Deals are read-only until an administrator")
    mine = [*desk.text_input, *desk.multiselect, *desk.toggle, *desk.button_group]
    assert [widget for widget in mine if str(widget.key).startswith("np_")]
    assert all(widget.disabled for widget in mine if str(widget.key).startswith("np_"))
    assert desk.button(key="np_create_button").disabled
    desk.switch_page("../pages/deals.py")
    desk.query_params["open"] = f"demand_deals-{book.add(71, '1.10')}"
    clean(desk.run())
    assert (
        sum("Deals are read-only until" in caption.value for caption in desk.caption) == 2
    )  # list and drawer
    assert "Change" not in desk.button_group(key="drawer_shown").options
    assert not {"action_active", "action_clone", "action_delete_sure"} & {
        button.key for button in desk.button
    }
    assert {method for method, _, _ in book.asked} == {"GET"}


def test_a_second_click_creates_no_second_package(visit: Visit, book: Book) -> None:
    """After an answer that says nothing, there is no click until somebody has looked."""
    book.garbles = 1
    desk = visit("new_package")
    desk.text_input(key="np_name").set_value("Once").run()
    desk.button_group(key="np_deals").set_value("none").run()
    desk.button(key="np_create_button").click().run()
    assert "may have been created" in desk.error[0].value
    assert desk.button(key="np_create_button").disabled
    desk.checkbox(key="np_sure").check().run()
    clean(desk.button(key="np_create_button").click().run())
    assert len(book.packages) == 2


def test_only_what_is_reported_can_be_changed() -> None:
    """A switch, a choice or a list that the service does not tell is offered to nobody; a text may be set."""
    told = Dialect().read(DemandDeal, {"id": 1, "name": "x", "is_active": True})
    assert set(merge.of(told)) == {
        "name", "price", "is_active", "agency_curation_fee", "agency_curation_fee_type", "contact_email",
        "seat",
    }  # fmt: skip
    assert merge.edited_fields(merge.of(told), {"deal_sync": True, "supply_deals": [], "name": "y"}) == {
        "name": "y"
    }


def test_a_fee_of_unknown_type_is_shown_and_not_changed() -> None:
    """`5.00 type 7 of the service`; neither its type nor its amount can be edited."""
    body = {"id": 1, "agency_curation_fee": "5", "agency_curation_fee_type": 7}
    deal = Dialect.of({}, {1: 10}).read(DemandDeal, body)
    assert field_text.fee(deal) == "5.00 type 7 of the service"
    assert not {"agency_curation_fee", "agency_curation_fee_type"} & merge.of(deal).keys()


def test_what_can_not_be_read_is_counted_and_shown() -> None:
    """A targeting that is only half readable is never called everything; its JSON stands under the facts."""
    odd: list[Any] = [{"polygon": [1, Decimal("2.5")]}, {"radius": 3}]
    package = Dialect().read(SupplyPackage, {"id": 1, "geo_targetings": odd, "size_targetings": "any"})
    assert targeting_text.sentence(package) == "places: 2 unread · an unread targeting by size"
    (places, raw), (sizes, _) = details.unread(package)
    assert places == "2 of places that Tranche can't read; they stay unchanged"
    assert "2.5" in raw
    assert sizes == "Sizes: a value that Tranche can't read; it stays unchanged"
    assert "geo_targetings" in merge.of(package)
    assert "size_targetings" not in merge.of(package)


@pytest.mark.parametrize(
    ("typed", "number"),
    [(7, 7), ("7", 7), (" 72 ", 72), ("0", None), ("x", None), ("٣", None), ("9" * 20, None)],
)
def test_typed_ids(typed: object, number: int | None) -> None:
    """Digits are an id; anything else is none."""
    assert catalog.read_number(typed) == number


def test_what_a_plain_service_does(told: SyncState) -> None:
    """The abilities that the screens ask are those of the four calls."""
    does = client(told()).abilities
    assert (does.creates, does.changes, does.removes) == (PLAIN.creates, PLAIN.changes, PLAIN.removes)
    assert (does.lists, does.repeats, does.refuses) == (False, False, "")
