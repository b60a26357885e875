"""The OpenAPI documents: the whole of `/openapi.json`, and one for each API beside it."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from lib.wire.schemas import Schema

PREFIX = "/openapi/"
TOKENS = "/oauth2/"  # both APIs need a token: how to get one is in both documents
APIS = {"reporting": "/API/", "deals": "/api/"}


def add_documents(app: FastAPI) -> None:
    """Let the application answer `/openapi/reporting.json` and `/openapi/deals.json`."""
    for name in APIS:
        path = f"{PREFIX}{name}.json"
        app.add_api_route(path, _answering(app, name), include_in_schema=False)


def of_api(whole: Schema, name: str) -> Schema:
    """The document of one API, from that of the whole application."""
    paths = {path: found for path, found in whole["paths"].items() if path.startswith((APIS[name], TOKENS))}
    info = whole["info"] | {"title": f"{whole['info']['title']}: {name} API"}
    document = whole | {"info": info, "paths": paths}
    if not any("security" in operation for path in paths.values() for operation in path.values()):
        document = {part: found for part, found in document.items() if part != "components"}
    return document


def _answering(app: FastAPI, name: str) -> Callable[[Request], Awaitable[JSONResponse]]:
    async def answer(request: Request) -> JSONResponse:
        return JSONResponse(of_api(app.openapi(), name))

    return answer
