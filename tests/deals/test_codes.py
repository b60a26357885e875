"""The specification's table of codes: each by a real cause, and what comes with it."""

import datetime as dt
import runpy
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest
from conformance.transports import TRANSPORTS
from sqlalchemy import Engine, text

from deals.caller import Caller, World, deals, option, package, unique, world
from deals.conftest import OpenRow, issue
from lib import database
from lib.database.transaction import WRITERS_LOCK
from lib.deals import reading
from lib.deals.openapi import errors
from lib.people import ALL_DEALS, Person
from lib.serving import connect
from lib.wire.errors import InUse

PATHS = [("GET", "dsps/"), ("POST", "dsps/"), ("PUT", "dsps/1/"), ("DELETE", "dsps/1/")]
INSIDE = ("sqlite", "psycopg", "sqlalchemy", "changes", "Traceback", ".py", "select")


@pytest.fixture
def sister(request: pytest.FixtureRequest, http: httpx.Client) -> str:
    """The transport of this test's `http`, for a desk of its own."""
    return "socket" if "127.0.0.1" in str(http.base_url) else "embedded"


def test_401_for_nobody(http: httpx.Client) -> None:
    """Without a token, whatever is asked: 401 and the challenge of RFC 6750."""
    for method, path in PATHS:
        answer = Caller(http, None).ask(method, path, {})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json() == {"detail": "A token is required: Authorization: Bearer <token>"}


@pytest.mark.parametrize("header", ["Bearer", "Basic YTpi", "Token abc", "", "bearerx y"])
def test_401_for_what_is_no_token(http: httpx.Client, header: str) -> None:
    """Another scheme, or no token in it."""
    assert http.get("/api/dsps/", headers={"Authorization": header}).status_code == 401


def test_401_for_a_token_that_does_not_open_deals(http: httpx.Client, desk: connect.Installation) -> None:
    """Wrong, of another service, expired, revoked, of a removed person: 401, in the same words."""
    access, hour = desk.access, dt.timedelta(hours=1)
    access.people.add(Person("gone", "Gone", None, "manager", deals=ALL_DEALS), "a password")
    revoked, gone = access.issue("manager", "deals", unique("revoked"), hour), issue(desk, "gone")
    access.store.revoke(access.store.verify(revoked, "deals").id)
    access.remove("gone")
    ended = access.issue("manager", "deals", "ended", dt.timedelta(microseconds=1))
    details = set()
    for token in ("wrong", issue(desk, "admin", "reporting"), revoked, gone, ended, "ü", "a b"):
        answer = http.get("/api/dsps/", headers={"Authorization": f"Bearer {token}".encode()})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == 'Bearer error="invalid_token"'
        details.add(answer.text)
    assert len(details) == 1


def test_the_scheme_has_no_case(http: httpx.Client, manager: Caller) -> None:
    """`bearer` is `Bearer` (RFC 9110, 11.1)."""
    assert http.get("/api/dsps/", headers={"Authorization": f"bearer {manager.token}"}).status_code == 200


def test_403_for_who_may_only_read(viewer: Caller, manager: Caller, there: World) -> None:
    """A viewer reads everything and changes nothing, also where the request would be wrong or in vain."""
    path = f"seats/{there.ada}/"
    assert viewer.get(path) == manager.get(path)
    assert viewer.get("seats/")["count"] >= 3
    for method, where in (("POST", "seats/"), ("PUT", path), ("DELETE", path), ("PUT", "seats/99999999/")):
        assert viewer.detail(method, where, 403, {}) == "'viewer' can see deals, but not change them"


def test_404_where_there_is_nothing(manager: Caller) -> None:
    """An unknown path below /api/ answers in the same shape."""
    assert "no /api/deals/" in manager.detail("GET", "deals/", 404)


def test_429_with_how_long_to_wait(opened: OpenRow, sister: str) -> None:
    """So many reads and writes a minute for each token, counted apart; then 429 with Retry-After."""
    desk = opened(throttle_reads=3, throttle_writes=2)
    with TRANSPORTS[sister](desk.api) as http:
        caller, other = Caller(http, issue(desk)), Caller(http, issue(desk))
        for _ in range(2):
            caller.make("dsps", {"name": unique("DSP")})
        for _ in range(3):
            caller.get("dsps/")
        for method, limit in (("POST", 2), ("GET", 3)):
            answer = caller.ask(method, "dsps/", {"name": "never"})
            assert answer.status_code == 429
            assert 0 < int(answer.headers["retry-after"]) <= 60
            assert f"More than {limit} requests a minute" in answer.json()["detail"]
        assert other.get("dsps/")["count"] == 2
        assert caller.ask("GET", "dsps/").status_code == 429


def test_the_desks_own_calls_are_not_throttled(opened: OpenRow) -> None:
    """A bulk change is one person's click; the exemption is the token's, which nobody outside has."""
    desk = opened(throttle_reads=1, throttle_writes=1)
    manager = desk.people.get("manager")
    assert manager
    client = connect.connect(manager, desk.settings).deals
    assert [client.list("dsps").count for _ in range(5)] == [0] * 5


