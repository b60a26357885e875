"""Endpoints of the deals API: methods of a class, each with its documentation beside it.

What they share: who may call (a token, not too often, and a person with access to deals, in this order), the
deadline, a pool of threads of their own, bodies, pages, and how errors are documented.
"""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from inspect import cleandoc
from typing import Any, TypeVar

from fastapi import APIRouter, HTTPException, Request, Response

from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT, ListPage
from lib.deals.store.work import DealsScope, Fields
from lib.deals.values import LARGEST_ID
from lib.tokens.access import Access
from lib.tokens.models import Caller
from lib.wire import exact
from lib.wire.deadline import Deadline
from lib.wire.errors import (
    AccessError,
    Conflict,
    DeadlineExceeded,
    DealsError,
    Forbidden,
    InternalError,
    InUse,
    Invalid,
    NotFound,
    StoreAway,
    StoreUnwritable,
    Throttled,
    TrancheError,
    Unauthorized,
)
from lib.wire.schemas import TEXT, Schema, an_object
from lib.wire.throttle import Throttle

Result = TypeVar("Result")
Handler = Callable[..., Awaitable[Response]]
JSON = "application/json"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
TOO_SLOW = "The request's body did not arrive in time; nothing was changed"
PROBLEM = an_object({"detail": TEXT})
INVALID: Schema = {
    "type": "object",
    "description": "Messages by field, nested as the request is; non_field_errors for the whole",
    "additionalProperties": {
        "anyOf": [{"type": "array", "items": {"type": ["string", "object"]}}, {"type": "object"}]
    },
}
INVALID_EXAMPLE: Schema = {
    "name": ["This field is required."],
    "geo_targetings": [{}, {"type": ["This must be 'country', 'region', 'city', 'dma' or 'zip'."]}],
}
RETRY: Schema = {"Retry-After": {"description": "Seconds to wait", "schema": TEXT}}
CHALLENGE: Schema = {"WWW-Authenticate": {"description": "Bearer", "schema": TEXT}}
STALE = "Changed since it was read, so nothing was saved: price from 2.5 to 3, by manager at …"
USUAL: tuple[type[TrancheError], ...] = (
    Unauthorized, Forbidden, Throttled, InternalError, StoreAway, StoreUnwritable, DeadlineExceeded,
)  # fmt: skip
"""The errors of every endpoint, beside Invalid."""
ERRORS: dict[type[TrancheError], tuple[str, str, Schema]] = {
    Unauthorized: ("No token, or none that is valid for this service", "A token is required", CHALLENGE),
    Forbidden: ("Who asks may not do this", "'viewer' can see deals, but not change them", {}),
    NotFound: ("There is no such {noun}", "There is no {noun} 12", {}),
    InUse: ("Others depend on it", "The seat 1 'Bluebird' can't be deleted: …", {}),
    Conflict: ("A duplicate, a lost race, or an edit of something that changed meanwhile", STALE, {}),
    Throttled: ("Too many requests", "More than 60 requests a minute; try again in 12 seconds", RETRY),
    InternalError: ("A failure of the service", "The service had an internal error", {}),
    StoreAway: (
        "The database is away", "The database can't be reached right now; nothing was changed", RETRY,
    ),
    StoreUnwritable: ("The disk is full or read-only", StoreUnwritable.REASON, {}),
    DeadlineExceeded: (
        "The request is too large, or took too long", "The database did not answer in time", {},
    ),
}  # fmt: skip
"""What an error means, an example of it, and its headers."""
WRONG = "This token is not valid for the deals API: it is wrong, expired, or for another service"
NO_ACCESS = "'{}' has no access to deals; an administrator can grant it"
SYNC_ALONE = "This token is for deal sync alone: it opens /api/deal_sync/"
NOT_A_DSP = "Only a DSP reports statuses, with a token of its own for its seats: --deals sync:3,7"
MISSING = "A token is required: Authorization: Bearer <token>"


