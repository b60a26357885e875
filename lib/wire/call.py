"""One HTTP call, for every client of every API: credential, deadline, bounded answer, retries if safe.

Whatever goes wrong on the way comes out as one of the family in errors.py. What the answer *means* is
the client's business: status codes are not looked at here, but for a retry that was asked for.
"""

import random
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import httpx

from lib.wire import errors, request_ids, sockets
from lib.wire.breaker import PASSING, WAITED_FOR, Breaker, retry_after
from lib.wire.deadline import Deadline, track

Answer = TypeVar("Answer")
MAX_ANSWER_BYTES = 512 * 1024 * 1024


class Credential:
    """The source of a client's token."""

    def token(self) -> str:
        """A token that should work now. Raises the token service's refusal, or ServiceProblem."""
        raise NotImplementedError

    def renew(self, old_token: str) -> str | None:
        """Another token than the one that was refused; None where there is no other."""
        return None


def in_the_name_of(credential: str | Credential, ask: Callable[[str], Answer]) -> Answer:
    """Call `ask` with a token; if that is refused and can be renewed, once more with the new one.

    A text is a permanent token. A refused request did nothing, so that writing ones may be repeated too
    (RFC 9110, 15.5.2). All of it has one request id, which an error carries.
    """
    with request_ids.asking():
        if isinstance(credential, str):
            return ask(credential)
        token = credential.token()
        try:
            return ask(token)
        except (errors.AccessError, errors.Unauthorized):
            another = credential.renew(token)
            if another is None:
                raise
        return ask(another)


@dataclass(frozen=True)
class Call:
    """A request, its body as `json` or as bytes, and how patient to be with it.

    `deadline` spans everything, retries included; without one the client's own time-outs hold, per
    message. `retries` says how often the call may be repeated when the service can't be reached or
    answers 429, 502 or 503: only for calls that change nothing. A `Retry-After` is waited for, if the
    deadline and ten seconds allow it (RFC 9110, 10.2.3). Of a download the deadline begins again with each
    64 KiB that arrive: how long a file takes on a slow line says nothing about the service.
    """

    method: str
    path: str
    json: Any = None
    headers: Mapping[str, str] | None = None
    deadline: Deadline = field(default_factory=Deadline)
    retries: int = 0
    max_bytes: int = MAX_ANSWER_BYTES
    content: bytes | None = None
    breaker: Breaker | None = None
    is_download: bool = False


@dataclass(frozen=True)
class Patience:
    """How a client calls a service: seconds for one call with its retries, the number of retries where they
    are safe, the most bytes of an answer, and the circuit breaker of that service. Calls that may be repeated
    stop when the tab of `session` (its id) is closed, their CallGroup is abandoned, or `within` ends."""

    seconds: float | None = None
    retries: int = 2
    max_bytes: int = MAX_ANSWER_BYTES
    breaker: Breaker | None = None
    session: str = ""
    within: Deadline | None = None

    def deadline(self) -> Deadline:
        """The deadline of a call that may be repeated; it begins now."""
        deadline = Deadline(self.seconds) if self.within is None else self.within.part(self.seconds)
        return track(self.session, deadline)

    def call(self, method: str, path: str, is_repeatable: bool, **parts: Any) -> Call:
        """A call with this patience; its deadline begins now. `is_repeatable`: asking twice does no harm."""
        return Call(
            method, path, deadline=self.deadline() if is_repeatable else Deadline(self.seconds),
            retries=self.retries if is_repeatable else 0, max_bytes=self.max_bytes, breaker=self.breaker,
            **parts,
        )  # fmt: skip


_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_TRANSFER_HEADERS = ("content-encoding", "content-length", "transfer-encoding")


