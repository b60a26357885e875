"""Proposals over HTTP (`/api/proposals/`), an extension, and its documentation."""

from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import APIRouter, Request, Response

from lib.deals import documentation, queries
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
from lib.deals.queries import DEFAULT_LIMIT, LARGEST_LIMIT, ListOffer
from lib.deals.requests import ID, page_of
from lib.deals.routes import (
    JSON,
    METHODS,
    Admission,
    Endpoints,
    answering,
    body_of,
    list_page,
    parameters_of,
    refusing,
    scope_of,
)
from lib.deals.service import DealsService, ListPart
from lib.deals.validation import Problems
from lib.deals.values import LARGEST_ID
from lib.deals.values import Request as Body
from lib.tokens.models import Caller
from lib.wire import exact
from lib.wire.deadline import Deadline
from lib.wire.errors import Conflict, InUse, NotFound
from lib.wire.schemas import FLAG, NO_TEXT, TEXT, Schema, a_list, an_object, of_model

THREADS = 2
OFFER = ListOffer(filters=("state",))
Handler = Callable[[Request], Awaitable[Response]]
SUMMARIES = {
    "list": "Proposals",
    "create": "Propose a new package, or a change",
    "get": "A proposal",
    "approve": "Apply a proposal",
    "decline": "Decline a proposal",
}
NOTES = {
    "list": "The latest first. An extension.",
    "create": "For whoever has the permission `propose` or `write`. The same proposal again, while it is "
    "open, is answered with the first. An extension.",
    "get": "An extension.",
    "approve": "Once, however often it is asked for. 409, naming the fields, where others changed the same "
    "ones meanwhile; what else they changed stays. An extension.",
    "decline": "Whoever made it may as well. An extension.",
}
BODIES: dict[str, type[Body]] = {
    "create": ProposalRequest,
    "approve": ApprovalRequest,
    "decline": DeclineRequest,
}
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


def operation(verb: str) -> dict[str, Any]:
    """The documentation of one endpoint, as `add_api_route` takes it."""
    code, schema = (201 if verb == "create" else 200), page_of(ANSWER) if verb == "list" else ANSWER
    content = {"application/json": {"schema": schema}}
    errors = documentation.of({"approve": "change", "decline": "change"}.get(verb, verb), "proposal")
    if verb in ("create", "approve"):
        errors |= {
            one: documentation.of("change", "package or deal")[one] for one in (NotFound.http, Conflict.http)
        }
    answers: dict[int | str, Any] = {code: {"description": SUMMARIES[verb], "content": content}}
    return {
        "operation_id": f"{verb}_proposals",
        "summary": SUMMARIES[verb],
        "description": NOTES[verb],
        "status_code": code,
        "response_model": None,
        "responses": answers | {one: answer for one, answer in errors.items() if one != InUse.http},
        "openapi_extra": {"parameters": _parameters(verb), **_body(verb)},
    }


def _parameters(verb: str) -> list[Schema]:
    whole = {"type": "integer", "minimum": 0, "maximum": LARGEST_ID}
    if verb == "create":
        return []
    if verb != "list":
        schema = whole | {"minimum": 1}
        return [{"name": "id", "in": "path", "required": True, "schema": schema, "example": 1}]
    schemas = {
        "limit": whole | {"minimum": 1, "maximum": LARGEST_LIMIT, "default": DEFAULT_LIMIT},
        "offset": whole | {"default": 0},
        "state": {"type": "array", "items": {"enum": [*STATES]}},
    }
    return [{"name": name, "in": "query", "schema": schema} for name, schema in schemas.items()]


def _body(verb: str) -> Schema:
    if verb not in BODIES:
        return {}
    examples = {name: {"summary": text, "value": value} for name, (text, value) in EXAMPLES[verb].items()}
    content = {"schema": of_model(BODIES[verb]), "examples": examples}
    return {"requestBody": {"required": True, "content": {"application/json": content}}}


