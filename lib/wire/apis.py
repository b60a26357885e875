"""The APIs as one ASGI application, mounted in front of the desk, and their OpenAPI documents."""

import json
import re
from collections.abc import Awaitable, Callable, Iterable
from functools import cache
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.openapi.docs import get_swagger_ui_html
from fastapi.responses import HTMLResponse, JSONResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lib.wire.policy import inline_scripts, policy
from lib.wire.problems import answer_problems
from lib.wire.schemas import Schema

APIS = {"reporting": "/API/", "deals": "/api/"}
TITLE = "Tranche"
ASSETS = "/docs/assets"
TOKENS = "/oauth2/"


@cache
def _document(name: str) -> Callable[[Request], Awaitable[JSONResponse]]:
    # FastAPI keeps each handler for ever, so none may hold an application.
    async def answer(request: Request) -> JSONResponse:
        whole: Schema = request.app.openapi()
        # Both APIs need a token: how to get one is in both documents.
        prefixes = (APIS[name], TOKENS)
        paths = {path: operations for path, operations in whole["paths"].items() if path.startswith(prefixes)}
        info = whole["info"] | {"title": f"{whole['info']['title']}: {name} API"}
        components, names = whole["components"], _references(paths)
        while deeper := set().union(*(_references(components["schemas"][part]) for part in names)) - names:
            names |= deeper
        schemas = {part: schema for part, schema in components["schemas"].items() if part in names}
        document = whole | {"info": info, "paths": paths, "components": components | {"schemas": schemas}}
        if not any("security" in operation for path in paths.values() for operation in path.values()):
            del document["components"]["securitySchemes"]
        return JSONResponse(document)

    return answer


def _references(part: Schema) -> set[str]:
    """The names of the components that a part of the document refers to."""
    return set(re.findall(r'"#/components/schemas/([^"]+)"', json.dumps(part)))


def api(
    routers: Iterable[APIRouter],
    max_body_bytes: int,
    around: Callable[[ASGIApp], ASGIApp] = lambda app: app,
    **state: object,
) -> FastAPI:
    """The APIs of these routers as one application, with `/docs`, `/openapi.json` and a document per API.

    Errors of the framework come in the words of the API whose path was asked (problems.py); a body over
    `max_body_bytes` is refused while it arrives. A path with a slash too many is unknown: a redirect has no
    `status`, and clients drop the body. It has no lifespan: what it needs is opened before. `around` wraps
    the whole application. Applications share routers: what answers for one is in its `state`, where handlers
    look (`request.app.state`), since FastAPI keeps each handler for ever.
    """
    app = _WrappedApp(
        around, title=TITLE, docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        redirect_slashes=False,
    )  # fmt: skip
    for name, part in state.items():
        setattr(app.state, name, part)
    for router in routers:
        # Not included, which would look through the parameters of all handlers anew for each application.
        app.router.routes.extend(router.routes)
    app.add_middleware(BodyLimit, max_bytes=max_body_bytes)
    app.add_middleware(TrailingSlash)
    app.add_middleware(HeadRequests)
    answer_problems(app)
    for name in APIS:
        app.add_api_route(f"/openapi/{name}.json", _document(name), include_in_schema=False)
    app.mount(ASSETS, StaticFiles(packages=[("fastapi_swagger", "resources")]))
    app.add_api_route("/docs", _documentation, include_in_schema=False, response_class=HTMLResponse)
    return app


class _WrappedApp(FastAPI):
    """An application inside of another one, which sees answers to unforeseen failures too."""

    def __init__(self, around: Callable[[ASGIApp], ASGIApp], **options: Any) -> None:
        super().__init__(**options)
        self._around = around

    def openapi(self) -> Schema:
        """The document, with the models of bodies (schemas.py) among its components.

        Without the 422 that FastAPI adds where it reads a header or path: none is sent.
        """
        if self.openapi_schema is None:
            document = super().openapi()
            components = document.setdefault("components", {})
            schemas = components.pop("schemas", {})
            for operation in (part for path in document["paths"].values() for part in path.values()):
                operation["responses"].pop("422", None)
                for content in operation.get("requestBody", {}).get("content", {}).values():
                    schemas |= content["schema"].pop("$defs", {})
            names = sorted(schemas.keys() - {"HTTPValidationError", "ValidationError"})
            components["schemas"] = {name: schemas[name] for name in names}
        return super().openapi()

    def build_middleware_stack(self) -> ASGIApp:
        return self._around(super().build_middleware_stack())


