"""A remote desk's `/mcp` over standard input and output: what comes is passed on, with the caller's tokens.

Verbs, permissions, throttles and the audit log are those of the remote desk.
"""

import asyncio
from typing import Any

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from lib.agents.route import DEALS_HEADER, PATH
from lib.agents.server import NAME, TITLE

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
        server = _passing_on(remote)
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


def _passing_on(remote: Client) -> Server[Any]:
    async def list_tools(_: Any, params: Any) -> Any:
        return await remote.list_tools()

    async def call_tool(_: Any, params: Any) -> Any:
        return await remote.call_tool(params.name, params.arguments)

    async def list_prompts(_: Any, params: Any) -> Any:
        return await remote.list_prompts()

    async def get_prompt(_: Any, params: Any) -> Any:
        return await remote.get_prompt(params.name, params.arguments)

    async def list_resources(_: Any, params: Any) -> Any:
        return await remote.list_resources()

    async def read_resource(_: Any, params: Any) -> Any:
        return await remote.read_resource(params.uri)

    return Server(
        NAME,
        title=TITLE,
        instructions=remote.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )
