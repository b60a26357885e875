"""The client of the token service: gets a token for a name and password, and renews it before it expires."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from math import ceil
from urllib.parse import urlencode

import httpx
import orjson

from lib.wire import call
from lib.wire.breaker import DEAD, Breaker, retry_after
from lib.wire.errors import MalformedResponse, Refused, ResponseTimeout, Throttled, Unreachable

PATH = "/oauth2/token/"
FORM = "application/x-www-form-urlencoded"
USUAL_SECONDS = 300.0
SPARE_SECONDS, SPARE_SHARE = 60.0, 0.1
RENEWED_AT_MOST_EVERY = 30.0
REFUSED_SECONDS = 60.0
REJECTION = "The token service rejected the name or password of the settings"
REFUSALS = frozenset({400, 401, 403})


@dataclass(frozen=True)
class _Grant:
    """A token, when it was issued, and when it has to be renewed."""

    text: str
    at: float
    renew_at: float


class TemporaryToken(call.Credential):
    """A credential: temporary tokens for one service (deals specification, Temporary token).

    One thread asks, the others wait for its answer, a failure too. A refused password is not tried again for
    a minute: token services lock accounts.
    """

    def __init__(
        self,
        http: httpx.Client,
        username: str,
        password: str,
        service: str,
        patience: call.Patience,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`service` is the identifier of the service that the tokens are to open."""
        self._http, self._patience, self._now = http, patience, now
        scope = f"service_id={service}"
        self._form = {"grant_type": "password", "username": username, "password": password, "scope": scope}
        self._lock = threading.Lock()
        self._latest: _Grant | None = None
        self._asking: Future[_Grant] | None = None
        self._refused_until = float("-inf")

    @property
    def breaker(self) -> Breaker | None:
        return self._patience.breaker

    def token(self) -> str:
        """The token, renewed a minute, or a tenth of its life, before it ends.

        Refused where name and password are, Throttled where the service asks to slow down, ResponseTimeout or
        ServiceProblem without an answer.
        """
        return self._valid_text(lambda grant: self._now() < grant.renew_at)

    def renew(self, old_token: str) -> str | None:
        """Another token; None if the refused one is so new that another would be refused too."""
        with self._lock:
            grant = self._latest
        is_other = grant is None or grant.text != old_token
        if grant is not None and not is_other and self._now() - grant.at < RENEWED_AT_MOST_EVERY:
            return None
        return self._valid_text(lambda grant: grant.text != old_token)

    def _valid_text(self, is_good: Callable[[_Grant], bool]) -> str:
        """The token if it is valid; else a new one, requested by this thread or by another one already."""
        with self._lock:
            if self._latest is not None and is_good(self._latest):
                return self._latest.text
            # One thread asks, outside the lock: the others wait for its answer.
            asking, is_mine = self._asking or Future(), self._asking is None
            self._asking = asking
        if is_mine:
            self._ask(asking)
        try:
            return asking.result(self._patience.seconds).text
        except TimeoutError:
            raise ResponseTimeout("The token service did not answer in time") from None

    def _ask(self, asking: Future[_Grant]) -> None:
        try:
            asked_at = self._now()
            if asked_at < self._refused_until:
                raise Refused(REJECTION)
            headers = {"Accept": "application/json", "Content-Type": FORM}
            body = urlencode(self._form).encode()
            request = self._patience.call("POST", PATH, True, headers=headers, content=body)
            try:
                text, seconds = _read(call.call(self._http, request))
            except Refused:
                self._refused_until = asked_at + REFUSED_SECONDS
                raise
            spare = min(SPARE_SECONDS, seconds * SPARE_SHARE)
            grant = _Grant(text, asked_at, asked_at + seconds - spare)
        except BaseException as error:
            with self._lock:
                self._asking = None
            asking.set_exception(error)
        else:
            with self._lock:
                self._latest, self._asking = grant, None
            asking.set_result(grant)


def _read(answer: httpx.Response) -> tuple[str, float]:
    """The token and its lifetime in seconds. Errors don't quote the response, which may contain a secret."""
    if answer.status_code in REFUSALS:
        raise Refused(REJECTION)
    if answer.status_code == 429:
        wait = ceil(retry_after(answer) or REFUSED_SECONDS)
        raise Throttled(wait, f"The token service asks to wait {wait} seconds")
    if answer.status_code in DEAD:
        raise Unreachable(f"A gateway before the token service answered {answer.status_code}")
    try:
        fields = orjson.loads(answer.content)
        text, seconds = fields["access_token"], float(fields.get("expires_in") or USUAL_SECONDS)
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = f"The token service answered {answer.status_code}, with something that is not a token"
        raise MalformedResponse(reason) from None
    if not isinstance(text, str) or not text.isprintable() or not text or seconds <= 0:
        raise MalformedResponse("The token service returned a token that can't be used")
    return text, seconds
