"""The token service from the caller's side: a token for a name and a password, renewed before it ends."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode

import httpx
import orjson

from lib.wire import call
from lib.wire.breaker import DEAD
from lib.wire.errors import AccessError, TooManyAttempts, TrancheError, Unreachable, Unreadable

PATH = "/oauth2/token/"
FORM = "application/x-www-form-urlencoded"
USUAL_SECONDS = 300.0
SPARE_SECONDS, SPARE_SHARE = 60.0, 0.1
RENEWED_AT_MOST_EVERY = 30.0
REFUSED_SECONDS = 60.0
REFUSALS = frozenset({400, 401, 403})


@dataclass(frozen=True)
class _Given:
    """A token, when it was given, and when it is to be renewed."""

    text: str
    at: float
    renew_at: float


class Temporary:
    """A credential: temporary tokens for one service (deals specification, Temporary token).

    One thread asks, the others wait for its answer. A refused password is not tried again for a minute:
    token services lock accounts.
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
        self._form = {
            "grant_type": "password",
            "username": username,
            "password": password,
            "scope": f"service_id={service}",
        }
        self._lock = threading.Lock()
        self._given: _Given | None = None
        self._refused: tuple[float, TrancheError] | None = None

    def token(self) -> str:
        """The token, renewed a minute, or a tenth of its life, before it ends.

        AccessError where name and password are refused, TooManyAttempts where the service asks to slow down,
        ServiceProblem without an answer.
        """
        with self._lock:
            if self._given is None or self._now() >= self._given.renew_at:
                self._given = self._grant()
            return self._given.text

    def renewed(self, refused: str) -> str | None:
        """Another token; None where the refused one is so new that another would be refused too."""
        with self._lock:
            given = self._given
            if given is not None and given.text != refused:
                return given.text
            if given is not None and self._now() - given.at < RENEWED_AT_MOST_EVERY:
                return None
            self._given = self._grant()
            return self._given.text

    def _grant(self) -> _Given:
        if self._refused is not None and self._now() < self._refused[0]:
            raise self._refused[1]
        asked_at = self._now()
        headers = {"Accept": "application/json", "Content-Type": FORM}
        body = urlencode(self._form).encode()
        request = self._patience.call("POST", PATH, True, headers=headers, content=body)
        try:
            text, seconds = _read(call.call(self._http, request))
        except AccessError as error:
            self._refused = (asked_at + REFUSED_SECONDS, error)
            raise
        spare = min(SPARE_SECONDS, seconds * SPARE_SHARE)
        return _Given(text, asked_at, asked_at + seconds - spare)


def _read(answer: httpx.Response) -> tuple[str, float]:
    """The token and its seconds. What is wrong is told without the answer's text: it may hold a secret."""
    if answer.status_code in REFUSALS:
        raise AccessError("The token service refuses the name or the password of the settings")
    if answer.status_code == 429:
        wait = answer.headers.get("retry-after", "")
        raise TooManyAttempts(int(wait) if wait.isdecimal() else int(REFUSED_SECONDS))
    if answer.status_code in DEAD:
        raise Unreachable(f"Something on the way to the token service answered {answer.status_code}")
    try:
        fields = orjson.loads(answer.content)
        text, seconds = fields["access_token"], float(fields.get("expires_in") or USUAL_SECONDS)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unreadable(
            f"The token service answered {answer.status_code}, with something that is no token"
        ) from None
    if not isinstance(text, str) or not text.isprintable() or not text or seconds <= 0:
        raise Unreadable("The token service gave a token that can't be used")
    return text, seconds