class Admission:
    """Admission to the deals API. `is_exempt` tells whether a token is never throttled."""

    def __init__(
        self,
        access: Access,
        service: str,
        reads: Throttle,
        writes: Throttle,
        is_exempt: Callable[[str], bool] = lambda token: False,
    ) -> None:
        self._access, self._service = access, service
        self._throttles = {False: reads, True: writes}
        self._is_exempt = is_exempt

    def caller(self, authorization: str | None, writes: bool, *, may_propose: bool = False) -> Caller:
        """The caller with this Authorization header (RFC 6750, 2.1), as `_known`.

        Forbidden for a DSP, and for somebody who may only read and wants to write; with `may_propose` who
        may propose is let in too.
        """
        caller = self._caller(authorization, writes)
        if caller.deals.syncs:
            raise Forbidden(SYNC_ALONE)
        if writes and not (caller.deals.writes or (may_propose and caller.deals.proposes)):
            raise Forbidden(f"'{caller.person.username}' can see deals, but not change them")
        return caller

    def sync_caller(self, authorization: str | None, reports: bool) -> Caller:
        """The caller of deal sync: anybody with access to deals, but a DSP alone `reports` statuses."""
        caller = self._caller(authorization, reports)
        if reports and not caller.deals.syncs:
            raise Forbidden(NOT_A_DSP)
        return caller

    def _caller(self, authorization: str | None, writes: bool) -> Caller:
        """The caller with this header, who has some access to deals.

        Unauthorized without a token that opens this service, and for somebody without access to deals;
        Throttled when it came too often.
        """
        scheme, _, token = (authorization or "").strip().partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthorized(MISSING)
        try:
            caller = self._access.caller(token.strip(), self._service)
        except AccessError:
            raise Unauthorized(WRONG, 'Bearer error="invalid_token"') from None
        if not caller.deals.opens:
            raise Unauthorized(NO_ACCESS.format(caller.person.username), 'Bearer error="invalid_token"')
        if not self._is_exempt(token.strip()):
            self._throttles[writes].admit(caller.token.id)
        return caller


def endpoint(method: str, path: str = "", **documentation: Any) -> Callable[[Handler], Handler]:
    """Mark a method of `Endpoints` as the answer to this HTTP method at this path below the class's own.

    Its docstring is the summary and, after an empty line, the description. `documentation` goes to
    `add_api_route`; a value that is a function gets the instance.
    """

    def mark(handler: Handler) -> Handler:
        handler.endpoint = (method, path, documentation)  # type: ignore[attr-defined]
        return handler

    return mark


class Endpoints:
    """The endpoints at `/api/<name>/`. `seconds` is the time limit of a request.

    Requests are worked on in a pool of `threads` of their own: those of the desk are not theirs to use up.
    """

    def __init__(self, name: str, admission: Admission, seconds: float, threads: int) -> None:
        self.name, self.admission, self._seconds = name, admission, seconds
        self.pool = ThreadPoolExecutor(threads, thread_name_prefix=name)

    def router(self) -> APIRouter:
        """Their routes, with and without a slash at the end: a redirect would lose the body.

        Other methods of an address are refused, naming those that it has.
        """
        router = APIRouter(prefix=f"/{self.name}")
        handlers: dict[str, dict[str, Handler]] = defaultdict(dict)
        for name in [name for owner in type(self).__mro__[::-1] for name in vars(owner)]:
            if marks := getattr(getattr(self, name), "endpoint", None):
                handlers[marks[1]][marks[0]] = getattr(self, name)
        # A path without an id comes first: the router takes the first that fits, and /batch is no id.
        for path in sorted(handlers, key=lambda path: "{" in path):
            for method, handler in handlers[path].items():
                options = self.documentation(handler, handler.endpoint[2])  # type: ignore[attr-defined]
                router.add_api_route(f"{path}/", self.wrap(handler), methods=[method], **options)
                router.add_api_route(path, self.wrap(handler), methods=[method], include_in_schema=False)
            refusal, others = _refusal(handlers[path]), [*METHODS - handlers[path].keys()]
            for address in (path, f"{path}/"):
                router.add_api_route(address, refusal, methods=others, include_in_schema=False)
        return router

    def wrap(self, handler: Handler) -> Handler:
        """The handler as it answers; without its docstring, which FastAPI takes for an empty description."""

        async def respond(request: Request) -> Response:
            return await handler(request)

        return respond

    def documentation(self, handler: Any, values: dict[str, Any]) -> dict[str, Any]:
        """What `add_api_route` takes of a handler's documentation."""
        operation_id = f"{handler.__name__}_{self.name}"
        summary, _, description = cleandoc(handler.__doc__).partition("\n\n")
        values = {name: value(self) if callable(value) else value for name, value in values.items()}
        extra = {name: values.pop(name) for name in ("parameters", "requestBody") if name in values}
        usual = {"summary": summary.removesuffix("."), "description": description.replace("\n", " ")}
        return {
            "operation_id": operation_id,
            "response_model": None,
            **usual,
            **values,
            "openapi_extra": {"parameters": [], **extra},
        }

    def deadline(self) -> Deadline:
        """The deadline of a request that begins now."""
        return Deadline(self._seconds)

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of work in the pool."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, work)

    async def admit(self, request: Request, *, writes: bool, may_propose: bool = False) -> Caller:
        """The caller."""
        text = request.headers.get("authorization")
        return await self.run(lambda: self.admission.caller(text, writes, may_propose=may_propose))


