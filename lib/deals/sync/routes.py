"""Deal sync over HTTP (`/api/deal_sync/`), an extension: a DSP polls here and reports a status.

The objects are those of the IAB Tech Lab's Deal Sync API 1.0.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Request, Response
from pydantic import BaseModel, Field

from lib.deals.endpoints import AuthorizedCall, Body, IfNoneMatch, admit, conditional_response, list_page
from lib.deals.models import BuyerSeat
from lib.deals.openapi import CONTENT_TAG, PAGE_PARAMETERS, UNCHANGED, errors, page_of, parameter, success
from lib.deals.sync.documents import AD_TYPES, ARCHIVED, VERSION
from lib.deals.sync.service import who
from lib.deals.sync.sync_state import BuyerSeatRequest
from lib.wire.errors import NotFound
from lib.wire.schemas import TEXT, a_list, body

Time = Annotated[str, Field(pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$")]
Letters = Annotated[str, Field(pattern="^[A-Z]{3}$")]
EXAMPLE = "TR-7K2Q-9FXA-4M1D"
REPORT = {"version": VERSION, "id": EXAMPLE, "buyerstatus": [{"buyerseatid": "seat-107", "status": 4}]}
SEATS = parameter("seat", a_list(TEXT), description="Only of the seats with these ids at the DSP")


class SyncedTerms(BaseModel):
    """The object Terms: what a deal costs, where and when."""

    pricetype: Annotated[int, Field(ge=0)]
    startdate: Time | None = None
    enddate: Time | None = None
    countries: list[Letters] = []
    dealfloor: float | None = None
    cur: Letters | None = None
    guar: Literal[1] | None = None
    units: Annotated[int, Field(ge=1)] | None = None
    totalcost: Annotated[float, Field(ge=0)] | None = None


class Curation(BaseModel):
    """The object Curation: who curates a deal, and the type of the fee."""

    curator: str | None = None
    curfeetype: Annotated[int, Field(ge=0, le=4)] | None = None


class DealDocument(BaseModel):
    """The object Deal."""

    id: str
    name: str
    created: Time
    sellerstatus: Annotated[int, Field(ge=0, le=ARCHIVED)]
    origin: str
    wseat: list[str]
    terms: SyncedTerms
    seller: str | None = None
    adtypes: list[Annotated[int, Field(json_schema_extra={"enum": [*AD_TYPES.values()]})]] = []
    curation: Curation | None = None


class SyncedStatus(BuyerSeat):
    """The object BuyerSeat: the status as its DSP reported it last."""

    version: Literal["1.0"]


DealId = Annotated[str, Path(alias="id", min_length=1, examples=[EXAMPLE])]
router = APIRouter(
    prefix="/deal_sync",
    responses=errors(NotFound, noun="synchronized deal"),
    generate_unique_id_function=lambda route: f"{route.name}_deal_sync",
)


SyncCall = Annotated[AuthorizedCall, admit(lambda admission, token, _: admission.sync_caller(token, False))]
ReportCall = Annotated[AuthorizedCall, admit(lambda admission, token, _: admission.sync_caller(token, True))]


@router.get(
    "/",
    name="list",
    summary="Documents of the synchronized deals",
    responses=success(200, "A page", page_of(DealDocument), CONTENT_TAG) | UNCHANGED,
    openapi_extra={"parameters": [*PAGE_PARAMETERS, SEATS]},
)
async def list_documents(request: Request, call: SyncCall, if_none_match: IfNoneMatch = None) -> Response:
    """Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension. Only what the token's seats may see.
    A deal that was fetched and then deleted is archived."""
    page = await call.read(lambda: call.api.sync.page(call.request(), _dsp(call)))
    return conditional_response(if_none_match, list_page(request, page))


@router.get(
    "/{id}/",
    summary="The document of a synchronized deal",
    responses=success(200, "The document", DealDocument, CONTENT_TAG) | UNCHANGED,
)
async def get(call: SyncCall, deal_id: DealId, if_none_match: IfNoneMatch = None) -> Response:
    """Objects of the IAB Tech Lab's Deal Sync API 1.0. An extension."""
    document = await call.read(lambda: call.api.sync.get(deal_id, call.request(), _dsp(call)))
    return conditional_response(if_none_match, document)


@router.get(
    "/{id}/status/",
    summary="The status of a deal at its DSP",
    responses=success(200, "The status", SyncedStatus, CONTENT_TAG) | UNCHANGED,
)
async def status(call: SyncCall, deal_id: DealId, if_none_match: IfNoneMatch = None) -> Response:
    """As reported last; `ext` says when, and when the deal was fetched. An extension."""
    report = await call.read(lambda: call.api.sync.status(deal_id, call.request()))
    return conditional_response(if_none_match, report)


@router.put(
    "/{id}/status/",
    summary="Report the status of a deal",
    status_code=204,
    responses=success(204, "It is stored"),
    openapi_extra=body(BuyerSeatRequest, {"active": ("It delivers", REPORT)}),
)
async def report(call: ReportCall, body: Body, deal_id: DealId) -> Response:
    """For a DSP's token alone. An extension."""
    await call.write(lambda: call.api.sync.report(deal_id, call.request(body), _dsp(call)))
    return Response(status_code=204)


def _dsp(call: AuthorizedCall) -> str:
    """Who calls, if it is a DSP; else empty."""
    token = call.caller.token
    return who(token.name, f"token {token.id}") if call.caller.deals.syncs else ""
