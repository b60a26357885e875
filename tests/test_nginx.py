"""Two desks over one PostgreSQL behind the nginx of `deploy/`: what holds at one desk holds at both."""

import os
import signal
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import time

import httpx
import pytest
from conftest import copied, desk_over
from databases import new_database_of
from nginx import nginx
from serving import free_port, serving
from sqlalchemy import text
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as connect_socket

from lib.people.attempts import FREE
from lib.people.cookies import SignIn
from lib.serving import connect
from lib.serving.front import overview_route, shared_route
from lib.settings import Settings
from lib.share.messages import work_of

QUERY = {"project_name": "demo", "slicer_name": "delivery", "start_date": "-30d", "end_date": "yesterday"}
CALLERS, BEFORE, AFTER = 4, 10, 40
READS, VISITORS = 40, 60
NAMES = ("north", "south")
HOLDER = text(
    "select application_name from pg_locks join pg_stat_activity using (pid) where locktype = 'advisory' "
    "and granted and objid = :key and database = (select oid from pg_database where datname = "
    "current_database())"
)


@dataclass(frozen=True)
class Desks:
    """Two desks behind nginx, by name, the numbers of their processes, and their installation in this one."""

    address: str
    addresses: dict[str, str]
    numbers: dict[str, int]
    third: connect.Installation

    def token(self, service: str) -> str:
        """A token of the manager."""
        return self.third.access.issue("manager", service, "test", None)

    def session(self, username: str, ends: float) -> dict[str, str]:
        """The cookie of a session that this person has begun."""
        self.third.sessions.begin(username, ends)
        cookies = self.third.cookies
        return {cookies.session_name: cookies.session_value(SignIn(username, ends))}

    def admitted(self, ask: Callable[[httpx.Client], httpx.Response], count: int, client: str) -> int:
        """How many of so many requests of this client are not refused as too many; nginx spreads them."""
        headers = {"X-Forwarded-For": client, "Origin": self.address}
        with httpx.Client(base_url=self.address, timeout=60, headers=headers) as http:
            admitted = 0
            for _ in range(count):
                admitted += ask(http).status_code != 429
                http.cookies.clear()  # a new browser, which nginx sends to any desk
        return admitted


@pytest.fixture(scope="module")
def desks(home: Path, postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desks]:
    """The running desks."""
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    url = new_database_of(postgres_server)
    shared = copied(home, folder / "home", url)
    environment = {
        "TRANCHE_TRUSTED_PROXIES": "127.0.0.1",
        "TRANCHE_ORIGINS": f"http://127.0.0.1:{port}",
        "TRANCHE_THROTTLE_READS": str(READS),
        "TRANCHE_VISITORS": str(VISITORS),
    }
    third = connect.installation(Settings(home=shared, demo=True, database_url=url))
    with ExitStack() as stack:
        addresses, numbers = {}, {}
        for name in NAMES:
            of_name = {"TRANCHE_DATABASE_URL": f"{url}&application_name={name}"}
            running = desk_over(shared, **environment, **of_name)
            addresses[name], numbers[name] = stack.enter_context(running)
        proxy = stack.enter_context(nginx(folder, port, [*addresses.values()]))
        yield Desks(proxy, addresses, numbers, third)