OWN = frozenset({"/healthz", "/readyz", "/metrics"})
PREFIXES = ("/API/", "/api/", "/oauth2/", "/docs", "/openapi.json", "/openapi/")


class Apis:
    """ASGI middleware: paths of the APIs go to `api`, everything else to the application behind it."""

    def __init__(self, app: ASGIApp, api: ASGIApp) -> None:
        self._desk, self._api = app, Compression(api)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        to_api = scope["type"] == "http" and (path in OWN or path.startswith(PREFIXES))
        await (self._api if to_api else self._desk)(scope, receive, send)


SMALLEST_TO_COMPRESS = 16 * 1024
LOOPBACK = frozenset({"127.0.0.1", "::1"})
PACKED_TYPES = (
    "application/vnd.apache.arrow.stream",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
)


class Compression:
    """ASGI middleware: gzips larger answers for callers that are not on this machine.

    On loopback compressing costs more than it saves; a proxy there names its caller by X-Forwarded-For.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._plain = app
        exclusions = (*DEFAULT_EXCLUDED_CONTENT_TYPES, *PACKED_TYPES)
        self._gzip = GZipMiddleware(app, SMALLEST_TO_COMPRESS, 1, exclude_content_types=exclusions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        is_here = client is None or client[0] in LOOPBACK
        await (self._plain if is_here else self._gzip)(scope, receive, send)


SLASHED = ("/api/", TOKENS)


class TrailingSlash:
    """ASGI middleware: a path below `SLASHED` means the same with and without a slash at its end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(SLASHED) and scope["path"][-1] != "/":
            # In the scope itself: what is around reads there what the routes note. No redirect: clients drop
            # the body.
            scope["path"] += "/"
        await self._app(scope, receive, send)


class HeadRequests:
    """ASGI middleware: HEAD is GET without the body (RFC 9110, 9.3.2), which FastAPI's routes don't have."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            return await self._app(scope, receive, send)

        async def send_head(message: Message) -> None:
            scope["method"] = "HEAD"  # for the server, which sends no body then, and what else is around
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        scope["method"] = "GET"
        return await self._app(scope, receive, send_head)


async def read_body(request: Request, most: int) -> bytes | None:
    """The body; None where it has more bytes, whatever its headers promise."""
    length = request.headers.get("content-length", "0")
    if length.isdecimal() and int(length) > most:
        return None
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            return None
    return body


class BodyLimit:
    """ASGI middleware: a request's body over `max_bytes` raises 413, as soon as that is known."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; what arrives is counted, whatever its headers promise."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        length = Headers(scope=scope).get("content-length", "0")
        announced_size = int(length) if length.isdecimal() else 0
        size = 0

        async def receive_part() -> Message:
            # Raised where the body is read, inside the route, so that the handlers of errors answer it.
            nonlocal size
            message: Message = {} if announced_size > self._max_bytes else await receive()
            size += len(message.get("body", b""))
            if max(size, announced_size) > self._max_bytes:
                raise HTTPException(413, f"The request is larger than the {self._max_bytes:,} bytes allowed")
            return message

        return await self._app(scope, receive_part, send)


def _documentation() -> HTMLResponse:
    """The interactive documentation; every asset comes from this service."""
    page = get_swagger_ui_html(
        openapi_url="/openapi.json", title=f"{TITLE} API", swagger_js_url=f"{ASSETS}/swagger-ui-bundle.js",
        swagger_css_url=f"{ASSETS}/swagger-ui.css", swagger_favicon_url=f"{ASSETS}/favicon-32x32.png",
        swagger_ui_parameters={"validatorUrl": None, "tryItOutEnabled": True, "displayRequestDuration": True},
    )  # fmt: skip
    page.headers["Content-Security-Policy"] = policy(inline_scripts(bytes(page.body).decode()))
    return page
