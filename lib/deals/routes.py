"""The deals service over HTTP: `/api/<entity>/`, `/api/<entity>/<id>/` and its history, for every entity.

Callers are admitted by token, throttle and permission, in this order. Requests are worked on in a pool of
their own: the threads of the desk are not theirs to use up.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, HTTPException, Request, Response
from fastapi.security import HTTPBearer

from lib import database
from lib.deals import documentation, doubts, fields
from lib.deals.service import DealsService, EntityResponse, ListPart, WriteRequest
from lib.deals.store.entity_stores import ENTITY_STORES
from lib.deals.store.work import DealsScope, EntityKey, Fields
from lib.deals.values import LARGEST_ID
from lib.tokens.access import Access
from lib.tokens.models import Caller
from lib.wire import exact
from lib.wire.deadline import Deadline
from lib.wire.errors import (
    AccessError,
    DeadlineExceeded,
    Forbidden,
    Invalid,
    NotFound,
    TrancheError,
    Unauthorized,
)
from lib.wire.problems import problem
from lib.wire.throttle import Throttle

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
            with database.explain_errors():
                caller = self._access.caller(token.strip(), self._service)
        except AccessError:
            raise Unauthorized(WRONG, 'Bearer error="invalid_token"') from None
        if not caller.deals.opens:
            raise Unauthorized(NO_ACCESS.format(caller.person.username), 'Bearer error="invalid_token"')
        if not self._is_exempt(token.strip()):
            self._throttles[writes].admit(caller.token.id)
        return caller


Result = TypeVar("Result")
Handler = Callable[[Request], Awaitable[Response]]

JSON = "application/json"
THREADS = 8
LEGACY, WARNINGS = "packages", "Tranche-Warnings"
BATCH = "/demand_deals/batch"
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
BEARER = HTTPBearer(
    auto_error=False, description="A token for the deals API"
)  # for /docs; Admission reads it
TOO_SLOW = "The request's body did not arrive in time; nothing was changed"


@dataclass(frozen=True)
class Endpoints:
    """Shared by the endpoints of all entities. `seconds` is the time limit of a request."""

    deals: DealsService
    admission: Admission
    seconds: float
    pool: ThreadPoolExecutor

    async def run(self, work: Callable[[], Result]) -> Result:
        """The result of work in the pool."""
        return await asyncio.get_running_loop().run_in_executor(self.pool, work)

    async def admit(self, request: Request, *, writes: bool, may_propose: bool = False) -> Caller:
        """The caller."""
        text = request.headers.get("authorization")
        return await self.run(lambda: self.admission.caller(text, writes, may_propose=may_propose))


def routes(
    deals: DealsService, admission: Admission, seconds: float, *, with_packages: bool = True
) -> APIRouter:
    """The endpoints, by default with those of the deprecated packages."""
    router = APIRouter(prefix="/api", tags=["deals"], dependencies=[Depends(BEARER)])
    endpoints = Endpoints(deals, admission, seconds, ThreadPoolExecutor(THREADS, thread_name_prefix="deals"))
    for entity in ENTITY_STORES:
        if with_packages or entity != LEGACY:
            _add(router, _Entity(entity, endpoints))
    return router


def _add(router: APIRouter, entity: "_Entity") -> None:
    name = entity.name
    paths: dict[str, dict[str, tuple[str, Handler]]] = {
        f"/{name}": {
            "GET": ("list", entity.list),
            "POST": ("create", entity.create),
            "PUT": ("change_many", entity.change_many),
        },
        **({BATCH: {"POST": ("create_many", entity.create_many)}} if name == fields.DEALS else {}),
        f"/{name}/{{id}}": {
            "GET": ("get", entity.get),
            "PUT": ("change", entity.change),
            "DELETE": ("remove", entity.remove),
        },
        f"/{name}/{{id}}/history": {"GET": ("history", entity.history)},
    }
    for path, verbs in paths.items():
        for method, (verb, handler) in verbs.items():
            answer, operation = entity.endpoint(handler), documentation.operation(name, verb)
            router.add_api_route(f"{path}/", answer, methods=[method], **operation)
            router.add_api_route(path, answer, methods=[method], include_in_schema=False)
        refuse = refusing(sorted(verbs))
        for either in (path, f"{path}/"):
            router.add_api_route(either, refuse, methods=[*METHODS - verbs.keys()], include_in_schema=False)


class _Entity:
    """The six endpoints of one entity."""

    def __init__(self, name: str, endpoints: Endpoints) -> None:
        self.name, self._endpoints, self._deals = name, endpoints, endpoints.deals

    async def list(self, request: Request) -> Response:
        """A page of all of them."""
        return await self._page(
            request,
            lambda scope, deadline: self._deals.list(self.name, parameters_of(request), scope, deadline),
        )

    async def history(self, request: Request) -> Response:
        """A page of the changes of one of them."""
        key = self._key(request)
        return await self._page(
            request, lambda scope, deadline: self._deals.history(key, parameters_of(request), scope, deadline)
        )

    async def get(self, request: Request) -> Response:
        """One of them."""
        deadline = self._deadline()
        scope = scope_of(await self._endpoints.admit(request, writes=False))
        key = self._key(request)
        response = await self._endpoints.run(
            lambda: self._deals.get(key, parameters_of(request), scope, deadline)
        )
        return _response(response)

    async def create(self, request: Request) -> Response:
        """A new one."""
        deadline = self._deadline()
        write = await self._write_request(request, deadline)
        response = await self._endpoints.run(lambda: self._deals.create(self.name, write, deadline))
        body = response.body | _warnings(self.name, write.body)
        answer = _response(replace(response, body=body), 201)
        answer.headers["Location"] = f"/api/{self.name}/{response.body['id']}/"
        return answer

    async def create_many(self, request: Request) -> Response:
        """Several new ones, all or none."""
        deadline = self._deadline()
        body = await self._write_request(request, deadline)
        results = await self._endpoints.run(lambda: self._deals.create_many(body, deadline))
        return Response(exact.dumps({"results": results}), 201, media_type=JSON)

    async def change(self, request: Request) -> Response:
        """Some of its fields."""
        deadline = self._deadline()
        write, key = await self._write_request(request, deadline), self._key(request)
        etag = await self._endpoints.run(lambda: self._deals.change(key, write, deadline))
        warnings = _warnings(self.name, write.body)
        header = {WARNINGS: json.dumps(warnings["warnings"])} if warnings else {}
        return Response(status_code=204, headers={"ETag": etag} | header)

    async def change_many(self, request: Request) -> Response:
        """Some fields of several."""
        deadline = self._deadline()
        write = await self._write_request(request, deadline)
        results = await self._endpoints.run(lambda: self._deals.change_many(self.name, write, deadline))
        for one, change in zip(results, write.body, strict=True):
            one |= _warnings(self.name, change) if one["status"] == 204 else {}
        return Response(exact.dumps({"results": results}), media_type=JSON)

    async def remove(self, request: Request) -> Response:
        """The whole of it."""
        deadline = self._deadline()
        write, key = await self._write_request(request, deadline, has_body=False), self._key(request)
        await self._endpoints.run(lambda: self._deals.remove(key, write, deadline))
        return Response(status_code=204)

    def endpoint(self, handler: Handler) -> Handler:
        """The handler with its errors converted to responses, and a deprecation header if deprecated."""
        marks = {"Deprecation": "true"} if self.name == LEGACY else {}

        async def answer(request: Request) -> Response:
            try:
                response = await handler(request)
            except TrancheError as error:
                response = problem(request.url.path, error)
            response.headers.update(marks)
            return response

        return answer

    def _deadline(self) -> Deadline:
        return Deadline(self._endpoints.seconds)

    def _key(self, request: Request) -> EntityKey:
        text = request.path_params["id"]
        if not re.fullmatch(r"[0-9]{1,16}", text, re.ASCII) or int(text) > LARGEST_ID:
            raise NotFound(f"There is no {ENTITY_STORES[self.name].noun} '{text}'")
        return self.name, int(text)

    async def _page(self, request: Request, work: Callable[[DealsScope, Deadline], ListPart]) -> Response:
        deadline = self._deadline()
        scope = scope_of(await self._endpoints.admit(request, writes=False))
        part = await self._endpoints.run(lambda: work(scope, deadline))
        return Response(exact.dumps(list_page(request, part)), media_type=JSON)

    async def _write_request(
        self, request: Request, deadline: Deadline, *, has_body: bool = True
    ) -> WriteRequest:
        caller = await self._endpoints.admit(request, writes=True)
        return WriteRequest(
            scope=scope_of(caller),
            body=await body_of(request, deadline) if has_body else None,
            parameters=parameters_of(request),
            if_match=request.headers.get("if-match"),
            idempotency_key=request.headers.get("idempotency-key"),
        )


def scope_of(caller: Caller) -> DealsScope:
    """The scope of this caller. Times are in whole seconds, as those of the deals are."""
    added_at = caller.person.added
    return DealsScope(
        who=caller.person.username,
        seats=caller.deals.seats,
        since=added_at and added_at.replace(microsecond=0),
        token=caller.token.id if caller.is_for_seats else None,
        may_see=caller.may_see,
    )


def answering(handler: Handler) -> Handler:
    """The handler with its errors converted to responses."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except TrancheError as error:
            return problem(request.url.path, error)

    return answer


def refusing(methods: list[str]) -> Handler:
    """A handler for methods that an address does not have; `methods` are those that it has."""

    async def refuse(request: Request) -> Response:
        raise HTTPException(405, headers={"Allow": ", ".join(methods)})

    return refuse


def parameters_of(request: Request) -> list[tuple[str, str]]:
    """Its query parameters, in their order."""
    return request.query_params.multi_items()


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


def _warnings(entity: str, body: Any) -> Fields:
    """`{"warnings": […]}` about the fields of a request that was done; empty without any."""
    warnings = doubts.of_package(body) if entity == fields.SUPPLY else []
    return {"warnings": [f"{one}." for one in warnings]} if warnings else {}


def _response(response: EntityResponse, code: int = 200) -> Response:
    headers = {"ETag": response.etag} | ({"Idempotency-Replayed": "true"} if response.is_replay else {})
    return Response(exact.dumps(response.body), code, headers, JSON)


def list_page(request: Request, part: ListPart) -> Fields:
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
