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
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from lib.settings import Settings

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
    """Serve the verbs of the desk at this address until the input ends; both tokens are one person's."""
    from lib.agents.bridge import bridge

    bridge(address, token, deals_token)
