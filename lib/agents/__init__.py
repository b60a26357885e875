"""What agents call. You may ignore what is behind these names; others import them from here.

    agent_route(app, settings)     `/mcp` in front of an application: the verbs over HTTP
    serve_person(username)         the verbs over standard input and output, as a person of this machine
    serve_remote(address, …)       those of the desk at an address, by its `/mcp`

Scripts have the Python client (`python_client/`) by its own name: `from tranche import Desk`. Each verb is a
question to its Desk, and each call is in the audit log. What is needed is imported with the first call: the
verbs and the protocol's SDK take two seconds, of which scripts, and desks without agents, spend nothing.

What comes from data (names, descriptions, notes) is only ever a value of a typed field of an answer: no
instruction, description or prompt of this package has any of it.
"""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from lib.settings import Settings

SECONDS = 120.0
__all__ = ["agent_route", "serve_person", "serve_remote"]


def agent_route(app: "ASGIApp", settings: "Settings") -> "ASGIApp":
    """ASGI middleware: answers `/mcp`, and nothing else."""
    from lib.agents.route import AgentRoute

    return AgentRoute(app, settings)


def serve_person(username: str) -> None:
    """Serve this person's verbs until the input ends.

    UnknownName without such a person, AccessError for one who may not sign in.
    """
    from lib.agents.python_client import Desk
    from lib.agents.server import run_stdio, server_of
    from lib.agents.toolbox import Toolbox
    from lib.serving import connect
    from lib.settings import Settings

    settings, name = Settings.load(), username.strip().lower()
    desk, audit = Desk.local(username, settings=settings), connect.installation(settings).access.audit
    toolbox = Toolbox(name, desk, lambda detail: audit.note("agent call", name, name, f"stdio, {detail}"))
    asyncio.run(run_stdio(server_of(toolbox, asyncio.to_thread)))


def serve_remote(address: str, token: str, deals_token: str | None = None) -> None:
    """Serve the verbs of the desk at this address until the input ends; both tokens are one person's.

    What comes is passed to its `/mcp`: verbs, permissions, throttles and the audit log are its own.
    """
    import httpx2
    from mcp.client.client import Client
    from mcp.client.streamable_http import streamable_http_client
    from mcp.server.lowlevel import Server

    from lib.agents.route import DEALS_HEADER, PATH
    from lib.agents.server import NAME, TITLE, run_stdio

    headers = {"Authorization": f"Bearer {token}"} | ({DEALS_HEADER: deals_token} if deals_token else {})

    async def serve() -> None:
        http = httpx2.AsyncClient(headers=headers, timeout=SECONDS)
        url = f"{address.rstrip('/')}{PATH}"
        async with http, Client(streamable_http_client(url, http_client=http)) as remote:
            server: Server[Any] = Server(
                NAME, title=TITLE, instructions=remote.instructions,
                on_list_tools=lambda _, params: remote.list_tools(),
                on_call_tool=lambda _, params: remote.call_tool(params.name, params.arguments),
                on_list_prompts=lambda _, params: remote.list_prompts(),
                on_get_prompt=lambda _, params: remote.get_prompt(params.name, params.arguments),
                on_list_resources=lambda _, params: remote.list_resources(),
                on_read_resource=lambda _, params: remote.read_resource(params.uri),
            )  # fmt: skip
            await run_stdio(server)

    asyncio.run(serve())
