"""Response headers that confine a page to this server (Content Security Policy Level 3)."""

import base64
import hashlib
import re
from collections.abc import Iterable

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

INLINE = re.compile(r"<script>(.*?)</script>", re.DOTALL)
ANCESTORS = "frame-ancestors 'none'"
SOURCES = {
    "default-src": "'self'",
    "script-src": "'self' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "worker-src": "'self' blob:",
    "object-src": "'none'",
    "base-uri": "'none'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
}


class SecurityHeaders:
    """ASGI middleware: every answer says that a page of ours loads from, asks and is framed by nobody else.

    Streamlit makes the scripts of its components from blobs and its styles at run time, so that blobs are
    allowed as scripts, and inline styles. Neither `eval` nor inline scripts are, but for those of `scripts`
    (their hashes, as `inline_scripts` gives them). A page that brings a policy of its own keeps it, and may
    name who frames it.
    """

    def __init__(self, app: ASGIApp, scripts: Iterable[str] = ()) -> None:
        self._app = app
        self._headers = {
            "Content-Security-Policy": policy(scripts),
            "X-Frame-Options": "DENY",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "same-origin",
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)

        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                own = headers.get("Content-Security-Policy", ANCESTORS)
                for name, value in self._headers.items():
                    if name != "X-Frame-Options" or ANCESTORS in own or "frame-ancestors" not in own:
                        headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_policy)
        return None


def inline_scripts(html: str) -> list[str]:
    """The sources for `script-src` that allow just the inline scripts of this page: `'sha256-…'` each."""
    digests = (hashlib.sha256(script.encode()).digest() for script in INLINE.findall(html))
    return [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]


def policy(scripts: Iterable[str] = ()) -> str:
    """The content policy of a page with these inline scripts."""
    sources = SOURCES | {"script-src": " ".join([SOURCES["script-src"], *scripts])}
    return "; ".join(f"{kind} {values}" for kind, values in sources.items())
