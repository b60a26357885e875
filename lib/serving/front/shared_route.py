"""Routes for people without an account: share links, `/shared/NUMBER.SECRET`, and `/mail/stop`.

It needs no session and opens no socket: its key is in the address. Only a link that is limited to one address
sets a cookie, once the code that was mailed there is entered; a page of another site can't send it. A key
that is unknown, has ended or was revoked, and one whose owner lost what it shows, get the same page, 404. The
page may be kept by the browser that has it, which asks each time whether it still stands.

The page of a deal takes its form by `POST`, from whoever has the key: no page of another site has it, so
nothing has to be checked of where a form comes from.
"""

import asyncio
import hashlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Protocol

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.wire.apis import read_body
from lib.wire.errors import StoreUnwritable, Throttled, TrancheError
from lib.wire.fair import FairPool
from lib.wire.network import client_network
from lib.wire.problems import problem
from lib.wire.throttle import Tallies, Throttle, no_tally

PREFIX = "/shared/"
KEY = re.compile(r"([1-9][0-9]{0,17})\.([A-Za-z0-9_-]{32})")
A_MINUTE, THREADS, SHARE = 60, 4, 2
METHODS, WITH_FORM = ("GET", "HEAD"), ("GET", "HEAD", "POST")
FORMS_A_MINUTE, LARGEST_FORM, MOST_FIELDS = 20, 500_000, 2_500
Fields = Mapping[str, str | bytes]
"""The fields of a form: texts, and the content of a file."""
HEADERS = {
    "Cache-Control": "private, no-cache",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}
SEE_OTHER = 303
COOKIE, VISIT_SECONDS = "tranche_link_{}", 12 * 60 * 60
log = logging.getLogger(__name__)
PATH = "/mail/stop"
STOPS_A_MINUTE = 60
LONGEST_TOKEN = 100
STOP_HEADERS = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Robots-Tag": "noindex"}
NOTHING = "There is no such mail: it is stopped already, or the link is incomplete"


@dataclass(frozen=True)
class SharedPage:
    """A page as HTML, with its status and its content policy; 303 leads back to the same address.

    `visit` is the key of a visit that begins with it, empty for none.
    """

    html: str
    policy: str
    status: int = 200
    visit: str = ""


class SharedPages(Protocol):
    """Whatever makes the pages."""

    def page(self, number: int, secret: str, visit: str = "") -> SharedPage:
        """The page of this key, or the one that says that it does not work; `visit` is the browser's key."""

    def enter(self, number: int, secret: str, fields: Fields, visit: str = "") -> SharedPage | None:
        """What follows on the form of this key's page; None where it has none."""

    def dead_link(self) -> SharedPage:
        """The page that says that a link does not work."""

    def unwritable(self, error: StoreUnwritable) -> SharedPage:
        """The page that says that nothing can be stored now."""

    def unavailable(self) -> SharedPage:
        """The page that says that the figures could not be loaded."""


