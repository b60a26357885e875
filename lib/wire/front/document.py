"""The desk's HTML document, with a script of our own (`desk.js`) before Streamlit's."""

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

FILE = "desk.js"
HEAD = b"<head>"
TAG = f'{HEAD.decode()}\n    <script src="./{FILE}"></script>'.encode()
SCRIPT = Path(__file__).with_name(FILE).read_text("utf-8")


class DocumentScript:
    """ASGI middleware: adds a script to every HTML document of the desk, and serves that script.

    Streamlit's client takes a screen's address (`/audience`) for a folder in which its server may be: it asks
    for `/audience/_stcore/health` first, and after a 404 for `/_stcore/health`. The script names the server
    before the client starts: it is where the script came from, also behind a proxy that adds a path. And it
    gives the buttons that Streamlit names alike the names of their pickers, for screen readers.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        if scope["type"] != "http" or scope["method"] != "GET":
            await self._app(scope, receive, send)
        elif scope["path"].endswith(f"/{FILE}"):
            await _script()(scope, receive, send)
        elif "text/html" in Headers(scope=scope).get("accept", ""):
            plain = {**scope, "headers": [*scope["headers"]]}
            del MutableHeaders(scope=plain)["accept-encoding"]
            await self._app(plain, receive, _Rewriting(send))
        else:
            await self._app(scope, receive, send)


class _Rewriting:
    """Sends an answer on; that of an HTML document whole, with the script's tag in its head."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message | None = None
        self._body = b""

    async def __call__(self, message: Message) -> None:
        """One message of the answer."""
        if message["type"] == "http.response.start" and _is_document(message):
            self._start = message
        elif self._start is None:
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._finish(self._start)

    async def _finish(self, start: Message) -> None:
        body = self._body.replace(HEAD, TAG, 1)
        MutableHeaders(raw=start["headers"])["content-length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def _is_document(start: Message) -> bool:
    kind = Headers(raw=start["headers"]).get("content-type", "")
    return start["status"] == 200 and kind.startswith("text/html")


def _script() -> Response:
    return Response(SCRIPT, media_type="text/javascript", headers={"Cache-Control": "no-cache"})
