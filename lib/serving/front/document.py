"""The desk's HTML document, with a script and a style of our own, and with what to load early.

It names the modules of Streamlit's client that every screen needs, so that a browser loads them at once. By
itself the client loads the module of an element when the first such element arrives: after its own start, the
WebSocket and the script's first messages, and once more for what that module imports.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders, QueryParams
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.serving.front import streamlit_parts as parts
from lib.serving.front.streamlit_parts import MODULES

FILE = "desk.js"
TAG = f'\n    <script src="./{FILE}"></script>'.encode()
EARLY = b'\n    <script src="./desk.js" data-early></script>\n    <script type="module" src="./%s"></script>'
SCRIPT = "\n".join(Path(__file__).with_name(name).read_text("utf-8") for name in (FILE, "reconnect.js"))


class Preloads:
    """The tags for the head of a document (`rel="modulepreload"` of the HTML standard)."""

    def __init__(self, static: Path) -> None:
        """`static` is the folder of Streamlit's client, which has its document and its modules."""
        self._static, self._named = static, parts.page(static)
        links = (
            f'    <link rel="modulepreload" crossorigin fetchpriority="low" href="./{MODULES}/{module}">\n'
            for module in self._modules(parts.EVERYWHERE)
            if module not in self._named
        )
        self.tags = "".join(links).encode()

    def _modules(self, names: Iterable[str]) -> list[str]:
        """The files of these modules, and of all that they import, in the order in which they are met."""
        modules = {path.name: None for name in names for path in parts.modules(self._static, name)}
        waiting = list(modules)
        while waiting:
            imports = parts.imports(self._static / MODULES / waiting.pop(0))
            more = [module for module in imports if module not in modules]
            modules |= dict.fromkeys(more)
            waiting += dict.fromkeys(more)
        return list(modules)


class DeskDocument:
    """ASGI middleware: adds a script, a style and preloads to every screen's HTML document.

    Streamlit's client takes a screen's address (`/audience`) for a folder in which its server may be: it asks
    for `/audience/_stcore/health` first, and after a 404 for `/_stcore/health`. The script names the server
    before the client starts: it is where the script came from, also behind a proxy that adds a path. And it
    gives the buttons that Streamlit names alike the names of their pickers, for screen readers. The style
    comes last, because rules of the same weight hold over those of Streamlit's client, which are in the head.
    Beside the document are `modules` of our own, by their names; whoever asks for one names its version.
    `figures` are the modules that draw a screen's figures, each with its version: a link to such a screen
    asks for them, and they are drawn, before Streamlit's client runs.
    """

    def __init__(
        self,
        app: ASGIApp,
        preloads: Preloads | None = None,
        style: str = "",
        modules: Mapping[str, str] | None = None,
        figures: Mapping[str, str] | None = None,
    ) -> None:
        self._app, self._modules, self._figures = app, modules or {}, figures or {}
        tags = preloads.tags if preloads is not None else b""
        self._additions = TAG, tags, f"<style>\n{style}</style>\n".encode() if style else b""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
        elif scope["path"].endswith(f"/{FILE}"):
            await _module(SCRIPT, b"")(scope, receive, send)
        elif (module := self._modules.get(scope["path"].rsplit("/", 1)[-1])) is not None:
            await _module(module, scope["query_string"])(scope, receive, send)
        elif "text/html" in Headers(scope=scope).get("accept", ""):
            plain = {**scope, "headers": [*scope["headers"]]}
            del MutableHeaders(scope=plain)["accept-encoding"]
            await self._app(plain, receive, _Rewriter(send, self._early(scope), *self._additions))
        else:
            await self._app(scope, receive, send)

    def _early(self, scope: Scope) -> bytes:
        """The tags at the begin of a head whose document asks for its figures at once; else empty."""
        module = self._figures.get(scope["path"].rsplit("/", 1)[-1])
        params = QueryParams(scope["query_string"])
        is_link = bool(params.get("project") and params.get("slicer"))
        return EARLY % module.encode() if module is not None and is_link else b""


class _Rewriter:
    """Sends an answer on; that of an HTML document whole, with `additions` inserted."""

    def __init__(self, send: Send, early: bytes, *additions: bytes) -> None:
        self._send, self._early, self._additions = send, early, additions
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            kind = Headers(raw=message["headers"]).get("content-type", "")
            if message["status"] == 200 and kind.startswith("text/html"):
                self._start = message
                return
        if self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                body = parts.insert(self._body, *self._additions)
                if self._early and (page := parts.defer_scripts(body)) is not None:
                    body = page.replace(TAG, self._early, 1)
                MutableHeaders(raw=self._start["headers"])["content-length"] = str(len(body))
                await self._send(self._start)
                await self._send({"type": "http.response.body", "body": body})


def _module(text: str, version: bytes) -> Response:
    """A module; asked for by its version it stays as it is."""
    stays = "public, max-age=31536000, immutable" if version else "no-cache"
    return Response(text, media_type="text/javascript", headers={"Cache-Control": stays})
