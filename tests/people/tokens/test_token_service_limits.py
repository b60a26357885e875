"""The token service under attack: nothing that was sent is kept, and every failure is as RFC 6749 has it."""

import gc
import threading
import tracemalloc
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import databases
import httpx
import pytest
from sqlalchemy import func, select

from lib import database
from lib.people import Grant, People, Person
from lib.people.tables import attempts
from lib.people.tokens import service
from lib.people.tokens.access import Access
from lib.people.tokens.service import TokenApi, router
from lib.people.tokens.store import TokenStore
from lib.wire.apis import api
from lib.wire.transport import InProcess

ASKED = {"grant_type": "password", "username": "ada", "password": "right", "scope": "service_id=reporting"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MEBIBYTE = 2**20


def access(url: str) -> Access:
    """Ada may sign in."""
    engine = database.engine(url)
    database.migrate(engine)
    people = People(engine)
    people.add(Person("ada", "Ada Example", None, "viewer", (Grant("demo"),)), "right")
    return Access(TokenStore(engine), people)


def client(opened: Access) -> httpx.Client:
    """A client of the token service over it."""
    app = api([router], 2 * MEBIBYTE, tokens=TokenApi(opened, ("reporting", "deals"), timedelta(hours=1)))
    return httpx.Client(transport=InProcess(app), base_url="http://desk")


@pytest.fixture
def opened(tmp_path: Path) -> Access:
    """Ada may sign in, on SQLite."""
    return access(f"sqlite:///{tmp_path}/tranche.db")


@pytest.fixture
def http(opened: Access) -> Iterator[httpx.Client]:
    """A client of the token service."""
    with client(opened) as http_client:
        yield http_client


def test_names_that_nobody_can_have_are_not_remembered(http: httpx.Client, opened: Access) -> None:
    """Names over 64 characters are refused as a wrong password is, and no attempt is counted."""

    def counted() -> int:
        with opened.store.engine.connect() as connection:
            return connection.execute(select(func.count()).select_from(attempts)).scalar_one()

    for number in range(20):
        answer = http.post("/oauth2/token/", data=ASKED | {"username": f"{number:065}"})
        assert (answer.status_code, answer.json()["error"]) == (401, "invalid_grant")
    assert counted() == 0
    http.post("/oauth2/token/", data=ASKED | {"username": f"{1:064}"})
    assert counted() > 0


def test_large_forms_leave_nothing_in_memory(http: httpx.Client) -> None:
    """Forms with names of one megabyte, each another one, are refused, and memory is as before."""

    def sent(number: int) -> tuple[int, str]:
        body = urlencode(ASKED).replace("ada", f"{number}{'n' * MEBIBYTE}")
        answer = http.post("/oauth2/token/", content=body, headers=FORM)
        return answer.status_code, answer.json()["error"]

    assert sent(0) == (413, "invalid_request")
    gc.collect()
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    assert {sent(number) for number in range(30)} == {(413, "invalid_request")}
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 10 * MEBIBYTE


def test_few_wait_for_a_password_to_be_checked(opened: Access, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the threads for passwords are busy, only so many requests wait; others hear so at once."""
    monkeypatch.setattr(service, "PLACES", 3)
    let_go = threading.Event()
    check = opened.people.check
    opened.people.check = lambda *asked: (let_go.wait(60), check(*asked))[1]  # type: ignore[method-assign]
    with client(opened) as http, ThreadPoolExecutor(3) as threads:
        waiting = [threads.submit(http.post, "/oauth2/token/", data=ASKED) for _ in range(3)]
        refused = None
        while refused is None:
            answer = http.post("/oauth2/token/", data=ASKED | {"username": "x" * 65})
            refused = answer if answer.status_code == 503 else None
        let_go.set()
        assert refused.json()["error"] == "temporarily_unavailable"
        assert refused.headers["retry-after"] == "5"
        assert [one.result().status_code for one in waiting] == [200, 200, 200]


@pytest.mark.parametrize(
    ("method", "path", "code"), [("GET", "/oauth2/token/", 405), ("POST", "/oauth2/tokens/", 404)]
)
def test_failures_of_the_framework(http: httpx.Client, method: str, path: str, code: int) -> None:
    """Unknown paths and wrong methods are answered as RFC 6749, 5.2 has it, too."""
    answer = http.request(method, path)
    assert (answer.status_code, answer.json()["error"]) == (code, "invalid_request")
    assert answer.json().keys() == {"error", "error_description"}


def test_without_the_database() -> None:
    """PostgreSQL stops under the token service: its answer is RFC 6749's; when it is back, so are tokens."""
    with ExitStack() as stack:
        postgres = stack.enter_context(databases.server(databases.found()))
        opened = access(postgres.url.format("postgres"))
        http = stack.enter_context(client(opened))
        assert http.post("/oauth2/token/", data=ASKED).status_code == 200
        postgres.stop("fast")
        answer = http.post("/oauth2/token/", data=ASKED)
        assert (answer.status_code, answer.json()["error"]) == (503, "temporarily_unavailable")
        assert "can't be reached right now" in answer.json()["error_description"]
        assert answer.headers["cache-control"] == "no-store"
        postgres.start()
        assert http.post("/oauth2/token/", data=ASKED).status_code == 200