class SharedRoute:
    """ASGI middleware: answers everything below `/shared/`, `a_minute` times for each address.

    `tally` gives what the throttle of a name shares with those of other desks.
    """

    def __init__(
        self,
        app: ASGIApp,
        pages: SharedPages,
        a_minute: int = A_MINUTE,
        forms_a_minute: int = FORMS_A_MINUTE,
        tally: Tallies = no_tally,
    ) -> None:
        self._app, self._pages, self._pool = app, pages, FairPool(THREADS, SHARE, "shared")
        self._throttle = Throttle(a_minute, share=tally("opens"))
        self._forms = Throttle(forms_a_minute, share=tally("forms"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        answer = await self._answer(Request(scope, receive))
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method not in WITH_FORM:
            return _wrong_method()
        address = client_network(request.client.host if request.client else "")
        is_form = request.method == "POST"
        throttle = self._forms if is_form else self._throttle
        try:
            await asyncio.wrap_future(self._pool.submit(address, lambda: throttle.admit(address)))
        except Throttled as error:
            headers = {"Retry-After": str(error.retry_after)} | ({"Connection": "close"} if is_form else {})
            return PlainTextResponse(f"{error.reason}.", 429, HEADERS | headers)
        match = KEY.fullmatch(request.scope["path"].removeprefix(PREFIX))
        fields = await _fields(request) if is_form else None
        if isinstance(fields, Response):
            return fields
        if match is None:
            return _response(self._pages.dead_link(), request.headers.getlist("if-none-match"))
        number, secret = int(match[1]), match[2]
        visit = request.cookies.get(COOKIE.format(number), "")[:LONGEST_TOKEN]
        work = self._pool.submit(address, lambda: self._page(number, secret, fields, visit))
        page = await asyncio.wrap_future(work)
        if page is None:
            return _wrong_method()
        if page.status == SEE_OTHER:
            answer = Response(status_code=SEE_OTHER, headers=HEADERS | {"Location": match[0]})
            if page.visit:
                answer.set_cookie(
                    COOKIE.format(number), page.visit, VISIT_SECONDS, path=PREFIX, httponly=True,
                    secure=request.url.scheme == "https", samesite="strict",
                )  # fmt: skip
            return answer
        return _response(page, request.headers.getlist("if-none-match"))

    def _page(self, number: int, secret: str, fields: Fields | None, visit: str) -> SharedPage | None:
        try:
            if fields is not None:
                return self._pages.enter(number, secret, fields, visit)
            return self._pages.page(number, secret, visit)
        except StoreUnwritable as error:
            return self._pages.unwritable(error)
        except TrancheError as error:
            log.warning("Share link %d could not be opened: %s", number, error.reason)
        except Exception:
            log.exception("Share link %d could not be opened", number)
        return self._pages.unavailable()


async def _fields(request: Request) -> Fields | Response:
    """The fields of the form that is sent; an answer where it is too large, or none."""
    body = await read_body(request, LARGEST_FORM)
    if body is None:
        headers = HEADERS | {"Connection": "close"}
        return PlainTextResponse(f"A form may have {LARGEST_FORM:,} bytes at most.", 413, headers)
    messages: list[Message] = [{"type": "http.request", "body": body}]

    async def replay() -> Message:
        return messages.pop() if messages else {"type": "http.disconnect"}

    try:
        async with Request(request.scope, replay).form(
            max_files=1, max_fields=MOST_FIELDS, max_part_size=LARGEST_FORM
        ) as form:
            return {
                name: await value.read() if isinstance(value, UploadFile) else value
                for name, value in form.items()
            }
    except (MultiPartException, HTTPException):  # the latter where an application is in the scope
        return PlainTextResponse("The form can't be read.", 400, HEADERS)


def _wrong_method() -> Response:
    headers = {"Allow": ", ".join(METHODS), "Connection": "close"}
    return PlainTextResponse("A share link can only be opened", 405, HEADERS | headers)


def _response(page: SharedPage, etags: Sequence[str]) -> Response:
    """The page; nothing where the browser has it already (RFC 9110, 13.1.2)."""
    etag = f'"{hashlib.sha256(page.html.encode()).hexdigest()[:32]}"'
    headers = HEADERS | {"Content-Security-Policy": page.policy}
    if page.status != 200:
        return HTMLResponse(page.html, page.status, headers)
    headers |= {"ETag": etag}
    if any(etag in header for header in etags):
        return Response(status_code=304, headers=headers)
    return HTMLResponse(page.html, headers=headers)


class MailRoute:
    """ASGI middleware: answers `/mail/stop`, and nothing else. `stop` ends what a token is for, if it is."""

    def __init__(self, app: ASGIApp, stop: Callable[[str], bool], tally: Tallies = no_tally) -> None:
        self._app, self._stop = app, stop
        self._requests = Throttle(STOPS_A_MINUTE, share=tally("stops"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._answer(Request(scope, receive))
        except TrancheError as error:
            answer = problem(PATH, error)
        answer.headers.update(STOP_HEADERS)
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        address = client_network(request.client.host if request.client else "")
        await run_in_threadpool(self._requests.admit, address)
        token = request.query_params.get("token", "")[:LONGEST_TOKEN]
        if request.method in ("GET", "HEAD"):
            return _page("Stop this mail?", f'<form method="post" action="{PATH}?token={escape(token)}">'
                         "<button>Stop this mail</button></form>")  # fmt: skip
        if request.method != "POST":
            return Response(status_code=405, headers={"Allow": "GET, HEAD, POST", "Connection": "close"})
        is_stopped = await run_in_threadpool(self._stop, token)
        answer = _page("This mail is stopped" if is_stopped else NOTHING)
        answer.headers["Connection"] = "close"  # the body was not read
        return answer


def _page(title: str, more: str = "") -> Response:
    return HTMLResponse(
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
        'content="width=device-width"><meta name="color-scheme" content="light dark">'
        f"<title>{title}</title></head><body><h1>{title}</h1>{more}</body></html>"
    )
