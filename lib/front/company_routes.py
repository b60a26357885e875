"""Streamlit's routes of a company sign-in: leads back to where it began, and says on the desk what failed.

Of a sign-in that failed Streamlit shows the first page, or a bare "Authentication error"; it forgets the page
on which somebody began; its cookies last 30 days, and over https have no `Secure`.
"""

from collections.abc import Sequence
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.front.hosts import LOOPBACK_NAMES
from lib.front.streamlit_parts import CALLBACK, IDENTITY, LOGIN

OUTCOME = "sign_in"
DENIED, UNREACHABLE, FAILED = "denied", "unreachable", "failed"
RETURN, RETURN_SECONDS, LONGEST_RETURN = "tranche_return", 600, 2000
FOUND = 302


class CompanyRoutes:
    """ASGI middleware around the two routes of the sign-in; other requests pass.

    `address` is the desk's scheme and host at the provider, `seconds` how long the browser keeps Streamlit's
    cookies.
    """

    def __init__(self, app: ASGIApp, address: str, seconds: float) -> None:
        self._app, self._address = app, address
        self._attributes = f"Max-Age={int(seconds)}{'; Secure' if address.startswith('https:') else ''}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        if scope["type"] != "http" or scope["path"] not in (LOGIN, CALLBACK):
            await self._app(scope, receive, send)
        elif scope["path"] == LOGIN and (near := self._same_machine(scope)):
            await RedirectResponse(near, FOUND)(scope, receive, send)
        else:
            await self._app(scope, receive, _Leading(self, scope, send))

    def _same_machine(self, scope: Scope) -> str:
        """Where to begin instead, if this is localhost and the provider knows 127.0.0.1, or the reverse.

        The provider leads back to its own name for the desk, where the cookie of this one would be missing.
        """
        host, known = urlsplit(f"//{Headers(scope=scope).get('host', '')}"), urlsplit(self._address)
        names = {host.hostname, known.hostname}
        if len(names) == 1 or not names <= LOOPBACK_NAMES:
            return ""
        return f"{self._address}{LOGIN}?{scope['query_string'].decode('latin-1')}"

    def lead(self, scope: Scope, start: Message) -> None:
        """Change the start of an answer."""
        headers = MutableHeaders(raw=start["headers"])
        if scope["path"] == LOGIN:
            if start["status"] >= 400:
                _to(start, headers, _outcome_text(UNREACHABLE))
            else:
                headers.append("set-cookie", _return(begun_at(scope)))
        elif self._has_signed_in(start["headers"]):
            _to(start, headers, returned_to(scope))
            headers.append("set-cookie", _return(""))
        elif outcome := _outcome(scope):
            _to(start, headers, _outcome_text(outcome))

    def _has_signed_in(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether the answer sets the cookies of who signed in; they then last as long as a session."""
        is_set = False
        for place, (name, value) in enumerate(headers):
            text = value.decode("latin-1")
            if name.lower() == b"set-cookie" and text.startswith(IDENTITY) and "Max-Age=0" not in text:
                parts = [part for part in text.split("; ") if not part.startswith("Max-Age=")]
                headers[place] = (name, "; ".join([*parts, self._attributes]).encode("latin-1"))
                is_set = True
        return is_set


class _Leading:
    """Sends an answer on with its start changed, and without the body that it had."""

    def __init__(self, routes: CompanyRoutes, scope: Scope, send: Send) -> None:
        self._routes, self._scope, self._send = routes, scope, send

    async def __call__(self, message: Message) -> None:
        """One message of the answer."""
        if message["type"] == "http.response.start":
            self._routes.lead(self._scope, message)
            MutableHeaders(raw=message["headers"])["content-length"] = "0"
            await self._send(message)
        elif not message.get("more_body", False):
            await self._send({"type": "http.response.body", "body": b""})


def begun_at(scope: Scope) -> str:
    """The path and query of the page that began the sign-in; empty if it is not of this desk, or too long."""
    headers = Headers(scope=scope)
    try:
        page = urlsplit(headers.get("referer", ""))
    except ValueError:
        return ""
    path = f"{page.path}?{page.query}" if page.query else page.path
    is_ours = page.netloc == headers.get("host") and _is_path(path)
    return path if is_ours and f"{OUTCOME}=" not in page.query else ""


def returned_to(scope: Scope) -> str:
    """The path that the cookie of this request names, or the first page."""
    try:
        found = SimpleCookie(Headers(scope=scope).get("cookie", "")).get(RETURN)
    except CookieError:
        found = None
    return found.value if found is not None and _is_path(found.value) else "/"


def _is_path(text: str) -> bool:
    """Whether this leads to this server, and can be in a cookie: one slash first, no `\\`, `;` or quotes."""
    is_plain = text.isascii() and text.isprintable() and not set(text) & set("\\;\"', ")
    return is_plain and text.startswith("/") and not text.startswith("//") and len(text) <= LONGEST_RETURN


def _return(path: str) -> str:
    seconds = RETURN_SECONDS if path else 0
    return f"{RETURN}={path}; Max-Age={seconds}; Path={CALLBACK}; HttpOnly; SameSite=Lax"


def _outcome(scope: Scope) -> str:
    """Why nobody is signed in; empty where the provider only leads back from a sign-out."""
    asked = parse_qs(scope["query_string"].decode("latin-1"))
    if _first(asked.get("error")):
        return DENIED if _first(asked.get("error")) == "access_denied" else FAILED
    return FAILED if "code" in asked else ""


def _first(values: Sequence[str] | None) -> str:
    return values[0] if values else ""


def _outcome_text(outcome: str) -> str:
    return f"/?{OUTCOME}={outcome}"


def _to(start: Message, headers: MutableHeaders, address: str) -> None:
    start["status"] = FOUND
    headers["location"] = address