def test_504_for_a_request_too_large(manager: Caller, desk: connect.Installation) -> None:
    """A body over the limit is refused while it arrives, promised length or not."""
    body = b'{"name": "' + b"x" * desk.settings.max_body_bytes + b'"}'
    headers = {"Authorization": f"Bearer {manager.token}"}
    for content in (body, iter([body[:1000], body[1000:]])):
        answer = manager.http.post("/api/dsps/", content=content, headers=headers)
        assert (answer.status_code, answer.json().keys()) == (504, {"detail"})
        assert "larger than the" in answer.json()["detail"]


@contextmanager
def writer_in_the_way(engine: Engine) -> Iterator[None]:
    """Another transaction that holds what writers wait for."""
    with database.writing(engine).begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"select pg_advisory_xact_lock({WRITERS_LOCK})"))
        yield


def test_504_at_the_deadline(opened: OpenRow, sister: str) -> None:
    """A request that has to wait too long is stopped, and did nothing; the next one works."""
    desk = opened()
    hurried = connect.installation(desk.settings.model_copy(update={"deadline_seconds": 0.5}))
    with TRANSPORTS[sister](desk.api) as http, TRANSPORTS[sister](hurried.api) as in_a_hurry:
        caller = Caller(http, issue(desk))
        there = world(caller)
        body = package(create_demand_deals=deals(option(there.ada)))
        with writer_in_the_way(desk.access.store.engine):
            detail = Caller(in_a_hurry, caller.token).detail("POST", "supply_deals/", 504, body)
            assert caller.get("supply_deals/")["count"] == 0
        assert detail == "The database did not answer in time; nothing was changed. Try again in a moment"
        assert caller.get("demand_deals/")["count"] == 0
        assert caller.make("supply_deals", body)["demand_deals"]


def test_504_for_a_body_that_does_not_arrive(opened: OpenRow) -> None:
    """A caller that promises a body and does not send it is answered at the deadline."""
    desk = opened(deadline_seconds=0.3)
    with TRANSPORTS["socket"](desk.api) as http:
        request = f"POST /api/dsps/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {issue(desk)}\r\n"
        with socket.create_connection((http.base_url.host, http.base_url.port), timeout=10) as line:
            line.sendall(f"{request}Content-Length: 100\r\n\r\n".encode())
            assert line.recv(1000).startswith(b"HTTP/1.1 504")


def test_500_without_internals(opened: OpenRow, sister: str) -> None:
    """When the database fails, the answer says so and nothing of the inside; nothing is half done."""
    desk = opened()
    engine = desk.access.store.engine
    with TRANSPORTS[sister](desk.api) as http:
        caller = Caller(http, issue(desk))
        with database.writing(engine).begin() as connection:
            connection.execute(text("ALTER TABLE changes RENAME TO elsewhere"))
        answer = caller.ask("POST", "dsps/", {"name": "never"})
        assert (answer.status_code, answer.json().keys()) == (500, {"detail"})
        assert "nothing was changed" in answer.json()["detail"]
        assert not any(word in answer.text for word in INSIDE)
        with database.writing(engine).begin() as connection:
            connection.execute(text("ALTER TABLE elsewhere RENAME TO changes"))
        assert caller.get("dsps/")["count"] == 0
        caller.make("dsps", {"name": "works again"})


def test_500_for_a_broken_person_of_the_installation(opened: OpenRow, sister: str) -> None:
    """What is wrong with this installation's own data is for its log: the caller learns none of it."""
    desk = opened()
    with TRANSPORTS[sister](desk.api) as http:
        caller = Caller(http, issue(desk))
        with database.writing(desk.access.store.engine).begin() as connection:
            connection.execute(text('UPDATE people SET record = \'{"roles": ["boss"]}\''))
        answer = caller.ask("GET", "dsps/")
        assert (answer.status_code, answer.json().keys()) == (500, {"detail"})
        assert not any(word in answer.text for word in (*INSIDE, "boss", "desk"))


def test_a_code_that_is_never_sent_is_not_documented(desk: connect.Installation) -> None:
    """FastAPI documents a 422 wherever it reads a header or path: refusals here have codes of their own."""
    document = desk.api.openapi()
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    assert operations
    assert not [operation["summary"] for operation in operations if "422" in operation["responses"]]
    assert "HTTPValidationError" not in document["components"].get("schemas", {})


@pytest.mark.parametrize("path", ["/api/dsps/", "/api/demand_deals/batch/", "/oauth2/token/", "/API/v2/info"])
def test_a_refused_method_hears_of_all_others(path: str, http: httpx.Client) -> None:
    """Allow has every method of a path, in whichever route each is documented, and no other path's."""
    methods = {"/api/dsps/": "GET, HEAD, POST, PUT"}.get(path, "POST")
    for method in ("DELETE", "PATCH", "OPTIONS"):
        answer = http.request(method, path)
        assert (answer.status_code, answer.headers["allow"]) == (405, methods)


def test_a_code_stands_in_its_class_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a class of errors has another code, the documentation shows it and the client knows it."""
    monkeypatch.setattr(InUse, "http", 423)
    codes = errors(InUse, noun="seat")
    assert 423 in codes
    assert 406 not in codes
    refusal = runpy.run_path(str(reading.__file__))["refusal"]
    assert isinstance(refusal(httpx.Response(423, json={"detail": "no"})), InUse)
