"""Whose failures count as whose: behind a proxy, and before one who only says that it is one."""

from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from people.tokens.test_token_service_limits import access
from serving import serving

from lib.people import attempts
from lib.people.tokens.service import TokenApi, router
from lib.serving.front.server import accepting
from lib.settings import Settings
from lib.wire.apis import api

ADDRESS_LIMIT = 50
WRONG = "wrong"


@pytest.fixture
def served(
    tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[httpx.Client]:
    """A client of the token service, behind these trusted proxies; delays outlast the test."""
    monkeypatch.setattr(attempts, "FIRST_DELAY", attempts.LONGEST_DELAY)
    settings = Settings(home=tmp_path, trusted_proxies=request.param)
    opened = access(settings.database_url)
    app = api([router], 10_000, tokens=TokenApi(opened, ("reporting",), timedelta(hours=1)))
    with ExitStack() as stack:
        address = stack.enter_context(serving(app, **accepting(settings.network)))
        yield stack.enter_context(httpx.Client(base_url=address, timeout=60))


def _token(http: httpx.Client, username: str, forwarded: str, password: str = WRONG) -> int:
    """The answer's code to somebody at the address `forwarded`, as a proxy would say."""
    form = {
        "grant_type": "password",
        "username": username,
        "password": password,
        "scope": "service_id=reporting",
    }
    return http.post("/oauth2/token/", data=form, headers={"X-Forwarded-For": forwarded}).status_code


@pytest.mark.parametrize("served", [(), ("10.0.0.0/8",)], indirect=True)
def test_a_forged_header_evades_no_limit(served: httpx.Client) -> None:
    """From an address that is no trusted proxy, loopback too, X-Forwarded-For changes nothing."""
    codes = [_token(served, f"nobody{number}", f"192.0.2.{number}") for number in range(ADDRESS_LIMIT)]
    assert set(codes) == {401}
    assert _token(served, "ada", "198.51.100.1") == 401
    assert _token(served, "ada", "198.51.100.2", "right") == 429


@pytest.mark.parametrize("served", [("127.0.0.1",)], indirect=True)
def test_failures_behind_a_proxy_slow_down_their_own_address_alone(served: httpx.Client) -> None:
    """Behind a trusted proxy, fifty failures over many names leave that client one guess, others theirs."""
    codes = {_token(served, f"nobody{number}", "192.0.2.1") for number in range(ADDRESS_LIMIT)}
    assert codes == {401}
    assert _token(served, "ada", "192.0.2.1") == 401
    assert _token(served, "ada", "192.0.2.1", "right") == 429
    assert _token(served, "ada", "192.0.2.2", "right") == 200


@pytest.mark.parametrize("served", [("127.0.0.1",)], indirect=True)
def test_what_a_client_puts_before_the_proxys_word_is_not_believed(served: httpx.Client) -> None:
    """The proxy appends the address that it saw: what stands before it was written by the client."""
    codes = {_token(served, f"nobody{n}", f"203.0.113.{n}, 192.0.2.7") for n in range(ADDRESS_LIMIT)}
    assert codes == {401}
    assert _token(served, "ada", "203.0.113.98, 192.0.2.7") == 401
    assert _token(served, "ada", "203.0.113.99, 192.0.2.7", "right") == 429
