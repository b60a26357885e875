"""A slip by ten is questioned wherever a price is written: one table for screens, files, agents and API."""

import datetime as dt
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
from dealing import SOLD, Visit, clean, clients, deal_link, upload
from starlette.responses import PlainTextResponse
from streamlit.testing.v1 import AppTest

from lib.agents.python_client import Desk
from lib.agents.toolbox import Toolbox
from lib.deals import fields, moments
from lib.deals.client import Deals
from lib.deals.comparisons import PriceScale, Promise, Supply, WinScales
from lib.deals.models import FEE_TYPES, DemandDeal, SupplyPackage
from lib.deals.negotiation import OfferTerms, Round
from lib.deals.proposals.writers import ClientWriter
from lib.deals.validation import FEE, FEE_TYPE
from lib.serving import connect
from lib.serving.connect.availability import ReportAvailability
from lib.serving.front.shared_route import PREFIX, SharedRoute
from lib.settings import Settings
from lib.share import LinkPages
from lib.ui.deals.changes.edit_dialog import edit_plan
from lib.ui.deals.changes.shared_change import SharedChange
from lib.ui.deals.csv import csv_changes, csv_creations, csv_deals
from lib.ui.deals.csv.csv_creations import DealCells
from lib.ui.deals.csv.csv_deals import CsvCheck
from lib.ui.deals.csv.csv_dialog import CsvUpload
from lib.ui.deals.deal_rows import DealRow
from lib.wire import csv_text
from lib.wire.transport import InProcess

DEAL = 4
TODAY = dt.datetime.now(dt.UTC).replace(hour=0, minute=0, second=0, microsecond=0)
END = TODAY + dt.timedelta(days=10)
WON = WinScales(
    {("", "banner"): PriceScale(Decimal("1.99"), Decimal("2.13"), "the lower quartile", "the upper quartile")}
)


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
    monkeypatch.setattr(ReportAvailability, "win_scales", lambda self, seats: WON)
    monkeypatch.setenv("TRANCHE_APPROVE_OWN_PROPOSALS", "true")
    return Place(visit, own_deals_home, deals)


def question(desk: AppTest) -> str:
    """What is to be confirmed on a screen, as it reads."""
    labels = [box.label for box in desk.checkbox if "meant_" in (box.key or "")]
    texts = labels + [warning.value for warning in desk.warning] if labels else []
    return " ".join(texts).replace("\\", "")


def hint(desk: AppTest) -> str:
    """What is said on a screen and asks nothing."""
    return " ".join(caption.value for caption in desk.caption if ":material/info:" in caption.value)


def fill(desk: AppTest, terms: Mapping[str, str]) -> None:
    """Write terms, by the keys of their fields: first those that are chosen, on which others depend."""
    chosen = {key: text for key, text in terms.items() if key.endswith((FEE_TYPE, "currency", "deal_type"))}
    for key, text in chosen.items():
        desk.selectbox(key=key).set_value(int(text) if text.isdigit() else text)
    if chosen:
        clean(desk.run())
    for key in terms.keys() - chosen.keys():
        desk.text_input(key=key).set_value(terms[key])
    clean(desk.run())


def entries(prefix: str, terms: Mapping[str, str], **keys: str) -> dict[str, str]:
    """The terms by the keys of their fields on a screen; guaranteed impressions come with their type."""
    guarantee = {"deal_type": "guaranteed"} if "units" in terms else {}
    return {prefix + keys.get(name, name): text for name, text in {**guarantee, **terms}.items()}


def by_form(place: Place, before: str, **terms: str) -> str:
    """Terms in New package."""
    place.desk.drafts.discard()
    desk = place.visit("new_package", slicer=SOLD)
    desk.text_input(key="np_end_date").set_value(f"{END.date() - dt.timedelta(days=1)}")
    clean(desk.multiselect(key="np_seats").set_value([1]).run())
    fill(desk, entries("np_", terms, price="price_1"))
    return question(desk)


