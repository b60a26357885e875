"""What a service of the deals API says when it refuses: HTTP code and body → an error of the family."""

from collections.abc import Callable
from typing import Any

import httpx

from lib.wire import exact
from lib.wire.breaker import DEAD
from lib.wire.errors import (
    BadRequest,
    Conflict,
    DeadlineExceeded,
    Forbidden,
    InternalError,
    InUse,
    Invalid,
    NotFound,
    Throttled,
    TrancheError,
    Unauthorised,
    Unreachable,
    Unreadable,
)

UNKNOWN_WAIT_SECONDS = 60
KINDS: dict[int, Callable[[str], TrancheError]] = {
    401: Unauthorised,
    403: Forbidden,
    404: NotFound,
    405: BadRequest,
    406: InUse,
    409: Conflict,
    500: InternalError,
    504: DeadlineExceeded,
}


def refusal(response: httpx.Response) -> TrancheError:
    """The error that the answer stands for; Unreadable for an answer that is not of this API."""
    code, body = response.status_code, _body(response)
    if code == 400 and isinstance(body, dict) and body:
        return Invalid({"non_field_errors": [str(body["detail"])]} if body.keys() == {"detail"} else body)
    detail = str(body.get("detail", "")) if isinstance(body, dict) else ""
    if code == 429:
        wait = response.headers.get("retry-after", "")
        return Throttled(int(wait) if wait.isdecimal() else UNKNOWN_WAIT_SECONDS, detail or None)
    if code in DEAD and not detail:
        return Unreachable(f"Something on the way to the service answered {code} in its place")
    if code in KINDS:
        return KINDS[code](detail or f"The service answered {code}")
    return Unreadable(detail or f"The service answered {code}, which is not of this API")


def _body(response: httpx.Response) -> Any:
    try:
        return exact.loads(response.content)
    except ValueError:
        return None