def routes(
    deals: DealsService, of: Callable[[Caller], Proposals], admission: Admission, seconds: float
) -> APIRouter:
    """The endpoints, for the router of the deals API; `of` gives the proposals that a caller may see."""
    router = APIRouter(prefix="/proposals")
    pool = ThreadPoolExecutor(THREADS, thread_name_prefix="proposals")
    endpoints = _Endpoints(Endpoints(deals, admission, seconds, pool), of)
    paths: dict[str, dict[str, tuple[str, Handler]]] = {
        "": {"GET": ("list", endpoints.list), "POST": ("create", endpoints.create)},
        "/{id}": {"GET": ("get", endpoints.get)},
        "/{id}/approve": {"POST": ("approve", endpoints.approve)},
        "/{id}/decline": {"POST": ("decline", endpoints.decline)},
    }
    for path, verbs in paths.items():
        for method, (verb, handler) in verbs.items():
            router.add_api_route(f"{path}/", answering(handler), methods=[method], **operation(verb))
            router.add_api_route(path, answering(handler), methods=[method], include_in_schema=False)
        for either in (path, f"{path}/"):
            others = [*METHODS - verbs.keys()]
            router.add_api_route(either, refusing(sorted(verbs)), methods=others, include_in_schema=False)
    return router


class _Endpoints:
    """The five of them."""

    def __init__(self, endpoints: Endpoints, of: Callable[[Caller], Proposals]) -> None:
        self._endpoints, self._of = endpoints, of

    async def list(self, request: Request) -> Response:
        """A page, the latest first."""
        caller, problems = await self._endpoints.admit(request, writes=False), Problems()
        query = queries.query(parameters_of(request), problems, OFFER)
        states = [one for one in STATES if one in query.filters.get("state", STATES)]
        if set(query.filters.get("state", ())) - set(STATES):
            problems.add(("state",), f"This must be one of {', '.join(STATES)}.")
        problems.check()
        work = self._of(caller).page
        count, rows = await self._endpoints.run(lambda: work(states, query.limit, query.offset))
        part = ListPart(count, query.limit, query.offset, [one.answer() for one in rows])
        return Response(exact.dumps(list_page(request, part)), media_type=JSON)

    async def get(self, request: Request) -> Response:
        """One of them."""
        caller, number = await self._endpoints.admit(request, writes=False), _number(request)
        return _response(await self._endpoints.run(lambda: self._of(caller).get(number)))

    async def create(self, request: Request) -> Response:
        """A new one."""
        caller, body, writer = await self._parts(request)
        return _response(await self._endpoints.run(lambda: self._of(caller).propose(body, writer)), 201)

    async def approve(self, request: Request) -> Response:
        """Apply it."""
        (caller, body, writer), number = await self._parts(request), _number(request)
        return _response(await self._endpoints.run(lambda: self._of(caller).approve(number, body, writer)))

    async def decline(self, request: Request) -> Response:
        """Decline it."""
        (caller, body, _), number = await self._parts(request), _number(request)
        return _response(await self._endpoints.run(lambda: self._of(caller).decline(number, body)))

    async def _parts(self, request: Request) -> tuple[Caller, Any, ServiceWriter]:
        """The caller, who may propose, the body, and what they may do with deals."""
        deadline = Deadline(self._endpoints.seconds)
        caller = await self._endpoints.admit(request, writes=True, may_propose=True)
        problems = Problems()
        queries.none(parameters_of(request), problems)
        problems.check()
        writer = ServiceWriter(self._endpoints.deals, scope_of(caller), deadline)
        return caller, await body_of(request, deadline), writer


def _number(request: Request) -> int:
    text = request.path_params["id"]
    if not (text.isascii() and text.isdecimal() and len(text) < 17 and int(text) <= LARGEST_ID):
        raise NotFound(f"There is no proposal '{text}'")
    return int(text)


def _response(proposal: Proposal, code: int = 200) -> Response:
    return Response(exact.dumps(proposal.answer()), code, media_type=JSON)
