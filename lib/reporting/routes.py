"""The reporting service over HTTP: POST /API/v2/info, /audience and /export; /slicers, /records are our own.

Each endpoint's documentation in /openapi.json stands at its handler. Queries run in a pool of their own,
shared fairly among people: the threads of the desk are not theirs to use up, and nobody waits for all that
somebody else asked.
"""

import asyncio
import weakref
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from os import SEEK_END
from typing import IO, Annotated, Any, Literal, TypeVar

import orjson
from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field, create_model
from starlette.types import Receive, Scope, Send

from lib.reporting.answers import LEVEL, as_arrow, as_json
from lib.reporting.answers import records as records_answer
from lib.reporting.files.formats import FORMATS
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery, RecordsQuery
from lib.reporting.service import AuthorizedRequest, ExportFile, ReportingService
from lib.slicers.models import Slicer
from lib.wire.deadline import Deadline
from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    InternalError,
    StoreAway,
    StoreUnwritable,
    Throttled,
)
from lib.wire.fair import FairPool, answer
from lib.wire.schemas import JSON, MEANINGS, TEXT, Examples, Schema, body, failure

Result = TypeVar("Result")
AUTH_THREADS = 2  # threads on which tokens are checked: never behind a query
PIECE_BYTES = 1 << 20  # most answers are one: a second turn costs a small one more than to write it
Parts = Iterator[bytes | memoryview]
MOST_FILES, WAIT_SECONDS = 20, 10
WHERE = {"slicer_name": "delivery", "project_name": "demo", "token": "<TOKEN>"}
WEEK = {"start_date": "-7d", "end_date": "yesterday"}
COUNTRY, SITE = "bid_context_wrapper.user.geo.country", "bid_context_wrapper.supply.site_id"
BY_COUNTRY = WEEK | {"split_by": [COUNTRY]}
BY_DAY = WEEK | {"split_by": ["granularity_day"]}
NAMED_COUNTRIES = {
    "name": COUNTRY, "match": "equals", "value": ["Germany", "France"], "search_mappings": 1,
}  # fmt: skip
LARGEST_FIRST = [{"name": "imps", "direction": "desc"}]
OVER_1000 = [{"name": "imps", "match": ">", "value": 1000}]
FILE: Schema = {"schema": TEXT | {"format": "binary"}}
FILES: Schema = {format_.media_type.partition(";")[0]: FILE for format_ in FORMATS.values()}
NULL: Schema = {"type": "null"}


class SlicersRequest(BaseModel):
    """A token."""

    token: Annotated[str, Field(description="Access token")]


class SlicerName(BaseModel):
    """A slicer that the token opens."""

    project_name: str
    slicer_name: str


class Slicers(BaseModel):
    """The slicers that the token opens."""

    status: Literal["success"]
    slicers: list[SlicerName]


def _query(query: type[InfoQuery], examples: Examples) -> Schema:
    """The documentation of a body that is this query and a token; null counts as absent."""

    def edit(schema: Schema) -> None:
        for name in schema["properties"].keys() - {*schema["required"]}:
            field = schema["properties"][name]
            usual = {"default": field.pop("default")} if "default" in field else {}
            kinds = field["anyOf"] if field.keys() - {"title"} == {"anyOf"} else [field]
            either = [*(kind for kind in kinds if kind != NULL), NULL]
            schema["properties"][name] = usual | {"anyOf": either}

    request: Any = create_model(
        query.__name__,
        __base__=(query, SlicersRequest),
        __doc__=query.__doc__,
        __config__=ConfigDict(json_schema_extra=edit),
    )
    return body(request, {name: (summary, WHERE | value) for name, (summary, value) in examples.items()})


class QueryFailure(BaseModel):
    """Why a request failed (specification, Errors)."""

    status: Literal["bad_request", "access_error", "timeout", "internal_error"]
    reason: str


FAILURES: dict[int | str, Schema] = {
    kind.http: failure(kind, QueryFailure, {"status": kind.status, "reason": MEANINGS[kind][1]})
    for kind in (
        BadRequest, AccessError, Throttled, InternalError, StoreAway, StoreUnwritable, DeadlineExceeded,
    )
}  # fmt: skip
FAILURES[413] = FAILURES[BadRequest.http] | {"description": "The body is too large"}
router = APIRouter(
    prefix="/API/v2",
    tags=["reporting"],
    responses=FAILURES,
    generate_unique_id_function=lambda route: route.name,
)
"""The endpoints, answered by the ReportingApi that is `reporting` in the application's state.

Errors are raised as TrancheError, which the application converts to responses.
"""


