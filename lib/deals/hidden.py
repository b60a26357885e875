"""An error inside of an answer whose code says that all is well: some services write them so."""

import re
from collections.abc import Mapping
from typing import Any

from lib.deals.refusals import KINDS
from lib.wire.errors import Invalid, TrancheError

CODES = ("code", "status_code", "status")
TEXTS = ("detail", "message", "error", "error_description", "reason", "description")
FAILED = re.compile(r"error|fail(ed|ure)?|invalid|bad_request", re.IGNORECASE)
WHOLE = "non_field_errors"


def hidden(body: Any) -> TrancheError | None:
    """The error that the body of a success stands for; None where it is an entity, or nothing of the kind.

    `{"status": "error", "detail": "…"}`, `{"error": "…"}`, `{"errors": {"name": ["…"]}}`. Whatever has an id
    is an entity.
    """
    if not isinstance(body, Mapping) or "id" in body or not _says_so(body):
        return None
    for name in CODES:
        code = body.get(name)
        if isinstance(code, int | str) and str(code).isdecimal() and int(code) in KINDS:
            return KINDS[int(code)](_text(body) or f"The service answered {code}")
    return Invalid(_fields(body))


def _says_so(body: Mapping[str, Any]) -> bool:
    status = body.get("status")
    return (
        bool(body.get("error") or body.get("errors") or body.get("detail"))
        or body.get("success") is False
        or (isinstance(status, str) and bool(FAILED.fullmatch(status)))
    )


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """What is wrong, per field where the service says so."""
    for name in ("errors", "detail", "error"):
        if isinstance(found := body.get(name), Mapping) and found:
            return dict(found)
        if isinstance(found, list) and found:
            return {WHOLE: [str(one) for one in found]}
    return {WHOLE: [_text(body) or "The service says that this failed, and not why"]}


def _text(body: Mapping[str, Any]) -> str:
    return next((body[name] for name in TEXTS if isinstance(body.get(name), str) and body[name]), "")
