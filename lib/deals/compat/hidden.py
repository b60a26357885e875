"""Errors in the body of a response with a success code, as some services return them."""

import re
from collections.abc import Mapping
from typing import Any

from lib.deals.refusals import KINDS, fields_of, text_of
from lib.wire.errors import Invalid, TrancheError

CODES = ("code", "status_code", "status")
FAILED = re.compile(r"error|fail(ed|ure)?|invalid|bad_request", re.IGNORECASE)


def hidden(body: Any) -> TrancheError | None:
    """The error in the body of a success; None if it is an entity, or no error.

    `{"status": "error", "detail": "…"}`, `{"error": "…"}`, `{"errors": {"name": ["…"]}}`. Whatever has an id
    is an entity.
    """
    if not isinstance(body, Mapping) or "id" in body or not _says_so(body):
        return None
    for name in CODES:
        code = body.get(name)
        if isinstance(code, int | str) and str(code).isdecimal() and int(code) in KINDS:
            return KINDS[int(code)](text_of(body) or f"The service answered {code}")
    return Invalid(fields_of(body))


def _says_so(body: Mapping[str, Any]) -> bool:
    status = body.get("status")
    return (
        bool(body.get("error") or body.get("errors") or body.get("detail"))
        or body.get("success") is False
        or (isinstance(status, str) and bool(FAILED.fullmatch(status)))
    )
