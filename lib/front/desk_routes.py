"""Restricts Streamlit's routes to those that the desk's own pages use."""

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.front import streamlit_parts as parts
from lib.front.streamlit_parts import CALLBACK, LOGIN, LOGOUT, SOCKET

CLOSED = (parts.CORE, parts.FRAMES, parts.APP_FILES)
OPEN = (parts.HEALTH, parts.HOST_CONFIG, parts.COMPONENTS)
METHODS = ("GET", "HEAD")
POLICY_VIOLATION = 1008
CLOSE = {"Connection": "close"}
COMPANY = (LOGIN, CALLBACK, LOGOUT)


class DeskRoutes:
    """ASGI middleware: allows GET and HEAD, and the one WebSocket of the desk; refuses everything else.

    No screen uploads a file over HTTP (a CSV of deals is read in the browser, and sent as a short text over
    the WebSocket), and Streamlit would keep what anybody sends to `/_stcore/upload_file/` in memory. So a
    request with another method is answered before any of its body is read, and its connection is closed.
    Routes of Streamlit that no screen needs (its metrics, its API for programs, files of an app and of
    components in frames) are not there; those of a company sign-in are there if the desk has one. Those that
    are open without a sign-in have no data: Streamlit's client, its components, and whether it is well.
    """

    def __init__(self, app: ASGIApp, has_company: bool = False) -> None:
        self._app, self._has_company = app, has_company

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        if scope["type"] == "websocket" and scope["path"] != SOCKET:
            await receive()
            await send({"type": "websocket.close", "code": POLICY_VIOLATION})
        elif scope["type"] == "http" and (refusal := self._refusal(scope["method"], scope["path"])):
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, method: str, path: str) -> PlainTextResponse | None:
        """The response to a request that is not allowed; None if it is."""
        if method not in METHODS:
            headers = {"Allow": ", ".join(METHODS), **CLOSE}
            return PlainTextResponse("Uploads and forms are not accepted", 405, headers)
        is_closed = path.startswith(CLOSED) and not path.startswith(OPEN)
        if is_closed or (path in COMPANY and not self._has_company):
            return PlainTextResponse("There is nothing here", 404, CLOSE)
        return None
