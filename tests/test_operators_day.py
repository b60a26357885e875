"""An operator's day: two desks behind nginx, an import, kill -9, a backup, a lost machine, and a restore."""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from conftest import COUNTRIES, DEFINITION, copied, running, small_rows
from databases import new_database_of
from nginx import nginx
from serving import free_port
from test_one_desk import CLI, run

from lib.serving import connect
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse

QUESTION = {"project_name": "demo", "slicer_name": "fresh", "start_date": "-30d", "end_date": "yesterday"}


@dataclass
class Site:
    """Two servers over one PostgreSQL and one data directory, at two ports behind nginx."""

    home: Path
    url: str
    stack: ExitStack
    addresses: list[str] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What every process of the site is told."""
        return {"TRANCHE_DATABASE_URL": self.url, "TRANCHE_DEMO": "true"}

    def start(self, port: int) -> None:
        """Start a server at this port, and wait until it is ready."""
        told = {**self.environment, "TRANCHE_PORT": str(port)}
        address, number = self.stack.enter_context(running([*CLI, "serve"], self.home, **told))
        self.addresses.append(address)
        self.numbers.append(number)
        assert httpx.get(f"{address}/readyz").json()["status"] == "ready"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    """Ends what was started."""
    with ExitStack() as stack:
        yield stack


def total(address: str, token: str) -> float:
    """The impressions of the new slicer, by the reporting API."""
    answer = httpx.post(f"{address}/API/v2/audience", json=QUESTION | {"token": token}, timeout=60)
    assert answer.status_code == 200, answer.text
    return float(next(cell["value"] for cell in answer.json()["total"]["data"] if cell["name"] == "imps"))


def test_the_day(home: Path, postgres_server: str, tmp_path: Path, stack: ExitStack) -> None:
    """What was answered before is answered after each accident; the second site is the first one's backup."""
    url = new_database_of(postgres_server)
    site = Site(copied(home, tmp_path / "home", url), url, stack)
    ports = [free_port(), free_port()]
    for port in ports:
        site.start(port)
    folder = tmp_path / "nginx"
    folder.mkdir()
    proxy = stack.enter_context(nginx(folder, free_port(), site.addresses))
    settings = Settings(home=site.home, demo=True, database_url=site.url)
    token = connect.installation(settings).access.issue("admin", "reporting", "test", None)

    rows = small_rows(seed=3)  # an import beside the servers
    with Warehouse(settings.warehouse).writer("demo", "fresh", DEFINITION, {"country": COUNTRIES}) as writer:
        writer.write(rows)
        writer.commit("made for the test", "0")
    expected = sum(rows.column("imps").to_pylist())
    assert [total(address, token) for address in (*site.addresses, proxy)] == [expected] * 3

    os.kill(site.numbers[0], signal.SIGKILL)  # one of the two, which is started again
    assert [total(proxy, token) for _ in range(8)] == [expected] * 8
    site.start(ports[0])
    assert total(site.addresses[-1], token) == expected

    archive = tmp_path / "backup.tar"  # while both answer
    process = run([*CLI, "backup", str(archive)], site.home, **site.environment)
    assert process.returncode == 0, process.stderr

    os.kill(site.numbers[1], signal.SIGKILL)  # the machine is lost, with its disk and its database
    os.kill(site.numbers[2], signal.SIGKILL)
    second = Site(tmp_path / "second", new_database_of(postgres_server), stack)
    restored = run([*CLI, "restore", str(archive)], second.home, **second.environment)
    assert restored.returncode == 0, restored.stderr
    for port in ports:
        second.start(port)
    assert [total(proxy, token) for _ in range(4)] == [expected] * 4
    assert run([*CLI, "check"], second.home, **second.environment).returncode == 0