def by_drawer(place: Place, before: str, **terms: str) -> str:
    """Other terms in the drawer of a deal."""
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
    place.desk.drafts.discard(("demand_deals", DEAL))
    desk = place.visit("deals", open=f"demand_deals-{DEAL}", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    fill(desk, entries(f"change-demand_deals-{DEAL}-", terms))
    return question(desk)


def by_addition(place: Place, before: str, **terms: str) -> str:
    """A deal that is added to a package."""
    desk = place.visit("deals", open="supply_deals-2", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Add deals").run())
    clean(desk.multiselect(key="add-2-seats").set_value([2]).run())
    fill(desk, entries("add-2-", terms, price="price_2"))
    return question(desk)


def by_several(place: Place, before: str, **terms: str) -> str:
    """Terms for several: the preview marks the row too."""
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
    row = DealRow("demand_deals", DEAL, "Deal")
    plan = edit_plan(place.desk.bulk_actions, "demand_deals", [row])
    plan.source.ask_for(SharedChange(deal=values(terms)), [row])
    plan.begin()
    plan.step(place.deals)
    desk = place.visit("deals", deals_kind="Deals", slicer=SOLD)
    desk.session_state["deals_several"] = plan
    return _preview(clean(desk.run()), "several_save")


def by_csv_change(place: Place, before: str, **terms: str) -> str:
    """A line of a file that changes a deal."""
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
    titles, cells = columns(terms)
    deal_id = place.deals.get(DemandDeal, DEAL).deal_id
    table = csv_text.read(f"Deal id,{titles}\n{deal_id},{cells}", csv_changes.CHANGES)
    plan = csv_changes.csv_plan(place.deals, place.desk.bulk_actions, table.rows)
    plan.step(place.deals)
    desk = place.visit("deals", deals_kind="Deals", slicer=SOLD)
    desk.session_state[csv_changes.OPEN] = CsvUpload("prices.csv", plan=plan)
    return _preview(clean(desk.run()), f"{csv_changes.OPEN}_save")


def by_csv(place: Place, before: str, **terms: str) -> str:
    """A line of a file that creates a deal."""
    desk = place.visit("deals", deals_kind="Deals", slicer=SOLD)
    titles, cells = columns(terms)
    table = csv_text.read(f"Package,Seat,{titles}\n2,Beta Media,{cells}", csv_deals.SHAPE)
    seats = {seat.id or 0: seat for seat in place.deals.everything("seats")}
    return _upload(
        place, desk, "deals", csv_deals.check(place.deals, table.rows, seats, place.deals.abilities.fees)
    )


def by_csv_of_packages(place: Place, before: str, **terms: str) -> str:
    """A line of a file that creates a package with a deal."""
    desk = place.visit("deals", deals_kind="Packages", slicer=SOLD)
    titles, cells = columns(terms)
    last = END.date() - dt.timedelta(days=1)
    text = f"Name,Media type,Start,End,Seat,{titles}\nNew,banner,2026-01-01,{last},Beta Media,{cells}"
    seats = {seat.id or 0: seat for seat in place.deals.everything("seats")}
    cells_of_deals = DealCells(seats, place.deals.abilities.fees)
    rows = csv_text.read(text, csv_creations.SHAPE).rows
    lists = {"domain_list": {}, "app_list": {}}
    return _upload(
        place, desk, "packages", csv_creations.check_packages(place.deals, rows, lists, cells_of_deals)
    )


def by_proposal(place: Place, before: str, **terms: str) -> str:
    """Proposed terms, which are approved once they are confirmed."""
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
    body = {"entity": "demand_deals", "entity_id": DEAL, "fields": values(terms), "reason": "Why"}
    return _proposal(place, body)


def by_proposal_of_package(place: Place, before: str, **terms: str) -> str:
    """A proposed package with a deal on these terms."""
    option = {"seat": {"id": 1}, **values(terms)}
    fields = {
        "name": "New", "media_type": "banner", "start_date": "2026-01-01 00:00:00+0000",
        "end_date": moments.write(END), "create_demand_deals": {"demand_deals_options": [option]},
    }  # fmt: skip
    return _proposal(place, {"entity": "supply_deals", "fields": fields, "reason": "Why"})


def by_agent(place: Place, before: str, **terms: str) -> str:
    """What an agent is answered that proposes other terms."""
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
    settings = Settings(home=place.home, demo=True)
    toolbox = Toolbox("manager", Desk.local("manager", settings=settings), lambda _: None)
    change = {"kind": "deals", "id": DEAL, "fields": plain_values(terms), "reason": "Why"}
    return " ".join(json.loads(toolbox.call("propose_change", change).text)["warnings"])


def by_new_package_of_agent(place: Place, before: str, *, price: str) -> str:
    """What an agent is answered that proposes a package with a price."""
    settings = Settings(home=place.home, demo=True)
    toolbox = Toolbox("manager", Desk.local("manager", settings=settings), lambda _: None)
    package = {
        "name": "Dear", "reason": "Why", "start": "2027-03-01", "media_type": "banner",
        "seats": [{"seat": 1, "price": price}],
    }  # fmt: skip
    return " ".join(json.loads(toolbox.call("propose_package", package).text)["warnings"])


def by_api(place: Place, before: str, **terms: str) -> str:
    """The warnings of a change by the API, alone and in a list."""
    sentences = []
    old = place.deals.get(DemandDeal, DEAL)
    for path, body in ((f"{DEAL}/", plain_values(terms)), ("", [{"id": DEAL, **plain_values(terms)}])):
        place.deals.change(DemandDeal, DEAL, {name: getattr(old, name) for name in values(terms)})
        place.deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
        response = place.api("PUT", f"demand_deals/{path}", body)
        sentences.append(
            json.loads(response.headers.get("Tranche-Warnings", "[]"))
            if path
            else response.json()["results"][0].get("warnings", [])
        )
    assert sentences[0] == sentences[1]
    return " ".join(sentences[0])


def by_clone(place: Place, before: str, *, price: str) -> str:
    """Another price in the clone of a deal for another seat."""
    desk = place.visit("deals", open=f"demand_deals-{DEAL}", slicer=SOLD)
    desk.session_state["action_clone"] = True
    desk.run().selectbox(key=f"clone-{DEAL}-seat").set_value(2)
    fill(desk, {f"clone-{DEAL}-price": price})
    return question(desk)


def negotiate(place: Place, before: str) -> None:
    """Let the deal have this price, and its buyer propose a tenth more."""
    deals, negotiations = place.deals, place.desk.negotiations
    deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
    deal = deals.get(DemandDeal, DEAL)
    packages = [deals.get(SupplyPackage, package.id or 0) for package in deal.supply_deals]
    terms = OfferTerms.of(deal, packages, place.desk.usual_terms)
    answer = Round("buyer", "proposes", OfferTerms(Decimal(before or 2) * Decimal("1.1")), "Bea Buyer")
    negotiations.add(deal, terms, answer, negotiations.of(deal, terms).mark)


def by_answer_back(place: Place, before: str, **terms: Any) -> str:
    """Other terms in Answer back; days are chosen in a calendar."""
    negotiate(place, before)
    desk = clean(place.visit("deals", open=f"demand_deals-{DEAL}", slicer=SOLD))
    for name, content in terms.items():
        if isinstance(content, dt.date):
            day = "first" if name == "first_day" else "last"
            clean(desk.date_input(key=f"answer_{DEAL}_{day}").set_value(content).run())
        else:
            fill(desk, {f"answer_{DEAL}_{name}": content})
    return question(desk)


def by_buyer(place: Place, before: str, **terms: Any) -> str:
    """What a buyer is asked who sends the form of the page of their link; without a question it is sent."""
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(before or 2)})
    settings = Settings(home=place.home, demo=True)
    connect.installation(settings).access.change("manager", "test", shares=True)
    route = SharedRoute(PlainTextResponse("The desk"), LinkPages(settings), 10**4, 10**4)
    browser = httpx.Client(transport=InProcess(route), base_url="http://desk", timeout=60)
    address = PREFIX + deal_link(clients(settings), DEAL)
    hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', browser.get(address).text)
    form = {name: unescape(value) for name, value in hidden}
    form |= {"do": "propose", "name": "Bea Buyer", **{name: str(value) for name, value in terms.items()}}
    page = browser.post(address, data=form)
    sentences = [unescape(text) for text in re.findall(r"<b>Please check</b>: ([^<]*)", page.text)]
    assert page.status_code == (422 if sentences else 303), page.text
    return " ".join(sentences)


