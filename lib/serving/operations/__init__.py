"""Operations of a running desk: is it alive, is it ready, and how busy is it?

`/healthz`, `/readyz` and `/metrics` are for the programs that watch over this one.
"""

import asyncio
import hmac
import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import SecretStr
from sqlalchemy import Connection, Engine, text
from starlette.exceptions import HTTPException

from lib import database
from lib.serving.operations.meter import Meter, OpenTabs, RequestMeter
from lib.serving.remote import Line
from lib.wire.breaker import DEAD
from lib.wire.call import Call, call
from lib.wire.deadline import Deadline
from lib.wire.errors import TooLarge, Unreachable

__all__ = [
    "Absent", "Meter", "OpenTabs", "Operations", "Readiness", "RequestMeter", "check_all", "probes", "router",
]  # fmt: skip
READ = ["GET", "HEAD"]
NO_STORE = {"Cache-Control": "no-store"}
CHALLENGE = {"WWW-Authenticate": "Bearer"}
log = logging.getLogger(__name__)
SECONDS = 2.0
KEPT_SECONDS, REMOTE_KEPT_SECONDS, MORE_KEPT_SECONDS = 1.0, 5.0, 30.0
MOST_CHECKS = 8
MOST_BYTES = 65_536
Check = Callable[[Deadline], object]
NO_CHECKS: Mapping[str, Check] = {}


class Absent(Exception):
    """There is no such part here: it is left out."""


class Probe:
    """One part: asked at most once at a time and per so many seconds, however many want to know."""

    def __init__(
        self,
        check: Check,
        seconds: float = KEPT_SECONDS,
        now: Callable[[], float] = time.monotonic,
        is_optional: bool = False,
        name: str = "part",
    ) -> None:
        """`check` raises where the part does not answer within its deadline, and Absent where there is none.

        A desk is ready without a part that `is_optional`. Its `name` is that in the log.
        """
        self.is_optional, self._name = is_optional, name
        self._check, self._seconds, self._now = check, seconds, now
        self._lock = threading.Lock()
        self._asked: Future[bool | None] | None = None
        self._at = 0.0
        self._late: Future[bool | None] | None = None

    def begin(self) -> "Future[bool | None]":
        """Whether the part answers, None if it is absent: what was found a moment ago, or is being found."""
        with self._lock:
            if self._asked is None or (self._asked.done() and self._now() - self._at >= self._seconds):
                self._asked, self._at = Future(), self._now()
                threading.Thread(target=self._run, args=(self._asked,), name="probe", daemon=True).start()
            return self._asked

    def note_late(self) -> None:
        """Log, once for each time that it is asked, that it has not answered until now."""
        if self._late is not self._asked:
            self._late = self._asked
            log.warning("The %s is not ready: it did not answer within %g seconds", self._name, SECONDS)

    def _run(self, future: "Future[bool | None]") -> None:
        try:
            self._check(Deadline(SECONDS))
        except Absent:
            future.set_result(None)
        except Exception as error:
            log.warning("The %s is not ready: %s", self._name, error or type(error).__name__)
            future.set_result(False)
        else:
            future.set_result(True)


class Readiness:
    """All parts, by name."""

    def __init__(self, parts: dict[str, Probe]) -> None:
        self._parts = parts

    def is_ready(self, parts: Mapping[str, bool]) -> bool:
        """Whether every part that is not optional answers."""
        return all(is_good or self._parts[name].is_optional for name, is_good in parts.items())

    async def parts(self) -> dict[str, bool]:
        """The parts that answer; one that takes longer than two seconds counts as failed."""
        futures = {name: asyncio.wrap_future(probe.begin()) for name, probe in self._parts.items()}
        await asyncio.wait(futures.values(), timeout=SECONDS)
        for name, future in futures.items():
            if not future.done():
                self._parts[name].note_late()
        results = {name: future.result() if future.done() else False for name, future in futures.items()}
        return {name: is_good for name, is_good in results.items() if is_good is not None}


def probes(
    engine: Engine, check_warehouse: Check, lines: Iterator[Line], more: Mapping[str, Check] = NO_CHECKS
) -> dict[str, Probe]:
    """The parts of an installation; `lines` are the ways to remote services, `more` the checks of others.

    Without the latter the desk does most of its work.
    """
    parts = {
        "database": Probe(lambda deadline: database.reading(engine, _revision, deadline), name="database"),
        "warehouse": Probe(check_warehouse, name="warehouse"),
    }
    for line in lines:
        name = line.patience.breaker.name.removeprefix("the ") if line.patience.breaker else "service"
        parts[name] = Probe(partial(_check_line, line), REMOTE_KEPT_SECONDS, name=name)
    for name, check in more.items():
        parts[name] = Probe(check, MORE_KEPT_SECONDS, is_optional=True, name=name)
    return parts


def check_all(checks: Iterable[Check], deadline: Deadline) -> None:
    """Every check at the same time; raises the first failure."""
    with ThreadPoolExecutor(MOST_CHECKS, "probe") as pool:
        for future in [pool.submit(check, deadline) for check in checks]:
            future.result()


def _revision(connection: Connection) -> object:
    return connection.execute(text("select version_num from alembic_version")).one()


def _check_line(line: Line, deadline: Deadline) -> None:
    """Whatever answers at the address does; our token is not sent."""
    if any(breaker.rest for breaker in line.breakers):
        raise Unreachable("A remote service does not answer")
    try:
        answer = call(line.http, Call("GET", "/", deadline=deadline, max_bytes=MOST_BYTES))
    except TooLarge:
        return
    if answer.status_code in DEAD:
        raise Unreachable("A gateway before a remote service does not reach it")


@dataclass(frozen=True)
class Operations:
    """What the three routes tell; without a `token` there is no `/metrics`."""

    readiness: Readiness
    meter: Meter
    token: SecretStr | None


router = APIRouter(include_in_schema=False)
"""The three routes, about the Operations that are `operations` in the application's state."""


@router.api_route("/healthz", methods=READ)
async def healthz() -> Response:
    """Anybody may ask, as below."""
    return PlainTextResponse("ok\n", headers=NO_STORE)


@router.api_route("/readyz", methods=READ)
async def readyz(request: Request) -> Response:
    """503 if a part failed without which nothing works."""
    readiness: Readiness = request.app.state.operations.readiness
    parts = await readiness.parts()
    is_ready = readiness.is_ready(parts)
    body = {
        "status": "ready" if is_ready else "not ready",
        "parts": {name: "ok" if is_good else "failed" for name, is_good in parts.items()},
    }
    return JSONResponse(body, 200 if is_ready else 503, NO_STORE)


@router.api_route("/metrics", methods=READ)
async def metrics(request: Request) -> Response:
    """In the format of Prometheus, for whoever has the token."""
    operations: Operations = request.app.state.operations
    if operations.token is None:
        raise HTTPException(404)
    header = request.headers.get("authorization", "").encode("utf-8", "surrogateescape")
    expected = f"Bearer {operations.token.get_secret_value()}".encode()
    if not hmac.compare_digest(header, expected):
        raise HTTPException(401, "Missing or invalid token", CHALLENGE)
    text = await asyncio.to_thread(operations.meter.text)
    return Response(text, headers=NO_STORE, media_type=CONTENT_TYPE_LATEST)
