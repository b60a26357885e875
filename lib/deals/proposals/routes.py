"""Proposals over HTTP (`/api/proposals/`), an extension."""

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Request, Response

from lib.deals import queries
from lib.deals.endpoints import (
    ID_PARAMETER,
    JSON,
    PAGE_PARAMETERS,
    Admission,
    Endpoints,
    answer,
    body,
    body_of,
    endpoint,
    errors,
    id_of,
    list_page,
    parameter,
    parameters_of,
    scope_of,
)
from lib.deals.proposals.models import (
    STATES,
    ApprovalRequest,
    DeclineRequest,
    ExpectedRequest,
    Proposal,
    ProposalRequest,
    QuestionRequest,
)
from lib.deals.proposals.store import Proposals
from lib.deals.proposals.writers import ServiceWriter
from lib.deals.queries import ListOffer, ListPage
from lib.deals.requests import ID, page_of
from lib.deals.service import DealsService
from lib.deals.validation import Problems
from lib.tokens.models import Caller
from lib.wire import exact
from lib.wire.errors import Conflict, NotFound
from lib.wire.schemas import FLAG, NO_TEXT, TEXT, Schema, a_list, an_object, of_model

THREADS = 2
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
OBJECT: Schema = {"type": "object"}
NO_ID: Schema = {"type": ["integer", "null"]}
ANSWER = an_object(
    {
        "id": ID,
        "entity": TEXT,
        "entity_id": NO_ID,
        "name": TEXT,
        "fields": OBJECT,
        "changes": a_list(an_object({"field": TEXT}, {"before": {}, "after": {}})),
        "reason": TEXT,
        "question": {"anyOf": [of_model(QuestionRequest), {"type": "null"}]},
        "expected": {"anyOf": [of_model(ExpectedRequest), {"type": "null"}]},
        "by": TEXT,
        "at": TEXT,
        "state": {"enum": [*STATES]},
        "decided_by": NO_TEXT,
        "decided_at": NO_TEXT,
        "word": TEXT,
        "applied_id": NO_ID,
        "is_edited": FLAG,
    }
)
ABOUT_ONE, ABOUT_ENTITY = {"noun": "proposal"}, {"noun": "package or deal"}


def routes(
    deals: DealsService, of: Callable[[Caller], Proposals], admission: Admission, seconds: float
) -> APIRouter:
    """The endpoints, for the router of the deals API; `of` gives the proposals that a caller may see."""
    return _Proposals(deals, of, admission, seconds).router()


class _Proposals(Endpoints):
    """The five of them."""

    def __init__(
        self, deals: DealsService, of: Callable[[Caller], Proposals], admission: Admission, seconds: float
    ) -> None:
        super().__init__("proposals", admission, seconds, THREADS)
        self._deals, self._of = deals, of

    @endpoint(
        "GET",
        parameters=[*PAGE_PARAMETERS, parameter("state", a_list({"enum": [*STATES]}))],
        responses={200: answer("Proposals", page_of(ANSWER))} | errors(),
    )
    async def list(self, request: Request) -> Response:
        """Proposals.

        The latest first. An extension.
        """
        caller, problems = await self.admit(request, writes=False), Problems()
        query = queries.query(parameters_of(request), problems, OFFER)
        states = [state for state in STATES if state in query.filters.get("state", STATES)]
        if set(query.filters.get("state", ())) - set(STATES):
            problems.add(("state",), f"This must be one of {', '.join(STATES)}.")
        problems.check()
        work = self._of(caller).page
        count, proposals = await self.run(lambda: work(states, query.limit, query.offset))
        part = ListPage(count, query.limit, query.offset, [proposal.answer() for proposal in proposals])
        return Response(exact.dumps(list_page(request, part)), media_type=JSON)

    @endpoint(
        "POST",
        status_code=201,
        requestBody=body(of_model(ProposalRequest), EXAMPLES["create"]),
        responses={201: answer("Propose a new package, or a change", ANSWER)}
        | errors(Conflict, NotFound, **ABOUT_ENTITY),
    )
    async def create(self, request: Request) -> Response:
        """Propose a new package, or a change.

        For whoever has the permission `propose` or `write`. The same proposal again, while it is open, is
        answered with the first. An extension.
        """
        caller, proposal, writer = await self._parts(request)
        return _response(await self.run(lambda: self._of(caller).propose(proposal, writer)), 201)

    @endpoint(
        "GET",
        "/{id}",
        parameters=[ID_PARAMETER],
        responses={200: answer("A proposal", ANSWER)} | errors(NotFound, **ABOUT_ONE),
    )
    async def get(self, request: Request) -> Response:
        """A proposal.

        An extension.
        """
        caller, number = await self.admit(request, writes=False), id_of(request, "proposal")
        return _response(await self.run(lambda: self._of(caller).get(number)))

    @endpoint(
        "POST",
        "/{id}/approve",
        parameters=[ID_PARAMETER],
        requestBody=body(of_model(ApprovalRequest), EXAMPLES["approve"]),
        responses={200: answer("Apply a proposal", ANSWER)} | errors(Conflict, NotFound, **ABOUT_ENTITY),
    )
    async def approve(self, request: Request) -> Response:
        """Apply a proposal.

        Once, however often it is asked for. 409, naming the fields, where others changed the same ones
        meanwhile; what else they changed stays. An extension.
        """
        (caller, approval, writer), number = await self._parts(request), id_of(request, "proposal")
        return _response(await self.run(lambda: self._of(caller).approve(number, approval, writer)))

    @endpoint(
        "POST",
        "/{id}/decline",
        parameters=[ID_PARAMETER],
        requestBody=body(of_model(DeclineRequest), EXAMPLES["decline"]),
        responses={200: answer("Decline a proposal", ANSWER)} | errors(Conflict, NotFound, **ABOUT_ONE),
    )
    async def decline(self, request: Request) -> Response:
        """Decline a proposal.

        Whoever made it may as well. An extension.
        """
        (caller, refusal, _), number = await self._parts(request), id_of(request, "proposal")
        return _response(await self.run(lambda: self._of(caller).decline(number, refusal)))

    async def _parts(self, request: Request) -> tuple[Caller, Any, ServiceWriter]:
        """The caller, who may propose, the body, and what they may do with deals."""
        deadline = self.deadline()
        caller = await self.admit(request, writes=True, may_propose=True)
        problems = Problems()
        queries.none(parameters_of(request), problems)
        problems.check()
        writer = ServiceWriter(self._deals, scope_of(caller), deadline)
        return caller, await body_of(request, deadline), writer


def _response(proposal: Proposal, code: int = 200) -> Response:
    return Response(exact.dumps(proposal.answer()), code, media_type=JSON)
