"""Every failure of the APIs, in the shape of the API whose path was asked.

The routes raise the family of errors.py; what the framework itself refuses (unknown paths, wrong methods,
bodies that don't fit) and what nobody foresaw is put into the same words here.
"""

import logging
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response

from lib.wire.errors import BadRequest, DeadlineExceeded, DealsError, InternalError, TrancheError

log = logging.getLogger(__name__)

Body = dict[str, Any]


def _reporting(status: str, reason: str) -> Body:
    """Specification of the reporting API, Errors: `status` and `reason` alone."""
    return {"status": status, "reason": reason}


def _plain(status: str, reason: str) -> Body:
    return {"detail": reason}


DEALS = "/api/"
TOO_LARGE = {413: 504}  # the deals specification, Errors: 504, request too large
SHAPES: dict[str, Callable[[str, str], Body]] = {"/API/": _reporting}


def problem(path: str, error: TrancheError, http: int | None = None) -> JSONResponse:
    """The answer to a failed request for `path`; the HTTP code is the error's own unless given.

    A failure of this installation (a setting, a file) is for its log, not for who asked.
    """
    if error.http >= InternalError.http and not isinstance(error, InternalError | DeadlineExceeded):
        log.error("%s: %s", path, error.reason, exc_info=error)
        error = InternalError()
    if isinstance(error, DealsError):
        return JSONResponse(error.body, error.http, error.headers)
    shape = next((shape for prefix, shape in SHAPES.items() if path.startswith(prefix)), _plain)
    return JSONResponse(shape(error.status, error.reason), http or error.http)


def answer_problems(app: FastAPI) -> None:
    """Let `app` answer every failure in the words of this module."""
    handlers: dict[type[Exception], Any] = {
        TrancheError: _own,
        HTTPException: _framework,
        RequestValidationError: _invalid,
        Exception: _unforeseen,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _own(request: Request, error: TrancheError) -> Response:
    return problem(request.url.path, error)


def _framework(request: Request, error: HTTPException) -> Response:
    path = request.url.path
    reasons = {
        404: f"There is nothing at {path}; see /docs for what there is",
        405: f"{path} does not answer {request.method}; see /docs for how it is asked",
    }
    kind = BadRequest if error.status_code < 500 else InternalError
    code = (
        TOO_LARGE.get(error.status_code, error.status_code) if path.startswith(DEALS) else error.status_code
    )
    answer = problem(path, kind(reasons.get(error.status_code, str(error.detail))), code)
    answer.headers.update(error.headers or {})
    return answer


def _invalid(request: Request, error: RequestValidationError) -> Response:
    lines = [f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()]
    return problem(request.url.path, BadRequest("; ".join(lines)))


def _unforeseen(request: Request, error: Exception) -> Response:
    """The server logs `error` with its traceback; the caller learns nothing of the inside."""
    return problem(request.url.path, InternalError())