def at_most(limit: int) -> range:
    """What two desks may admit of a limit: a twentieth more, or one."""
    return range(limit, limit + max(1, limit // 20) + 1)


def test_a_sign_out_holds_at_both(desks: Desks) -> None:
    """A session opens both desks' routes until it is ended, which another process does; then neither's."""
    ends = time() + 3600
    cookies = desks.session("viewer", ends)

    def codes() -> list[int]:
        asked = {"json": {"project": "demo", "slicer": "delivery"}, "headers": {"Origin": desks.address}}
        return [
            httpx.post(f"{at}/overview/answer", cookies=cookies, timeout=60, **asked).status_code
            for at in (desks.address, *desks.addresses.values())
        ]

    assert codes() == [200] * 3
    desks.third.sessions.end("viewer", ends)
    assert codes() == [401] * 3


def test_failed_sign_ins_count_together(desks: Desks) -> None:
    """Guesses that nginx spreads over both desks are slowed down after as many as at one."""
    form = {"grant_type": "password", "username": "admin", "password": "wrong", "scope": "service_id=deals"}
    with httpx.Client(base_url=desks.address, headers={"X-Forwarded-For": "203.0.113.1"}, timeout=60) as http:
        answers = [http.post("/oauth2/token/", data=form) for _ in range(FREE["pair"] + 6)]
    assert [answer.json()["error"] for answer in answers[: FREE["pair"]]] == ["invalid_grant"] * FREE["pair"]
    assert any("attempts" in answer.text for answer in answers[FREE["pair"] :])


def test_a_throttle_counts_requests_to_both(desks: Desks) -> None:
    """The requests of a token that both desks admit are those of the limit, and a twentieth at most."""
    headers = {"Authorization": f"Bearer {desks.token('deals')}"}
    admitted = desks.admitted(lambda http: http.get("/api/seats/", headers=headers), 2 * READS, "203.0.113.2")
    assert admitted in at_most(READS)


def test_share_links_are_opened_so_often_at_both(desks: Desks) -> None:
    """A client opens share links 60 times a minute, and 3 times more at most, whatever desk answers."""
    key = f"{shared_route.PREFIX}1.{'e' * 32}"
    opens = desks.admitted(lambda http: http.get(key), 2 * shared_route.A_MINUTE, "203.0.113.3")
    forms = desks.admitted(lambda http: http.post(key), 2 * shared_route.FORMS_A_MINUTE, "203.0.113.3")
    assert opens in at_most(shared_route.A_MINUTE)
    assert forms in at_most(shared_route.FORMS_A_MINUTE)


def test_mails_are_stopped_so_often_at_both(desks: Desks) -> None:
    """As share links, for the route that ends mails."""
    stop = f"{shared_route.PATH}?token=1-x"
    count = 2 * shared_route.STOPS_A_MINUTE
    admitted = desks.admitted(lambda http: http.post(stop), count, "203.0.113.4")
    assert admitted in at_most(shared_route.STOPS_A_MINUTE)


def test_clicks_on_the_board_count_at_both(desks: Desks) -> None:
    """A person clicks 600 times a minute, and 60 times more at most."""
    cookies, count = desks.session("viewer", time() + 3600), overview_route.A_MINUTE + 100
    header = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    admitted = desks.admitted(
        lambda http: http.post(overview_route.PATH, content=b"unreadable", headers=header),
        count,
        "203.0.113.5",
    )
    assert admitted in range(
        overview_route.A_MINUTE, overview_route.A_MINUTE + overview_route.A_MINUTE // 10 + 1
    )


def test_visitors_sockets_count_at_both(desks: Desks) -> None:
    """From one address a third of `visitors` may be open without a sign-in, and a twentieth more at most;
    once they are closed others may be opened."""
    headers = {"X-Forwarded-For": "203.0.113.6"}
    address = f"{desks.address.replace('http', 'ws')}/_stcore/stream"

    def sockets(stack: ExitStack) -> int:
        admitted = 0
        for _ in range(VISITORS):
            try:
                stack.enter_context(connect_socket(address, additional_headers=headers, proxy=None))
                admitted += 1
            except InvalidStatus as refused:
                assert refused.response.status_code == 429
        return admitted

    with ExitStack() as stack:
        assert sockets(stack) in at_most(VISITORS // 3)
    with ExitStack() as stack:
        assert sockets(stack) > 0


def test_killing_the_desk_that_does_background_work(desks: Desks) -> None:
    """One desk does it, and the other takes over. Questions before, during and after kill -9 are all
    answered, whichever desk they went to; one whose answer breaks off on its way is asked again, as clients
    do."""
    codes, asked, token = list[int](), threading.Semaphore(0), desks.token("reporting")
    key = {"key": zlib.crc32(work_of(desks.third.settings, "alerts").encode()) >> 1}

    def holders() -> list[str]:
        with desks.third.access.store.engine.connect() as connection:
            return [*connection.execute(HOLDER, key).scalars()]

    def ask() -> None:
        with httpx.Client(base_url=desks.address, timeout=60) as http:
            question = partial(http.post, "/API/v2/audience", json={**QUERY, "token": token})
            for _ in range(BEFORE + AFTER):
                try:
                    answer = question()
                except httpx.RemoteProtocolError:
                    answer = question()
                codes.append(answer.status_code)
                asked.release()

    holder = wait_for(holders)
    callers = [threading.Thread(target=ask) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    for _ in range(CALLERS * BEFORE):
        asked.acquire()
    os.kill(desks.numbers[holder], signal.SIGKILL)
    for caller in callers:
        caller.join()
    assert codes == [200] * CALLERS * (BEFORE + AFTER)
    other = {"north": "south", "south": "north"}[holder]
    assert wait_for(lambda: [name for name in holders() if name != holder]) == other


def wait_for(names: Callable[[], list[str]]) -> str:
    """The one name, once there is one."""
    for _ in range(600):
        if matches := names():
            (name,) = matches
            return name
        threading.Event().wait(0.1)
    raise AssertionError("Nobody does the work within a minute")


def _desk(name: str) -> Starlette:
    async def answer(request: Request) -> Response:
        return PlainTextResponse(name)

    return Starlette(routes=[Route("/{path:path}", answer)])


def test_each_browser_stays_with_its_desk_until_that_ends(tmp_path: Path) -> None:
    """Browsers at one address are spread by a cookie; where their desk ends they go to the other."""
    browsers = [httpx.Client() for _ in range(12)]
    with ExitStack() as stack:
        first = stack.enter_context(serving(_desk("first")))
        with serving(_desk("second")) as second:
            proxy = stack.enter_context(nginx(tmp_path, free_port(), [first, second]))
            visits = [[browser.get(f"{proxy}/audience").text for _ in range(3)] for browser in browsers]
        assert {len(set(desks)) for desks in visits} == {1}
        assert {desks[0] for desks in visits} == {"first", "second"}
        assert {browser.get(f"{proxy}/audience").text for browser in browsers} == {"first"}
