"""Deal sync over HTTP (`/api/deal_sync/`), an extension: a DSP polls here and reports a status.

The objects are those of the IAB Tech Lab's Deal Sync API 1.0.
"""

import hashlib

from fastapi import APIRouter, Request, Response

from lib.deals.endpoints import (
    JSON,
    PAGE_PARAMETERS,
    Admission,
    Endpoints,
    answer,
    body,
    body_of,
    endpoint,
    errors,
    id_parameter,
    list_page,
    parameter,
    parameters_of,
    scope_of,
)
from lib.deals.models import BUYER_STATUS
from lib.deals.requests import page_of
from lib.deals.sync.documents import AD_TYPES, ARCHIVED, VERSION
from lib.deals.sync.service import DealSync, SyncCaller
from lib.deals.sync.sync_state import BuyerSeatRequest
from lib.wire import exact
from lib.wire.errors import NotFound
from lib.wire.schemas import TEXT, Schema, a_list, an_object, of_model

THREADS = 2
TIME: Schema = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$"}
TAG: Schema = {"ETag": {"description": "The content, for If-None-Match", "schema": TEXT}}
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
EXAMPLE = "TR-7K2Q-9FXA-4M1D"
REPORT = {"version": VERSION, "id": EXAMPLE, "buyerstatus": [{"buyerseatid": "seat-107", "status": 4}]}
DEAL_ID = id_parameter(TEXT | {"minLength": 1}, EXAMPLE)
SEATS = parameter("seat", a_list(TEXT), description="Only of the seats with these ids at the DSP")
IF_NONE_MATCH = parameter("If-None-Match", TEXT, "header")
UNCHANGED = {304: {"description": "As If-None-Match has it", "headers": TAG}}
ERRORS = errors(NotFound, noun="synchronized deal")


def routes(sync: DealSync, admission: Admission, seconds: float) -> APIRouter:
    """The endpoints, for the router of the deals API."""
    return _DealSync(sync, admission, seconds).router()


class _DealSync(Endpoints):
    """The four of them."""

    def __init__(self, sync: DealSync, admission: Admission, seconds: float) -> None:
        super().__init__("deal_sync", admission, seconds, THREADS)
        self._sync = sync

    @endpoint(
        "GET",
        parameters=[*PAGE_PARAMETERS, SEATS, IF_NONE_MATCH],
        responses={200: answer("A page", page_of(DEAL), TAG)} | UNCHANGED | ERRORS,
    )
    async def list(self, request: Request) -> Response:
        """Documents of the synchronized deals.

        Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension. Only what the token's seats may see.
        A deal that was fetched and then deleted is archived.
        """
        deadline, caller = self.deadline(), await self._sync_caller(request)
        part = await self.run(lambda: self._sync.page(parameters_of(request), caller, deadline))
        return _conditional_response(request, list_page(request, part))

    @endpoint(
        "GET",
        "/{id}",
        parameters=[DEAL_ID, IF_NONE_MATCH],
        responses={200: answer("The document", DEAL, TAG)} | UNCHANGED | ERRORS,
    )
    async def get(self, request: Request) -> Response:
        """The document of a synchronized deal.

        Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension.
        """
        deadline, caller = self.deadline(), await self._sync_caller(request)
        deal_id = request.path_params["id"]
        document = await self.run(lambda: self._sync.get(deal_id, parameters_of(request), caller, deadline))
        return _conditional_response(request, document)

    @endpoint(
        "GET",
        "/{id}/status",
        parameters=[DEAL_ID, IF_NONE_MATCH],
        responses={200: answer("The status", BUYER_SEAT, TAG)} | UNCHANGED | ERRORS,
    )
    async def status(self, request: Request) -> Response:
        """The status of a deal at its DSP.

        Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension. As reported last; `ext` says when, and
        when the deal was fetched.
        """
        deadline, caller = self.deadline(), await self._sync_caller(request)
        deal_id = request.path_params["id"]
        status = await self.run(lambda: self._sync.status(deal_id, parameters_of(request), caller, deadline))
        return _conditional_response(request, status)

    @endpoint(
        "PUT",
        "/{id}/status",
        status_code=204,
        parameters=[DEAL_ID],
        requestBody=body(of_model(BuyerSeatRequest), {"active": ("It delivers", REPORT)}),
        responses={204: {"description": "It is stored"}} | ERRORS,
    )
    async def report(self, request: Request) -> Response:
        """Report the status of a deal.

        Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension. For a DSP's token alone.
        """
        deadline, caller = self.deadline(), await self._sync_caller(request, reports=True)
        deal_id, report = request.path_params["id"], await body_of(request, deadline)
        await self.run(lambda: self._sync.report(deal_id, report, parameters_of(request), caller, deadline))
        return Response(status_code=204)

    async def _sync_caller(self, request: Request, *, reports: bool = False) -> SyncCaller:
        authorization = request.headers.get("authorization")
        caller = await self.run(lambda: self.admission.sync_caller(authorization, reports))
        return SyncCaller(scope_of(caller), caller.token.id, caller.token.name, caller.deals.syncs)


def _conditional_response(request: Request, body: object) -> Response:
    """The body with its ETag, or 304 where the caller has it already (RFC 9110, 13.1.2)."""
    content = exact.dumps(body)
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    etags = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if etag in etags:
        return Response(status_code=304, headers={"ETag": etag})
    return Response(content, headers={"ETag": etag}, media_type=JSON)
