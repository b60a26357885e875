"""The reporting service over HTTP: POST /API/v2/info, /audience and /export.

Queries run in a pool of their own: the threads of the desk are not theirs to use up.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse

from lib.reporting.answers import as_arrow, as_json
from lib.reporting.documentation import AUDIENCE, EXPORT, INFO
from lib.reporting.models import Slicer
from lib.reporting.service import ReportingService

Result = TypeVar("Result")
JSON = "application/json"


def routes(service: ReportingService) -> APIRouter:
    """The three endpoints. Errors are raised as TrancheError; the application puts them in words."""
    router = APIRouter(prefix="/API/v2", tags=["reporting"])
    pool = ThreadPoolExecutor(service.settings.query_threads, thread_name_prefix="query")

    @router.post("/info", **INFO)
    async def info(request: Request) -> Response:
        body = await request.body()
        slicer = await _run(pool, lambda: service.info(body))
        return Response(orjson.dumps(_described(slicer)), media_type=JSON)

    @router.post("/audience", **AUDIENCE)
    async def audience(request: Request) -> Response:
        deadline = service.deadline()
        body = await request.body()
        if as_arrow.MEDIA_TYPE in request.headers.get("accept", ""):
            packed = await _run(pool, lambda: as_arrow.encode(service.audience(body, deadline)))
            return Response(packed, media_type=as_arrow.MEDIA_TYPE)
        answer = await _run(pool, lambda: service.audience(body, deadline))
        return StreamingResponse(_pieces(pool, as_json.encode(answer)), media_type=JSON)

    @router.post("/export", **EXPORT)
    async def export(request: Request) -> Response:
        deadline = service.deadline()
        body = await request.body()
        file = await _run(pool, lambda: service.export(body, deadline))
        headers = {"Content-Disposition": file.disposition}
        return StreamingResponse(_pieces(pool, file.pieces), media_type=file.media_type, headers=headers)

    return router


async def _run(pool: ThreadPoolExecutor, work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(pool, work)


async def _pieces(pool: ThreadPoolExecutor, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while (piece := await _run(pool, lambda: next(pieces, None))) is not None:
        yield piece


def _described(slicer: Slicer) -> dict[str, Any]:
    """The info answer; `link` is there only on the key fields that have one (specification, Info)."""
    body = slicer.model_dump(mode="json")
    for field in body["key_fields"]:
        if field["link"] is None:
            del field["link"]
    return body
