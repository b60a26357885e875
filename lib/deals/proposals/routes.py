"""Proposals over HTTP (`/api/proposals/`), an extension."""

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from lib.deals import queries
from lib.deals.endpoints import (
    AuthorizedCall,
    Body,
    PathId,
    ReadCall,
    admit,
    json_response,
    list_page,
    read_id,
)
from lib.deals.openapi import (
    DRY_RUN_PARAMETER,
    PAGE_PARAMETERS,
    dry_run,
    errors,
    or_dry_run,
    page_of,
    parameter,
    success,
)
from lib.deals.proposals.models import (
    STATES,
    ApprovalRequest,
    DeclineRequest,
    ExpectedRequest,
    ProposalRequest,
    QuestionRequest,
    State,
    check,
)
from lib.deals.proposals.writers import ServiceWriter
from lib.deals.queries import ListOffer, ListPage
from lib.deals.validation import Problems
from lib.deals.values import Id
from lib.wire.errors import Conflict, NotFound
from lib.wire.schemas import a_list, body

OFFER = ListOffer(filters=("state",))
EXAMPLES: dict[str, dict[str, Any]] = {
    "create": {
        "price": ("Another price", {
            "entity": "demand_deals", "entity_id": 1, "fields": {"price": 2.75},
            "reason": "Win rate has fallen since the floor was raised",
        }),
        "package": ("A new package", {
            "fields": {
                "name": "Quiet Mornings", "media_type": "banner", "start_date": "2026-12-01 00:00:00+0000",
            },
            "reason": "Three seats ask for mobile inventory in the morning",
        }),
    },
    "approve": {
        "as_it_is": ("As it is", {}), "edited": ("With another price", {"fields": {"price": 2.5}}),
    },
    "decline": {"word": ("With a word", {"word": "Too low for this seat"})},
}  # fmt: skip
ABOUT_PROPOSAL, ABOUT_ENTITY = "proposal", "package or deal"


class ProposedChange(BaseModel):
    """A changed field, before and after."""

    field: str
    before: Any = None
    after: Any = None


class ProposalAnswer(BaseModel):
    """A proposal, what became of it, and what it changes."""

    id: Id
    entity: str
    entity_id: int | None
    name: str
    fields: dict[str, Any]
    changes: list[ProposedChange]
    reason: str
    question: QuestionRequest | None
    expected: ExpectedRequest | None
    by: str
    token: str | None
    at: str
    state: State
    decided_by: str | None
    decided_token: str | None
    decided_at: str | None
    word: str
    applied_id: int | None
    is_edited: bool
    warnings: list[str]


router = APIRouter(
    prefix="/proposals",
    responses=errors(),
    generate_unique_id_function=lambda route: f"{route.name}_proposals",
)


async def _number(id_text: PathId) -> int:
    return read_id(id_text, "proposal")


ProposeCall = Annotated[
    AuthorizedCall, admit(lambda admission, token, _: admission.caller(token, writes=True, may_propose=True))
]


async def _body_alone(call: ProposeCall, body: Body) -> Any:
    """The body of a request that has no query parameters."""
    call.write_request().problems().check()
    return body


BodyAlone = Annotated[Any, Depends(_body_alone)]
Number = Annotated[int, Depends(_number)]


@router.get(
    "/",
    name="list",
    summary="Proposals",
    responses=success(200, "Proposals", page_of(ProposalAnswer)),
    openapi_extra={"parameters": [*PAGE_PARAMETERS, parameter("state", a_list({"enum": [*STATES]}))]},
)
async def list_proposals(request: Request, call: ReadCall) -> Response:
    """The latest first. An extension."""
    problems = Problems()
    query = queries.query(call.parameters, problems, OFFER)
    states = [state for state in STATES if state in query.filters.get("state", STATES)]
    if set(query.filters.get("state", ())) - set(STATES):
        problems.add(("state",), f"This must be one of {', '.join(STATES)}.")
    problems.check()
    work = call.api.proposals(call.caller).page
    count, proposals = await call.read(lambda: work(states, query.limit, query.offset))
    page = ListPage(count, query.limit, query.offset, [proposal.answer() for proposal in proposals])
    return json_response(list_page(request, page))


@router.post(
    "/",
    summary="Propose a new package, or a change",
    status_code=201,
    responses=success(201, "Propose a new package, or a change", ProposalAnswer)
    | dry_run(ProposalAnswer)
    | errors(Conflict, NotFound, noun=ABOUT_ENTITY),
    openapi_extra={"parameters": [DRY_RUN_PARAMETER]} | body(ProposalRequest, EXAMPLES["create"]),
)
async def create(call: ProposeCall, body: BodyAlone) -> Response:
    """For whoever has the permission `propose` or `write`. The same proposal again, while it is open, is
    answered with the first. An extension."""
    request, proposals = call.write_request(), call.api.proposals(call.caller)
    writer = ServiceWriter(call.api.deals, replace(request, is_dry_run=False))
    if request.is_dry_run:
        return json_response(await call.write(lambda: proposals.dry_run(body, writer)))
    proposal = await call.write(lambda: proposals.propose(body, writer))
    return json_response(proposal.answer(), 201)


@router.get(
    "/{id}/",
    summary="A proposal",
    responses=success(200, "A proposal", ProposalAnswer) | errors(NotFound, noun=ABOUT_PROPOSAL),
)
async def get(call: ReadCall, number: Number) -> Response:
    """An extension."""
    proposal = await call.read(lambda: call.api.proposals(call.caller).get(number))
    return json_response(proposal.answer())


@router.post(
    "/{id}/approve/",
    summary="Apply a proposal",
    responses=success(200, "Apply a proposal", or_dry_run(ProposalAnswer))
    | errors(Conflict, NotFound, noun=ABOUT_ENTITY),
    openapi_extra={"parameters": [DRY_RUN_PARAMETER]} | body(ApprovalRequest, EXAMPLES["approve"]),
)
async def approve(call: ProposeCall, body: BodyAlone, number: Number) -> Response:
    """Once, however often it is asked for. 409, naming the fields, where others changed the same ones
    meanwhile; what else they changed stays. `warnings` are those of the write. 403 for one's own, unless
    the setting `approve_own_proposals` is on. An extension."""
    request, proposals = call.write_request(), call.api.proposals(call.caller)
    writer = ServiceWriter(call.api.deals, replace(request, is_dry_run=False))
    if request.is_dry_run:

        def would() -> list[dict[str, Any]]:
            proposal = proposals.get(number)
            proposals.permit(proposal)
            fields = check(ApprovalRequest, body)["fields"]
            return writer.dry_run(proposal.entity, proposal.entity_id, fields or proposal.fields)

        return json_response({"results": await call.write(would)})
    proposal = await call.write(lambda: proposals.approve(number, body, writer))
    return json_response(proposal.answer())


@router.post(
    "/{id}/decline/",
    summary="Decline a proposal",
    responses=success(200, "Decline a proposal", ProposalAnswer)
    | errors(Conflict, NotFound, noun=ABOUT_PROPOSAL),
    openapi_extra=body(DeclineRequest, EXAMPLES["decline"]),
)
async def decline(call: ProposeCall, body: BodyAlone, number: Number) -> Response:
    """Whoever made it may as well. An extension."""
    call.request().problems().check()
    proposal = await call.write(lambda: call.api.proposals(call.caller).decline(number, body))
    return json_response(proposal.answer())
