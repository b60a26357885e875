"""The error responses of the deals endpoints in /openapi.json: code, body, headers, and an example."""

from typing import Any

from lib.wire.schemas import TEXT, Schema, an_object

PROBLEM = an_object({"detail": TEXT})
MESSAGES: Schema = {"type": "array", "items": {"type": ["string", "object"]}}
INVALID: Schema = {
    "type": "object",
    "description": "Messages by field, nested as the request is; non_field_errors for the whole",
    "additionalProperties": {"anyOf": [MESSAGES, {"type": "object"}]},
}
INVALID_EXAMPLE: Schema = {
    "name": ["This field is required."],
    "geo_targetings": [{}, {"type": ["This must be 'country', 'region', 'city', 'dma' or 'zip'."]}],
}
RETRY: Schema = {"Retry-After": {"description": "Seconds to wait", "schema": {"type": "string"}}}
CHALLENGE: Schema = {"WWW-Authenticate": {"description": "Bearer", "schema": {"type": "string"}}}


def of(verb: str, called: str) -> dict[int | str, Any]:
    """The error codes of this verb."""
    found: dict[int | str, Any] = {
        400: _answer("What is wrong with the request, all at once", INVALID, INVALID_EXAMPLE),
        401: _detail("No token, or none that is valid for this service", "A token is required")
        | {"headers": CHALLENGE},
        403: _detail("Who asks may not do this", "'viewer' can see deals, but not change them"),
        429: _detail("Too many requests", "More than 60 requests a minute; try again in 12 seconds")
        | {"headers": RETRY},
        500: _detail("A failure of the service", "The service had an internal error"),
        503: _detail("The database is away", "The database can't be reached right now; nothing was changed")
        | {"headers": RETRY},
        504: _detail("The request is too large, or took too long", "The database did not answer in time"),
    }
    if verb in ("create", "change", "change_many", "remove"):
        found[409] = _detail(
            "A duplicate, a lost race, or an edit of something that changed meanwhile", _STALE
        )
    if verb not in ("list", "create", "change_many"):
        found[404] = _detail(f"There is no such {called}", f"There is no {called} 12")
    if verb in ("change", "remove"):
        found[406] = _detail("Others depend on it", "The seat 1 'Bluebird' can't be deleted: …")
    return dict(sorted(found.items(), key=lambda one: str(one[0])))


_STALE = "Changed since it was read, so nothing was saved: price from 2.5 to 3, by manager at …"


def _detail(description: str, example: str) -> Schema:
    return _answer(description, PROBLEM, {"detail": example})


def _answer(description: str, schema: Schema, example: Schema) -> Schema:
    content = {"application/json": {"schema": schema, "example": example}}
    return {"description": description, "content": content}
