"""A DSP that receives deals, written from the IAB Tech Lab's Deal Sync API 1.0 of 30 March 2026.

It knows the published document and nothing of ours: types, defaults, and what a buyer may take from a field.
"""

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from serving import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deals.caller import Body, Caller, World, deals, option, package
from lib.deals.sync.documents import selling_side
from lib.deals.sync.push import PAUSES, Push
from lib.serving import connect
from lib.settings.optional import Receiver

NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)
UTC_SECONDS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
STATUSES = {0: "active", 1: "paused", 2: "pending", 3: "complete", 4: "archived"}
PRICE_TYPES = {0: "by the bid request", 1: "first price", 2: "second price plus", 3: "fixed"}
TEXTS = ("id", "name", "origin", "seller", "desc", "created")
WHOLE = ("sellerstatus", "auxdata", "pubcount", "dinventory")


@dataclass(frozen=True)
class Line:
    """What a buyer sets up by a document: the price, whether it is fixed, and what they owe for all of it."""

    status: str
    price: float | None
    currency: str
    price_type: str
    is_guaranteed: bool
    units: int | None
    total_cost: float | None


def line(deal: Body) -> Line:
    """The document as the specification has it read; AssertionError for one that it does not allow."""
    terms = deal["terms"]
    assert deal["id"] and deal["origin"] and isinstance(terms, dict), "a required attribute is missing"
    assert all(isinstance(deal.get(name, ""), str) for name in TEXTS)
    assert all(isinstance(deal.get(name, 0), int) for name in WHOLE)
    assert not ("wseat" in deal and "bseat" in deal), "at most one of wseat and bseat"
    for moment in (deal.get("created"), terms.get("startdate"), terms.get("enddate")):
        assert moment is None or UTC_SECONDS.fullmatch(moment)
    price_type = PRICE_TYPES[terms.get("pricetype", 2)]
    is_guaranteed = {0: False, 1: True}[terms.get("guar", 0)]
    if is_guaranteed:
        assert price_type == "fixed", "a guarantee is no floor"
        missing = {"units", "totalcost", "dealfloor"} - terms.keys()
        assert not missing, f"should be provided for a guaranteed deal: {missing}"
    assert price_type != "fixed" or "dealfloor" in terms, "a fixed price must be provided"
    return Line(
        STATUSES[deal.get("sellerstatus", 0)],
        terms.get("dealfloor"),
        terms.get("cur", "USD"),
        price_type,
        is_guaranteed,
        terms.get("units"),
        terms.get("totalcost"),
    )


class ReceivingSystem:
    """The endpoint of a DSP: the lines that it has, and what it had to refuse."""

    def __init__(self) -> None:
        self.lines: dict[str, Line] = {}
        self.posts: list[str] = []
        self.refusals: list[str] = []
        self.is_down = False
        self.app = Starlette(routes=[Route("/deals", self._take, methods=["POST"])])

    async def _take(self, request: Request) -> Response:
        if self.is_down:
            return Response(status_code=503)
        deal = await request.json()
        self.posts.append(deal["id"])
        try:
            new = line(deal)
            before = self.lines.get(deal["id"])
            assert before is None or before.status != "archived", "an archived deal cannot be active again"
            self.lines[deal["id"]] = new
        except (AssertionError, KeyError, ValueError) as error:
            self.refusals.append(f"{deal.get('id')}: {error}")
            return Response(status_code=400)
        return Response(status_code=204)


@pytest.fixture
def receiver() -> ReceivingSystem:
    """The DSP."""
    return ReceivingSystem()


@pytest.fixture
def push(
    manager: Caller, there: World, desk: connect.Installation, receiver: ReceivingSystem
) -> Iterator[Push]:
    """What sends to it the deals of a seat's DSP."""
    number = manager.get(f"seats/{there.ada}/")["dsp"]["id"]
    with serving(receiver.app) as address:
        to = Receiver(url=f"{address}/deals", secret="sixteen characters or more")
        with Push(desk.access.store.engine, selling_side(desk.settings), None, number, to) as push:
            push.look(NOW)
            receiver.posts.clear()
            receiver.refusals.clear()
            yield push


def sold(manager: Caller, seat: int, price: float, **terms: Any) -> Body:
    """A synchronized deal with these terms."""
    new = deals(option(seat, price, deal_sync=True, **terms), contact_email="deals@agency.example")
    answer = manager.make("supply_deals", package(create_demand_deals=new))
    return manager.get(f"demand_deals/{answer['demand_deals'][0]['id']}/")


