"""A remote desk's `/mcp` over standard input and output: what comes is passed on, with the caller's tokens.

Verbs, permissions, throttles and the audit log are those of the remote desk.
"""

import asyncio
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server

from lib.agents.route import DEALS_HEADER, PATH
from lib.agents.server import NAME, TITLE, run_stdio

SECONDS = 120.0


def bridge(address: str, token: str, deals_token: str | None) -> None:
    """Serve the verbs of the desk at this address, until the input ends."""
    headers = {"Authorization": f"Bearer {token}"}
    if deals_token:
        headers[DEALS_HEADER] = deals_token
    asyncio.run(_serve(f"{address.rstrip('/')}{PATH}", headers))


async def _serve(url: str, headers: dict[str, str]) -> None:
    http = httpx2.AsyncClient(headers=headers, timeout=SECONDS)
    async with http, Client(streamable_http_client(url, http_client=http)) as remote:
        server: Server[Any] = Server(
            NAME,
            title=TITLE,
            instructions=remote.instructions,
            on_list_tools=lambda _, params: remote.list_tools(),
            on_call_tool=lambda _, params: remote.call_tool(params.name, params.arguments),
            on_list_prompts=lambda _, params: remote.list_prompts(),
            on_get_prompt=lambda _, params: remote.get_prompt(params.name, params.arguments),
            on_list_resources=lambda _, params: remote.list_resources(),
            on_read_resource=lambda _, params: remote.read_resource(params.uri),
        )
        await run_stdio(server)