def values(terms: Mapping[str, str]) -> dict[str, Any]:
    """The terms as values, an empty one as None; guaranteed impressions come with their type."""
    guarantee = {"deal_type": "guaranteed"} if "units" in terms else {}
    kinds = {FEE_TYPE: int, "currency": str}
    read = {name: kinds.get(name, Decimal)(text) if text else None for name, text in terms.items()}
    return read | guarantee


def plain_values(terms: Mapping[str, str]) -> dict[str, Any]:
    """The same as JSON has them."""
    return {
        name: float(value) if isinstance(value, Decimal) else value for name, value in values(terms).items()
    }


def columns(terms: Mapping[str, str]) -> tuple[str, str]:
    """The titles and the cells of a file for these terms."""
    cells = {
        fields.BY_NAME[name].column: FEE_TYPES[int(text)] if name == FEE_TYPE else text
        for name, text in terms.items()
    }
    cells |= {"Deal type": "guaranteed"} if "units" in terms else {}
    return ",".join(cells), ",".join(cells.values())


def has_a_thousand_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the report have 1,000 impressions on each day that is left, whatever is targeted."""

    def supply(self: object, promise: Promise, now: dt.datetime) -> Supply:
        return Supply(1_000 * promise.days(now))

    monkeypatch.setattr(ReportAvailability, "supply", supply)


def _upload(place: Place, desk: AppTest, kind: str, parts: Iterator[CsvCheck]) -> str:
    """What is asked of the last row of a file; its row is marked, and its button closed until then."""
    desk = upload(desk, kind, parts, place.desk.bulk_actions)
    assert desk.button(key=f"{kind}_from_csv_save").disabled == bool(question(desk))
    assert bool([*desk.dataframe[-1].value["Note"]][-1]) == bool(question(desk)), "the row is marked"
    return question(desk)


def _proposal(place: Place, body: dict[str, Any]) -> str:
    proposal = place.desk.proposals.propose(body, ClientWriter(place.deals))
    desk = place.visit("deals", proposal=str(proposal.id), slicer=SOLD)
    assert desk.button(key="proposal_approve").disabled == bool(question(desk))
    return question(desk)


def _preview(desk: AppTest, key: str) -> str:
    """The question of a preview, whose row is marked and whose button is closed as long as there is one."""
    assert desk.button(key=key).disabled == bool(question(desk))
    [table] = [table.value for table in desk.table]
    assert ("Note" in table.columns) == bool(question(desk))
    return question(desk)


NEW: tuple[Callable[..., str], ...] = (
    by_form,
    by_csv,
    by_csv_of_packages,
    by_addition,
    by_new_package_of_agent,
    by_clone,
)
OF_HOUSE = (by_drawer, by_several, by_csv_change, by_proposal, by_agent, by_api)
CHANGES = (*OF_HOUSE, by_answer_back, by_buyer)
TERMS = (
    by_form, by_addition, by_csv, by_csv_of_packages, by_proposal_of_package, by_drawer, by_several,
    by_csv_change, by_proposal, by_agent, by_api,
)  # fmt: skip


# Each rule once, and once what is usual: tests/deals/test_warnings.py has its bounds.
NEW_PRICES = {"6.4": ("6.40", "2.13"), "0.015": ("0.015", "1.99"), "6.39": ()}
CHANGED_PRICES = (
    ("2.16", "19", ("19.00", "8.8 times ", "(2.16)")),
    ("2", "0.2", ("0.20", "10 times below ", "(2.00)")),
    ("2", "6", ()),
)
TERMS_AT_ODDS = (
    ({"price": "2", "units": "1000000"}, ("1,000,000 guaranteed impressions", "may have about")),
    ({"price": "2", "units": "4000", "budget": "7"}, ("4,000", "8.00", "budget of 7.00")),
    ({"price": "2", "units": "4000", "budget": "8"}, ()),
)


def check(sentence: str, figures: tuple[str, ...]) -> None:
    """There is a question where figures are expected, and it names them."""
    assert bool(sentence) == bool(figures), sentence
    assert all(figure in sentence for figure in figures), sentence


@pytest.mark.parametrize("way", NEW)
def test_new_prices_beside_wins(way: Callable[..., str], place: Place) -> None:
    """Beside wins of 1.99 to 2.13 a price beyond a factor of three is asked, and both figures are named."""
    for price, figures in NEW_PRICES.items():
        check(way(place, "", price=price), figures)


@pytest.mark.parametrize("way", CHANGES)
def test_changed_prices(way: Callable[..., str], place: Place) -> None:
    """A change beyond a factor of three of the price before is asked, and both figures are named."""
    for before, price, figures in CHANGED_PRICES:
        check(way(place, before, price=price), figures)


@pytest.mark.parametrize("way", TERMS)
def test_terms_at_odds(way: Callable[..., str], place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Guaranteed impressions beyond what there was in as many days as are left, or beyond the budget, are
    asked about wherever terms are written, by the API too."""
    has_a_thousand_a_day(monkeypatch)
    monkeypatch.setattr(ReportAvailability, "win_scales", lambda self, seats: WinScales({}))
    place.deals.change(SupplyPackage, 2, {"end_date": END})
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(2)})
    for terms, figures in TERMS_AT_ODDS:
        check(way(place, "2", **terms), figures)


