"""Two desks behind the nginx of docs/deployment.md: killing one of them costs nobody a question."""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from conftest import copied, running
from databases import new_database_of
from documents import ROOT
from serving import free_port, serving
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from lib.serving import connect
from lib.settings import Settings

SERVE = [sys.executable, "-c", "from lib.cli import main; main()", "serve"]
QUERY = {"project_name": "demo", "slicer_name": "delivery", "start_date": "-30d", "end_date": "yesterday"}
CALLERS, BEFORE, AFTER = 4, 10, 40
WHOLE = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {desks}
}}
"""


@contextmanager
def nginx(folder: Path, desks: list[str]) -> Iterator[str]:
    """The address of nginx before these desks, configured as documented but for TLS."""
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    if not Path(program).exists():
        pytest.skip("NOT RUN: the documented configuration needs nginx (Debian's package nginx-light)")
    text = (ROOT / "docs" / "deployment.md").read_text("utf-8")
    (block,) = (block for block in re.findall(r"```nginx\n(.*?)```", text, re.S) if "upstream" in block)
    port = free_port()
    block = re.sub(r" +ssl_certificate.*\n", "", block).replace("listen 443 ssl", f"listen 127.0.0.1:{port}")
    block = block.replace("server_name desk.example;", "").replace("Secure; ", "")
    for documented, desk in zip(("127.0.0.1:8501", "127.0.0.1:8502"), desks, strict=True):
        block = block.replace(documented, urlsplit(desk).netloc)
    file = folder / "nginx.conf"
    file.write_text(WHOLE.format(folder=folder, desks=block))
    command = [program, "-p", folder, "-c", file]
    subprocess.run([*command, "-t"], check=True)
    with subprocess.Popen(command) as process:
        try:
            address = f"http://127.0.0.1:{port}"
            httpx.Client(transport=httpx.HTTPTransport(retries=6)).get(f"{address}/healthz")
            yield address
        finally:
            process.terminate()


@dataclass
class Desks:
    """Two servers over one PostgreSQL behind nginx, and a token for the reporting API."""

    address: str
    numbers: list[int]
    token: str


@pytest.fixture
def desks(home: Path, postgres_server: str, tmp_path: Path) -> Iterator[Desks]:
    """The servers, with a token of the demo's manager."""
    shared, url = copied(home, tmp_path / "home"), new_database_of(postgres_server)
    with ExitStack() as stack:
        addresses, numbers = [], []
        for _ in range(2):
            environment = {
                "TRANCHE_DATABASE_URL": url,
                "TRANCHE_DEMO": "true",
                "TRANCHE_PORT": str(free_port()),
            }
            address, number = stack.enter_context(running(SERVE, shared, **environment))
            addresses.append(address)
            numbers.append(number)
        access = connect.installation(Settings(home=shared, demo=True, database_url=url)).access
        folder = tmp_path / "nginx"
        folder.mkdir()
        proxy = stack.enter_context(nginx(folder, addresses))
        yield Desks(proxy, numbers, access.issue("manager", "reporting", "test", None))


def test_no_question_fails_when_one_of_two_desks_is_killed(desks: Desks) -> None:
    """Questions before, during and after kill -9 are all answered, whichever desk they went to."""
    codes, asked = list[int](), threading.Semaphore(0)

    def ask() -> None:
        with httpx.Client(base_url=desks.address, timeout=60) as http:
            for _ in range(BEFORE + AFTER):
                codes.append(http.post("/API/v2/audience", json={**QUERY, "token": desks.token}).status_code)
                asked.release()

    callers = [threading.Thread(target=ask) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    for _ in range(CALLERS * BEFORE):
        asked.acquire()
    os.kill(desks.numbers[0], signal.SIGKILL)
    for caller in callers:
        caller.join()
    assert codes == [200] * CALLERS * (BEFORE + AFTER)


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
            proxy = stack.enter_context(nginx(tmp_path, [first, second]))
            visits = [[browser.get(f"{proxy}/audience").text for _ in range(3)] for browser in browsers]
        assert {len(set(desks)) for desks in visits} == {1}
        assert {desks[0] for desks in visits} == {"first", "second"}
        assert {browser.get(f"{proxy}/audience").text for browser in browsers} == {"first"}