def call(http: httpx.Client, request: Call, pause: Callable[[float], None] = time.sleep) -> httpx.Response:
    """The whole answer, read into memory.

    Raises Unreachable (no connection, or it broke off; CircuitOpen where it is not even tried),
    ResponseTimeout (not within the deadline), MalformedResponse (not encoded as its headers say) or TooLarge
    (more than `max_bytes`).
    """
    attempt = 0
    while True:
        answer: httpx.Response | errors.Unreachable
        try:
            with stream(http, request) as (response, pieces):
                body = b"".join(pieces)
            # The body is decoded by now: with these headers httpx would decode it once more.
            headers = [pair for pair in response.headers.multi_items() if pair[0] not in _TRANSFER_HEADERS]
            code = response.status_code
            answer = httpx.Response(code, headers=headers, content=body, request=response.request)
            is_final = code not in PASSING
        except errors.Unreachable as error:
            answer, is_final = error, isinstance(error, errors.CircuitOpen)
        # A repeat of what may have succeeded would do it twice: `retries` is 0 for what is not idempotent.
        is_final = is_final or attempt == request.retries
        if not is_final:
            longest = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**attempt)  # doubling, with full jitter
            least = retry_after(answer) if isinstance(answer, httpx.Response) else 0.0
            wait = max(least, random.uniform(0, longest))  # noqa: S311
            remaining = request.deadline.remaining()
            is_final = wait > WAITED_FOR or (remaining is not None and wait >= remaining)
        if is_final:
            if isinstance(answer, errors.Unreachable):
                raise answer
            return answer
        pause(wait)
        attempt += 1


_NAMES = re.compile(r"'[^']*'")


@contextmanager
def stream(http: httpx.Client, request: Call) -> Iterator[tuple[httpx.Response, Iterator[bytes]]]:
    """The answer while it arrives, for files: status and headers, and the body piece by piece.

    Raises as `call` does, also while the body is read inside the context. Never repeated.
    """
    deadline = request.deadline
    headers = {"Accept-Encoding": "gzip, deflate", **(request.headers or {})}
    if request_id := request_ids.current():
        headers[request_ids.HEADER] = request_id
    with request.breaker.watching() if request.breaker else nullcontext() as responses:
        remaining = deadline.remaining()
        if remaining == 0:
            raise _timeout_error(deadline)
        limits = http.timeout.as_dict()
        if remaining is not None:
            limits = {kind: min(remaining, remaining if own is None else own) for kind, own in limits.items()}
        outgoing = http.build_request(
            request.method, request.path, json=request.json, content=request.content, headers=headers,
            timeout=httpx.Timeout(**limits),
        )  # fmt: skip
        # The sentences are our own: those of httpx may have the URL, which may be confidential.
        try:
            with sockets.until(deadline), closing(http.send(outgoing, stream=True)) as response:
                if responses is not None:
                    responses(response)
                yield response, _pieces(response, request)
        except (httpx.ReadTimeout, httpx.WriteTimeout, httpx.PoolTimeout) as error:
            raise _timeout_error(deadline) from error
        except httpx.ConnectTimeout as error:
            raise errors.Unreachable("The service could not be reached in time") from error
        except httpx.ConnectError as error:
            why = _NAMES.sub("its name", str(error))
            raise errors.Unreachable(f"The service could not be reached: {why}") from error
        except httpx.DecodingError as error:
            raise errors.MalformedResponse("The answer is not encoded as its headers say") from error
        except httpx.ProxyError as error:
            raise errors.Unreachable("The proxy before the service refused the connection") from error
        except httpx.TransportError as error:
            raise errors.Unreachable("The connection to the service was lost") from error


DOWNLOAD_STEP = 64 * 1024
_ENCODINGS = ("gzip", "deflate", "identity", "")


def _pieces(response: httpx.Response, request: Call) -> Iterator[bytes]:
    """The decoded body, within the call's deadline and size."""
    # An answer that is compressed twice is none of ours: gzip within gzip turns hundreds of bytes into a
    # gigabyte before there is a piece to count.
    if response.headers.get("Content-Encoding", "").strip().lower() not in _ENCODINGS:
        raise errors.MalformedResponse("The answer is encoded in a way that was not asked for")
    size = renewal_size = 0
    for piece in response.iter_bytes():
        size += len(piece)
        if size > request.max_bytes:
            raise errors.TooLarge(f"The response is larger than the {request.max_bytes:,} bytes allowed")
        if request.is_download and size - renewal_size >= DOWNLOAD_STEP:
            renewal_size = size
            request.deadline.renew()
        if request.deadline.remaining() == 0:
            raise _timeout_error(request.deadline)
        yield piece


def _timeout_error(deadline: Deadline) -> errors.Abandoned | errors.ResponseTimeout:
    if deadline.is_abandoned:
        return errors.Abandoned("The caller is gone")
    within = "in time" if deadline.seconds is None else f"within {deadline.seconds:g} seconds"
    return errors.ResponseTimeout(f"The service did not answer {within}")
