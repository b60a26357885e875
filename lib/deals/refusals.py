"""Converts error responses of the deals API (HTTP code and body) to our errors."""

from collections.abc import Callable, Mapping
from math import ceil
from typing import Any

import httpx

from lib.wire import exact
from lib.wire.breaker import DEAD, retry_after
from lib.wire.errors import (
    BadRequest,
    Conflict,
    Forbidden,
    InternalError,
    InUse,
    Invalid,
    NotFound,
    ResponseTimeout,
    StoreUnwritable,
    Throttled,
    TrancheError,
    Unauthorised,
    Unreachable,
    Unreadable,
)

UNKNOWN_WAIT_SECONDS = 60
WHOLE = "non_field_errors"
TEXTS = ("detail", "message", "error", "error_description", "reason", "description")
WRAPPED = ("errors", "detail", "error")
ENVELOPE = frozenset({*TEXTS, *WRAPPED, "status", "code", "status_code", "success"})


def _internal(reason: str) -> InternalError:
    """A failure of the service; of one like ours, also that it can't write."""
    return StoreUnwritable() if reason == StoreUnwritable.REASON else InternalError(reason)


KINDS: dict[int, Callable[[str], TrancheError]] = {
    401: Unauthorised,
    403: Forbidden,
    404: NotFound,
    405: BadRequest,
    406: InUse,
    409: Conflict,
    500: _internal,
    503: InternalError,
    504: ResponseTimeout,
}


def refusal(response: httpx.Response) -> TrancheError:
    """The error for the response; Unreadable if the response is not of this API."""
    code, body = response.status_code, _body(response)
    if code == 400 and isinstance(body, dict) and body:
        return Invalid(fields_of(body))
    detail = text_of(body) if isinstance(body, dict) else ""
    if code == 429:
        return Throttled(ceil(retry_after(response)) or UNKNOWN_WAIT_SECONDS, detail or None)
    if code in DEAD and not detail:
        return Unreachable(f"A gateway answered {code} instead of the service")
    if code in KINDS:
        return KINDS[code](detail or f"The service answered {code}")
    return Unreadable(detail or f"The service answered {code}, which this API does not define")


def fields_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The messages per field in the body; others under the name for the whole request."""
    for name in WRAPPED:
        found = body.get(name)
        if isinstance(found, Mapping) and found:
            return dict(found)
        if isinstance(found, list) and found and body.keys() <= ENVELOPE:
            return {WHOLE: [str(one) for one in found]}
    if not body.keys() <= ENVELOPE or any(isinstance(part, list) for part in body.values()):
        return dict(body)
    return {WHOLE: [text_of(body) or "The service reported a failure without a reason"]}


def text_of(body: Mapping[str, Any]) -> str:
    """The message of an error response; empty without one."""
    return next((body[name] for name in TEXTS if isinstance(body.get(name), str) and body[name]), "")


def _body(response: httpx.Response) -> Any:
    try:
        return exact.loads(response.content)
    except ValueError:
        return None
