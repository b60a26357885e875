"""Deal sync over HTTP (`/api/deal_sync/`), an extension: a DSP polls here and reports a status.

The objects are those of the IAB Tech Lab's Deal Sync API 1.0.
"""

import hashlib
from typing import Annotated

from fastapi import APIRouter, Header, Path, Request, Response
from pydantic import WithJsonSchema

from lib.deals.endpoints import AuthorizedCall, Body, admit, list_page
from lib.deals.models import BUYER_STATUS
from lib.deals.openapi import JSON, PAGE_PARAMETERS, Responses, body, errors, page_of, parameter, success
from lib.deals.sync.documents import AD_TYPES, ARCHIVED, VERSION
from lib.deals.sync.service import who
from lib.deals.sync.sync_state import BuyerSeatRequest
from lib.wire import exact
from lib.wire.errors import NotFound
from lib.wire.schemas import TEXT, Schema, a_list, an_object, of_model

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
SEATS = parameter("seat", a_list(TEXT), description="Only of the seats with these ids at the DSP")
UNCHANGED: Responses = {304: {"description": "As If-None-Match has it", "headers": TAG}}
DealId = Annotated[str, Path(alias="id", min_length=1, examples=[EXAMPLE])]
IfNoneMatch = Annotated[str | None, Header(alias="If-None-Match"), WithJsonSchema(TEXT)]
router = APIRouter(
    prefix="/deal_sync",
    responses=errors(NotFound, noun="synchronized deal"),
    generate_unique_id_function=lambda route: f"{route.name}_deal_sync",
)


SyncCall = Annotated[AuthorizedCall, admit(lambda admission, token: admission.sync_caller(token, False))]
ReportCall = Annotated[AuthorizedCall, admit(lambda admission, token: admission.sync_caller(token, True))]


@router.get(
    "/",
    name="list",
    summary="Documents of the synchronized deals",
    responses=success(200, "A page", page_of(DEAL), TAG) | UNCHANGED,
    openapi_extra={"parameters": [*PAGE_PARAMETERS, SEATS]},
)
async def list_documents(request: Request, call: SyncCall, if_none_match: IfNoneMatch = None) -> Response:
    """Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension. Only what the token's seats may see.
    A deal that was fetched and then deleted is archived."""
    page = await call.read(lambda: call.api.sync.page(call.request(), _dsp(call)))
    return _conditional_response(if_none_match, list_page(request, page))


@router.get(
    "/{id}/",
    summary="The document of a synchronized deal",
    responses=success(200, "The document", DEAL, TAG) | UNCHANGED,
)
async def get(call: SyncCall, deal_id: DealId, if_none_match: IfNoneMatch = None) -> Response:
    """Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension."""
    document = await call.read(lambda: call.api.sync.get(deal_id, call.request(), _dsp(call)))
    return _conditional_response(if_none_match, document)


@router.get(
    "/{id}/status/",
    summary="The status of a deal at its DSP",
    responses=success(200, "The status", BUYER_SEAT, TAG) | UNCHANGED,
)
async def status(call: SyncCall, deal_id: DealId, if_none_match: IfNoneMatch = None) -> Response:
    """As reported last; `ext` says when, and when the deal was fetched. An extension."""
    report = await call.read(lambda: call.api.sync.status(deal_id, call.request()))
    return _conditional_response(if_none_match, report)


@router.put(
    "/{id}/status/",
    summary="Report the status of a deal",
    status_code=204,
    responses=success(204, "It is stored"),
    openapi_extra=body(of_model(BuyerSeatRequest), {"active": ("It delivers", REPORT)}),
)
async def report(call: ReportCall, body: Body, deal_id: DealId) -> Response:
    """For a DSP's token alone. An extension."""
    await call.write(lambda: call.api.sync.report(deal_id, call.request(body), _dsp(call)))
    return Response(status_code=204)


def _dsp(call: AuthorizedCall) -> str:
    """Who calls, if it is a DSP; else empty."""
    token = call.caller.token
    return who(token.name, f"token {token.id}") if call.caller.deals.syncs else ""


def _conditional_response(if_none_match: str | None, body: object) -> Response:
    """The body with its ETag, or 304 where the caller has it already (RFC 9110, 13.1.2)."""
    content = exact.dumps(body)
    etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
    etags = [tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")]
    if etag in etags:
        return Response(status_code=304, headers={"ETag": etag})
    return Response(content, headers={"ETag": etag}, media_type=JSON)
