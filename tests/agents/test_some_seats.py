"""What joins reports and deals, over `/mcp`, for somebody with the deals of one seat and the whole report."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from mcp.client.client import Client

from agents.conftest import over_http, within
from lib.agents.python_client import Desk
from lib.agents.toolbox import VERBS
from lib.deals.models import DemandDeal, SupplyPackage
from lib.people import DealsGrant
from lib.settings import Settings

SEAT, MISSING = 1, 987_654
IDS = {"deals", "packages", "package", "seats", "seat", "id", "like"}
DAYS = {"start": "2027-03-01", "end": "2027-03-07"}
NEW = {"name": "X", "reason": "A trial", "media_type": "banner", "start": "2027-03-01"}
Arguments = Callable[["Sold", int], dict[str, Any]]
Call = Callable[[str, dict[str, Any]], Any]


@dataclass(frozen=True)
class Sold:
    """Deals and packages by id: of the seat, of others alone (`hidden`), and a package with deals of both."""

    own: DemandDeal
    shared: SupplyPackage
    hidden: dict[str, int]


JOINS: dict[str, tuple[str, str, Arguments]] = {
    "find_deals: seat": ("find_deals", "seat", lambda sold, number: {"seat": number}),
    "deal_health: deals": ("deal_health", "deal", lambda sold, number: {"deals": [sold.own.id, number]}),
    "past_delivery: deals": ("past_delivery", "deal", lambda sold, number: {"deals": [sold.own.id, number]}),
    "past_delivery: packages": ("past_delivery", "package", lambda sold, number: {"packages": [number]}),
    "forecast: package": ("forecast", "package", lambda sold, number: {"package": number, **DAYS}),
    "price_guide: package": ("price_guide", "package", lambda sold, number: {"package": number}),
    "price_guide: seats": ("price_guide", "seat", lambda sold, number: {"seats": [SEAT, number]}),
    "overlap: packages": ("overlap", "package", lambda sold, number: {"packages": [sold.shared.id, number]}),
    "propose_package: like": ("propose_package", "package", lambda sold, number: {**NEW, "like": number}),
    "propose_package: seats": (
        "propose_package", "seat", lambda sold, number: {**NEW, "seats": [{"seat": number, "price": 2}]},
    ),
    "propose_change: id": (
        "propose_change", "deal",
        lambda sold, number: {"kind": "deals", "id": number, "fields": {"price": 1}, "reason": "A trial"},
    ),
    "propose_change of a package": (
        "propose_change", "package",
        lambda sold, number: {"kind": "packages", "id": number, "fields": {"name": "X"}, "reason": "A trial"},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def sold(demo_settings: Settings) -> Sold:
    """The demo's."""
    api = Desk.local("manager", settings=demo_settings).deals_api
    deals, packages = [*api.everything(DemandDeal)], [*api.everything(SupplyPackage)]
    own = [deal for deal in deals if deal.seat and deal.seat.id == SEAT and deal.supply_deals]
    visible = {package.id for deal in own for package in deal.supply_deals}
    shared = next(package for package in packages if package.id == own[0].supply_deals[0].id)
    assert len(shared.demand_deals) > 1
    hidden = {
        "deal": next(deal.id for deal in deals if deal.seat and deal.seat.id != SEAT),
        "package": next(package.id for package in packages if package.id not in visible),
        "seat": next(deal.seat.id for deal in deals if deal.seat and deal.seat.id != SEAT),
    }
    return Sold(own[0], shared, hidden)


@pytest.fixture(scope="module")
def call(served: str, issue: Callable[..., str]) -> Iterator[Call]:
    """Calls a verb with a token for the report, and one for the deals of the seat."""
    tokens = (
        issue("manager", "reporting"),
        issue("manager", "deals", deals=DealsGrant("propose", frozenset({SEAT}))),
    )

    def answer(verb: str, arguments: dict[str, Any]) -> Any:
        async def session(client: Client) -> Any:
            return await client.call_tool(verb, arguments)

        return within(over_http(served, *tokens), session)

    yield answer


@pytest.mark.parametrize("name", JOINS)
def test_what_is_hidden_is_answered_as_what_is_missing(call: Call, sold: Sold, name: str) -> None:
    """An id of another seat's deal, package or seat gets the very words of one that there never was."""
    verb, kind, arguments = JOINS[name]
    number = sold.hidden[kind]
    hidden, missing = (call(verb, arguments(sold, deal_number)) for deal_number in (number, MISSING))
    assert hidden.is_error or hidden.structured_content["count"] == 0
    assert _text(hidden, number) == _text(missing, MISSING)


def test_every_verb_that_takes_ids_is_in_the_table() -> None:
    """A verb with an argument that is the id of a deal, a package or a seat is tried with hidden ones."""
    taken = {f"{verb.name}: {field}" for verb in VERBS.values() for field in verb.schema["properties"]}
    ids = {name for name in taken if name.partition(": ")[2] in IDS}
    assert ids <= JOINS.keys()


def test_own_deals_are_answered(call: Call, sold: Sold) -> None:
    """Ids of one's own get figures, so that a refusal says something."""
    for verb, arguments in (
        ("past_delivery", {"deals": [sold.own.id]}),
        ("deal_health", {"deals": [sold.own.id]}),
        ("price_guide", {"seats": [SEAT], "package": sold.shared.id}),
    ):
        assert not call(verb, arguments).is_error, verb


def test_a_shared_package_has_the_figures_of_own_deals_alone(call: Call, sold: Sold) -> None:
    """What a package delivered is what one's own deals in it did: the rest is others' spend and price."""
    mine = [deal.id for deal in sold.shared.demand_deals if deal.id == sold.own.id]
    package = call("past_delivery", {"packages": [sold.shared.id]}).structured_content
    deals = call("past_delivery", {"deals": mine}).structured_content
    assert package["totals"] == deals["totals"]
    assert package["totals"]["spend"]["value"] > 0


def _text(outcome: Any, number: int) -> str:
    return json.dumps(outcome.structured_content).replace(str(number), "N")
