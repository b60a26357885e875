"""The route at which the Audience page's overview gets its figures: `POST /overview/answer`.

The request is JSON (at most 64 KiB), from a page of the desk, with its session cookie:

    {"project": "demo", "slicer": "delivery",
     "params": {"start": "-7d", "end": "yesterday", …},     the link's, without project and slicer
     "acts":   [["add", [["geo.country", "US"]]], …],       clicks since `params`, as the component sends them
     "parts":  ["head", "cards"],                           optional, in the order in which they come
     "locale": "de-CH",                                     optional: navigator.language
     "ahead":  true}                                        optional: nobody has clicked yet

Parts are `head`, `cards` and `split`. Acts are lists: `["include" | "add" | "exclude" | "release" | "draw" |
"undraw" | "expand" | "collapse", [[field, value], …]]`, `["order", table, column, "asc" | "desc"]`,
`["find", table, text]`, `["open" | "card", table]`, `["zoom", first day, last day]`, `["zoom_out"]`,
`["field" | "grain" | "trend" | "second" | "lower", name]`, `["records", table, [[field, value], …]]`,
`["read", limit]`, `["go", params]`. What can't be read is passed over.

The answer is `application/x-ndjson`: an object a line, each sent as soon as it is ready, gzipped where the
browser takes that and is not on this machine. Every part of a request comes once, with `"stage": "first"`.
A part with estimates comes again with `"stage": "exact"`. The last line is `{"part": "end"}`: without it, the
answer is torn.

    {"part": "head", "stage": "first" | "exact", "params": {…}, "version": "…", "day": "2026-11-24",
     "is_final": true, "head": {…}}
    {"part": "cards", …the same…, "cards": [table, …]}      the tables of the component with rows
    {"part": "split", …the same…, "split": [table]}         the split's table or pivot, or nothing
    {"part": …, "stage": …, "params": …, "error": {"sentence", "details", "is_passing"}}     one that failed
    {"part": "wait", "engine": text, "lately": seconds | null}      first, unless it is quick: who computes
    {"part": "end"}                                         with "error" where the rest could not be made

`params` are the normalized parameters after the acts. `version` and `day` are of the slicer's data and of the
slicer's today: figures of others are out of date. `is_final` is false if a line with exact figures follows.

The head (texts are for `textContent`; null values are unknown; B is the number of buckets):

    {"field": name, "grain": name | null, "grains": [name, …],
     "trend": name, "trends": [[name, label], …],          what the lines say of their buckets
     "period": {"first", "last", "label"}, "before": [{"first", "last", "label"}, …],   the days compared
     "figures": [{"name", "title", "text", "delta": text | null, "coverage": text,
                  "color": "green" | "red" | "gray",         `coverage`: which days a change lacks
                  "arrow": "up" | "down" | "off", "range": text | null, "is_noise": bool, "help",
                  "spark": text}, …],
     "metrics": [name, …],                 those of the headline that are chosen; another is the one shown
     "nothing": null | {"sentence", "label": text | null, "params": {…} | null},  a button and its question
     "fields": {name: {"title", "precision", "notes": [text, …], "alt", "has_zero": bool,
                       "nothing": …as above…,                        why its chart is empty, in its place
                       "now": line, "before": [line, …],             of single buckets
                       "drawn": null | {"now": line, "before": [line, …]}}, …},  of the trend
     "second": null | {"name", "label", "color", "has_zero", …line…},  on an axis of its own
     "other_precision": null | {"limit": number, "help"},          the other precision that a click gives
     "buckets": {"names": [B], "starts": [B], "parts": [B], "ticks": [B]},
     "buckets_before": [{"names", "parts"}, …],     of each of the lines before
     "values": [{"label", "color", "now": line, "before": line | null}, …],  lines of values, of `field`
     "date_notes": [{"day", "text", "owner", "place": number}, …],
     "alt_end": text,                      what follows `alt` on the desk: where values are, and the notes
     "engine": text,                       what reads the rows, and how old they are
     "is_zoomed": bool, "separators": [thousands, decimal]}

A line is `{"values": [B numbers], "texts": [B texts], "low": [B] | null, "high": [B] | null}`; the n-th of
`before` stands below the n-th of `now`, and may be missing. `parts` says of a bucket how much of it there is
(`3 of 7 days`); empty for a whole one. `figures`, `fields`, `buckets` and `values` are empty where `nothing`
says why.

Errors before the first line have a status and `{"detail": sentence}`: 400 a malformed request, 401 nobody is
signed in (any more), 403 a page of another site or a slicer that this person may not see, 405, 413, 429 (with
`Retry-After`), 504. A request ahead of a click is answered 204, without a body, where it is not worth its
price: for slicers in connected databases, for remote services that were slow lately, and beyond a budget.
"""

