"""Deal sync over HTTP: `/api/deal_sync/`, which a DSP polls, and the status that it reports there."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from fastapi import APIRouter, Request, Response

from lib.deals.admission import Admission
from lib.deals.routes import JSON, METHODS, body_of, listed, parameters_of, refusing, scope_of
from lib.deals.sync import documentation
from lib.deals.sync.service import DealSync, SyncCaller
from lib.wire import exact
from lib.wire.deadline import Deadline
from lib.wire.errors import TrancheError
from lib.wire.problems import problem

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
            described = documentation.operation(verb)
            router.add_api_route(f"{path}/", _answering(handler), methods=[method], **described)
            router.add_api_route(path, _answering(handler), methods=[method], include_in_schema=False)
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
        return _unless_known(request, listed(request, part))

    async def get(self, request: Request) -> Response:
        """One document."""
        deadline, caller = Deadline(self._seconds), await self._admit(request)
        deal = request.path_params["id"]
        return _unless_known(
            request,
            await self._run(lambda: self._sync.get(deal, parameters_of(request), caller, deadline)),
        )

    async def status(self, request: Request) -> Response:
        """What was reported of a deal."""
        deadline, caller = Deadline(self._seconds), await self._admit(request)
        deal = request.path_params["id"]
        return _unless_known(
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


def _unless_known(request: Request, body: object) -> Response:
    """The body with its ETag, or 304 where the caller has it already (RFC 9110, 13.1.2)."""
    content = exact.dumps(body)
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if etag in known:
        return Response(status_code=304, headers={"ETag": etag})
    return Response(content, headers={"ETag": etag}, media_type=JSON)


def _answering(handler: Handler) -> Handler:
    """The handler with its errors converted to responses."""

    async def answer(request: Request) -> Response:
        try:
            return await handler(request)
        except TrancheError as error:
            return problem(request.url.path, error)

    return answer
