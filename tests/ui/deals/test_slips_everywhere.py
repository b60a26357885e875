"""A slip by ten is questioned wherever a price is written: one table for screens, files, agents and API."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from dealing import SOLD, Visit, clean, clients
from streamlit.testing.v1 import AppTest

from lib import connect
from lib.agents import proposals as agent_proposals
from lib.agents.toolbox import Toolbox
from lib.deals.client import Deals
from lib.deals.models import DemandDeal
from lib.deals.price_slips import PriceScale
from lib.deals.proposals.writers import ClientWriter
from lib.insight.price_scales import WinScales
from lib.python_client import Desk
from lib.settings import Settings
from lib.ui.deals.changes import confirmations
from lib.ui.deals.changes.edit_dialog import edit_plan
from lib.ui.deals.changes.shared_change import SharedChange
from lib.ui.deals.csv import csv_changes, csv_deals, csv_dialog, csv_text
from lib.ui.deals.csv.csv_job import CsvReading
from lib.ui.deals.list.deal_rows import DealRow

WON = WinScales(
    {("", "banner"): PriceScale(Decimal("1.99"), Decimal("2.13"), "the lower quartile", "the upper quartile")}
)

REPORT = SimpleNamespace(slicer=SimpleNamespace(timezone=0))


@dataclass(frozen=True)
class Place:
    """Where a price is written: the screens, the data directory, and its deals in the manager's name."""

    visit: Visit
    home: Path
    deals: Deals

    @property
    def desk(self) -> connect.Clients:
        """The manager's clients."""
        return clients(Settings(home=self.home, demo=True))

    def api(self, method: str, path: str, body: object) -> Any:
        """The answer of the deals API over HTTP."""
        installation = connect.installation(Settings(home=self.home, demo=True))
        token = installation.desk_tokens.token(installation.people.require("manager"), "deals")
        headers = {"Authorization": f"Bearer {token}"}
        response = installation.http.request(method, f"/api/{path}", json=body, headers=headers)
        assert response.is_success, response.text
        return response


