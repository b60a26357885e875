"""The deals side of the stand-in: the four calls of the specification, in a dialect of its own.

Targeting elements of another shape, other numbers for types of fees, prices as text, fields that nobody
asked for, errors inside of a 200, HTML for what it does not know; no lists, no ETags, no idempotency keys.
"""

import json
from collections.abc import Callable
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from standin.book import SETTINGS, Body, Book, Wrong, change, package, shown, supply
from standin.state import State

__all__ = ["SETTINGS", "Book", "deals"]
PAGE = "<!DOCTYPE html><title>Not here</title><h1>There is no page of this name.</h1>"
Work = Callable[[Request, Body], tuple[int, Any]]


def deals(state: State) -> Starlette:
    """The application; `state.deals` becomes its book."""
    book = state.deals = state.deals or Book()

    def route(path: str, method: str, work: Work) -> Route:
        async def endpoint(request: Request) -> Response:
            return await _answered(state, book, request, work)

        return Route(path, endpoint, methods=[method])

    def read(request: Request, body: Body) -> tuple[int, Any]:
        return 200, shown(book, _deal(book, request))

    def changed(request: Request, body: Body) -> tuple[int, Any]:
        change(_deal(book, request), {name: body[name] for name in body if name not in book.forgets})
        return book.changed_code, None if book.changed_code == 204 else {"result": "saved"}

    at_deal = "/api/demand_deals/{id:int}/"
    app = Starlette(
        routes=[
            route("/api/supply_deals/", "POST", lambda request, body: (book.made_code, supply(book, body))),
            route("/api/packages/", "POST", lambda request, body: (book.made_code, package(book, body))),
            route(at_deal, "GET", read),
            route(at_deal, "PUT", changed),
        ],
        exception_handlers={404: _not_here, 405: _not_here},
    )
    app.router.redirect_slashes = False
    return app


async def _answered(state: State, book: Book, request: Request, work: Work) -> Response:
    text = await request.body()
    body = json.loads(text) if text else {}
    book.asked.append((request.method, request.url.path, body))
    if key := request.headers.get("idempotency-key"):
        book.keys.append(key)
    word, _, token = request.headers.get(book.header, "").rpartition(" ")
    if word != book.scheme or not state.accepts(token, "deals"):
        return _json(401, {"detail": "Authentication credentials were not provided."})
    try:
        code, answer = work(request, body)
    except Wrong as wrong:
        said = "; ".join(f"{name}: {text}" for name, text in wrong.fields.items())
        errors = {name: [text] for name, text in wrong.fields.items()}
        return _json(book.error_code, {"status": "error", "detail": said, "errors": errors})
    if request.method != "GET" and book.garbles:
        book.garbles -= 1
        return HTMLResponse("<h1>Thank you, your request is being processed.</h1>")
    return Response(status_code=204) if answer is None else _json(code, answer)


async def _not_here(request: Request, error: Exception) -> Response:
    code = error.status_code if isinstance(error, HTTPException) else 404
    return HTMLResponse(PAGE, code)


def _deal(book: Book, request: Request) -> Body:
    deal: Body | None = book.deals.get(request.path_params["id"])
    if deal is None:
        raise HTTPException(404)
    return deal


def _json(code: int, body: Any) -> Response:
    return Response(json.dumps(body), code, media_type="text/plain")
