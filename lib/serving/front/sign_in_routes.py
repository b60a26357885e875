"""The routes of sign-in: those that set and delete its cookies, those to a company's provider, and media.

A sign-in happens in a page, over its WebSocket, which can set no cookie. So the page gets a code and sends it
here; the answer has the cookies, which no script can read (RFC 6265, HttpOnly and SameSite).

Of a company sign-in that failed Streamlit shows the first page, or a bare "Authentication error"; it forgets
the page on which somebody began; its cookies last 30 days, and over https have no `Secure`. `CompanyRoutes`
leads back to where it began, and says on the desk what failed.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from http.cookies import CookieError, SimpleCookie
from typing import Protocol, TypeVar
from urllib.parse import parse_qs, urlsplit

from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.serving.front.hosts import LOOPBACK_NAMES, is_from_own_page
from lib.serving.front.streamlit_parts import CALLBACK, HOST_CONFIG, IDENTITY, LOGIN, LOGOUT, MEDIA
from lib.wire.apis import read_body
from lib.wire.errors import TrancheError
from lib.wire.problems import problem

SESSION = "/auth/session"
LONGEST_CODE = 2000
BROWSER_HEADER, ADDRESS_HEADER = "x-tranche-browser", "x-tranche-address"
Answer = TypeVar("Answer")
ToSet = Mapping[str, tuple[str, float]]
"""Cookies to set: name → value, and the seconds that the browser keeps it."""
OUTCOME = "sign_in"
DENIAL, UNREACHABLE, FAILURE = "denied", "unreachable", "failed"
RETURN = "tranche_return"
REDIRECT = 302


class SignInCookies(Protocol):
    """What the cookies of a sign-in are; each takes the `Cookie` header of a request."""

    def new_browser(self, header: str) -> ToSet:
        """The cookie of a browser that has none."""

    def browser_number(self, header: str) -> str:
        """The number of the browser; empty without its cookie."""

    def exchange(self, header: str, code: str) -> ToSet | None:
        """The cookies for a code; None for one that is worth nothing."""

    def forget(self, header: str) -> ToSet:
        """The cookies to delete after a sign-out."""


class SignInRoutes:
    """ASGI middleware: `POST /auth/session` sets the session cookie, `POST /auth/logout` deletes it.

    Both are for the desk's own pages. A browser gets its own cookie with what Streamlit's client asks for
    before each WebSocket. `may_read(file, cookies)` says who gets a file of `/media/`; for others it is not
    there. `origins` are the addresses of the desk besides the host that is asked.

    Streamlit resumes a session for whoever knows its identifier, which scripts can read, and has the same
    user headers. So a handshake names its browser in `BROWSER_HEADER` (`server.trustedUserHeaders`). The
    address is in `ADDRESS_HEADER`: Streamlit has none for this machine's own, `127.0.0.1` or `::1`.
    """

    def __init__(
        self,
        app: ASGIApp,
        cookies: SignInCookies,
        may_read: Callable[[str, str], bool],
        origins: Collection[str] = (),
    ) -> None:
        self._app, self._cookies, self._may_read, self._origins = app, cookies, may_read, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"] if scope["type"] == "http" else ""
        if scope["type"] == "websocket":
            # The handshake with the browser's number and address in our headers, whatever it brought there.
            handshake = {**scope, "headers": [*scope["headers"]]}
            headers = MutableHeaders(scope=handshake)
            headers[BROWSER_HEADER] = self._cookies.browser_number(_cookie(scope))
            headers[ADDRESS_HEADER] = (scope.get("client") or ("",))[0]
            await self._app(handshake, receive, send)
        elif path in (SESSION, LOGOUT):
            answer = await _answer_or_away(path, self._change_cookie(Request(scope, receive)))
            await answer(scope, receive, send)
        elif path == HOST_CONFIG:
            to_set = self._cookies.new_browser(_cookie(scope))

            async def set_cookies(message: Message) -> None:
                if to_set and message["type"] == "http.response.start":
                    headers = MutableHeaders(scope=message)
                    headers["Cache-Control"] = "no-store"
                    for text in self._lines(scope, to_set):
                        headers.append("set-cookie", text)
                await send(message)

            await self._app(scope, receive, set_cookies)
        elif path.startswith(MEDIA):
            refusal = await _answer_or_away(path, self._media_refusal(scope))
            await (refusal or self._app)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _media_refusal(self, scope: Scope) -> Response | None:
        file = scope["path"].removeprefix(MEDIA).partition(".")[0]
        if await run_in_threadpool(self._may_read, file, _cookie(scope)):
            return None
        return PlainTextResponse("There is nothing here", 404)

    async def _change_cookie(self, request: Request) -> Response:
        if request.method != "POST":
            return PlainTextResponse("Send a POST from a page of the desk", 405, {"Allow": "POST"})
        if not is_from_own_page(request.scope, self._origins):
            return PlainTextResponse("Only a page of the desk may send this", 403)
        header = _cookie(request.scope)
        if request.scope["path"] == SESSION:
            code = await read_body(request, LONGEST_CODE) or b""
            to_set = await run_in_threadpool(self._cookies.exchange, header, code.decode("latin-1"))
            if to_set is None:
                return PlainTextResponse("This code is not valid (any more) in this browser", 403)
            answer = Response(status_code=204)
        else:
            to_set = self._cookies.forget(header)
            answer = await self._company_sign_out(request)
        for text in self._lines(request.scope, to_set):
            answer.headers.append("set-cookie", text)
        answer.headers["Cache-Control"] = "no-store"
        return answer

    async def _company_sign_out(self, request: Request) -> Response:
        """What Streamlit answers to the sign-out of a company account, as a place for the page to go to.

        Its redirect would be followed by a form, to which the content policy closes other sites.
        """
        if IDENTITY not in request.cookies:
            return JSONResponse({"location": None})
        start: Message = {}

        async def read(message: Message) -> None:
            start.update(message if message["type"] == "http.response.start" else {})

        await self._app({**request.scope, "method": "GET"}, request.receive, read)
        headers = Headers(raw=start["headers"])
        answer = JSONResponse({"location": headers.get("location")})
        for text in headers.getlist("set-cookie"):
            answer.headers.append("set-cookie", text)
        return answer

    def _lines(self, scope: Scope, to_set: ToSet) -> list[str]:
        attributes = "Path=/; HttpOnly; SameSite=Strict"
        if is_https(scope, self._origins):
            attributes += "; Secure"
        return [
            f"{name}={value}; Max-Age={int(seconds)}; {attributes}"
            for name, (value, seconds) in to_set.items()
        ]


def is_https(scope: Scope, origins: Collection[str]) -> bool:
    """Whether the browser speaks TLS: to this server, or to a proxy in front of it.

    As the scheme says (a trusted proxy names it), the origin of its own page, or the desk's address with
    this host.
    """
    headers = Headers(scope=scope)
    if scope["scheme"] == "https" or headers.get("origin", "").startswith("https://"):
        return True
    return any(
        origin.startswith("https://") and urlsplit(origin).netloc == headers.get("host") for origin in origins
    )


def _cookie(scope: Scope) -> str:
    return "; ".join(Headers(scope=scope).getlist("cookie"))


async def _answer_or_away(path: str, answer: Awaitable[Answer]) -> Answer | Response:
    """The answer, or that of a database that is away."""
    try:
        return await answer
    except TrancheError as error:
        return problem(path, error)


class CompanyRoutes:
    """ASGI middleware around the two routes of the sign-in; other requests pass.

    `address` is the desk's scheme and host at the provider, `seconds` how long the browser keeps Streamlit's
    cookies.
    """

    def __init__(self, app: ASGIApp, address: str, seconds: float) -> None:
        self._app, self._address = app, address
        self._attributes = f"Max-Age={int(seconds)}{'; Secure' if address.startswith('https:') else ''}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in (LOGIN, CALLBACK):
            await self._app(scope, receive, send)
        elif scope["path"] == LOGIN and (url := self._same_machine(scope)):
            await RedirectResponse(url, REDIRECT)(scope, receive, send)
        else:

            async def send_start(message: Message) -> None:
                """Send the answer on with its start changed, and without the body that it had."""
                if message["type"] == "http.response.start":
                    self._lead(scope, message)
                    MutableHeaders(raw=message["headers"])["content-length"] = "0"
                    await send(message)
                elif not message.get("more_body", False):
                    await send({"type": "http.response.body", "body": b""})

            await self._app(scope, receive, send_start)

    def _same_machine(self, scope: Scope) -> str:
        """Where to begin instead, if this is localhost and the provider knows 127.0.0.1, or the reverse.

        The provider leads back to its own name for the desk, where the cookie of this one would be missing.
        """
        host, own_url = urlsplit(f"//{Headers(scope=scope).get('host', '')}"), urlsplit(self._address)
        names = {host.hostname, own_url.hostname}
        if len(names) == 1 or not names <= LOOPBACK_NAMES:
            return ""
        return f"{self._address}{LOGIN}?{scope['query_string'].decode('latin-1')}"

    def _lead(self, scope: Scope, start: Message) -> None:
        headers = MutableHeaders(raw=start["headers"])
        if scope["path"] == LOGIN:
            if start["status"] >= 400:
                _to(start, headers, _outcome_text(UNREACHABLE))
            else:
                headers.append("set-cookie", _return(start_path(scope)))
        elif self._has_signed_in(start["headers"]):
            _to(start, headers, return_path(scope))
            headers.append("set-cookie", _return(""))
        else:
            # Why nobody is signed in; nothing where the provider only leads back from a sign-out.
            params = parse_qs(scope["query_string"].decode("latin-1"))
            error = params.get("error", [""])[0]
            if error or "code" in params:
                _to(start, headers, _outcome_text(DENIAL if error == "access_denied" else FAILURE))

    def _has_signed_in(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether the answer sets the cookies of who signed in; they then last as long as a session."""
        is_set = False
        for index, (name, value) in enumerate(headers):
            text = value.decode("latin-1")
            if name.lower() == b"set-cookie" and text.startswith(IDENTITY) and "Max-Age=0" not in text:
                parts = [part for part in text.split("; ") if not part.startswith("Max-Age=")]
                headers[index] = (name, "; ".join([*parts, self._attributes]).encode("latin-1"))
                is_set = True
        return is_set


