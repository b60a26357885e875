"""Requests without an account keep to a rate; people, and callers with a token, don't notice it."""

from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest
from serving import serving
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from lib import database
from lib.people.tokens.tally import Tally
from lib.serving.front.request_pace import RequestPace
from lib.serving.front.server import accepting
from lib.serving.front.socket_pace import Rate
from lib.wire.network import Network

FEW, MANY = 5, 12
SIGNED = "session=signed"
PERSON, TOKEN, NO_TOKEN = (
    {"Cookie": SIGNED},
    {"Authorization": "Bearer good"},
    {"Authorization": "Bearer bad"},
)


async def desk(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers everybody, but refuses a bad token at an API; its WebSockets close at once."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.close"})
    elif scope["type"] == "http":
        is_refused = (
            scope["path"] != "/" and Headers(scope=scope).get("authorization") != TOKEN["Authorization"]
        )
        code = 403 if is_refused else 200
        await PlainTextResponse("x", code)(scope, receive, send)


@pytest.fixture
def address() -> Iterator[str]:
    """The address of that desk, at which an address gets a few requests, and then none for hours."""
    app = RequestPace(desk, lambda header: header == SIGNED, Rate(FEW, 3600))
    with serving(app, **accepting(Network("127.0.0.1", 0, trusted_proxies=["127.0.0.1"]))) as url:
        yield url


def codes(address: str, headers: dict[str, str], count: int = MANY, path: str = "/") -> list[int]:
    """The answers to so many requests."""
    with httpx.Client(base_url=address, headers=headers) as http:
        return [http.get(path).status_code for _ in range(count)]


@pytest.mark.parametrize("headers", [{}, {"Cookie": "session=forged"}], ids=["nobody", "a forged cookie"])
def test_an_address_without_an_account_is_limited(address: str, headers: dict[str, str]) -> None:
    """Beyond the rate callers are refused, told when to come again, and lose their connection."""
    assert codes(address, headers) == [200] * FEW + [429] * (MANY - FEW)
    refusal = httpx.get(address, headers=headers)
    assert (refusal.headers["connection"], "retry-after" in refusal.headers) == ("close", True)


@pytest.mark.parametrize(
    ("headers", "path"),
    [(PERSON, "/"), (TOKEN, "/api/dsps/"), (TOKEN, "/API/v2/info"), (TOKEN, "/mcp")],
    ids=["signed in", "deals", "reports", "agents"],
)
def test_accounts_are_not_limited(address: str, headers: dict[str, str], path: str) -> None:
    """Requests of somebody signed in, or that an API accepts, cost nothing, wherever their token is."""
    assert codes(address, headers, path=path) == [200] * MANY
    assert codes(address, {}, FEW) == [200] * FEW


def test_people_get_in_beside_a_flood(address: str) -> None:
    """Who is signed in is answered where the address has no requests left."""
    codes(address, {})
    assert codes(address, PERSON) == [200] * MANY


@pytest.mark.parametrize("path", ["/", "/mcpx", "/audience", "/apis"])
def test_a_token_is_no_way_around_where_none_is_asked_for(address: str, path: str) -> None:
    """Pages count whatever their path begins with, also with a token in the header."""
    assert codes(address, TOKEN, path=path) == [200] * FEW + [429] * (MANY - FEW)


@pytest.mark.parametrize("path", ["/api/dsps/", "/API/v2/info"])
def test_bad_tokens_count(address: str, path: str) -> None:
    """A token that is refused costs a request, so that guessing is no way around the limit."""
    assert codes(address, NO_TOKEN, path=path) == [403] * FEW + [429] * (MANY - FEW)


def test_addresses_have_limits_of_their_own(address: str) -> None:
    """A flood from one address takes no request from another."""
    codes(address, {"X-Forwarded-For": "192.0.2.1"})
    assert codes(address, {"X-Forwarded-For": "192.0.2.2"}, FEW) == [200] * FEW


def test_handshakes_count(address: str) -> None:
    """A WebSocket's handshake costs more than a request, and is refused beyond the limit too."""
    for _ in range(2):
        with connect(address.replace("http", "ws"), proxy=None):
            pass
    assert codes(address, {}, 1) == [429]
    with pytest.raises(InvalidStatus, match="429"):
        connect(address.replace("http", "ws"), proxy=None)


def test_a_short_wait_is_waited_for() -> None:
    """Callers a little beyond the rate are answered, later."""
    with serving(RequestPace(desk, lambda header: False, Rate(1, 0.01))) as address:
        assert codes(address, {}) == [200] * MANY


def test_two_desks_admit_as_many_as_one(database_url: str) -> None:
    """What an address uses at both desks over a database is one rate: both admit at most one more."""
    network = Network("127.0.0.1", 0)
    with ExitStack() as stack:
        desks = []
        for _ in range(2):
            engine = database.engine(database_url)
            database.migrate(engine)
            stack.callback(engine.dispose)
            app = RequestPace(desk, lambda header: False, Rate(FEW, 3600), Tally(engine, "rate").use)
            desks.append(stack.enter_context(serving(app, **accepting(network))))
        answers = [codes(address, {}, 1) for address in desks * MANY]
    assert answers.count([200]) in (FEW, FEW + 1)


def test_a_rate_without_a_database_is_the_desks_own() -> None:
    """While the database does not answer, a desk keeps its own count."""
    with serving(RequestPace(desk, lambda header: False, Rate(FEW, 3600), lambda *_: None)) as address:
        assert codes(address, {}) == [200] * FEW + [429] * (MANY - FEW)
