"""What the routes of the deals API share: who may call, the deadline, threads, bodies, and pages.

A caller has a token, comes not too often, and is a person with access to deals, in this order. Bodies and
query parameters are read by dependencies of ours for what FastAPI can't do: it reads a typed body before it
looks at the caller, makes floats of decimals, and says what is wrong with fields alone, where an answer of
ours says beside it what is wrong with the data (no such seat).
"""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Path, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import WithJsonSchema

from lib.deals import queries
from lib.deals.comparisons import Availability
from lib.deals.proposals.store import Proposals
from lib.deals.queries import ListPage
from lib.deals.service import DealsRequest, DealsService
from lib.deals.store.work import DealsScope, Fields
from lib.deals.sync.service import DealSync
from lib.deals.validation import Problems
from lib.deals.values import LARGEST_ID
from lib.people.tokens.access import Access
from lib.people.tokens.store import Caller
from lib.wire import exact
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, DeadlineExceeded, Forbidden, Invalid, NotFound, Unauthorized
from lib.wire.schemas import JSON, TEXT
from lib.wire.throttle import Throttle

Result = TypeVar("Result")
BEARER = HTTPBearer(auto_error=False, description="A token for the deals API")
WRONG = "This token is not valid for the deals API: it is wrong, expired, or for another service"
NO_ACCESS = "'{}' has no access to deals; an administrator can grant it"
DRY_RUN = "dry_run"
NOT_A_DSP = "Only a DSP reports statuses, with a token of its own for its seats: --deals sync:3,7"
MISSING = "A token is required: Authorization: Bearer <token>"


class Admission:
    """Admission to the deals API. `is_exempt` tells whether a token is never throttled."""

    def __init__(
        self,
        access: Access,
        service: str,
        reads: Throttle,
        writes: Throttle,
        is_exempt: Callable[[str], bool] = lambda token: False,
    ) -> None:
        self._access, self._service = access, service
        self._throttles = {False: reads, True: writes}
        self._is_exempt = is_exempt

    def caller(self, token: str | None, writes: bool, *, may_propose: bool = False) -> Caller:
        """The caller with this token, who has access to deals.

        Unauthorized without a token that opens this service, and for somebody without access to deals;
        Throttled when it came too often; Forbidden for a DSP, and for somebody who may only read and wants to
        write. With `may_propose` who may propose is let in too.
        """
        caller = self._caller(token, writes)
        if caller.deals.syncs:
            raise Forbidden("This token is for deal sync alone: it opens /api/deal_sync/")
        if writes and not (caller.deals.writes or (may_propose and caller.deals.proposes)):
            raise Forbidden(f"'{caller.person.username}' can see deals, but not change them")
        return caller

    def sync_caller(self, token: str | None, reports: bool) -> Caller:
        """The caller of deal sync: anybody with access to deals, but a DSP alone `reports` statuses."""
        caller = self._caller(token, reports)
        if reports and not caller.deals.syncs:
            raise Forbidden(NOT_A_DSP)
        return caller

    def _caller(self, token: str | None, writes: bool) -> Caller:
        if not token:
            raise Unauthorized(MISSING)
        try:
            caller = self._access.caller(token, self._service)
        except AccessError:
            raise Unauthorized(WRONG, 'Bearer error="invalid_token"') from None
        if not caller.deals.opens:
            raise Unauthorized(NO_ACCESS.format(caller.person.username), 'Bearer error="invalid_token"')
        if not self._is_exempt(token):
            self._throttles[writes].admit(caller.token.id)
        return caller


@dataclass(frozen=True)
class DealsApi:
    """What the routes of the deals API work with. `seconds` is the time limit of a request, `availability`
    what reports tell a caller.

    Work is done on threads of its own: those of the desk are not the API's to use up.
    """

    deals: DealsService
    sync: DealSync
    proposals: Callable[[Caller], Proposals]
    admission: Admission
    seconds: float
    availability: Callable[[Caller], Availability | None] = lambda caller: None
    # Writers wait for one another's lock; reads have threads of their own, so that they don't wait as well.
    readers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(16, "deals-reads"))
    writers: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8, "deals-writes"))


@dataclass(frozen=True)
class DealsCall:
    """A request that has a deadline, and query parameters in their order."""

    api: DealsApi
    deadline: Deadline
    parameters: list[tuple[str, str]]

    async def read(self, work: Callable[[], Result]) -> Result:
        """The result of work that changes nothing."""
        return await asyncio.get_running_loop().run_in_executor(self.api.readers, work)

    async def write(self, work: Callable[[], Result]) -> Result:
        """The result of work that changes something."""
        return await asyncio.get_running_loop().run_in_executor(self.api.writers, work)