@pytest.fixture
def place(visit: Visit, own_deals_home: Path, deals: Deals, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A desk on whose report every seat won from 1.99 to 2.13 in banner."""
    monkeypatch.setattr(confirmations, "_ask_for_scales", lambda context: WON)
    monkeypatch.setattr(agent_proposals, "ask_win_scales", lambda report, seats: WON)
    monkeypatch.setattr(agent_proposals, "report_of_deals", lambda desk: REPORT)
    monkeypatch.setattr(agent_proposals, "_expected", lambda *arguments: None)
    return Place(visit, own_deals_home, deals)


def question(desk: AppTest) -> str:
    """What is to be confirmed on a screen, as it reads."""
    labels = [box.label for box in desk.checkbox if "meant_" in (box.key or "")]
    return " ".join(labels + [warning.value for warning in desk.warning]).replace("\\", "")


def by_form(place: Place, before: str, price: str) -> str:
    """A price in New package."""
    desk = place.visit("new_package", slicer=SOLD)
    desk.multiselect(key="np_seats").set_value([1]).run()
    return question(clean(desk.text_input(key="np_price_1").set_value(price).run()))


def by_drawer(place: Place, before: str, price: str) -> str:
    """Another price in the drawer of a deal."""
    place.deals.change(DemandDeal, 1, {"price": Decimal(before)})
    desk = place.visit("deals", open="demand_deals-1")
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    return question(clean(desk.text_input(key="change-demand_deals-1-price").set_value(price).run()))


def by_several(place: Place, before: str, price: str) -> str:
    """A price for several: the preview marks the row too."""
    place.deals.change(DemandDeal, 1, {"price": Decimal(before)})
    row = DealRow("demand_deals", 1, "Deal 1")
    plan = edit_plan(place.desk.bulk_actions, "demand_deals", [row])
    plan.source.ask_for(SharedChange(deal={"price": Decimal(price)}), [row])
    plan.begin()
    plan.step(place.deals)
    desk = place.visit("deals", deals_kind="Deals")
    desk.session_state["deals_several"] = plan
    return _preview(clean(desk.run()), "several_save")


def by_csv_change(place: Place, before: str, price: str) -> str:
    """A line of a file that changes a deal."""
    place.deals.change(DemandDeal, 1, {"price": Decimal(before)})
    deal_id = place.deals.get(DemandDeal, 1).deal_id
    table = csv_text.read(f"Deal id,Price\n{deal_id},{price}", csv_changes.CHANGES)
    plan = csv_changes.csv_plan(place.desk.bulk_actions, table.rows)
    plan.step(place.deals)
    desk = place.visit("deals", deals_kind="Deals")
    desk.session_state[csv_changes.OPEN] = csv_changes.CsvChanges("prices.csv", plan)
    return _preview(clean(desk.run()), f"{csv_changes.OPEN}_save")


def by_csv(place: Place, before: str, price: str) -> str:
    """A line of a file that creates a deal."""
    desk = place.visit("deals", deals_kind="Deals")
    clean(desk.button(key="deals_from_csv_open").click().run())
    table = csv_text.read(f"Package,Seat,Price\n2,Beta Media,{price}", csv_deals.SHAPE)
    seats = {seat.id or 0: seat for seat in place.deals.everything("seats")}
    upload = desk.session_state[csv_dialog.OPEN.format("deals")]
    upload.reading = CsvReading(csv_deals.plan(place.deals, table.rows, seats, {}), 1)
    desk = clean(desk.run())
    assert desk.button(key="deals_csv_create").disabled == bool(question(desk))
    assert bool(desk.dataframe[-1].value["Note"][0]) == bool(question(desk)), "the row is marked"
    return question(desk)


def by_proposal(place: Place, before: str, price: str) -> str:
    """A proposed price, which is approved once it is confirmed."""
    place.deals.change(DemandDeal, 1, {"price": Decimal(before)})
    body = {"entity": "demand_deals", "entity_id": 1, "fields": {"price": Decimal(price)}, "reason": "Why"}
    proposal = place.desk.proposals.propose(body, ClientWriter(place.deals))
    desk = place.visit("deals", proposal=str(proposal.id))
    assert desk.button(key="proposal_approve").disabled == bool(question(desk))
    return question(desk)


def by_agent(place: Place, before: str, price: str) -> str:
    """What an agent is answered that proposes a price, or a package with one."""
    place.deals.change(DemandDeal, 1, {"price": Decimal(before)})
    settings = Settings(home=place.home, demo=True)
    toolbox = Toolbox("manager", Desk.local("manager", settings=settings), lambda _: None)
    change = {"kind": "deals", "id": 1, "fields": {"price": float(price)}, "reason": "Why"}
    return " ".join(json.loads(toolbox.call("propose_change", change).text)["warnings"])


def by_new_package_of_agent(place: Place, before: str, price: str) -> str:
    """What an agent is answered that proposes a package with a price."""
    settings = Settings(home=place.home, demo=True)
    toolbox = Toolbox("manager", Desk.local("manager", settings=settings), lambda _: None)
    package = {
        "name": "Dear", "reason": "Why", "start": "2027-03-01", "media_type": "banner",
        "seats": [{"seat": 1, "price": price}],
    }  # fmt: skip
    return " ".join(json.loads(toolbox.call("propose_package", package).text)["warnings"])


def by_api(place: Place, before: str, price: str) -> str:
    """The warnings of a change by the API, alone and in a list."""
    sentences = []
    for path, body in (("1/", {"price": float(price)}), ("", [{"id": 1, "price": float(price)}])):
        place.deals.change(DemandDeal, 1, {"price": Decimal(before)})
        response = place.api("PUT", f"demand_deals/{path}", body)
        sentences.append(
            json.loads(response.headers.get("Tranche-Warnings", "[]"))
            if path
            else response.json()["results"][0].get("warnings", [])
        )
    assert sentences[0] == sentences[1]
    return " ".join(sentences[0])


def _preview(desk: AppTest, key: str) -> str:
    """The question of a preview, whose row is marked and whose button is closed as long as there is one."""
    assert desk.button(key=key).disabled == bool(question(desk))
    [table] = [one.value for one in desk.table]
    assert ("Note" in table.columns) == bool(question(desk))
    return question(desk)


NEW: tuple[Callable[[Place, str, str], str], ...] = (by_form, by_csv, by_new_package_of_agent)
CHANGES = (by_drawer, by_several, by_csv_change, by_proposal, by_agent, by_api)


@pytest.mark.parametrize("way", NEW)
@pytest.mark.parametrize(
    ("price", "figures"),
    [("15", ("15.00", "2.13")), ("19", ("19.00", "2.13")), ("30", ("30.00", "2.13")),
     ("24", ("24.00", "2.13")), ("0.19", ("0.19", "1.99")), ("0.015", ("0.015", "1.99")),
     ("0.02", ("0.02", "1.99")), ("6.39", ()), ("0.67", ())],
)  # fmt: skip
def test_new_prices_beside_wins(
    way: Callable[[Place, str, str], str], price: str, figures: tuple[str, ...], place: Place
) -> None:
    """Beside wins of 1.99 to 2.13 a price beyond a factor of three is asked, and both figures are named."""
    sentence = way(place, "", price)
    assert bool(sentence) == bool(figures)
    assert all(figure in sentence for figure in figures)


@pytest.mark.parametrize("way", CHANGES)
@pytest.mark.parametrize(
    ("before", "price", "figures"),
    [("1.61", "16.1", ("16.10", "10 times the price before (1.61)")),
     ("2.16", "19", ("19.00", "8.8 times the price before (2.16)")),
     ("2", "0.2", ("0.20", "10 times below the price before (2.00)")), ("2", "6", ())],
)  # fmt: skip
def test_changed_prices(
    way: Callable[[Place, str, str], str], before: str, price: str, figures: tuple[str, ...], place: Place
) -> None:
    """A change beyond a factor of three of the price before is asked, and both figures are named."""
    sentence = way(place, before, price)
    assert bool(sentence) == bool(figures)
    assert all(figure in sentence for figure in figures)


def test_a_new_price_beside_those_of_its_package(place: Place) -> None:
    """The API, which has no report, compares with the list prices of the package; a batch does so too."""
    deal = {"name": "Dear", "seat": {"id": 1}, "price": 32.6, "supply_deals": [{"id": 1}]}
    expected = ["A price of 32.60, 10.03 times the highest other price in the package (3.25)."]
    assert place.api("POST", "demand_deals/", deal).json()["warnings"] == expected
    [created] = place.api("POST", "demand_deals/batch/", [deal | {"price": 98}]).json()["results"]
    assert "3.01 times the highest other price in the package (32.60)" in created["warnings"][0]
    options = [{"seat": {"id": seat}, "price": price} for seat, price in ((1, 2), (2, 2.2), (3, 20))]
    package = {
        "name": "New", "media_type": "banner", "start_date": "2027-03-01 00:00:00+0000",
        "create_demand_deals": {"demand_deals_options": options},
    }  # fmt: skip
    [warning] = place.api("POST", "supply_deals/", package).json()["warnings"]
    assert warning == "A price of 20.00, 9.09 times the highest other price in the package (2.20)."
    usual = place.api("POST", "demand_deals/", deal | {"price": 3}).json()
    assert "warnings" not in usual
