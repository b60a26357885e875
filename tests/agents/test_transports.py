"""Agents over both transports, by the SDK's own client: a server on a socket, and a process."""

import os
import sys
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from mcp import MCPError
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from agents.conftest import over_http, within
from lib.agents.server import DEFINITIONS, GUIDES
from lib.agents.toolbox import VERBS
from lib.serving import connect
from lib.settings import Settings

COMMAND = [sys.executable, "-c", "from lib.cli import main; main()", "mcp"]
QUESTION = {"slicer": "demo/curation", "fields": ["imps"], "split": ["country"], "limit": 3}
Connected = Callable[[], Any]


@asynccontextmanager
async def over_stdio(home: Path, *options: str, **environment: str) -> Any:
    """The SDK's client of `tranche mcp`, a process of its own."""
    variables = {"PATH": os.environ["PATH"], "TRANCHE_HOME": str(home), **environment}
    process = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], *options], env=variables, cwd=str(ROOT)
    )
    async with Client(process) as client:
        yield client


@pytest.fixture(params=["http", "http, 2025", "stdio", "stdio over http"])
def connected(
    request: pytest.FixtureRequest, demo_home: Path, served: str, issue: Callable[..., str]
) -> Connected:
    """Connects a client of the manager: over HTTP in both eras of the protocol, and over a process."""
    if request.param == "stdio":
        return lambda: over_stdio(demo_home, "--person", "manager")
    tokens = issue("manager", "reporting"), issue("manager", "deals")
    if request.param == "stdio over http":
        environment = {"TRANCHE_TOKEN": tokens[0], "TRANCHE_DEALS_TOKEN": tokens[1]}
        return lambda: over_stdio(demo_home, "--url", served, **environment)
    mode = "legacy" if "2025" in request.param else "auto"
    return lambda: over_http(served, *tokens, mode=mode)


def test_a_session_has_the_verbs_and_their_answers(connected: Connected, toolbox: Any) -> None:
    """Over each transport there are the same verbs, prompts and definitions, with the same answer."""

    async def session(client: Client) -> None:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == list(VERBS)
        assert all(tool.input_schema["type"] == "object" for tool in tools)
        answer = await client.call_tool("ask", QUESTION)
        assert not answer.is_error
        assert answer.structured_content == toolbox.call("ask", QUESTION).answer
        overlap = await client.call_tool("overlap", {"packages": [1, 3]})
        assert not overlap.is_error
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == list(GUIDES)
        prompt = await client.get_prompt("check_a_deal", {"deal": "Morning"})
        assert '{"deal":"Morning"}' in prompt.messages[0].content.text
        assert [resource.uri for resource in (await client.list_resources()).resources] == list(DEFINITIONS)
        uri = next(iter(DEFINITIONS))
        assert (await client.read_resource(uri)).contents[0].text == DEFINITIONS[uri].text

    within(connected(), session)


def test_what_is_wrong_is_a_sentence(connected: Connected) -> None:
    """A misspelled field, argument, verb or prompt is refused with the nearest name; the session goes on."""
    wrong = {
        "did you mean 'country'": ("ask", QUESTION | {"split": ["contry"]}),
        "did you mean 'split'": ("ask", QUESTION | {"spilt": ["country"]}),
        "did you mean 'demo/curation'": ("ask", QUESTION | {"slicer": "demo/curaton"}),
        "did you mean 'find_deals'": ("find_deal", {}),
        "limit may be at most 200": ("ask", QUESTION | {"limit": 10_000}),
        "There is no deal 999": ("deal_health", {"deals": [999]}),
    }

    async def session(client: Client) -> None:
        for near, (verb, arguments) in wrong.items():
            answer = await client.call_tool(verb, arguments)
            assert answer.is_error
            assert near in answer.structured_content["error"]
        with pytest.raises(MCPError, match="did you mean 'check_a_deal'"):
            await client.get_prompt("check_deal", {})
        with pytest.raises(MCPError, match="check_a_deal needs deal"):
            await client.get_prompt("check_a_deal", {})
        assert not (await client.call_tool("list_slicers", {})).is_error

    within(connected(), session)


def test_every_call_is_in_the_audit_log(connected: Connected, demo_settings: Settings) -> None:
    """A call is noted with its person, verb and arguments, also one that is refused."""
    audit = connect.installation(demo_settings).access.audit

    async def session(client: Client) -> None:
        await client.call_tool("find_deals", {"search": "noted"})
        await client.call_tool("ask", {"slicer": "demo/nothing", "fields": ["imps"]})

    within(connected(), session)
    _, (refused, answered) = audit.entries(2, events=("agent call",))
    assert answered.who == refused.who == "manager"
    assert 'find_deals {"search":"noted"}: answered' in answered.detail
    assert "demo/nothing" in refused.detail
    assert "refused: Unknown slicer" in refused.detail
