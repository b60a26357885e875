"""The stand-in as one application, and served on a socket of this machine."""

import importlib.util
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from serving import serving
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from standin.reporting import reporting
from standin.state import State
from standin.tokens import tokens


@dataclass(frozen=True)
class Standin:
    """A stand-in that answers at `address`; what it does is in its state."""

    state: State
    address: str


def app(state: State) -> ASGIApp:
    """All its services by the beginnings of their paths; elsewhere there is a page for people."""
    services: dict[str, ASGIApp] = {"/API/": reporting(state), "/oauth2/": tokens(state)}
    if importlib.util.find_spec("standin.deals"):
        from standin.deals import deals

        services["/api/"] = deals(state)
    nothing = HTMLResponse("<!doctype html><title>404</title><h1>Not found</h1>", 404)

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        service = next((one for start, one in services.items() if path.startswith(start)), nothing)
        await service(scope, receive, send)

    return answer


@contextmanager
def served(state: State) -> Iterator[Standin]:
    """The stand-in on a free port, in a thread."""
    with serving(app(state), lifespan="off") as address:
        yield Standin(state, address)
