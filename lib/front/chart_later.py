"""Streamlit's module of charts, run once a browser has nothing else to do.

The module takes a browser half a second to run and, while it runs, nothing is drawn: figures that have long
arrived would wait for it. So its address answers with a module of ours that waits for an idle moment
(`requestIdleCallback`, https://www.w3.org/TR/requestidlecallback/) and then loads it by another address.
"""

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.front.streamlit_parts import CHART

WHOLE = "?whole"
LONGEST_MILLISECONDS, WITHOUT_MILLISECONDS = 1_000, 200
SCRIPT = """const soon = (done) => setTimeout(done, {without})
const idle = (done) => requestIdleCallback(done, {{ timeout: {longest} }})
await new Promise(globalThis.requestIdleCallback ? idle : soon)
const chart = (await import("./{name}{whole}")).default
export {{ chart as default }}
"""


class ChartLater:
    """ASGI middleware: puts the module that waits in front of that of charts; all else passes."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request, WebSocket or lifespan."""
        name = scope.get("path", "").rsplit("/", 1)[-1]
        if scope["type"] == "http" and CHART.fullmatch(name) and not scope["query_string"]:
            await _waiting(name)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


def addresses(module: str) -> tuple[str, ...]:
    """The addresses at which a module's file is loaded: a chart's at two."""
    return (module, module + WHOLE) if CHART.fullmatch(module) else (module,)


def _waiting(name: str) -> Response:
    script = SCRIPT.format(name=name, whole=WHOLE, longest=LONGEST_MILLISECONDS, without=WITHOUT_MILLISECONDS)
    return Response(script, media_type="text/javascript", headers={"Cache-Control": "no-cache"})