class ReportingApi:
    """Takes requests to a service, with threads that check tokens, and threads that answer, shared fairly."""

    def __init__(self, service: ReportingService) -> None:
        self.service = service
        self.auth_threads = FairPool(AUTH_THREADS, AUTH_THREADS, "auth")
        self._files: Counter[str] = Counter()

    async def slicers(self, body: bytes) -> list[tuple[str, str]]:
        """The slicers that the token in the body opens."""
        return await asyncio.wrap_future(self.auth_threads.submit(None, lambda: self.service.slicers(body)))

    async def admit(self, request: Request) -> "_AuthorizedCall":
        """The request, once its token is checked."""
        service, deadline, body = self.service, self.service.deadline(), await request.body()
        future = self.auth_threads.submit(None, lambda: service.admit(body))
        call = _AuthorizedCall(await asyncio.wrap_future(future), deadline, request.receive, service)
        request.scope["tranche.slicer"] = f"{call.request.slicer.project}/{call.request.slicer.name}"
        return call

    async def file_response(
        self, call: "_AuthorizedCall", make: Callable[[AuthorizedRequest, Deadline], ExportFile]
    ) -> Response:
        """The file that `make` writes. Throttled for whoever has too many unread ones: they take up disk."""
        who = call.request.who
        if self._files[who] >= MOST_FILES:
            raise Throttled(WAIT_SECONDS, f"{MOST_FILES} of your files are still being read; read them first")
        file = await call.result(lambda: make(call.request, call.deadline))
        self._files[who] += 1
        # Counted until it is garbage, too: a reader that leaves before the answer begins never closes it.
        release = weakref.finalize(file.content, self._files.subtract, [who])
        size = file.content.seek(0, SEEK_END)
        file.content.seek(0)
        headers = {"Content-Disposition": file.disposition, "Content-Length": str(size)}
        return _FileResponse(file.content, release, media_type=file.media_type, headers=headers)


@dataclass(frozen=True)
class _AuthorizedCall:
    """A request that is being answered; its work stops if the caller disconnects."""

    request: AuthorizedRequest
    deadline: Deadline
    receive: Receive
    service: ReportingService

    async def result(self, work: Callable[[], Result]) -> Result:
        """The result of `work`, run on one of the threads that this caller may use."""

        def run() -> Result:
            self.deadline.check()
            return work()

        return await answer(self.service.queries.submit(self.request.who, run), self.receive, self.deadline)

    async def stream(self, work: Callable[[], Parts]) -> Response:
        """The JSON whose parts `work` returns: in one piece if it is short, otherwise streamed.

        The time that the client takes to read does not count toward the query's deadline.
        """

        def begin() -> tuple[Parts, bytes]:
            parts = work()
            return parts, _piece(parts)

        parts, first = await self.result(begin)
        if len(first) < PIECE_BYTES:
            return Response(first, media_type=JSON)
        return StreamingResponse(self._pieces(parts, first), media_type=JSON)

    async def _pieces(self, parts: Parts, first: bytes) -> AsyncIterator[bytes]:
        piece = first
        while len(piece) >= PIECE_BYTES:
            # A turn for each piece: a slow reader holds no thread, and others come in between. It begins
            # while the piece before it is sent and read.
            turn = self.service.queries.submit(self.request.who, lambda: _piece(parts))
            yield piece
            piece = await asyncio.wrap_future(turn)
        yield piece


def _api(request: Request) -> ReportingApi:
    """What answers; handlers look it up, as FastAPI takes longer to resolve a dependency than to route."""
    api: ReportingApi = request.app.state.reporting
    return api


@router.post(
    "/slicers",
    summary="The slicers that the token opens",
    openapi_extra=body(SlicersRequest, {"mine": ("All of mine", {"token": WHERE["token"]})}),
    response_description="Project and name of each",
)
async def slicers(request: Request) -> Slicers:
    """An extension of ours: the specification has no list of slicers."""
    pairs = await _api(request).slicers(await request.body())
    names = [SlicerName(project_name=project, slicer_name=name) for project, name in pairs]
    return Slicers(status="success", slicers=names)


@router.post(
    "/info",
    summary="What a slicer is",
    openapi_extra=_query(InfoQuery, {"slicer": ("A slicer", {})}),
    responses={200: {"description": "The slicer", "model": Slicer}},
)
async def info(request: Request) -> Response:
    """Time zone, dates, key fields, data fields and audience sources.

    `extensions` is our own: what this service supports beyond the specification. Of these, fields of this
    answer are `engine`, `as_of`, a data field's `polarity`, a field's `role`, and `restrictions`: filters
    that every question of this caller has beside its own.
    """
    call = await _api(request).admit(request)
    slicer = await call.result(lambda: call.service.info(call.request, call.deadline))
    # The info response; only key fields with a `link` have that field (specification, Info), only fields
    # with a role have theirs, and only who sees some of the rows is told which.
    body = slicer.model_dump(mode="json", exclude=set() if slicer.restrictions else {"restrictions"})
    for field in (*body["key_fields"], *body["data_fields"]):
        for name in ("link", "role", "currency"):
            if field.get(name, "") is None:
                del field[name]
    return Response(orjson.dumps(body), media_type=JSON)


