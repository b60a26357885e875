"""The route of share links, `GET /shared/NUMBER.SECRET`: a page for people without an account.

It needs no session, sets no cookie and opens no socket: its key is in the address. A key that is unknown, has
ended or was revoked, and one whose owner lost what it shows, get the same page, 404. The page may be kept by
the browser that has it, which asks each time whether it still stands.
"""

import asyncio
import hashlib
import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.wire.errors import Throttled, TrancheError
from lib.wire.fair import FairPool
from lib.wire.throttle import Throttle

PREFIX = "/shared/"
KEY = re.compile(r"([1-9][0-9]{0,17})\.([A-Za-z0-9_-]{32})")
A_MINUTE, THREADS, SHARE = 60, 4, 2
METHODS = ("GET", "HEAD")
HEADERS = {
    "Cache-Control": "private, no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class SharedPage:
    """A page as HTML, with its status and its content policy."""

    html: str
    policy: str
    status: int = 200


class SharedPages(Protocol):
    """Whatever makes the pages."""

    def page(self, number: int, secret: str) -> SharedPage:
        """The page of this key, or the one that says that it does not work."""

    def closed(self) -> SharedPage:
        """The page that says that a link does not work."""

    def failed(self) -> SharedPage:
        """The page that says that the figures could not be loaded."""


class SharedRoute:
    """ASGI middleware: answers everything below `/shared/`, `a_minute` times for each address."""

    def __init__(self, app: ASGIApp, pages: SharedPages, a_minute: int = A_MINUTE) -> None:
        self._app, self._pages = app, pages
        self._pool, self._throttle = FairPool(THREADS, SHARE, "shared"), Throttle(a_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        await (await self._answer(Request(scope)))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method not in METHODS:
            headers = {"Allow": ", ".join(METHODS), "Connection": "close"}
            return PlainTextResponse("A share link can only be opened", 405, HEADERS | headers)
        address = request.client.host if request.client else ""
        try:
            self._throttle.admit(address)
        except Throttled as error:
            headers = {"Retry-After": str(error.retry_after)}
            return PlainTextResponse(f"{error.reason}.", 429, HEADERS | headers)
        match = KEY.fullmatch(request.scope["path"].removeprefix(PREFIX))
        if match is None:
            return _response(self._pages.closed(), request.headers.getlist("if-none-match"))
        number, secret = int(match[1]), match[2]
        work = self._pool.submit(address, lambda: self._page(number, secret))
        return _response(await asyncio.wrap_future(work), request.headers.getlist("if-none-match"))

    def _page(self, number: int, secret: str) -> SharedPage:
        try:
            return self._pages.page(number, secret)
        except TrancheError as error:
            log.warning("Share link %d could not be opened: %s", number, error.reason)
        except Exception:
            log.exception("Share link %d could not be opened", number)
        return self._pages.failed()


def _response(page: SharedPage, etags: Sequence[str]) -> Response:
    """The page; nothing where the browser has it already (RFC 9110, 13.1.2)."""
    etag = f'"{hashlib.sha256(page.html.encode()).hexdigest()[:32]}"'
    headers = HEADERS | {"Content-Security-Policy": page.policy}
    if page.status != 200:
        return HTMLResponse(page.html, page.status, headers)
    headers |= {"ETag": etag}
    if any(etag in one for one in etags):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(page.html, headers=headers)
