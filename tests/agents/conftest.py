"""A small demo for agents, its rows in a database that is not ours, and clients of the SDK."""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import duckdb
import httpx2
import pytest
from click.testing import CliRunner
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from serving import serving

from lib.agents.python_client import Desk
from lib.agents.route import AgentRoute
from lib.agents.toolbox import Toolbox
from lib.cli import main
from lib.serving import connect
from lib.serving.front import guard
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse
from lib.wire.apis import Compression

ROWS = 30_000
Session = Callable[[Client], Awaitable[Any]]


@pytest.fixture(scope="package")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with the demo: slicers, people, packages and deals."""
    home = tmp_path_factory.mktemp("agents") / "home"
    environment = {"TRANCHE_HOME": str(home)}
    result = CliRunner().invoke(main, ["demo", "--rows", str(ROWS)], env=environment, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return home


@pytest.fixture(scope="package")
def demo_settings(demo_home: Path) -> Settings:
    """Its settings; agents of tests ask often."""
    return Settings(home=demo_home, demo=True, throttle_agents=10_000)


@pytest.fixture(scope="package")
def toolbox(demo_settings: Settings) -> Toolbox:
    """The verbs of the manager, in this process."""
    return Toolbox("manager", Desk.local("manager", settings=demo_settings), lambda _: None)


@pytest.fixture(scope="package")
def sql(demo_home: Path) -> Iterator[Callable[[str], list[tuple[Any, ...]]]]:
    """Answers SQL over the tables delivery and curation, and over packages and deals in `desk`."""
    warehouse = Warehouse(demo_home / "warehouse")
    with duckdb.connect() as database:
        database.execute("set timezone = 'UTC'")
        for name in ("delivery", "curation"):
            files = [str(path) for day in warehouse.open("demo", name).files.values() for path in day]
            read = f"create table {name} as select * from read_parquet($1, hive_partitioning = false)"
            database.execute(read, [files])
        yield lambda query: database.execute(query).fetchall()


@pytest.fixture(scope="package")
def served(demo_settings: Settings) -> Iterator[str]:
    """Where agents are answered: the APIs and `/mcp` behind the checks of every request, on a socket."""
    app = AgentRoute(Compression(connect.installation(demo_settings).api), demo_settings)
    with serving(guard(app, demo_settings.network)) as address:
        yield address


@pytest.fixture(scope="package")
def issue(demo_settings: Settings) -> Callable[..., str]:
    """A token of a person for an API, as wide as `Access.issue` is told."""
    access = connect.installation(demo_settings).access

    def issued(person: str, service: str, **narrow: Any) -> str:
        return access.issue(person, service, "an agent", dt.timedelta(hours=1), **narrow)

    return issued


@asynccontextmanager
async def over_http(address: str, *tokens: str, mode: str = "auto") -> Any:
    """The SDK's client of `/mcp`, with a token and one for deals."""
    headers = dict(
        zip(("Authorization", "Tranche-Deals-Token"), (f"Bearer {tokens[0]}", *tokens[1:]), strict=False)
    )
    http = httpx2.AsyncClient(headers=headers, timeout=60)
    async with http, Client(streamable_http_client(f"{address}/mcp", http_client=http), mode=mode) as client:
        yield client


def within(connection: AbstractAsyncContextManager[Client], session: Session) -> Any:
    """What a session with a client returns."""

    async def run() -> Any:
        async with connection as client:
            return await session(client)

    return asyncio.run(run())
