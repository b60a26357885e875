"""Two desks behind one address, over one PostgreSQL and one warehouse: a person notices one."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from conftest import COUNTRIES, DEFINITION, copied, desk_over, small_rows
from databases import new_database_of
from deals.caller import Caller, deals, option, package, world
from sqlalchemy import Connection, text

from browser.conftest import Visitor, wait_for_cookie
from browser.round_robin import CLIENT, RoundRobin, round_robin
from browser.test_sign_in import expect_signed_in, expect_signed_out, sign_in, sign_out
from lib.people import DealsGrant
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse

QUESTION = {"project_name": "demo", "slicer_name": "fresh", "start_date": "-30d", "end_date": "yesterday"}
WAITING = text("select count(*) from pg_locks where not granted and relation = 'demand_deals'::regclass")


@dataclass(frozen=True)
class Two:
    """Two desks, the proxy in front of them, and a third process over the same data: that of the test."""

    proxy: RoundRobin
    numbers: list[int]
    third: connect.Installation

    @property
    def desks(self) -> list[str]:
        """Their addresses."""
        return self.proxy.desks

    def token(self, service: str) -> str:
        """A token of the manager."""
        return self.third.access.issue("manager", service, "test", None)


@pytest.fixture(scope="module")
def two(home: Path, postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    """Two running desks."""
    url = new_database_of(postgres_server)
    shared = copied(home, tmp_path_factory.mktemp("two") / "home", url)
    with ExitStack() as stack:
        proxy = stack.enter_context(round_robin())
        told = {
            "TRANCHE_DATABASE_URL": url,
            "TRANCHE_ORIGINS": proxy.address,
            "TRANCHE_TRUSTED_PROXIES": "127.0.0.1",
        }
        numbers = []
        for _ in range(2):
            address, number = stack.enter_context(desk_over(shared, **told))
            proxy.desks.append(address)
            numbers.append(number)
        yield Two(proxy, numbers, connect.installation(Settings(home=shared, demo=True, database_url=url)))


def test_sign_in_on_one_and_go_on_with_the_other(two: Two, visitor: Visitor) -> None:
    """The next page comes from the other desk, which knows who signed in at the first; the log has the
    address that a trusted proxy names, not the proxy's."""
    page = visitor().new_page()
    page.goto(two.proxy.address)
    sign_in(page)
    expect_signed_in(page)
    wait_for_cookie(page)
    _, entries = two.third.access.audit.entries(1)
    assert [(entry.event, entry.address) for entry in entries] == [("signed in", CLIENT)]
    page.goto(f"{two.proxy.address}/audience")
    expect_signed_in(page)
    assert sorted(two.proxy.tabs[-2:]) == [0, 1]


def test_sign_out_there_and_be_shut_out_here_at_once(two: Two, visitor: Visitor) -> None:
    """A tab at the other desk is shut out with its next click."""
    first = visitor().new_page()
    first.goto(two.proxy.address)
    sign_in(first)
    expect_signed_in(first)
    wait_for_cookie(first)
    second = first.context.new_page()
    second.goto(f"{two.proxy.address}/export")
    expect_signed_in(second)
    assert sorted(two.proxy.tabs[-2:]) == [0, 1]
    sign_out(first)
    expect_signed_out(first)
    second.get_by_role("link", name="Audience").click()
    expect_signed_out(second)


def test_revoke_there_and_be_refused_here_at_once(two: Two) -> None:
    """A token that is revoked, and a permission that is taken away, open nothing with the next request."""
    access = two.third.access
    token = two.token("deals")
    asking = {"headers": {"Authorization": f"Bearer {token}"}}
    changing = {"json": {"name": "no"}, **asking}

    def codes() -> set[int]:
        return {httpx.get(f"{two.proxy.address}/api/seats/", **asking).status_code for _ in range(4)}

    assert codes() == {200}
    access.change("manager", "test", deals=DealsGrant("read"))
    refused = {httpx.post(f"{desk}/api/dsps/", **changing).status_code for desk in two.desks}
    assert (codes(), refused) == ({200}, {403})
    access.change("manager", "test", deals=DealsGrant("write"))
    access.revoke(access.store.everything("manager")[-1], "test")
    assert codes() == {401}
    assert set(two.proxy.requests[-4:]) == {0, 1}


def test_import_on_one_and_see_it_at_the_other(two: Two) -> None:
    """Rows that another process imports are in both desks' answers, and so are those that it adds."""
    ask, rows = QUESTION | {"token": two.token("reporting")}, small_rows(seed=7)
    total = 0.0
    for mode in ("create", "append"):
        warehouse = Warehouse(two.third.settings.warehouse)
        with warehouse.writer("demo", "fresh", DEFINITION, {"country": COUNTRIES}, mode) as writer:
            writer.write(rows)
            writer.commit("made for the test", mode)
        total += sum(rows.column("imps").to_pylist())
        for desk in two.desks:
            answer = httpx.post(f"{desk}/API/v2/audience", json=ask, timeout=60).json()
            (imps,) = (cell["value"] for cell in answer["total"]["data"] if cell["name"] == "imps")
            assert imps == total, answer


def test_kill_one_amid_a_creation_and_repeat_it_at_the_other(two: Two) -> None:
    """A desk dies between a package and its deals; the same request with the same key makes one package."""
    token = two.token("deals")
    first, other = (Caller(httpx.Client(base_url=desk, timeout=60), token) for desk in two.desks)
    seats = world(other)
    body = package(create_demand_deals=deals(option(seats.ada), option(seats.bob)))
    key = {"Idempotency-Key": "the same"}
    engine = two.third.access.store.engine
    with ThreadPoolExecutor(1) as threads, engine.connect() as holding, engine.connect() as watching:
        holding.execute(text("lock table demand_deals in share mode"))
        asked = threads.submit(first.ask, "POST", "supply_deals/", body, key)
        _wait_until_blocked(watching)
        os.kill(two.numbers[0], signal.SIGKILL)
        assert isinstance(asked.exception(timeout=60), httpx.TransportError)
        holding.rollback()
    with httpx.Client(base_url=two.proxy.address, timeout=60) as http:
        again = Caller(http, token)
        made = again.make("supply_deals", body, key)
        assert again.make("supply_deals", body, key) == made
        assert again.get("supply_deals/")["count"] == 1
        assert again.get("demand_deals/")["count"] == 2


def _wait_until_blocked(watching: Connection) -> None:
    """Wait until somebody waits for the table, asking the server every hundredth of a second."""
    for _ in range(3000):
        if watching.execute(WAITING).scalar_one():
            return
        watching.execute(text("select pg_sleep(0.01)"))
    raise AssertionError("Nobody waited for the table within half a minute")
