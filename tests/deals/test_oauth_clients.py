"""The OAuth clients that scripts use, unmodified, over a socket: a token, and the deals API with it."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from authlib.integrations.httpx_client import OAuth2Client
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession
from conformance.transports import socket
from httpx_auth import OAuth2ResourceOwnerPasswordCredentials
from oauthlib.oauth2 import InvalidGrantError, LegacyApplicationClient
from requests.auth import HTTPBasicAuth
from requests_oauthlib import OAuth2Session

from deals.caller import unique
from deals.conftest import PASSWORD
from lib.serving import connect

WHO = {"username": "manager", "password": PASSWORD}
SCOPE = "service_id=deals"


@pytest.fixture(scope="module")
def address(desk: connect.Installation) -> Iterator[str]:
    """Where the desk answers."""
    with socket(desk.api) as http:
        yield str(http.base_url).rstrip("/")


@pytest.fixture(autouse=True)
def plain_http(monkeypatch: pytest.MonkeyPatch) -> None:
    """oauthlib asks for TLS unless it is told that this is a test."""
    monkeypatch.setenv("OAUTHLIB_INSECURE_TRANSPORT", "1")


def works(session: Any, address: str) -> None:
    """The session's token opens the deals API, to read and to write."""
    assert session.get(f"{address}/api/dsps/").status_code == 200
    response = session.post(f"{address}/api/dsps/", json={"name": unique("DSP")})
    assert response.status_code == 201, response.text


@pytest.mark.parametrize(
    "way",
    [{}, {"include_client_id": True}, {"auth": HTTPBasicAuth("script", "")}],
    ids=["plain", "body", "basic"],
)
def test_requests_oauthlib(address: str, way: dict[str, Any]) -> None:
    """LegacyApplicationClient, its client id in the body or as Basic auth."""
    session = OAuth2Session(client=LegacyApplicationClient("script", scope=SCOPE))
    token = session.fetch_token(f"{address}/oauth2/token/", **WHO, **way)
    assert (token["token_type"], token["expires_in"], token["scope"]) == ("Bearer", 3600, [SCOPE])
    works(session, address)


def test_requests_oauthlib_with_a_wrong_password(address: str) -> None:
    """The library knows the error by its name."""
    session = OAuth2Session(client=LegacyApplicationClient("script", scope=SCOPE))
    with pytest.raises(InvalidGrantError):
        session.fetch_token(f"{address}/oauth2/token/", username="viewer", password="wrong")


@pytest.mark.parametrize("method", ["client_secret_basic", "client_secret_post", "none"])
@pytest.mark.parametrize("library", [AuthlibSession, OAuth2Client])
def test_authlib(address: str, library: Any, method: str) -> None:
    """Over requests and over httpx, with each way of sending the client."""
    session = library("script", "", scope=SCOPE, token_endpoint_auth_method=method)
    token = session.fetch_token(f"{address}/oauth2/token/", grant_type="password", **WHO)
    assert token["expires_in"] == 3600
    works(session, address)


@pytest.mark.parametrize("client_auth", [None, ("script", "")])
def test_httpx_auth(address: str, client_auth: tuple[str, str] | None) -> None:
    """The token is fetched with the first request."""
    with httpx.Client() as token_client:
        token_client.auth = client_auth
        auth = OAuth2ResourceOwnerPasswordCredentials(
            f"{address}/oauth2/token/", **WHO, scope=SCOPE, client=token_client
        )
        with httpx.Client(auth=auth) as session:
            works(session, address)


def test_a_token_for_reports_does_not_open_deals(address: str) -> None:
    """Scopes are kept to."""
    session = OAuth2Session(client=LegacyApplicationClient("script", scope="service_id=reporting"))
    session.fetch_token(f"{address}/oauth2/token/", **WHO | {"username": "admin"})
    assert session.get(f"{address}/api/dsps/").status_code == 401
