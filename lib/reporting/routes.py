"""The reporting service over HTTP: POST /API/v2/info, /audience and /export; /slicers is our own.

Queries run in a pool of their own, shared fairly among people: the threads of the desk are not theirs to use
up, and nobody waits for all that somebody else asked.
"""

import asyncio
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from os import SEEK_END
from typing import IO, Any, TypeVar

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from lib.reporting import documentation
from lib.reporting.answers import as_arrow, as_json
from lib.reporting.documentation import INFO, SLICERS
from lib.reporting.models import Slicer
from lib.reporting.service import AuthorizedRequest, ReportingService
from lib.wire.deadline import Deadline
from lib.wire.errors import Throttled
from lib.wire.fair import FairPool, answer

Result = TypeVar("Result")
JSON = "application/json"
AUTH_THREADS = 2  # threads on which tokens are checked: never behind a query
PIECE_BYTES, LATER_BYTES = 1 << 18, 1 << 20  # the first piece of an answer comes soon
Parts = Iterator[bytes | memoryview]
MOST_FILES, WAIT_SECONDS = 20, 10


def routes(service: ReportingService) -> APIRouter:
    """The endpoints. Errors are raised as TrancheError, which the application converts to responses."""
    router = APIRouter(prefix="/API/v2", tags=["reporting"])
    most_values = service.settings.filter_values
    desk = _Endpoints(service)

    @router.post("/slicers", **SLICERS)
    async def slicers(request: Request) -> Response:
        body = await request.body()
        pairs = await asyncio.wrap_future(desk.auth_threads.submit(None, lambda: service.slicers(body)))
        names = [{"project_name": project, "slicer_name": name} for project, name in pairs]
        return Response(orjson.dumps({"status": "success", "slicers": names}), media_type=JSON)

    @router.post("/info", **INFO)
    async def info(request: Request) -> Response:
        authorized_call = await desk.admit(request)
        slicer = await authorized_call.result(
            lambda: service.info(authorized_call.request, authorized_call.deadline)
        )
        return Response(orjson.dumps(_describe(slicer)), media_type=JSON)

    @router.post("/audience", **documentation.audience(most_values))
    async def audience(request: Request) -> Response:
        authorized_call = await desk.admit(request)
        if as_arrow.MEDIA_TYPE in request.headers.get("accept", ""):
            content = await authorized_call.result(
                lambda: as_arrow.encode(service.audience(authorized_call.request, authorized_call.deadline))
            )
            return Response(content, media_type=as_arrow.MEDIA_TYPE)
        return await authorized_call.stream(
            lambda: as_json.encode(service.audience(authorized_call.request, authorized_call.deadline))
        )

    @router.post("/export", **documentation.export(most_values))
    async def export(request: Request) -> Response:
        authorized_call = await desk.admit(request)
        desk.check_files(authorized_call.request.who)
        file = await authorized_call.result(
            lambda: service.export(authorized_call.request, authorized_call.deadline)
        )
        release = desk.hold(authorized_call.request.who, file.content)
        headers = {"Content-Disposition": file.disposition, "Content-Length": str(_size(file.content))}
        return _FileResponse(file.content, release, media_type=file.media_type, headers=headers)

    return router


class _Endpoints:
    """Takes requests, with threads that check tokens, and threads that answer, shared fairly."""

    def __init__(self, service: ReportingService) -> None:
        self.service = service
        self.auth_threads = FairPool(AUTH_THREADS, AUTH_THREADS, "door")
        self._files: Counter[str] = Counter()

    async def admit(self, request: Request) -> "_AuthorizedCall":
        """The request, once its token is checked."""
        service, deadline, body = self.service, self.service.deadline(), await request.body()
        future = self.auth_threads.submit(None, lambda: service.admit(body))
        call = _AuthorizedCall(await asyncio.wrap_future(future), deadline, request.receive, service.queries)
        request.scope["tranche.slicer"] = f"{call.request.slicer.project}/{call.request.slicer.name}"
        return call

    def check_files(self, who: str) -> None:
        """Raise Throttled if this person has too many unfinished downloads, which take up disk space."""
        if self._files[who] >= MOST_FILES:
            raise Throttled(WAIT_SECONDS, f"{MOST_FILES} of your files are still being read; read them first")

    def hold(self, who: str, file: IO[bytes]) -> Callable[[], object]:
        """Count a file until it is garbage, or what this returns is called."""
        self._files[who] += 1
        return weakref.finalize(file, self._files.subtract, [who])


class _FileResponse(StreamingResponse):
    """A file that is closed and released once it is read, or its reader has left."""

    def __init__(self, file: IO[bytes], release: Callable[[], object], **options: Any) -> None:
        super().__init__(_read(file), **options)
        self._file, self._release = file, release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()
            self._release()


@dataclass(frozen=True)
class _AuthorizedCall:
    """A request that is being answered; its work stops if the caller disconnects."""

    request: AuthorizedRequest
    deadline: Deadline
    receive: Receive
    queries: FairPool

    async def result(self, work: Callable[[], Result]) -> Result:
        """The result of `work`, run on one of the threads that this caller may use."""

        def run() -> Result:
            self.deadline.check()
            return work()

        return await answer(self.queries.submit(self.request.who, run), self.receive, self.deadline)

    async def stream(self, work: Callable[[], Parts]) -> Response:
        """The JSON whose parts `work` returns: in one piece if it is short, otherwise streamed.

        The time that the client takes to read does not count toward the query's deadline.
        """
        parts, first = await self.result(lambda: _begin(work()))
        if len(first) < PIECE_BYTES:
            return Response(first, media_type=JSON)
        return StreamingResponse(self._pieces(parts, first), media_type=JSON)

    async def _pieces(self, parts: Parts, first: bytes) -> AsyncIterator[bytes]:
        piece = first
        while piece:
            yield piece
            turn = self.queries.submit(self.request.who, lambda: _piece(parts, LATER_BYTES))
            piece = await asyncio.wrap_future(turn)


def _begin(parts: Parts) -> tuple[Parts, bytes]:
    return parts, _piece(parts, PIECE_BYTES)


def _piece(parts: Parts, least: int) -> bytes:
    """The next parts, joined: at least so many bytes, except at the end."""
    pieces, size = [], 0
    while size < least and (part := next(parts, None)) is not None:
        pieces.append(part)
        size += len(part)
    return b"".join(pieces)


async def _read(file: IO[bytes]) -> AsyncIterator[bytes]:
    """A file's content, on the loop's own threads."""
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece


def _size(file: IO[bytes]) -> int:
    size = file.seek(0, SEEK_END)
    file.seek(0)
    return size


def _describe(slicer: Slicer) -> dict[str, Any]:
    """The info response; only key fields with a `link` have that field (specification, Info), only fields
    with a role have theirs, and only who sees some of the rows is told which."""
    body = slicer.model_dump(mode="json", exclude=set() if slicer.restrictions else {"restrictions"})
    for field in (*body["key_fields"], *body["data_fields"]):
        for name in ("link", "role"):
            if field.get(name, "") is None:
                del field[name]
    return body
