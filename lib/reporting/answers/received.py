"""Parses responses of a service: `status` in the body decides, not the HTTP code (docs/decisions.md)."""

from collections.abc import Sequence
from math import ceil
from typing import Any

import httpx
from pydantic import ValidationError

from lib.reporting.answers import Audience, as_arrow, as_json, body, many_rows
from lib.reporting.models import Slicer
from lib.wire.breaker import DEAD, retry_after
from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    Garbled,
    InternalError,
    Refused,
    Throttled,
    TrancheError,
    Unanswered,
    Unreachable,
    Unreadable,
)

UNAUTHORISED, TOO_MANY, GATEWAY_TIMEOUT = 401, 429, 504
UNKNOWN_WAIT_SECONDS = 60
ERRORS: dict[str, type[TrancheError]] = {
    error.status: error for error in (BadRequest, AccessError, DeadlineExceeded, InternalError)
}


def slicer(answer: httpx.Response) -> Slicer:
    """The slicer of an info answer. Raises its error, or Unreadable."""
    try:
        return Slicer.model_validate(fields(answer))
    except ValidationError as error:
        raise Unreadable("The service's description of the slicer does not follow the API") from error


def audience(answer: httpx.Response, split_by: Sequence[str]) -> Audience:
    """The Audience of an audience answer to that split. Raises its error, or Unreadable.

    An Arrow stream that is torn is an OSError of its reader.
    """
    try:
        if as_arrow.MEDIA_TYPE in answer.headers.get("content-type", ""):
            return as_arrow.decode(answer.content)
        found = many_rows.decode(answer.content, split_by)
        return as_json.decode(fields(answer), split_by) if found is None else found
    except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
        raise Unreadable("The service's answer does not follow the API") from error


def fields(answer: httpx.Response) -> dict[str, Any]:
    """The fields of a successful answer. Raises its error, or Unreadable."""
    try:
        found = body.fields(answer.content, answer.headers.get("content-type", ""))
    except ValueError:
        raise _foreign(answer) from None
    status = found["status"]
    if status == "success":
        return found
    reason = found.get("reason") or f"The service answered {status}"
    if answer.status_code == TOO_MANY:
        raise Throttled(_wait(answer), str(reason))
    raise ERRORS[status](str(reason)) if status in ERRORS else Unreadable(str(reason))


def _foreign(answer: httpx.Response) -> TrancheError:
    """The error for a response that is not of this API, by its HTTP code: usually that of a proxy."""
    code = answer.status_code
    if code == UNAUTHORISED:
        return Refused("The service rejected our token")
    if code == TOO_MANY:
        return Throttled(_wait(answer))
    if code == GATEWAY_TIMEOUT:
        return Unanswered("A gateway timed out waiting for the service")
    if code in DEAD:
        return Unreachable(f"A gateway answered {code} instead of the service")
    return Garbled(f"The service answered {code}, with something that this API does not define")


def _wait(answer: httpx.Response) -> int:
    """Seconds before the next attempt."""
    return ceil(retry_after(answer)) or UNKNOWN_WAIT_SECONDS
