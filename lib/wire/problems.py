"""Error responses of the APIs, each in the format of the API that was called.

The routes raise the family of errors.py; what the framework itself refuses (unknown paths, wrong methods,
bodies that don't fit) and what nobody foresaw is put into the same words here.
"""

import logging
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.routing import Match

from lib.wire import errors, request_ids

log = logging.getLogger(__name__)

Body = dict[str, Any]
NO_STORE = {"Cache-Control": "no-store"}
OAUTH_ERRORS = {"internal_error": "server_error", "timeout": "temporarily_unavailable"}
AWAY_SECONDS = 5  # after which a caller may ask again


def _reporting(status: str, reason: str) -> Body:
    """Specification of the reporting API, Errors: `status` and `reason` alone."""
    return {"status": status, "reason": reason}


def _oauth(status: str, reason: str) -> Body:
    """RFC 6749, 5.2. It has no word for a failure of the service itself; these are of its 4.1.2.1."""
    return {"error": OAUTH_ERRORS.get(status, "invalid_request"), "error_description": reason}


SHAPES: dict[str, Callable[[str, str], Body]] = {"/API/": _reporting, "/oauth2/": _oauth}


def public(path: str, error: errors.TrancheError) -> errors.TrancheError:
    """What the caller of a path, or of a verb of this process, may know of an error.

    The log has failures that are not for callers, and what is wrong with this installation (a setting, a
    file), which callers are told too: they can pass it on.
    """
    if error.http >= errors.InternalError.http and not isinstance(
        error, errors.InternalError | errors.DeadlineExceeded
    ):
        log.error("%r: %s", path, error.reason, exc_info=error)
        error = error if type(error) is errors.Misconfigured else errors.InternalError()
    if type(error) is errors.InternalError and (request_id := request_ids.current()):
        return errors.InternalError(f"{error.reason} (request ID {request_id})")
    return error


def problem(path: str, error: errors.TrancheError, http: int | None = None) -> JSONResponse:
    """The answer to a failed request for `path`; the HTTP code is the error's own unless given."""
    error = public(path, error)
    shape = next((shape for prefix, shape in SHAPES.items() if path.startswith(prefix)), None)
    if isinstance(error, errors.DealsError):
        body = shape(error.status, error.reason) if shape else error.body
        return JSONResponse(body, error.http, error.headers)
    status, headers = error.status, dict(NO_STORE) if shape is _oauth else {}
    if error.http == errors.UNAVAILABLE and not isinstance(error, errors.Misconfigured):
        headers["Retry-After"] = str(AWAY_SECONDS)
        status = "timeout" if shape is _oauth else status
    body = {"detail": error.reason} if shape is None else shape(status, error.reason)
    return JSONResponse(body, http or error.http, headers)


def answer_problems(app: FastAPI) -> None:
    """Let `app` answer every failure in the words of this module, an unexpected one without details."""
    handlers: dict[type[Exception], Any] = {
        errors.TrancheError: lambda request, error: problem(request.url.path, error),
        HTTPException: _framework,
        RequestValidationError: _invalid,
        ClientDisconnect: _client_disconnect,
        Exception: lambda request, _: problem(request.url.path, errors.InternalError()),
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")


def _framework(request: Request, error: HTTPException) -> Response:
    path, code = request.url.path, error.status_code
    reasons = {
        404: f"There is no {path}; see /docs",
        405: f"{path} does not answer {request.method}; see /docs for the methods that it has",
    }
    kind = errors.BadRequest if code < 500 else errors.InternalError
    # The deals specification, Errors: 504, request too large.
    public_code = 504 if code == 413 and path.startswith("/api/") else code
    answer = problem(path, kind(reasons.get(code, str(error.detail))), public_code)
    answer.headers.update(error.headers or {})
    if code == 405:
        # The header that the framework sends names the methods of the first route of a path, not of all. HEAD
        # is answered as GET.
        scope = {name: value for name, value in request.scope.items() if name != "fastapi"}
        answer.headers["Allow"] = ", ".join(
            method
            for method in METHODS
            for method_scope in [scope | {"method": "GET" if method == "HEAD" else method}]
            if any(route.matches(method_scope)[0] is Match.FULL for route in request.app.routes)
        )
    return answer


def _invalid(request: Request, error: RequestValidationError) -> Response:
    lines = [
        f"{'.'.join(map(str, detail['loc']))} {errors.requirement(detail['type'], detail.get('ctx'))}"
        for detail in error.errors()
    ]
    return problem(request.url.path, errors.BadRequest("; ".join(lines)))


def _client_disconnect(request: Request, error: ClientDisconnect) -> Response:
    """The response if the caller left, or was too slow, before its request had arrived; nobody reads it."""
    log.info("%s %r: the request broke off", request.method, request.url.path)
    return problem(request.url.path, errors.BadRequest("The request ended early"))