def start_path(scope: Scope) -> str:
    """The path and query of the page that began the sign-in; empty if it is not of this desk, or too long."""
    headers = Headers(scope=scope)
    try:
        page = urlsplit(headers.get("referer", ""))
    except ValueError:
        return ""
    path = f"{page.path}?{page.query}" if page.query else page.path
    is_ours = page.netloc == headers.get("host") and _is_path(path)
    return path if is_ours and f"{OUTCOME}=" not in page.query else ""


def return_path(scope: Scope) -> str:
    """The path that the cookie of this request names, or the first page."""
    try:
        cookie = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(RETURN)
    except CookieError:
        cookie = None
    return cookie.value if cookie is not None and _is_path(cookie.value) else "/"


LONGEST_RETURN = 2000


def _is_path(text: str) -> bool:
    """Whether this leads to this server, and can be in a cookie: one slash first, no `\\`, `;` or quotes."""
    is_plain = text.isascii() and text.isprintable() and not set(text) & set("\\;\"', ")
    return is_plain and text.startswith("/") and not text.startswith("//") and len(text) <= LONGEST_RETURN


RETURN_SECONDS = 600


def _return(path: str) -> str:
    seconds = RETURN_SECONDS if path else 0
    return f"{RETURN}={path}; Max-Age={seconds}; Path={CALLBACK}; HttpOnly; SameSite=Lax"


def _outcome_text(outcome: str) -> str:
    return f"/?{OUTCOME}={outcome}"


def _to(start: Message, headers: MutableHeaders, address: str) -> None:
    start["status"] = REDIRECT
    headers["location"] = address
