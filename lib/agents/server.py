"""The verbs, prompts and definitions as a server of the Model Context Protocol, by its official SDK.

Imported when the first agent comes: the SDK takes a second to load, and a desk without agents needs none.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from starlette.types import Receive, Scope, Send

from lib.agents.guides import DEFINITIONS, GUIDES, INSTRUCTIONS
from lib.agents.toolbox import VERBS, CallOutcome, Toolbox
from lib.wire.errors import TrancheError, UnknownName

Run = Callable[[Callable[[], CallOutcome]], Awaitable[CallOutcome]]
NAME, TITLE, TEXT = "tranche", "Tranche", "text/plain"
logging.getLogger("mcp").setLevel(logging.WARNING)


def server_of(toolbox: Toolbox, run: Run) -> Server[Any]:
    """The server of one caller; `run` runs a call away from the event loop."""

    async def call_tool(_: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        outcome = await run(partial(toolbox.call, params.name, params.arguments or {}))
        content: list[Any] = [types.TextContent(type="text", text=outcome.text)]
        return types.CallToolResult(
            content=content, structured_content=outcome.answer, is_error=outcome.is_error
        )

    return Server(
        NAME,
        title=TITLE,
        version=version("tranche"),
        instructions=INSTRUCTIONS,
        on_list_tools=_list_tools,
        on_call_tool=call_tool,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
        on_list_resources=_list_resources,
        on_read_resource=_read_resource,
    )


async def answer_request(
    server: Server[Any],
    allowed: dict[str, list[str]],
    most_bytes: int,
    scope: Scope,
    receive: Receive,
    send: Send,
) -> None:
    """Answer one HTTP request; nothing is kept for the next one, so that any desk can answer it.

    `allowed` are the hosts and origins that the protection against DNS rebinding takes.
    """
    manager = StreamableHTTPSessionManager(
        server,
        json_response=True,
        stateless=True,
        security_settings=TransportSecuritySettings(**allowed),
        max_request_body_size=most_bytes,
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)


def serve_stdio(toolbox: Toolbox) -> None:
    """Serve the verbs over standard input and output, until the input ends."""
    asyncio.run(run_stdio(server_of(toolbox, asyncio.to_thread)))


async def run_stdio(server: Server[Any]) -> None:
    """Serve over standard input and output, until the input ends."""
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


async def _list_tools(_: Any, params: Any) -> types.ListToolsResult:
    return types.ListToolsResult(
        tools=[
            types.Tool(
                name=verb.name,
                description=verb.about,
                input_schema=verb.schema,
                annotations=types.ToolAnnotations(
                    read_only_hint=verb.kind == "read", destructive_hint=False, open_world_hint=False
                ),
            )
            for verb in VERBS.values()
        ]
    )


async def _list_prompts(_: Any, params: Any) -> types.ListPromptsResult:
    return types.ListPromptsResult(
        prompts=[
            types.Prompt(
                name=guide.name,
                description=guide.about,
                arguments=[
                    types.PromptArgument(name=name, description=about, required=True)
                    for name, about in guide.arguments.items()
                ],
            )
            for guide in GUIDES.values()
        ]
    )


async def _get_prompt(_: Any, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    try:
        if params.name not in GUIDES:
            raise UnknownName("prompt", params.name, GUIDES)
        text = GUIDES[params.name].text(params.arguments or {})
    except TrancheError as error:
        raise MCPError(types.INVALID_PARAMS, error.reason) from None
    message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
    return types.GetPromptResult(description=GUIDES[params.name].about, messages=[message])


async def _list_resources(_: Any, params: Any) -> types.ListResourcesResult:
    return types.ListResourcesResult(
        resources=[
            types.Resource(uri=one.uri, name=one.name, description=one.about, mime_type=TEXT)
            for one in DEFINITIONS.values()
        ]
    )


async def _read_resource(_: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    if params.uri not in DEFINITIONS:
        raise MCPError(types.INVALID_PARAMS, UnknownName("resource", params.uri, DEFINITIONS).reason)
    one = DEFINITIONS[params.uri]
    contents: list[Any] = [types.TextResourceContents(uri=one.uri, mime_type=TEXT, text=one.text)]
    return types.ReadResourceResult(contents=contents)