import asyncio
import logging
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from lib.serving.front.hosts import is_from_own_page
from lib.wire.apis import LOOPBACK, read_body
from lib.wire.deadline import Deadline
from lib.wire.errors import AccessError, BadRequest, InternalError, Throttled, TrancheError, Unauthorized
from lib.wire.fair import Ahead, FairPool, wait_for_disconnect
from lib.wire.problems import problem
from lib.wire.throttle import Tallies, Throttle, no_tally

PATH = "/overview/answer"
PARTS = ("head", "cards", "split")
NUMBERS_COOKIE, ZONE_COOKIE = "numbers", "zone"  # what the reader chose (lib/ui/kit/reader.py)
NO_COOKIES: Mapping[str, str] = {}
LONGEST_BODY = 64 * 1024
SESSION_THREADS = 2  # threads on which cookies are checked: never behind a query
A_MINUTE, AHEAD_A_MINUTE = 600, 120
LINES = "application/x-ndjson"
TOO_LARGE = 413
log = logging.getLogger(__name__)
Line = Mapping[str, Any]


class SignedIn(Protocol):
    """Whoever is signed in."""

    @property
    def username(self) -> str:
        """Their name."""


Person = TypeVar("Person", bound=SignedIn, contravariant=True)


class OverviewRequest(BaseModel):
    """A request, as the page sends it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    project: str
    slicer: str
    params: dict[str, str] = Field(default={}, max_length=200)
    acts: list[list[Any]] = Field(default=[], max_length=100)
    parts: list[str] = Field(default=["head", "cards"], min_length=1, max_length=len(PARTS))
    locale: str = Field(default="", max_length=35)
    ahead: bool = False
    numbers: str = ""
    zone: str = ""


class AnswerSource(Protocol[Person]):
    """Whatever makes the answers."""

    def may_ask_ahead(self, request: OverviewRequest, person: Person) -> bool:
        """Whether an answer costs so little that it may be made for nothing. Raises AccessError."""

    def lines(self, request: OverviewRequest, person: Person, deadline: Deadline) -> Iterator[Line]:
        """The lines of an answer. Raises AccessError or BadRequest before the first."""


@dataclass(frozen=True)
class RouteLimits:
    """Threads for answers, how many of them for one person, and seconds for an answer."""

    threads: int
    share: int
    seconds: float


class OverviewRoute:
    """ASGI middleware: answers `POST /overview/answer`, and nothing else.

    `person_of` gives the person of a `Cookie` header, None if nobody is signed in; `origins` are the
    addresses of the desk besides the host that is asked. `tally` gives what the throttle of a name shares
    with those of other desks.
    """

    def __init__(
        self,
        app: ASGIApp,
        person_of: Callable[[str], Any],
        answers: AnswerSource[Any],
        limits: RouteLimits,
        origins: Collection[str] = (),
        tally: Tallies = no_tally,
    ) -> None:
        self._app, self._person_of, self._answers, self._origins = app, person_of, answers, origins
        self._limits = limits
        self._sessions = FairPool(SESSION_THREADS, SESSION_THREADS, "overview-session")
        self._pool = FairPool(limits.threads, limits.share, "overview")
        counts = ThreadPoolExecutor(1, "clicks")  # no click waits for the database to count it
        self._clicks = Throttle(A_MINUTE, share=tally("clicks"), executor=counts)
        self._ahead = Throttle(AHEAD_A_MINUTE, share=tally("clicks ahead"), executor=counts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != PATH:
            await self._app(scope, receive, send)
            return
        try:
            answer = await self._respond(Request(scope, receive))
        except TrancheError as error:
            answer = problem(PATH, error)
            answer.headers["Cache-Control"] = "no-store"
        await answer(scope, receive, send)

    async def _respond(self, request: Request) -> "Response | _Stream":
        if request.method != "POST":
            return PlainTextResponse("Send a POST from a page of the desk", 405, {"Allow": "POST"})
        if not is_from_own_page(request.scope, self._origins):
            raise AccessError("Only a page of the desk may send this")
        deadline = Deadline(self._limits.seconds)
        cookie = "; ".join(request.headers.getlist("cookie"))

        def admit() -> Any:
            """Whoever is signed in; raises Throttled beyond their clicks of a minute."""
            person = self._person_of(cookie)
            if person is not None:
                self._clicks.admit(person.username)
            return person

        person = await asyncio.wrap_future(self._sessions.submit(None, admit))
        if person is None:
            raise Unauthorized("You are signed out. Sign in again.", "Cookie")
        body = await read_body(request, LONGEST_BODY)
        if body is None:
            reason = f"The request is larger than the {LONGEST_BODY:,} bytes allowed"
            answer = problem(PATH, BadRequest(reason), TOO_LARGE)
            answer.headers["Connection"] = "close"
            return answer
        overview_request = read(body, request.headers.get("accept-language", ""), request.cookies)
        if overview_request.ahead and not await self._is_worth_it(overview_request, person):
            return Response(status_code=204, headers={"Cache-Control": "no-store"})
        work = _Work(self._answers.lines(overview_request, person, deadline), deadline)
        work.future = self._pool.submit(
            Ahead(person.username) if overview_request.ahead else person.username, work.run
        )
        stream = _Stream(work, request)
        await stream.begin()
        return stream

    async def _is_worth_it(self, overview_request: OverviewRequest, person: SignedIn) -> bool:
        """Whether to answer what may not be needed."""

        def may_ask_ahead() -> bool:
            try:
                self._ahead.admit(person.username)
            except Throttled:
                return False
            return self._answers.may_ask_ahead(overview_request, person)

        return await asyncio.wrap_future(self._sessions.submit(None, may_ask_ahead))


def read(body: bytes, languages: str = "", cookies: Mapping[str, str] = NO_COOKIES) -> OverviewRequest:
    """The request in a body, for the reader of these cookies; `languages` is its `Accept-Language` header.

    BadRequest for another body.
    """
    try:
        request = OverviewRequest.model_validate(orjson.loads(body))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRequest(
            f"The request can't be read: {where + ': ' if where else ''}{first['msg']}"
        ) from None
    except ValueError:
        raise BadRequest("The request can't be read: it is not JSON") from None
    if not {*PARTS}.issuperset(request.parts):
        raise BadRequest(f"The request can't be read: parts are {', '.join(PARTS)}")
    language = request.locale or languages.partition(",")[0].partition(";")[0].strip()
    choices = {"numbers": cookies.get(NUMBERS_COOKIE, ""), "zone": cookies.get(ZONE_COOKIE, "")}
    return request.model_copy(update={"locale": language, **choices})


class _Work:
    """The making of an answer on a thread of the pool; its lines come to the loop that awaits them."""

    def __init__(self, lines: Iterator[Line], deadline: Deadline) -> None:
        self._lines, self._deadline = lines, deadline
        self._loop, self._ready = asyncio.get_running_loop(), asyncio.Queue[bytes | TrancheError | None]()
        self.future: Future[None] | None = None

    def run(self) -> None:
        """Make all lines, unless the caller leaves or the deadline is over."""
        try:
            self._deadline.check()
            for line in self._lines:
                self._put(orjson.dumps(line) + b"\n")
                self._deadline.check()
        except TrancheError as error:
            self._put(error)
        except Exception:
            log.exception("%s failed", PATH)
            self._put(InternalError())
        finally:
            self._put(None)

    async def next(self) -> bytes | TrancheError | None:
        """The next line, why there are no more, or None after the last."""
        return await self._ready.get()

    def stop(self) -> None:
        """Stop: the caller has gone, or has everything."""
        self._deadline.abandon()
        if self.future is not None and self.future.cancel():
            self._ready.put_nowait(None)

    def _put(self, line: bytes | TrancheError | None) -> None:
        self._loop.call_soon_threadsafe(self._ready.put_nowait, line)


class _Stream:
    """The answer while it is made: an ASGI application that sends each line as soon as it is ready."""

    def __init__(self, work: _Work, request: Request) -> None:
        self._work, self._first = work, b""
        # Whether to compress: not on this machine, where it costs more than it saves.
        is_near = request.client is None or request.client.host in LOOPBACK
        self._is_packed = not is_near and "gzip" in request.headers.get("accept-encoding", "")
        self._left = asyncio.ensure_future(wait_for_disconnect(request.receive))
        self._left.add_done_callback(lambda _: work.stop())

    async def begin(self) -> None:
        """Wait for the first line; raises why there is none."""
        first = await self._work.next()
        if not isinstance(first, bytes):
            self._left.cancel()
            raise first or ClientDisconnect
        self._first = first

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {"content-type": LINES, "cache-control": "no-store", "x-accel-buffering": "no"}
        headers |= {"vary": "Accept-Encoding"} | ({"content-encoding": "gzip"} if self._is_packed else {})
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        packer = zlib.compressobj(wbits=31) if self._is_packed else None  # 31: gzip (RFC 1952)
        line: bytes | TrancheError | None = self._first
        try:
            await send({"type": "http.response.start", "status": 200, "headers": raw})
            while line is not None:
                if isinstance(line, TrancheError):
                    line = orjson.dumps({"part": "end", "error": {"sentence": line.reason}}) + b"\n"
                piece = packer.compress(line) + packer.flush(zlib.Z_SYNC_FLUSH) if packer else line
                await send({"type": "http.response.body", "body": piece, "more_body": True})
                line = await self._work.next()
            await send({"type": "http.response.body", "body": packer.flush() if packer else b""})
        finally:
            self._left.cancel()
            self._work.stop()
