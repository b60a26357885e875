"""The route that ends mails, `/mail/stop`: the only one of the desk without a person or a session.

Its token is signed, and ends one subscription. `GET` asks back in a page (links in mails are opened by
scanners too), `POST` ends it: from that page, or by a mail program's one click (RFC 8058, 3.1). A token
that is wrong has the answer of one that was used. Nothing of a request but its token is read.
"""

import logging
from collections.abc import Callable
from html import escape

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.wire.errors import TrancheError
from lib.wire.problems import problem
from lib.wire.throttle import Throttle

PATH, A_MINUTE, LONGEST_TOKEN = "/mail/stop", 60, 100
HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
STOPPED = "This mail is stopped"
NOTHING = "There is no such mail: it is stopped already, or the link is incomplete"
log = logging.getLogger(__name__)


class MailRoute:
    """ASGI middleware: answers `/mail/stop`, and nothing else. `stop` ends what a token is for, if it is."""

    def __init__(self, app: ASGIApp, stop: Callable[[str], bool]) -> None:
        self._app, self._stop = app, stop
        self._requests = Throttle(A_MINUTE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._answer(Request(scope, receive))
        except TrancheError as error:
            answer = problem(PATH, error)
        answer.headers.update(HEADERS)
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        self._requests.admit(request.client.host if request.client else "")
        token = request.query_params.get("token", "")[:LONGEST_TOKEN]
        if request.method in ("GET", "HEAD"):
            return _page("Stop this mail?", f'<form method="post" action="{PATH}?token={escape(token)}">'
                         "<button>Stop this mail</button></form>")  # fmt: skip
        if request.method != "POST":
            return Response(status_code=405, headers={"Allow": "GET, HEAD, POST", "Connection": "close"})
        is_stopped = await run_in_threadpool(self._stop, token)
        answer = _page(STOPPED if is_stopped else NOTHING)
        answer.headers["Connection"] = "close"  # the body was not read
        return answer


def _page(title: str, more: str = "") -> Response:
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{title}</title></head><body><h1>{title}</h1>{more}</body></html>"
    )
