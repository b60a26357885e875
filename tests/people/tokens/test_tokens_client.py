"""Temporary tokens from the caller's side: asked for once, renewed in time, no wrong password twice."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from clocks import Stopwatch
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from lib.people.tokens.client import TemporaryToken
from lib.reporting.client import Reporting
from lib.reporting.models import InfoQuery
from lib.serving import connect
from lib.wire.call import Patience
from lib.wire.errors import Refused, Throttled, TrancheError, Unreachable, Unreadable
from lib.wire.transport import InProcess

PASSWORD = "not to be seen"


class TokenService:
    """A token service that answers as it is told, and counts."""

    def __init__(self, seconds: object = 3600) -> None:
        self.forms: list[str] = []
        self.seconds, self.answer = seconds, None

    async def token(self, request: Request) -> Response:
        """`token-1`, `token-2` and so on, or the answer that was set."""
        self.forms.append((await request.body()).decode())
        fields = {"access_token": f"token-{len(self.forms)}", "expires_in": self.seconds}
        return self.answer or JSONResponse(fields | {"token_type": "Bearer", "scope": "service_id=reporting"})

    def temporary(self, now: Callable[[], float] | None = None) -> TemporaryToken:
        """A credential of this service."""
        app = Starlette(routes=[Route("/oauth2/token/", self.token, methods=["POST"])])
        http = httpx.Client(transport=InProcess(app), base_url="http://tokens")
        more = {} if now is None else {"now": now}
        return TemporaryToken(http, "ada", PASSWORD, "reporting", Patience(retries=0), **more)


@pytest.fixture
def clock() -> Stopwatch:
    """A clock that stands still."""
    return Stopwatch()


def test_the_form_is_that_of_the_specification() -> None:
    """grant_type, username, password and scope, form-encoded."""
    service = TokenService()
    assert service.temporary().token() == "token-1"
    form = httpx.QueryParams(service.forms[0])
    expected = {"grant_type": "password", "username": "ada", "scope": "service_id=reporting"}
    assert dict(form) == expected | {"password": PASSWORD}


@pytest.mark.parametrize(("seconds", "kept"), [(3600, 3539), ("3600", 3539), (100, 89), (None, 269)])
def test_renewed_before_it_ends(clock: Stopwatch, seconds: object, kept: int) -> None:
    """A token is kept until a minute, or a tenth of its life, before its end; five minutes without an end."""
    service = TokenService(seconds)
    temporary = service.temporary(clock)
    temporary.token()
    clock.seconds += kept
    assert temporary.token() == "token-1"
    clock.seconds += 2
    assert temporary.token() == "token-2"


def test_renewed_when_it_is_refused(clock: Stopwatch) -> None:
    """A refused token is exchanged; who was refused with the one before gets the one that is there."""
    temporary = TokenService().temporary(clock)
    first = temporary.token()
    clock.seconds += 60
    assert (temporary.renew(first), temporary.renew(first)) == ("token-2", "token-2")


def test_a_new_token_is_not_renewed(clock: Stopwatch) -> None:
    """A token that is refused right after it was given would be so again: it is not the token."""
    temporary = TokenService().temporary(clock)
    assert temporary.renew(temporary.token()) is None


def test_many_ask_once() -> None:
    """Eight threads that need a token make one request."""
    service, gate = TokenService(), threading.Barrier(8)
    temporary = service.temporary()

    def ask(_: int) -> str:
        gate.wait()
        return temporary.token()

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {"token-1"}
    assert len(service.forms) == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (JSONResponse({"error": "invalid_grant", "error_description": PASSWORD}, 401), Refused),
        (JSONResponse({"error": "invalid_client"}, 400), Refused),
        (JSONResponse({}, 429, {"Retry-After": "9"}), Throttled),
        (HTMLResponse("<h1>Bad gateway</h1>", 502), Unreachable),
        (HTMLResponse(f"<h1>{PASSWORD}</h1>"), Unreadable),
        (JSONResponse({"access_token": ""}), Unreadable),
        (JSONResponse({"access_token": "x", "expires_in": "soon"}), Unreadable),
        (JSONResponse(["x"]), Unreadable),
    ],
    ids=range(8),
)
def test_refusals(answer: Response, error: type[TrancheError]) -> None:
    """Each has its own error, in whose words there is nothing of what was sent or answered."""
    service = TokenService()
    service.answer = answer
    with pytest.raises(error) as caught:
        service.temporary().token()
    assert PASSWORD not in caught.value.reason


def test_a_wrong_password_is_not_repeated(clock: Stopwatch) -> None:
    """After a refusal the service is left alone for a minute: it might lock the account."""
    service = TokenService()
    service.answer = JSONResponse({"error": "invalid_grant"}, 401)
    temporary = service.temporary(clock)
    for _ in range(3):
        with pytest.raises(Refused):
            temporary.token()
    assert len(service.forms) == 1
    service.answer = None
    clock.seconds += 61
    assert temporary.token() == "token-2"


@pytest.fixture
def revoking(installation: connect.Installation, http: httpx.Client) -> Iterator[Callable[[], None]]:
    """Makes the temporary tokens worthless that the manager gets in this test, on the real service.

    Those of before belong to the desks of other tests, which renew one once in half a minute at most.
    """
    store = installation.access.store
    known = {token.id for token in store.everything("manager")}

    def revoke() -> None:
        for token in store.everything("manager"):
            if token.kind == "temporary" and token.revoked is None and token.id not in known:
                store.revoke(token.id)

    yield revoke


def test_the_real_service(http: httpx.Client, revoking: Callable[[], None], clock: Stopwatch) -> None:
    """Against the real token and reporting services: a revoked token is renewed, and the answer comes."""
    temporary = TemporaryToken(http, "manager", "demo", "reporting", Patience(), now=clock)
    reporting, asked = Reporting(http, temporary), InfoQuery(project_name="demo", slicer_name="delivery")
    assert reporting.info(asked).key_fields
    first = temporary.token()
    revoking()
    clock.seconds += 60
    assert reporting.info(asked).key_fields
    assert temporary.token() != first
