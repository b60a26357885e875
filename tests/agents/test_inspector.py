"""The command line of the MCP Inspector as a client that nobody of Tranche wrote, where it is installed."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from serving import serving
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.agents.route import AgentRoute
from lib.agents.toolbox import VERBS
from lib.serving import connect
from lib.settings import Settings
from lib.wire.apis import Compression

INSPECTOR = shutil.which("mcp-inspector")
LOCAL = [sys.executable, "-c", "from lib.cli import main; main()", "mcp", "--person", "manager"]
QUESTION = ("--tool-arg", "slicer=demo/curation", 'fields=["imps"]')
pytestmark = pytest.mark.skipif(
    INSPECTOR is None,
    reason="the MCP Inspector is not installed (npm install -g @modelcontextprotocol/inspector)",
)


class WithToken:
    """ASGI middleware: adds a token, which not every version of the Inspector's command line can send."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app, self._header = app, (b"authorization", f"Bearer {token}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        await self._app({**scope, "headers": [*scope.get("headers", []), self._header]}, receive, send)


@pytest.fixture(params=["http", "stdio"])
def target(
    request: pytest.FixtureRequest, demo_settings: Settings, issue: Callable[..., str]
) -> Iterator[list[str]]:
    """What the Inspector connects to."""
    if request.param == "stdio":
        yield LOCAL
        return
    app = AgentRoute(Compression(connect.installation(demo_settings).api), demo_settings)
    with serving(WithToken(app, issue("manager", "reporting"))) as address:
        yield [f"{address}/mcp", "--transport", "http"]


def inspect(target: list[str], home: Path, *method: str) -> dict[str, Any]:
    """What the Inspector prints, as JSON."""
    environment = {**os.environ, "TRANCHE_HOME": str(home)}
    command = [str(INSPECTOR), "--cli", "-e", f"TRANCHE_HOME={home}", *target, "--method", *method]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls(target: list[str], demo_home: Path) -> None:
    """The Inspector lists verbs, prompts and definitions, and gets an answer, over both transports."""
    tools = inspect(target, demo_home, "tools/list")["tools"]
    assert [tool["name"] for tool in tools] == list(VERBS)
    assert inspect(target, demo_home, "prompts/list")["prompts"]
    assert inspect(target, demo_home, "resources/list")["resources"]
    called = inspect(target, demo_home, "tools/call", "--tool-name", "ask", *QUESTION)
    assert json.loads(called["content"][0]["text"]) == called["structuredContent"]
    assert called["structuredContent"]["totals"]["imps"]["value"] > 0