@dataclass(frozen=True)
class AuthorizedCall(DealsCall):
    """A request of somebody who may make it."""

    caller: Caller

    @property
    def scope(self) -> DealsScope:
        """What the caller may see. Times are in whole seconds, as those of the deals are."""
        caller, added_at = self.caller, self.caller.person.added
        return DealsScope(
            who=caller.person.username,
            seats=caller.deals.seats,
            since=added_at and added_at.replace(microsecond=0),
            token=caller.token.id if caller.is_for_seats else None,
            token_name=caller.token.permanent_name,
            may_see=lambda *pair: caller.may_see(*pair) and not caller.row_filters(*pair),
        )

    def request(
        self, body: Any = None, if_match: str | None = None, idempotency_key: str | None = None
    ) -> DealsRequest:
        return DealsRequest(self.scope, self.deadline, self.parameters, body, if_match, idempotency_key)

    def write_request(
        self, body: Any = None, if_match: str | None = None, idempotency_key: str | None = None
    ) -> DealsRequest:
        """The same for a write, or a dry run of it, which is compared with what the caller's reports tell."""
        problems = Problems()
        others = [pair for pair in self.parameters if pair[0] != DRY_RUN]
        texts = [text for name, text in self.parameters if name == DRY_RUN]
        # A script whose variable is not set sends it empty, and means no write.
        flags = [queries.flag(text or "empty", DRY_RUN, problems) for text in texts]
        problems.check()
        return replace(
            self.request(body, if_match, idempotency_key), parameters=others, is_dry_run=any(flags),
            availability=self.api.availability(self.caller),
        )  # fmt: skip


async def _call(request: Request) -> DealsCall:
    api: DealsApi = request.app.state.deals
    return DealsCall(api, Deadline(api.seconds), request.query_params.multi_items())


def admit(check: Callable[[Admission, str | None, bool], Caller]) -> Any:
    """A dependency: the request, once `check` has let the caller with this token in; the third argument is
    whether nothing is to be written."""

    # FastAPI solves dependencies in the order of a handler's parameters: this one stands before the body and
    # the id, so that nobody without a token learns what is wrong with these, or that something exists.
    async def dependency(call: OpenCall, credentials: Credentials) -> AuthorizedCall:
        token = credentials.credentials.strip() if credentials else None
        is_dry = (DRY_RUN, "true") in call.parameters
        caller = await call.read(lambda: check(call.api.admission, token, is_dry))
        return AuthorizedCall(call.api, call.deadline, call.parameters, caller)

    return Depends(dependency)


async def _body(request: Request, call: "OpenCall") -> Any:
    try:
        async with asyncio.timeout(call.deadline.remaining()):
            text = await request.body()
    except TimeoutError:
        raise DeadlineExceeded("The request's body did not arrive in time; nothing was changed") from None
    try:
        return exact.loads(text)
    except ValueError as error:
        raise Invalid({"non_field_errors": [f"The body is no JSON: {error}"]}) from None


OpenCall = Annotated[DealsCall, Depends(_call)]
Credentials = Annotated[HTTPAuthorizationCredentials | None, Depends(BEARER)]
ReadCall = Annotated[AuthorizedCall, admit(lambda admission, token, _: admission.caller(token, writes=False))]
WriteCall = Annotated[
    AuthorizedCall,
    admit(lambda admission, token, is_dry: admission.caller(token, writes=True, may_propose=is_dry)),
]
Body = Annotated[Any, Depends(_body)]
IfNoneMatch = Annotated[str | None, Header(alias="If-None-Match"), WithJsonSchema(TEXT)]
PathId = Annotated[
    str,
    Path(alias="id"),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": LARGEST_ID, "examples": [1]}),
]


def read_id(text: str, noun: str) -> int:
    """The id in a path. NotFound for what can't be one."""
    if not (text.isascii() and text.isdecimal() and len(text) < 17 and int(text) <= LARGEST_ID):
        raise NotFound(f"There is no {noun} '{text}'")
    return int(text)


def json_response(body: Any, code: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A body as JSON, its numbers exact: FastAPI's own responses would make floats of them."""
    return Response(exact.dumps(body), code, headers, JSON)


def content_tag(content: bytes, state: str = "") -> str:
    """An ETag of a body as its caller reads it; it begins with the `state` that If-Match names, if any."""
    digest = sha256(content).hexdigest()[:32]
    return f'{state[:-1]}.{digest}"' if state else f'"{digest}"'


def conditional_response(if_none_match: str | None, body: Any, state: str = "") -> Response:
    """The body with its ETag, or 304 where the caller has it already (RFC 9110, 13.1.2)."""
    content = exact.dumps(body)
    etag = content_tag(content, state)
    tags = [tag.strip().removeprefix("W/") for tag in (if_none_match or "").split(",")]
    if etag in tags or tags == ["*"]:
        return Response(status_code=304, headers={"ETag": etag})
    return Response(content, headers={"ETag": etag}, media_type=JSON)


def list_page(request: Request, part: ListPage) -> Fields:
    """`count`, `next`, `previous`, `results`; the links are whole addresses, or null. `counts`, if wanted."""

    def link(offset: int) -> str:
        return str(request.url.include_query_params(limit=part.limit, offset=offset))

    after = part.offset + part.limit
    return {
        "count": part.count,
        "next": link(after) if after < part.count else None,
        "previous": link(max(0, part.offset - part.limit)) if part.offset else None,
        "results": part.results,
        **({"counts": part.counts} if part.counts else {}),
        **({"etags": part.etags} if part.etags else {}),
        **({"delivery": part.delivery} if part.delivery is not None else {}),
    }