def _refusal(methods: Iterable[str]) -> Handler:
    async def refuse(request: Request) -> Response:
        raise HTTPException(405, headers={"Allow": ", ".join(sorted(methods))})

    return refuse


def parameters_of(request: Request) -> list[tuple[str, str]]:
    """Its query parameters, in their order."""
    return request.query_params.multi_items()


def id_of(request: Request, noun: str) -> int:
    """The id in its path. NotFound for what can't be one."""
    text = request.path_params["id"]
    if not (text.isascii() and text.isdecimal() and len(text) < 17 and int(text) <= LARGEST_ID):
        raise NotFound(f"There is no {noun} '{text}'")
    return int(text)


async def body_of(request: Request, deadline: Deadline) -> Any:
    """The request's JSON, whatever its content type says."""
    try:
        async with asyncio.timeout(deadline.remaining()):
            text = await request.body()
    except TimeoutError:
        raise DeadlineExceeded(TOO_SLOW) from None
    try:
        return exact.loads(text)
    except ValueError as error:
        raise Invalid({"non_field_errors": [f"The body is no JSON: {error}"]}) from None


def list_page(request: Request, part: ListPage) -> Fields:
    """`count`, `next`, `previous`, `results`; the links are whole addresses, or null. `counts`, if wanted."""

    def link(offset: int) -> str:
        return str(request.url.include_query_params(limit=part.limit, offset=offset))

    after = part.offset + part.limit
    return {
        "count": part.count,
        "next": link(after) if after < part.count else None,
        "previous": link(max(0, part.offset - part.limit)) if part.offset else None,
        "results": part.results,
        **({"counts": part.counts} if part.counts else {}),
        **({"etags": part.etags} if part.etags else {}),
    }


def answer(description: str, schema: Schema, headers: Schema | None = None) -> Schema:
    """The documentation of a response with a JSON body."""
    content = {"content": {JSON: {"schema": schema}}}
    return {"description": description, **({"headers": headers} if headers else {}), **content}


def errors(*more: type[DealsError], noun: str = "") -> dict[int | str, Any]:
    """The documentation of the errors of every endpoint, and of these; `noun`: of what it is about."""
    invalid = answer("What is wrong with the request, all at once", INVALID)
    invalid["content"][JSON]["example"] = INVALID_EXAMPLE
    documents: dict[int | str, Any] = {Invalid.http: invalid}
    for kind in (*USUAL, *more):
        description, example, headers = ERRORS[kind]
        documents[kind.http] = answer(description.format(noun=noun), PROBLEM, headers)
        documents[kind.http]["content"][JSON]["example"] = {"detail": example.format(noun=noun)}
    return dict(sorted(documents.items(), key=str))


def body(schema: Schema, examples: Mapping[str, tuple[str, Any]]) -> Schema:
    """The documentation of a request's body; examples: name → (summary, value)."""
    samples = {name: {"summary": summary, "value": value} for name, (summary, value) in examples.items()}
    return {"required": True, "content": {JSON: {"schema": schema, "examples": samples}}}


def parameter(name: str, schema: Schema, place: str = "query", description: str = "") -> Schema:
    """The documentation of an optional parameter."""
    note = {"description": description} if description else {}
    return {"name": name, "in": place, "required": False, **note, "schema": schema}


def id_parameter(schema: Schema, example: Any) -> Schema:
    """The documentation of the id in a path."""
    return {"name": "id", "in": "path", "required": True, "schema": schema, "example": example}


ID_PARAMETER = id_parameter({"type": "integer", "minimum": 1, "maximum": LARGEST_ID}, 1)
PAGE_PARAMETERS = [
    parameter("limit", {"type": "integer", "minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT}),
    parameter("offset", {"type": "integer", "minimum": 0, "maximum": LARGEST_ID, "default": 0}),
]


def scope_of(caller: Caller) -> DealsScope:
    """The scope of this caller. Times are in whole seconds, as those of the deals are."""
    added_at = caller.person.added
    return DealsScope(
        who=caller.person.username,
        seats=caller.deals.seats,
        since=added_at and added_at.replace(microsecond=0),
        token=caller.token.id if caller.is_for_seats else None,
        may_see=lambda *pair: caller.may_see(*pair) and not caller.row_filters(*pair),
    )
