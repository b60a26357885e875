"""Deal sync over HTTP (`/api/deal_sync/`) and its documentation: a DSP polls here and reports a status."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from fastapi import APIRouter, Request, Response

from lib.deals import documentation
from lib.deals.models import BUYER_STATUS
from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT
from lib.deals.requests import page_of
from lib.deals.routes import (
    JSON,
    METHODS,
    Admission,
    answering,
    body_of,
    list_page,
    parameters_of,
    refusing,
    scope_of,
)
from lib.deals.sync.documents import AD_TYPES, ARCHIVED, VERSION
from lib.deals.sync.service import DealSync, SyncCaller
from lib.deals.sync.sync_state import BuyerSeatRequest
from lib.deals.values import LARGEST_ID
from lib.wire import exact
from lib.wire.deadline import Deadline
from lib.wire.errors import Conflict, InUse
from lib.wire.schemas import TEXT, Schema, a_list, an_object, of_model

TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"}
TAG: Schema = {"ETag": {"description": "The content, for If-None-Match", "schema": TEXT}}
EXAMPLE = "TR-7K2Q-9FXA-4M1D"
SPECIFICATION = "Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension."
SCOPE_NOTE = "Only what the token's seats may see."
SUMMARIES = {
    "list": "Documents of the synchronized deals",
    "get": "The document of a synchronized deal",
    "status": "The status of a deal at its DSP",
    "report": "Report the status of a deal",
}
NOTES = {
    "list": f"{SPECIFICATION} {SCOPE_NOTE} A deal that was fetched and then deleted is archived.",
    "get": SPECIFICATION,
    "status": f"{SPECIFICATION} As reported last; `ext` says when, and when the deal was fetched.",
    "report": f"{SPECIFICATION} For a DSP's token alone.",
}
TERMS = an_object(
    {"pricetype": {"type": "integer", "minimum": 0}},
    {
        "startdate": TIME,
        "enddate": TIME,
        "countries": a_list(TEXT | {"pattern": "^[A-Z]{3}$"}),
        "dealfloor": {"type": "number"},
        "cur": TEXT | {"pattern": "^[A-Z]{3}$"},
        "guar": {"const": 1},
        "units": {"type": "integer", "minimum": 1},
    },
)
CURATION = an_object({}, {"curator": TEXT, "curfeetype": {"type": "integer", "minimum": 0, "maximum": 4}})
DEAL = an_object(
    {
        "id": TEXT,
        "name": TEXT,
        "created": TIME,
        "sellerstatus": {"type": "integer", "minimum": 0, "maximum": ARCHIVED},
        "origin": TEXT,
        "wseat": a_list(TEXT),
        "terms": TERMS,
    },
    {"seller": TEXT, "adtypes": a_list({"enum": [*AD_TYPES.values()]}), "curation": CURATION},
)
STATUS = an_object(
    {
        "buyerseatid": TEXT,
        "status": {"type": "integer", "minimum": 0, "maximum": len(BUYER_STATUS) - 1},
        "ext": an_object({"reported_at": TIME, "reported_by": TEXT}, {"reason": TEXT}),
    }
)
BUYER_SEAT = an_object(
    {
        "version": {"const": VERSION},
        "id": TEXT,
        "buyerstatus": a_list(STATUS),
        "ext": an_object(
            {},
            {"fetched_at": TIME, "fetched_by": TEXT, "sent_at": TIME, "problem": TEXT, "next_try": TIME},
        ),
    }
)
ANSWERS = {"list": page_of(DEAL), "get": DEAL, "status": BUYER_SEAT}
WORDS = {"list": "A page", "get": "The document", "status": "The status"}


def operation(verb: str) -> dict[str, Any]:
    """The documentation of one endpoint, as `add_api_route` takes it."""
    return {
        "operation_id": f"{verb}_deal_sync",
        "summary": SUMMARIES[verb],
        "description": NOTES[verb],
        "status_code": 204 if verb == "report" else 200,
        "response_model": None,
        "responses": _success(verb) | _failures(verb),
        "openapi_extra": {"parameters": _parameters(verb), **_body(verb)},
    }


def _success(verb: str) -> dict[int | str, Any]:
    if verb == "report":
        return {204: {"description": "It is stored"}}
    content = {"application/json": {"schema": ANSWERS[verb]}}
    return {
        200: {"description": WORDS[verb], "headers": TAG, "content": content},
        304: {"description": "As If-None-Match has it", "headers": TAG},
    }


def _failures(verb: str) -> dict[int | str, Any]:
    responses = documentation.of("report" if verb == "report" else "get", "synchronized deal")
    return {code: answer for code, answer in responses.items() if code not in (InUse.http, Conflict.http)}


def _parameters(verb: str) -> list[Schema]:
    deal = _parameter("id", "path", TEXT | {"minLength": 1}) | {"required": True, "example": EXAMPLE}
    etag = _parameter("If-None-Match", "header", TEXT)
    if verb != "list":
        return [deal] if verb == "report" else [deal, etag]
    whole = {"type": "integer", "minimum": 0, "maximum": LARGEST_ID}
    seats = _parameter("seat", "query", {"type": "array", "items": TEXT})
    return [
        _parameter(
            "limit", "query", whole | {"minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT}
        ),
        _parameter("offset", "query", whole | {"default": 0}),
        seats | {"description": "Only of the seats with these ids at the DSP"},
        etag,
    ]


def _parameter(name: str, place: str, schema: Schema) -> Schema:
    return {"name": name, "in": place, "required": False, "schema": schema}


def _body(verb: str) -> Schema:
    if verb != "report":
        return {}
    example = {"version": VERSION, "id": EXAMPLE, "buyerstatus": [{"buyerseatid": "seat-107", "status": 4}]}
    content = {
        "schema": of_model(BuyerSeatRequest),
        "examples": {"active": {"summary": "It delivers", "value": example}},
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


THREADS = 2
Result = TypeVar("Result")
Handler = Callable[[Request], Awaitable[Response]]


def routes(sync: DealSync, admission: Admission, seconds: float) -> APIRouter:
    """The endpoints, for the router of the deals API."""
    router = APIRouter(prefix="/deal_sync")
    endpoints = _Endpoints(sync, admission, seconds)
    paths: dict[str, dict[str, tuple[str, Handler]]] = {
        "": {"GET": ("list", endpoints.list)},
        "/{id}": {"GET": ("get", endpoints.get)},
        "/{id}/status": {"GET": ("status", endpoints.status), "PUT": ("report", endpoints.report)},
    }
    for path, verbs in paths.items():
        for method, (verb, handler) in verbs.items():
            docs = operation(verb)
            router.add_api_route(f"{path}/", answering(handler), methods=[method], **docs)
            router.add_api_route(path, answering(handler), methods=[method], include_in_schema=False)
        for either in (path, f"{path}/"):
            others = [*METHODS - verbs.keys()]
            router.add_api_route(either, refusing(sorted(verbs)), methods=others, include_in_schema=False)
    return router


class _Endpoints:
    """The four of them; `seconds` is the time limit of a request."""

    def __init__(self, sync: DealSync, admission: Admission, seconds: float) -> None:
        self._sync, self._admission, self._seconds = sync, admission, seconds
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="deal sync")

    async def list(self, request: Request) -> Response:
        """A page of documents."""
        deadline, caller = Deadline(self._seconds), await self._admit(request)
        part = await self._run(lambda: self._sync.page(parameters_of(request), caller, deadline))
        return _conditional_response(request, list_page(request, part))

    async def get(self, request: Request) -> Response:
        """One document."""
        deadline, caller = Deadline(self._seconds), await self._admit(request)
        deal = request.path_params["id"]
        return _conditional_response(
            request,
            await self._run(lambda: self._sync.get(deal, parameters_of(request), caller, deadline)),
        )

    async def status(self, request: Request) -> Response:
        """What was reported of a deal."""
        deadline, caller = Deadline(self._seconds), await self._admit(request)
        deal = request.path_params["id"]
        return _conditional_response(
            request,
            await self._run(lambda: self._sync.status(deal, parameters_of(request), caller, deadline)),
        )

    async def report(self, request: Request) -> Response:
        """The status of a deal, from its DSP."""
        deadline, caller = Deadline(self._seconds), await self._admit(request, reports=True)
        deal, body = request.path_params["id"], await body_of(request, deadline)
        await self._run(lambda: self._sync.report(deal, body, parameters_of(request), caller, deadline))
        return Response(status_code=204)

    async def _admit(self, request: Request, *, reports: bool = False) -> SyncCaller:
        authorization = request.headers.get("authorization")
        caller = await self._run(lambda: self._admission.sync_caller(authorization, reports))
        return SyncCaller(scope_of(caller), caller.token.id, caller.token.name, caller.deals.syncs)

    async def _run(self, work: Callable[[], Result]) -> Result:
        return await asyncio.get_running_loop().run_in_executor(self._pool, work)


def _conditional_response(request: Request, body: object) -> Response:
    """The body with its ETag, or 304 where the caller has it already (RFC 9110, 13.1.2)."""
    content = exact.dumps(body)
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    etags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if etag in etags:
        return Response(status_code=304, headers={"ETag": etag})
    return Response(content, headers={"ETag": etag}, media_type=JSON)
