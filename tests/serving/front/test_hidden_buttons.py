"""Buttons of open dialogs, pressed over a raw socket by people for whom they were never drawn."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import copied, desk_over
from dealing import stock
from websockets.sync.client import ClientConnection

from front.desk_session import answer, opened, rerun, sign_in, texts, widgets
from lib.deals.models import DemandDeal, SupplyPackage
from lib.people import NO_DEALS, People
from lib.serving import connect
from lib.settings import Settings
from lib.ui.deals.catalog import LOOKING

DEAL = "open=demand_deals-1&deals_kind=deals"
CLICK = {"trigger_value": True}
NEW = {"person_username": "eve", "person_name": "Eve", "person_password": "a long enough password"}
CHOSEN: dict[str, list[str]] = {"person_role_new": ["viewer"], "person_grants_new": []}
Home = tuple[Settings, str]


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A desk in a process of its own, with packages and deals: its settings and its address."""
    settings = stock(copied(home, tmp_path_factory.mktemp("hidden") / "home"))
    with desk_over(settings.home) as (address, _):
        yield settings, address


@pytest.fixture
def people(desk: Home) -> Iterator[People]:
    """The people of that desk, who have their roles again after the test."""
    store = connect.installation(desk[0]).people
    before = store.get("manager"), store.get("admin")
    yield store
    for person in filter(None, before):
        store.change(person.username, role=person.role, grants=person.grants, deals=person.deals)


def page(socket: ClientConnection, name: str, query: str = "", **values: Any) -> dict[str, str]:
    """The buttons and text inputs of a screen, by their keys."""
    socket.send(rerun(query, page_name=name, **values))
    messages = answer(socket)
    assert "exception {" not in texts(messages)
    return widgets(messages)


def press(socket: ClientConnection, name: str, query: str, identifiers: list[str]) -> str:
    """Click all of these on a screen at once, whether they were drawn or not; returns what is drawn then."""
    clicks = dict.fromkeys(identifiers, CLICK)
    socket.send(rerun(query, clicks, page_name=name))
    return texts(answer(socket))


def deal(settings: Settings) -> DemandDeal:
    """The deal whose drawer is open."""
    context = connect.installation(settings)
    viewer = context.people.get("viewer")
    assert viewer is not None
    return connect.connect(viewer, settings).deals.get(DemandDeal, 1)


def test_a_viewer_presses_a_managers_buttons(desk: Home) -> None:
    """Identifiers are the same for everybody; a viewer who sends a manager's changes nothing."""
    settings, address = desk
    with opened(address) as manager, opened(address) as viewer:
        sign_in(manager)
        drawn = page(manager, "deals", DEAL)
        assert {"action_active", "action_delete_sure", "deals_pause"} <= drawn.keys()
        sign_in(viewer, "viewer")
        assert not {"action_active", "action_delete_sure"} & page(viewer, "deals", DEAL).keys()
        before = deal(settings)
        press(viewer, "deals", DEAL, [*drawn.values()])
    assert deal(settings) == before


def stored(settings: Settings) -> list[Any]:
    """All deals, packages and people."""
    context = connect.installation(settings)
    admin = context.people.get("admin")
    assert admin is not None
    deals = connect.connect(admin, settings).deals
    return [*deals.everything(DemandDeal), *deals.everything(SupplyPackage), *context.people.everyone()]


@pytest.mark.parametrize("name", ["deals", "new_package", "lists", "access", "services"])
def test_a_viewer_presses_the_buttons_of_every_screen(desk: Home, name: str) -> None:
    """A viewer who sends clicks on all that an administrator's screen has drawn changes nothing."""
    settings, address = desk
    before = stored(settings)
    with opened(address) as admin, opened(address) as viewer:
        sign_in(admin, "admin")
        drawn = page(admin, name)
        assert drawn
        sign_in(viewer, "viewer")
        press(viewer, name, "", [*drawn.values()])
        for identifier in drawn.values():
            press(viewer, name, "", [identifier])
    assert stored(settings) == before


def test_a_manager_who_became_a_viewer(desk: Home, people: People) -> None:
    """Buttons of a drawer that was drawn before the role was lowered are refused by the service, in words."""
    settings, address = desk
    with opened(address) as socket:
        sign_in(socket)
        drawn, before = page(socket, "deals", DEAL), deal(settings)
        people.change("manager", role="viewer")
        for name in ("action_active", "action_delete_sure"):
            assert LOOKING in press(socket, "deals", DEAL, [drawn[name]])
    assert deal(settings) == before


def test_a_manager_who_sees_no_deals_any_more(desk: Home, people: People) -> None:
    """Who has lost the grant of deals gets neither the change nor the deal's name in the answer."""
    settings, address = desk
    with opened(address) as socket:
        sign_in(socket)
        drawn, before = page(socket, "deals", DEAL), deal(settings)
        people.change("manager", deals=NO_DEALS)
        screen = press(socket, "deals", DEAL, [drawn["action_active"]])
        assert before.name and before.name not in screen
    assert deal(settings) == before


def dialog(socket: ClientConnection) -> tuple[dict[str, str], dict[str, Any]]:
    """The dialog of a new person, with everything typed: its identifiers, and the values."""
    sections = page(socket, "access")["access_shown"]
    shown = {sections: {"string_array_value": {"data": ["People"]}}}
    add = page(socket, "access", widgets=shown)["people_add"]
    drawn = page(socket, "access", widgets=shown | {add: CLICK})
    typed = {drawn[key]: {"string_value": value} for key, value in NEW.items()}
    chosen = {drawn[key]: {"string_array_value": {"data": value}} for key, value in CHOSEN.items()}
    return drawn, shown | typed | chosen


@pytest.mark.parametrize("lost", [True, False], ids=["viewer now", "viewer"])
def test_people_are_added_by_administrators_alone(desk: Home, people: People, lost: bool) -> None:
    """The dialog's last button adds nobody for a viewer, also one who opened it as an administrator."""
    _settings, address = desk
    with opened(address) as admin, opened(address) as viewer:
        sign_in(admin, "admin")
        drawn, typed = dialog(admin)
        sign_in(viewer, "viewer")
        if lost:
            people.change("admin", role="viewer")
        socket = admin if lost else viewer
        page(socket, "access", widgets=typed)
        page(socket, "access", widgets=typed | {drawn["person_add_sure"]: CLICK})
    assert people.get("eve") is None
    assert len(people.everyone()) == 3


def test_the_dialog_adds_for_an_administrator(desk: Home, people: People) -> None:
    """The same messages add somebody where an administrator sends them."""
    with opened(desk[1]) as admin:
        sign_in(admin, "admin")
        drawn, typed = dialog(admin)
        page(admin, "access", widgets=typed | {drawn["person_add_sure"]: CLICK})
    assert people.get("eve") is not None
    people.remove("eve")