@router.post(
    "/audience",
    summary="Figures, filtered and split",
    description="Sampled when more records are in range than the maximum sample rows, "
    f"`audience_rows_limit`; `confidence_range` is then the {LEVEL} confidence interval, in percent. "
    "Extensions of ours: data_fields, data_filters (rows by their figures; the total stays that "
    "of the whole), any_of (groups of filters, of each of which any holds), names as `timezone` "
    "(`Europe/Berlin`: its days have 23 to 25 hours), include_mappings, order_by, "
    "limit, offset, audience_key, precision, exact_within, "
    "same_precision_as (other days, as pairs of dates: all are exact, or samples of one rate), "
    "and own_fields (formulas over data fields, to be named wherever a data field is).",
    openapi_extra=_query(
        AudienceQuery,
        {
            "countries": ("A week by country", BY_COUNTRY),
            "filtered": (
                "Two countries by day, found by their names",
                WEEK | {"filters": [NAMED_COUNTRIES], "split_by": ["granularity_day", COUNTRY]},
            ),
            "top": (
                "The five largest sites, with ranges (extensions)",
                WEEK | {"split_by": [SITE], "order_by": LARGEST_FIRST, "limit": 5, "precision": 1},
            ),
        },
    ),
    responses={
        200: {
            "description": "The figures",
            "model": as_json.AudienceAnswer,
            "content": {JSON: {"example": as_json.EXAMPLE}, as_arrow.MEDIA_TYPE: FILE},
        }
    },
)
async def audience(request: Request) -> Response:
    """As JSON, or as a stream of Arrow for whoever accepts it."""
    call = await _api(request).admit(request)
    if as_arrow.MEDIA_TYPE in request.headers.get("accept", ""):
        content = await call.result(
            lambda: as_arrow.encode(call.service.audience(call.request, call.deadline))
        )
        return Response(content, media_type=as_arrow.MEDIA_TYPE)
    return await call.stream(lambda: as_json.encode(call.service.audience(call.request, call.deadline)))


@router.post(
    "/export",
    summary="The same as a file",
    openapi_extra=_query(
        ExportQuery,
        {
            "csv": ("A week by country", BY_COUNTRY | {"export_format": "csv"}),
            "total": (
                "Days with more than 1,000 impressions, and a total",
                BY_DAY | {"export_format": "xls", "include_total": 1, "data_filters": OVER_1000},
            ),
        },
    ),
    responses={200: {"description": "The file", "content": FILES}},
)
async def export(request: Request) -> Response:
    """Never sampled.

    xlsx is an extension of ours, as are data_fields, own_fields, any_of, names of time zones, order_by,
    limit, offset, audience_key, full_digits (1: csv and tsv are not rounded) and escape_formulas (0:
    texts that a spreadsheet would run get no apostrophe); the elements of data_filters are ours.
    """
    api = _api(request)
    call = await api.admit(request)
    return await api.file_response(call, call.service.export)


@router.post(
    "/records",
    summary="The records behind a figure",
    openapi_extra=_query(
        RecordsQuery,
        {
            "latest": ("The latest records of two countries", WEEK | {"filters": [NAMED_COUNTRIES]}),
            "file": (
                "Those with the most impressions, as a file",
                WEEK | {"columns": [SITE, "imps"], "order_by": LARGEST_FIRST, "export_format": "csv"},
            ),
        },
    ),
    responses={
        200: {
            "description": "The records, or a file of them",
            "model": records_answer.RecordsAnswer,
            "content": {JSON: {"example": records_answer.EXAMPLE}} | FILES,
        }
    },
)
async def records(request: Request) -> Response:
    """An extension of ours: up to 1,000 records of the days and filters, in the order of `order_by`.

    They are those that questions of this caller count. Their columns are time, key fields and data
    fields; what is only counted (users, different values) is not shown, unless the definition of the
    slicer lists its column. With `export_format` they are a file.
    """
    api = _api(request)
    call = await api.admit(request)
    if "export_format" in call.request.fields:
        return await api.file_response(call, call.service.records_file)
    table = await call.result(lambda: call.service.records(call.request, call.deadline))
    return Response(records_answer.encode(table), media_type=JSON)


class _FileResponse(StreamingResponse):
    """A file that is closed and released once it is read, or its reader has left."""

    def __init__(self, file: IO[bytes], release: Callable[[], object], **options: Any) -> None:
        super().__init__(_read(file), **options)
        self._file, self._release = file, release

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._file.close()
            self._release()


def _piece(parts: Parts) -> bytes:
    """The next parts, joined; less than PIECE_BYTES at the end alone."""
    pieces, size = [], 0
    while size < PIECE_BYTES and (part := next(parts, None)) is not None:
        pieces.append(part)
        size += len(part)
    return b"".join(pieces)


async def _read(file: IO[bytes]) -> AsyncIterator[bytes]:
    """A file's content, on the loop's own threads."""
    while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
        yield piece