def test_a_guarantee_arrives_as_one(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """A guaranteed deal without a price type is fixed at its price, with its units and total cost."""
    deal = sold(manager, there.ada, 2.16, deal_type="guaranteed", units=2_000_000)
    push.look(NOW)
    assert receiver.refusals == []
    expected = Line("active", 2.16, "USD", "fixed", True, 2_000_000, 2_000_000 / 1000 * 2.16)
    assert receiver.lines[deal["deal_id"]] == expected


def test_a_preferred_deal_arrives_at_its_price(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """A preferred deal is fixed at its price, and promises no units."""
    deal = sold(manager, there.ada, 3.4, deal_type="preferred")
    push.look(NOW)
    assert receiver.lines[deal["deal_id"]] == Line("active", 3.4, "USD", "fixed", False, None, None)


def test_a_private_auction_arrives_with_its_floor(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """A private auction has its floor, and the auction that each bid request names."""
    deal = sold(manager, there.ada, 1.2, deal_type="private_auction")
    push.look(NOW)
    assert receiver.lines[deal["deal_id"]] == Line(
        "active", 1.2, "USD", "by the bid request", False, None, None
    )


def test_a_pause_arrives(manager: Caller, there: World, receiver: ReceivingSystem, push: Push) -> None:
    """A deal that is paused, and resumed, is so at the DSP."""
    deal = sold(manager, there.ada, 1.2)
    for is_active, expected in ((False, "paused"), (True, "active")):
        manager.change("demand_deals", deal["id"], is_active=is_active)
        push.look(NOW)
        assert receiver.lines[deal["deal_id"]].status == expected


def test_sync_that_is_switched_off_pauses_the_deal(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """A DSP that has the deal is told once that it is paused, at the price it has; it can run again."""
    deal = sold(manager, there.ada, 1.2)
    push.look(NOW)
    manager.change("demand_deals", deal["id"], deal_sync=False)
    push.look(NOW)
    manager.change("demand_deals", deal["id"], price=9)
    push.look(NOW)
    assert (receiver.lines[deal["deal_id"]].status, receiver.lines[deal["deal_id"]].price) == ("paused", 1.2)
    assert receiver.posts == [deal["deal_id"]] * 2
    manager.change("demand_deals", deal["id"], deal_sync=True)
    push.look(NOW)
    assert (receiver.lines[deal["deal_id"]].status, receiver.lines[deal["deal_id"]].price) == ("active", 9)
    assert receiver.refusals == []


def test_a_dsp_that_is_down_hears_of_it_later(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """That sync was switched off is sent again until the DSP has it."""
    deal = sold(manager, there.ada, 1.2)
    push.look(NOW)
    receiver.is_down = True
    manager.change("demand_deals", deal["id"], deal_sync=False)
    push.look(NOW)
    receiver.is_down = False
    push.look(NOW + PAUSES[0])
    assert receiver.lines[deal["deal_id"]].status == "paused"


def test_a_deal_that_was_withdrawn_and_deleted_is_archived(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """A deal whose sync was switched off and that is then deleted is archived at the DSP."""
    deal = sold(manager, there.ada, 1.2)
    push.look(NOW)
    manager.change("demand_deals", deal["id"], deal_sync=False)
    push.look(NOW)
    manager.remove("demand_deals", deal["id"])
    push.look(NOW)
    assert receiver.lines[deal["deal_id"]].status == "archived"


@pytest.mark.parametrize("is_up", [True, False], ids=["to the later seat", "to the earlier seat"])
def test_a_deal_that_moves_between_seats_of_a_dsp_stays_active(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push, is_up: bool
) -> None:
    """The DSP is told the new seat alone: archived for the old one, a deal with this id would have ended."""
    first, second = sorted((there.ada, there.bob), reverse=not is_up)
    deal = sold(manager, first, 1.2)
    push.look(NOW)
    manager.change("demand_deals", deal["id"], seat={"id": second})
    push.look(NOW)
    assert receiver.lines[deal["deal_id"]].status == "active"
    assert receiver.posts == [deal["deal_id"]] * 2
    assert receiver.refusals == []
    manager.remove("demand_deals", deal["id"])
    push.look(NOW)
    assert receiver.lines[deal["deal_id"]].status == "archived"


def test_a_seat_that_loses_its_id_pauses_its_deals(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """A deal whose seat has no id at the DSP any more is paused there."""
    deal = sold(manager, there.ada, 1.2)
    push.look(NOW)
    seat = manager.get(f"seats/{there.ada}/")
    manager.change("seats", there.ada, external_id=None)
    push.look(NOW)
    manager.change("seats", there.ada, external_id=seat["external_id"])
    assert receiver.lines[deal["deal_id"]].status == "paused"


def test_a_deal_that_was_never_told_is_not_mentioned(
    manager: Caller, there: World, receiver: ReceivingSystem, push: Push
) -> None:
    """A deal whose sync was switched off before it was sent is not mentioned."""
    deal = sold(manager, there.ada, 1.2)
    manager.change("demand_deals", deal["id"], deal_sync=False)
    push.look(NOW)
    assert deal["deal_id"] not in receiver.lines