ASKED_TERMS = {
    "usual fee": ({FEE_TYPE: "1", FEE: "10", "price": "2"}, ()),
    "fee": ({FEE_TYPE: "3", FEE: "25", "price": "2"}, ("25.00 CPM", "not less than the price (2.00)")),
    "percent": ({FEE_TYPE: "1", FEE: "95", "price": "2"}, ("95 % of spend", "above 30 %")),
    "flat fee": (
        {FEE_TYPE: "2", FEE: "50", "price": "2", "budget": "100"},
        ("50.00", "of the budget (100.00)"),
    ),
    "budget": ({"price": "2", "budget": "0.01"}, ("0.01", "less than 1,000 impressions cost (2.00)")),
    "budget of millions": ({"price": "2", "budget": "5000000"}, ("first budget of 5,000,000.00",)),
}


@pytest.mark.parametrize("way", TERMS)
def test_fees_and_budgets(way: Callable[..., str], place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fee that takes the price, most of the spend or of the budget, and a budget that buys nothing or comes
    to millions, are asked about wherever terms are written."""
    monkeypatch.setattr(ReportAvailability, "win_scales", lambda self, seats: WinScales({}))
    for terms, figures in ASKED_TERMS.values():
        no_terms = dict.fromkeys((FEE, FEE_TYPE, "budget"))
        place.deals.change(DemandDeal, DEAL, {"price": Decimal(2), **no_terms})
        check(way(place, "2", **terms), figures)


def test_a_fee_that_a_clone_takes_over_and_one_of_a_single_seat(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fee that nobody types in this form is asked about too, and so is one that only one seat has."""
    monkeypatch.setattr(ReportAvailability, "win_scales", lambda self, seats: WinScales({}))
    fee = {FEE_TYPE: 1, FEE: Decimal(97)}
    place.deals.change(DemandDeal, DEAL, {"price": Decimal(2), **fee})
    check(by_clone(place, "2", price="2"), ("97 % of spend", "above 30 %"))
    options = [{"seat": {"id": 1}, "price": Decimal(2)}, {"seat": {"id": 2}, "price": Decimal(2), **fee}]
    fields = {
        "name": "New", "media_type": "banner", "start_date": "2026-01-01 00:00:00+0000",
        "end_date": moments.write(END), "create_demand_deals": {"demand_deals_options": options},
    }  # fmt: skip
    asked = _proposal(place, {"entity": "supply_deals", "fields": fields, "reason": "Why"})
    check(asked, ("97 % of spend",))


@pytest.mark.parametrize("way", CHANGES)
def test_units_beside_those_before(
    way: Callable[..., str], place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guarantee of 1,000,000 impressions that becomes one of 100 is asked about; one of 900,000 is not."""
    supply = Supply(10**9)
    monkeypatch.setattr(ReportAvailability, "supply", lambda self, promise, now: supply)
    for units, figures in (("100", ("100 impressions", "1,000,000")), ("900000", ())):
        place.deals.change(DemandDeal, DEAL, values({"price": "2", "units": "1000000"}))
        check(way(place, "2", units=units), figures)


@pytest.mark.parametrize("way", [way for way in OF_HOUSE if way is not by_csv_change])
def test_a_budget_that_is_removed(way: Callable[..., str], place: Place) -> None:
    """Wherever a budget can be emptied it is said that nothing limits what is spent; a file can't."""
    place.deals.change(DemandDeal, DEAL, {"budget": Decimal(1000)})
    check(way(place, "2", budget=""), ("budget of 1,000.00 is removed",))


@pytest.mark.parametrize("way", [by_answer_back, by_buyer])
def test_days_of_counter_offers(way: Callable[..., str], place: Place) -> None:
    """A first day ahead of one that has passed, one that is half a year away, and a last day that is far off
    are asked about on both sides of a negotiation; some days are not."""
    place.deals.change(SupplyPackage, 2, {"start_date": TODAY - dt.timedelta(days=30), "end_date": None})
    later, next_year = ((TODAY + dt.timedelta(days=days)).date() for days in (20, 400))
    check(way(place, "2", first_day=later), ("nothing runs until then",))
    check(way(place, "2", last_day=next_year), ())
    check(way(place, "2", last_day=(TODAY + dt.timedelta(days=3000)).date()), ("more than five years ahead",))
    place.deals.change(SupplyPackage, 2, {"start_date": TODAY + dt.timedelta(days=10)})
    check(way(place, "2", first_day=later), ())
    check(way(place, "2", first_day=next_year), ("by 390 days",))


def test_undo_shows_what_a_change_would_ask(place: Place) -> None:
    """What goes back to what it was shows the same warning in the dialog of Undo, once, and asks nothing."""
    place.deals.change(DemandDeal, DEAL, {"price": Decimal("1.61")})
    row = DealRow("demand_deals", DEAL, "Deal")
    plan = edit_plan(place.desk.bulk_actions, "demand_deals", [row])
    plan.source.ask_for(SharedChange(deal={"price": Decimal("16.1")}), [row])
    for phase in (plan.begin, plan.start):
        phase()
        while plan.is_running:
            plan.step(place.deals)
    assert place.deals.get(DemandDeal, DEAL).price == Decimal("16.1")
    desk = place.visit("deals", deals_kind="Deals", slicer=SOLD)
    clean(desk.button(key="deals_undo_open").click().run())
    clean(desk.button(key=f"undo_{plan.record.number}").click().run())
    while not [button for button in desk.button if button.key == "undo_save"]:
        clean(desk.run())
    [note] = desk.table[-1].value["Note"]
    assert "10 times below the price before (16.10)" in note
    assert not hint(desk)
    assert (question(desk), desk.button(key="undo_save").disabled) == ("", False)


def second_by_addition(place: Place) -> str:
    """A deal that is added to a package in which its seat has one."""
    desk = place.visit("deals", open="supply_deals-2", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Add deals").run())
    clean(desk.multiselect(key="add-2-seats").set_value([1]).run())
    fill(desk, {"add-2-price_1": "7"})
    return question(desk)


def second_by_clone(place: Place) -> str:
    """A clone of a deal for its own seat."""
    desk = place.visit("deals", open=f"demand_deals-{DEAL}", slicer=SOLD)
    desk.session_state["action_clone"] = True
    desk.run().selectbox(key=f"clone-{DEAL}-seat").set_value(1)
    fill(desk, {f"clone-{DEAL}-price": "7"})
    return question(desk)


def second_by_drawer(place: Place) -> str:
    """Another seat in the drawer: deals 1 and 2 are in one package."""
    desk = place.visit("deals", open="demand_deals-2", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    clean(desk.selectbox(key="change-demand_deals-2-seat").set_value(1).run())
    return question(desk)


def second_by_csv(place: Place) -> str:
    """A line of a file that creates a deal for a seat that has one."""
    desk = place.visit("deals", deals_kind="Deals", slicer=SOLD)
    table = csv_text.read("Package,Seat,Price\n2,Alpha Buying,7", csv_deals.SHAPE)
    seats = {seat.id or 0: seat for seat in place.deals.everything("seats")}
    return _upload(place, desk, "deals", csv_deals.check(place.deals, table.rows, seats, {}))


def second_by_proposal(place: Place) -> str:
    """A proposed seat."""
    body = {"entity": "demand_deals", "entity_id": 2, "fields": {"seat": {"id": 1}}, "reason": "Why"}
    return _proposal(place, body)


def second_by_agent(place: Place) -> str:
    """What an agent is answered that proposes a seat."""
    toolbox = Toolbox("manager", Desk.local("manager", settings=Settings(home=place.home, demo=True)), print)
    change = {"kind": "deals", "id": 2, "fields": {"seat": {"id": 1}}, "reason": "Why"}
    return " ".join(json.loads(toolbox.call("propose_change", change).text)["warnings"])


def second_by_api(place: Place) -> str:
    """What a change of the seat is answered."""
    response = place.api("PUT", "demand_deals/2/", {"seat": {"id": 1}})
    return " ".join(json.loads(response.headers["Tranche-Warnings"]))


@pytest.mark.parametrize("way", [second_by_drawer, second_by_proposal, second_by_agent, second_by_api])
def test_a_contact_of_the_seat_before(way: Callable[[Place], str], place: Place) -> None:
    """A deal that moves to another seat with the contact of the one before is asked about.

    New deals have no seat before, and a clone copies no contact; several and a file of changes change no
    seat, and a buyer proposes none.
    """
    place.api("PUT", "demand_deals/2/", {"contact_email": "buyer@beta.example"})
    check(way(place), ("contact of the one before", "buyer@"))


@pytest.mark.parametrize(
    "way",
    [
        second_by_addition, second_by_clone, second_by_drawer, second_by_csv, second_by_proposal,
        second_by_agent, second_by_api,
    ],
)  # fmt: skip
def test_a_second_deal_of_a_seat(way: Callable[[Place], str], place: Place) -> None:
    """A second deal of a seat in a package is asked about wherever a seat is chosen.

    New package and a file of packages have each seat once; several and a file of changes change no seat, and
    a buyer proposes none.
    """
    check(way(place), ("second deal of the same seat and package", "Alpha Buying"))


def test_a_price_without_a_scale_is_a_hint(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """A price in a currency that no other deal of the package has is said, and needs no confirmation."""
    monkeypatch.setattr(ReportAvailability, "win_scales", lambda self, seats: WinScales({}))
    expected = "with no other in JPY to compare with"
    desk = place.visit("deals", open="supply_deals-2", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Add deals").run())
    clean(desk.multiselect(key="add-2-seats").set_value([2]).run())
    fill(desk, {"add-2-currency": "JPY", "add-2-price_2": "2.05"})
    assert expected in hint(desk)
    assert not question(desk)
    desk = place.visit("deals", open=f"demand_deals-{DEAL}", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    fill(
        desk,
        {
            f"change-demand_deals-{DEAL}-{name}": text
            for name, text in (("currency", "JPY"), ("price", "2.05"))
        },
    )
    assert expected in hint(desk)
    assert not question(desk)
    assert expected in by_agent(place, "7", price="2.05", currency="JPY")
    assert expected in by_api(place, "7", price="2.05", currency="JPY")


START_LATER, END_PAST = (
    {"start_date": TODAY + dt.timedelta(days=300)},
    {"end_date": TODAY - dt.timedelta(days=9)},
)
DATES = (
    (START_LATER, "3 deals that run now stop until then"),
    (END_PAST, "3 deals that run now stop at once"),
    ({"end_date": TODAY + dt.timedelta(days=3000)}, "more than five years ahead"),
)


def dates_by_drawer(place: Place, dates: Mapping[str, dt.datetime]) -> str:
    """Other days in the drawer of a package; its last day is the one before its end."""
    place.desk.drafts.discard(("supply_deals", 1))
    desk = place.visit("deals", open="supply_deals-1", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    for name, at in dates.items():
        day = at.date() - dt.timedelta(days=name == "end_date")
        clean(desk.text_input(key=f"change-supply_deals-1-{name}").set_value(f"{day}").run())
    return question(desk)


def dates_by_several(place: Place, dates: Mapping[str, dt.datetime]) -> str:
    """Other days of several packages."""
    row = DealRow("supply_deals", 1, "Package 1")
    plan = edit_plan(place.desk.bulk_actions, "supply_deals", [row])
    plan.source.ask_for(
        SharedChange(dates={name: at.replace(tzinfo=None) for name, at in dates.items()}), [row]
    )
    plan.begin()
    plan.step(place.deals)
    desk = place.visit("deals", deals_kind="Packages", slicer=SOLD)
    desk.session_state["deals_several"] = plan
    return question(clean(desk.run()))


def dates_by_proposal(place: Place, dates: Mapping[str, dt.datetime]) -> str:
    """Other days that are proposed."""
    fields = {name: moments.write(at) for name, at in dates.items()}
    return _proposal(place, {"entity": "supply_deals", "entity_id": 1, "fields": fields, "reason": "Why"})


def dates_by_agent(place: Place, dates: Mapping[str, dt.datetime]) -> str:
    """What an agent is answered that proposes other days."""
    toolbox = Toolbox("manager", Desk.local("manager", settings=Settings(home=place.home, demo=True)), print)
    fields = {name: moments.write(at) for name, at in dates.items()}
    change = {"kind": "packages", "id": 1, "fields": fields, "reason": "Why"}
    return " ".join(json.loads(toolbox.call("propose_change", change).text)["warnings"])


@pytest.mark.parametrize("way", [dates_by_drawer, dates_by_several, dates_by_proposal, dates_by_agent])
def test_days_that_stop_what_runs(
    way: Callable[[Place, Mapping[str, dt.datetime]], str], place: Place
) -> None:
    """A later start, an end that has passed and one that is far ahead are asked about wherever days of a
    package are changed, and it is said what stops."""
    for dates, figures in DATES:
        check(way(place, dates), (figures,))


def test_what_several_deals_promise_is_taken_together(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Deals of one package that each promise what there was are asked about in all; so is an earlier end."""
    has_a_thousand_a_day(monkeypatch)
    place.deals.change(SupplyPackage, 1, {"end_date": END})
    rows = [DealRow("demand_deals", number, f"Deal {number}") for number in (1, 2, 3)]
    terms = values({"units": "6000"})
    plan = edit_plan(place.desk.bulk_actions, "demand_deals", rows)
    plan.source.ask_for(SharedChange(deal=terms), rows)
    plan.begin()
    plan.step(place.deals)
    desk = place.visit("deals", deals_kind="Deals", slicer=SOLD)
    desk.session_state["deals_several"] = plan
    assert "18,000 guaranteed impressions in" in _preview(clean(desk.run()), "several_save")
    place.deals.change(DemandDeal, 1, terms)
    package = DealRow("supply_deals", 1, "Package 1")
    plan = edit_plan(place.desk.bulk_actions, "supply_deals", [package])
    plan.source.ask_for(
        SharedChange(dates={"end_date": END.replace(tzinfo=None) - dt.timedelta(days=5)}), [package]
    )
    plan.begin()
    plan.step(place.deals)
    desk = place.visit("deals", deals_kind="Packages", slicer=SOLD)
    desk.session_state["deals_several"] = plan
    assert "6,000 guaranteed impressions in" in question(clean(desk.run()))
    place.deals.change(DemandDeal, 1, {"units": Decimal(9_000_000)})
    longer = SharedChange(dates={"end_date": END.replace(tzinfo=None) + dt.timedelta(days=5)})
    plan.source.ask_for(longer, [package])
    plan.begin()
    plan.step(place.deals)
    assert not question(clean(desk.run())), "a later end leaves more days than before"


def test_fewer_days_in_the_drawer_are_asked_about_as_for_several(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A package's earlier end, or other targeting, leaves less of what its deals promise: the drawer asks."""
    has_a_thousand_a_day(monkeypatch)
    place.deals.change(SupplyPackage, 2, {"end_date": END})
    place.deals.change(DemandDeal, DEAL, values({"units": "6000"}))
    desk = place.visit("deals", open="supply_deals-2", slicer=SOLD)
    clean(desk.button_group(key="drawer_shown").set_value("Change").run())
    end = desk.text_input(key="change-supply_deals-2-end_date")
    assert not question(desk)
    clean(end.set_value(f"{END.date() - dt.timedelta(days=5)}").run())
    assert "6,000 guaranteed impressions in" in question(desk)
    clean(end.set_value(f"{END.date() + dt.timedelta(days=5)}").run())
    assert not question(desk), "a later end leaves more days than before"


def test_several_points_of_one_change_begin_with_what_they_say(place: Place) -> None:
    """In a drawer, whose heading names the deal, a list of points names nothing before each."""
    asked = by_drawer(place, "2", price="20", budget="0.01")
    assert re.findall("^- (.{10})", asked[asked.index("- ") :], re.MULTILINE) == ["a price of", "a budget o"]


def test_an_unknown_target_of_a_proposal_is_asked_about(place: Place) -> None:
    """As in a file: whether it is one of a new package, or is added to an old one; what was there is not."""
    country = {"type": "country", "is_excluded": False}
    places = {"geo_targetings": [{**country, "value": value} for value in ("US", "Atlantis")]}
    fields = {
        "name": "New", "media_type": "banner", "start_date": "2026-01-01 00:00:00+0000",
        "end_date": moments.write(END), **places,
    }  # fmt: skip
    expected = "country 'Atlantis' is not in the report"
    assert expected in _proposal(place, {"entity": "supply_deals", "fields": fields, "reason": "Why"})
    change = {"entity": "supply_deals", "entity_id": 1, "fields": places, "reason": "Why"}
    assert expected in _proposal(place, change)
    place.deals.change(SupplyPackage, 1, places)
    places["geo_targetings"].append({**country, "value": "FR"})
    assert not _proposal(place, change)


def test_a_new_price_beside_those_of_its_package(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing was won the API compares with the list prices of the package; a batch does so too."""
    monkeypatch.setattr(ReportAvailability, "win_scales", lambda self, seats: WinScales({}))
    deal = {"name": "Dear", "seat": {"id": 1}, "price": 32.6, "supply_deals": [{"id": 1}]}
    expected = "A price of 32.60, 10.03 times the highest other price in the package (3.25)."
    second = "A second deal of the same seat and package, beside Morning News - Alpha Buying."
    assert place.api("POST", "demand_deals/", deal).json()["warnings"] == [expected, second]
    [created] = place.api("POST", "demand_deals/batch/", [deal | {"price": 98}]).json()["results"]
    assert "3.01 times the highest other price in the package (32.60)" in created["warnings"][0]
    options = [{"seat": {"id": seat}, "price": price} for seat, price in ((1, 2), (2, 2.2), (3, 20))]
    package = {
        "name": "New", "media_type": "banner", "start_date": "2027-03-01 00:00:00+0000",
        "create_demand_deals": {"demand_deals_options": options},
    }  # fmt: skip
    [warning] = place.api("POST", "supply_deals/", package).json()["warnings"]
    assert warning == "A price of 20.00, 9.09 times the highest other price in the package (2.20)."
    [usual] = place.api("POST", "demand_deals/", deal | {"price": 3}).json()["warnings"]
    assert "second deal" in usual
