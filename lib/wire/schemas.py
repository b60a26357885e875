"""What both APIs document for OpenAPI alike: bodies of requests, and errors."""

from typing import Any

from pydantic import BaseModel, TypeAdapter

from lib.wire import errors

Schema = dict[str, Any]
Examples = dict[str, tuple[str, Any]]
JSON = "application/json"
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
RETRY: Schema = {"Retry-After": {"description": "Seconds to wait", "schema": TEXT}}
CHALLENGE: Schema = {"WWW-Authenticate": {"description": "Bearer", "schema": TEXT}}
HEADERS: dict[type[errors.TrancheError], Schema] = {
    errors.Unauthorized: CHALLENGE,
    errors.Throttled: RETRY,
    errors.StoreAway: RETRY,
}
MEANINGS: dict[type[errors.TrancheError], tuple[str, str]] = {
    errors.BadRequest: ("The request is wrong; `reason` says how", "start_date is required"),
    errors.AccessError: ("Wrong token, or no access", errors.AccessError().reason),
    errors.Invalid: ("What is wrong with the request, all at once", ""),
    errors.Unauthorized: ("No token, or none that is valid for this service", "A token is required"),
    errors.Forbidden: ("Who asks may not do this", "'viewer' can see deals, but not change them"),
    errors.NotFound: ("There is no such {noun}", "There is no {noun} 12"),
    errors.InUse: ("Others depend on it", "The seat 1 'Bluebird' can't be deleted: …"),
    errors.Conflict: (
        "A duplicate, a lost race, or an edit of something that changed meanwhile",
        "Changed since it was read, so nothing was saved: price from 2.5 to 3, by manager at …",
    ),
    errors.Throttled: (
        "Too many requests with this token", "More than 60 requests a minute; try again in 12 seconds",
    ),
    errors.InternalError: ("A failure of the service", "The service had an internal error"),
    errors.StoreAway: (
        "The database is away", "The database can't be reached right now; nothing was changed",
    ),
    errors.StoreUnwritable: ("The disk is full or read-only", errors.StoreUnwritable.REASON),
    errors.DeadlineExceeded: (
        "The request is too large, or took too long", "The database did not answer in time",
    ),
}  # fmt: skip
"""What an error means, and an example of its reason."""


def a_list(items: Schema) -> Schema:
    """An array of these."""
    return {"type": "array", "items": items}


def body(kind: Any, examples: Examples, media_type: str = JSON) -> Schema:
    """The documentation of a request's body, for `openapi_extra`; examples: name → (summary, value).

    Our code reads the body: FastAPI would read it before it knows the token. The models in it are `$defs`,
    which apis.py moves into the document's components.
    """
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    schemas, definitions = TypeAdapter.json_schemas(
        [("body", "validation", adapter)], ref_template="#/components/schemas/{model}"
    )
    samples = {name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()}
    content = {"schema": schemas["body", "validation"] | definitions, "examples": samples}
    return {"requestBody": {"required": True, "content": {media_type: content}}}


def failure(
    kind: type[errors.TrancheError], model: type[BaseModel], example: object, noun: str = ""
) -> Schema:
    """The documentation of an error, whose body is this model; `noun`: of what it is about."""
    meaning = MEANINGS[kind][0].format(noun=noun)
    content = {JSON: {"example": example}}
    return {"description": meaning, "model": model, "headers": HEADERS.get(kind, {}), "content": content}
