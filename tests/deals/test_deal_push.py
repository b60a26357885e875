"""Deals sent to DSPs, among them DSPs that behave badly."""

import datetime as dt
import hashlib
import hmac
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from certificates import signed
from file_settings import changed
from hypothesis import given
from hypothesis import strategies as st
from serving import serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from deals.caller import Body, Caller, World, deals, option, package, unique
from deals.test_deal_sync import MAIL, is_valid, sold
from lib.deals.models import BUYER_STATUS, BuyerSeat
from lib.deals.sync.documents import ARCHIVED, SELLER_STATUS, selling_side
from lib.deals.sync.push import ALL_EVERY, ASKED_EVERY, AT_A_TIME, PAUSES, Push, pushing
from lib.people import DealsGrant
from lib.serving import connect
from lib.settings import Settings
from lib.settings.optional import Receiver
from lib.ui.deals.drawer.details import sentences
from lib.wire.errors import Misconfigured

SECRET = "sixteen characters or more"
NOW = dt.datetime.now(dt.UTC).replace(microsecond=0)
Answering = Callable[[Body], Response | None]


class StandinDsp:
    """A DSP: it keeps what it is sent, in the order of arrival, and answers as `answer` says, else 204."""

    def __init__(self) -> None:
        self.deals: list[Body] = []
        self.asked: list[Body] = []
        self.wrong: list[str] = []
        self.answer: Answering = lambda document: None
        self.status: Answering = lambda question: None
        routes = [("/deals", self._take), ("/status", self._tell)]
        self.app = Starlette(routes=[Route(path, handler, methods=["POST"]) for path, handler in routes])

    @property
    def latest(self) -> dict[str, Body]:
        """Deal id → the document that came last."""
        return {deal["id"]: deal for deal in self.deals}

    async def _take(self, request: Request) -> Response:
        document = await self._read(request)
        self.deals.append(document)
        return self.answer(document) or Response(status_code=204)

    async def _tell(self, request: Request) -> Response:
        question = await self._read(request)
        self.asked.append(question)
        return self.status(question) or Response(status_code=204)

    async def _read(self, request: Request) -> Body:
        body, stamp = await request.body(), request.headers["tranche-timestamp"]
        digest = hmac.new(SECRET.encode(), stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        if request.headers["tranche-signature"] != f"v1={digest}":
            self.wrong.append("signature")
        if request.headers.get("authorization") != "Bearer of deals":
            self.wrong.append("token")
        document: Body = json.loads(body)
        return document


@pytest.fixture
def dsp() -> StandinDsp:
    """The DSP."""
    return StandinDsp()


@pytest.fixture
def push(manager: Caller, there: World, desk: connect.Installation, dsp: StandinDsp) -> Iterator[Push]:
    """What sends to it the deals of a seat's DSP."""
    number = manager.get(f"seats/{there.ada}/")["dsp"]["id"]
    with serving(dsp.app) as address, _push(desk, number, address) as push:
        push.look(NOW)
        dsp.deals.clear()
        yield push


def _push(desk: connect.Installation, number: int, address: str, **others: Any) -> Push:
    addresses = {"url": f"{address}/deals", "status_url": f"{address}/status"} | others
    receiver = Receiver(**addresses, secret=SECRET, token="of deals")
    return Push(desk.access.store.engine, selling_side(desk.settings), None, number, receiver)


def body_of(deal: Body, status: int, **ext: Any) -> Response:
    """The specification's BuyerSeat, as an answer."""
    seat = {"version": "1.0", "id": deal["id"], "buyerstatus": [{"status": status, "ext": ext}]}
    return Response(json.dumps(seat), media_type="application/json")


def later(**parts: float) -> dt.datetime:
    """So long after the first look."""
    return NOW + dt.timedelta(**parts)


def buyer_side(manager: Caller, deal: Body) -> Body:
    """What is told of the deal at its DSP."""
    return manager.get(f"deal_sync/{deal['deal_id']}/status/")


@pytest.mark.parametrize(
    ("number", "meaning"), [(0, "active"), (1, "paused"), (2, "pending"), (3, "complete"), (4, "archived")]
)
def test_seller_status_after_the_errata(number: int, meaning: str) -> None:
    """The numbers of the seller's status are those of Deal Sync 1.0 with the errata of 2026-03-30."""
    numbers: dict[str, int] = {str(status): label for status, label in SELLER_STATUS.items()}
    assert (numbers | {"archived": ARCHIVED})[meaning] == number


@pytest.mark.parametrize(
    ("number", "meaning"),
    [
        (0, "pending approval"),
        (1, "approved"),
        (2, "rejected"),
        (3, "ready to serve"),
        (4, "active"),
        (5, "paused"),
        (6, "complete"),
    ],
)
def test_buyer_status_after_the_errata(number: int, meaning: str) -> None:
    """The numbers of the buyer's status are those of Deal Sync 1.0 with the errata of 2026-03-30."""
    assert BUYER_STATUS[number] == meaning


def test_each_change_is_sent_once(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """A new deal, its price and its package's end are each sent at the next look, as valid documents, signed;
    what has not changed is not sent again."""
    deal = sold(manager, there.ada)
    assert push.look(NOW) == 1
    assert push.look(NOW) == 0
    manager.change("demand_deals", deal["id"], price=3.25)
    push.look(NOW)
    manager.change("supply_deals", deal["supply_deals"][0]["id"], end_date="2998-01-01 00:00:00+0000")
    push.look(NOW)
    terms = [sent_deal["terms"] for sent_deal in dsp.deals if sent_deal["id"] == deal["deal_id"]]
    assert [(term["dealfloor"], term.get("enddate")) for term in terms][1:] == [
        (3.25, terms[0].get("enddate")),
        (3.25, "2998-01-01T00:00:00Z"),
    ]
    assert len(terms) == 3
    for document in dsp.deals:
        is_valid("Deal", document)
    assert dsp.wrong == []


def test_days_pass(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """A deal whose package ends in days is sent as active, and not again while nothing changes."""
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(days=2)
    deal = sold(manager, there.ada, end_date=soon.strftime("%Y-%m-%d %H:%M:%S+0000"))
    push.look(NOW)
    assert dsp.latest[deal["deal_id"]]["sellerstatus"] == SELLER_STATUS["active"]
    push.look(later(hours=0.5))
    assert [document["id"] for document in dsp.deals].count(deal["deal_id"]) == 1


def test_only_its_own_deals(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """A DSP is sent no deal without deal sync, and none of another DSP's seat."""
    manager.make("supply_deals", package(create_demand_deals=deals(option(there.ada, 2.5), **MAIL)))
    other = manager.make("dsps", {"name": unique("Birch"), "supports_deal_sync": True})["id"]
    seat = {"name": unique("Dora"), "external_id": unique("dora"), "dsp": {"id": other}}
    sold(manager, manager.make("seats", seat)["id"])
    push.look(NOW)
    assert dsp.deals == []


def test_a_deal_that_is_gone_is_archived(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """A deleted deal is sent as archived, once; one that was deleted before it was sent is not mentioned."""
    deal, unsent = sold(manager, there.ada), sold(manager, there.ada)
    manager.remove("demand_deals", unsent["id"])
    push.look(NOW)
    manager.remove("demand_deals", deal["id"])
    push.look(NOW)
    push.look(later(hours=2))
    assert [(sent_deal["id"], sent_deal["sellerstatus"]) for sent_deal in dsp.deals] == [
        (deal["deal_id"], SELLER_STATUS["active"]),
        (deal["deal_id"], ARCHIVED),
    ]


def test_what_was_fetched_is_not_sent(
    http: httpx.Client, manager: Caller, there: World, desk: connect.Installation, dsp: StandinDsp, push: Push
) -> None:
    """A DSP that polls as well is not sent what it has fetched already."""
    grant = DealsGrant.parse(f"sync:{there.ada}")
    poller = Caller(http, desk.access.issue("manager", "deals", "poller", None, deals=grant))
    deal = sold(manager, there.ada)
    poller.get(f"deal_sync/{deal['deal_id']}/")
    assert push.look(NOW) == 0


def test_a_failing_dsp_gets_the_latest(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """While a DSP fails, it is tried after growing pauses; it then gets the document as it is by then, and no
    older one after it. The deal says what is wrong meanwhile."""
    deal = sold(manager, there.ada)
    dsp.answer = lambda document: Response("<html>", 503)
    assert push.look(NOW) == 0
    assert push.look(NOW + PAUSES[0] / 2) == 0
    assert len(dsp.deals) == 1
    told = buyer_side(manager, deal)["ext"]
    assert told["problem"] == "it answered 503"
    assert dt.datetime.fromisoformat(told["next_try"]) == NOW + PAUSES[0]
    push.look(NOW + PAUSES[0])
    assert len(dsp.deals) == 2
    push.look(NOW + PAUSES[0] * 2)
    assert len(dsp.deals) == 2
    manager.change("demand_deals", deal["id"], price=4.5)
    dsp.answer = lambda document: None
    assert push.look(NOW + PAUSES[0] * 2) == 1
    assert push.look(later(hours=3)) == 0
    assert [sent_deal["terms"]["dealfloor"] for sent_deal in dsp.deals] == [2.5, 2.5, 4.5]
    assert "problem" not in buyer_side(manager, deal)["ext"]


def test_a_document_that_fails_holds_up_no_other(
    manager: Caller, there: World, dsp: StandinDsp, push: Push
) -> None:
    """One look sends all other documents where the DSP breaks off at some; those it is sent in their time."""
    deals_ = {sold(manager, there.ada)["deal_id"] for _ in range(3 * AT_A_TIME)}
    failing = set(sorted(deals_)[::AT_A_TIME])
    dsp.answer = lambda document: Response(b"x" * 200_000) if document["id"] in failing else None
    assert push.look(NOW) == len(deals_ - failing)
    assert sorted(deal["id"] for deal in dsp.deals) == sorted(deals_)
    dsp.answer = lambda document: None
    assert push.look(NOW + PAUSES[0]) == len(failing)
    assert sorted(deal["id"] for deal in dsp.deals) == sorted([*deals_, *failing])


def test_a_dsp_that_answers_nothing_is_left_alone(
    manager: Caller, there: World, dsp: StandinDsp, push: Push
) -> None:
    """Of many documents it is sent a few at each look, and asked for no status; later it gets each once."""
    deals_ = sorted(sold(manager, there.ada)["deal_id"] for _ in range(2 * AT_A_TIME))
    dsp.asked.clear()
    dsp.answer = lambda document: Response(b"x" * 200_000)
    assert push.look(NOW) == 0
    assert sorted(deal["id"] for deal in dsp.deals) == deals_[:AT_A_TIME]
    assert dsp.asked == []
    dsp.deals.clear()
    dsp.answer = lambda document: None
    assert push.look(NOW + PAUSES[0]) == len(deals_)
    assert sorted(deal["id"] for deal in dsp.deals) == deals_


def test_its_own_pause_is_kept(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """A DSP that asks for time gets it, an hour at most."""
    deals_ = [sold(manager, there.ada) for _ in range(2)]
    waits = iter(["600", "999999"])
    dsp.answer = lambda document: Response(status_code=429, headers={"Retry-After": next(waits)})
    push.look(NOW)
    tries = sorted(buyer_side(manager, deal)["ext"]["next_try"] for deal in deals_)
    seconds = [(dt.datetime.fromisoformat(moment) - NOW).total_seconds() for moment in tries]
    assert seconds == [600, PAUSES[-1].total_seconds()]


@pytest.mark.parametrize(
    "answer", [Response(b"x" * 200_000, 200), Response(status_code=400)], ids=["huge", "refused"]
)
def test_answers_that_do_not_count(
    manager: Caller, there: World, dsp: StandinDsp, push: Push, answer: Response
) -> None:
    """A huge answer is not read, a refusal is no success: the document is sent again."""
    deal = sold(manager, there.ada)
    dsp.answer = lambda document: answer
    assert push.look(NOW) == 0
    dsp.answer = lambda document: None
    push.look(later(hours=1))
    assert [sent_deal["id"] for sent_deal in dsp.deals].count(deal["deal_id"]) == 2
    assert "problem" not in buyer_side(manager, deal)["ext"]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects(manager: Caller, there: World, dsp: StandinDsp, push: Push, status: int) -> None:
    """A redirect of a document or of a question is followed nowhere; the document is sent again."""
    paths: list[str] = []

    async def take(request: Request) -> Response:
        paths.append(request.url.path)
        return Response(status_code=204)

    elsewhere = Starlette(routes=[Route("/{path:path}", take, methods=["GET", "POST"])])
    deal = sold(manager, there.ada)
    with serving(elsewhere) as address:
        dsp.answer = lambda document: Response(status_code=status, headers={"Location": f"{address}/deals"})
        assert push.look(NOW) == 0
        dsp.answer = lambda document: None
        dsp.status = lambda question: Response(status_code=status, headers={"Location": f"{address}/status"})
        push.look(later(hours=1))
        push.look(later(hours=2))
    assert paths == []
    assert [document["id"] for document in dsp.deals].count(deal["deal_id"]) == 2
    assert deal["deal_id"] in [question["id"] for question in dsp.asked]


def test_a_name_that_was_pointed_elsewhere(
    manager: Caller, there: World, dsp: StandinDsp, desk: connect.Installation, tmp_path: Path
) -> None:
    """A receiver's name that leads to a machine without that name's certificate gives it nothing there."""
    certificate, key = signed(tmp_path)
    number = manager.get(f"seats/{there.ada}/")["dsp"]["id"]
    sold(manager, there.ada)
    with (
        serving(dsp.app, ssl_certfile=str(certificate), ssl_keyfile=str(key)) as address,
        _push(desk, number, address.replace("http://127.0.0.1", "https://localhost")) as push,
    ):
        assert push.look(NOW) == 0
    assert dsp.deals == []


def test_a_dsp_that_is_not_there(manager: Caller, there: World, desk: connect.Installation) -> None:
    """A DSP that can't be reached is tried for a few deals at each look, however many wait; these say so."""
    number = manager.get(f"seats/{there.ada}/")["dsp"]["id"]
    waiting = [sold(manager, there.ada) for _ in range(AT_A_TIME + 2)]
    with _push(desk, number, "http://127.0.0.1:9") as push:
        assert push.look(NOW) == 0
    problems = [buyer_side(manager, waiting_deal)["ext"].get("problem") for waiting_deal in waiting]
    assert sum("could not be reached" in (problem or "") for problem in problems) <= AT_A_TIME


def test_statuses_in_answers(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """A status with its reason, in the answer to a document, is stored, in the history, and shown."""
    deal = sold(manager, there.ada)
    dsp.answer = lambda document: body_of(document, 2, reason="Over *budget* <b>")
    push.look(NOW)
    [status] = buyer_side(manager, deal)["buyerstatus"]
    assert (status["status"], status["ext"]["reason"]) == (2, "Over *budget* <b>")
    history = manager.history("demand_deals", deal["id"])
    assert history[0]["after"] == {"buyer_status": "rejected: Over *budget* <b>"}
    assert "(DSP " in history[0]["who"]
    rejected = manager.get("demand_deals/", buyer_status="rejected", search=deal["deal_id"])["results"]
    assert [(rejected_deal["id"], rejected_deal["buyer_status"]) for rejected_deal in rejected] == [
        (deal["id"], "rejected")
    ]
    assert manager.get("demand_deals/", buyer_status="active", search=deal["deal_id"])["count"] == 0
    shown = sentences(BuyerSeat.model_validate(buyer_side(manager, deal)))
    assert shown[0].startswith("The DSP says: rejected (Over *budget* <b>)")
    assert any(sentence.startswith("The deal was sent to it on") for sentence in shown)


def test_statuses_are_asked_for(manager: Caller, there: World, dsp: StandinDsp, push: Push) -> None:
    """A deal that was sent is asked for again after a quarter of an hour, until it is complete."""
    deal = sold(manager, there.ada)
    numbers = iter([1, 6])
    dsp.status = lambda question: (
        body_of(question, next(numbers)) if question["id"] == deal["deal_id"] else None
    )

    def times() -> int:
        return sum(request["id"] == deal["deal_id"] for request in dsp.asked)

    push.look(NOW)
    assert (times(), buyer_side(manager, deal)["buyerstatus"][0]["status"]) == (1, 1)
    push.look(NOW + ASKED_EVERY / 2)
    assert times() == 1
    push.look(NOW + ASKED_EVERY)
    assert (times(), buyer_side(manager, deal)["buyerstatus"][0]["status"]) == (2, 6)
    push.look(NOW + ASKED_EVERY * 3)
    assert times() == 2


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<html>",
        b"[]",
        b"null",
        b'{"buyerstatus": [{"status": 99}]}',
        b'{"buyerstatus": 7}',
        b"\xff\xfe",
    ],
)
def test_statuses_that_can_not_be_read(
    manager: Caller, there: World, dsp: StandinDsp, push: Push, content: bytes
) -> None:
    """What is no status changes nothing, and the document has arrived all the same."""
    deal = sold(manager, there.ada)
    dsp.answer = dsp.status = lambda document: Response(content)
    assert push.look(NOW) == 1
    assert buyer_side(manager, deal)["buyerstatus"] == []


def test_settings_change_documents(
    manager: Caller, there: World, desk: connect.Installation, dsp: StandinDsp
) -> None:
    """After a start with another seller in the settings every deal is sent anew, however long unchanged."""
    deal = sold(manager, there.ada)
    number = manager.get(f"seats/{there.ada}/")["dsp"]["id"]
    with serving(dsp.app) as address:
        with _push(desk, number, address) as push:
            push.look(NOW)
        other = changed(desk.settings, deal_sync_seller="seller.example")
        receiver = Receiver(url=f"{address}/deals", secret=SECRET, token="of deals")
        with Push(desk.access.store.engine, selling_side(other), None, number, receiver) as push:
            push.look(later(hours=5))
            assert push.look(later(hours=5) + ALL_EVERY) == 0
    assert dsp.latest[deal["deal_id"]]["seller"] == "seller.example"


@given(st.sampled_from(["ftp://dsp.example/", "http://dsp.example/", "https://", "https://u:p@dsp.example/"]))
def test_wrong_addresses(address: str) -> None:
    """An address that is not sealed is refused at the start, and not repeated in the message."""
    receivers = {1: {"url": address, "secret": SECRET}}
    with pytest.raises((ValueError, Misconfigured)) as problem:
        Settings(deal_sync_receivers=receivers)
    assert "u:p" not in str(problem.value.errors()[0]["msg"] if hasattr(problem.value, "errors") else problem)


def test_nothing_without_receivers(desk: connect.Installation) -> None:
    """Without a receiver nothing is begun."""
    with pushing(desk.settings, lambda: pytest.fail("opened")):
        pass
