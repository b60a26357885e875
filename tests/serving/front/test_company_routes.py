"""The routes of a company sign-in, at a real desk before a real provider: what works, and what fails how."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from conftest import copied, desk_over
from joserfc import jwt
from joserfc.jwk import OctKey
from provider import SECRET, Provider, toml_of
from serving import serving
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from lib import database
from lib.people.secret import secret
from lib.serving.front import DeskRoutes
from lib.serving.front.sign_in_routes import return_path, start_path

BEA = {"email": "bea@corp.example", "name": "Bea Buyer", "groups": ["traders"]}
PAGE = "/audience?project=demo&slicer=delivery"


@dataclass
class Desk:
    """A desk with a company sign-in: its address, its data directory, and the provider."""

    address: str
    home: Path
    provider: Provider

    def login(self) -> str:
        """The path to which the button of the sign-in page leads."""
        key = secret(database.engine(f"sqlite:///{self.home}/tranche.db"), "company")
        claims = {"provider": "company", "exp": int(time.time()) + 60}
        token = jwt.encode({"alg": "HS256"}, claims, OctKey.import_key(key))
        return f"/auth/login?provider={token}"

    def begin(self, browser: httpx.Client, page: str = PAGE) -> httpx.Response:
        """The answer to a click on the button."""
        return browser.get(self.login(), headers={"Referer": f"{self.address}{page}"})

    def back(self, browser: httpx.Client, **choice: str) -> str:
        """The address at which the provider sends somebody back, after this choice there."""
        asked = self.begin(browser).headers["location"]
        return httpx.get(asked, params=_params(asked) | choice).headers["location"]


@pytest.fixture(scope="module")
def desk(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The desk of these tests."""
    provider, own = Provider({"b-2": BEA}), copied(home, tmp_path_factory.mktemp("company") / "home")
    with serving(provider.app()) as issuer:
        (own / "tranche.toml").write_text(toml_of(issuer, "traders manager demo read"))
        (own / "tranche.toml").chmod(0o600)
        with desk_over(own, TRANCHE_SESSION_HOURS="2") as (address, _):
            yield Desk(address, own, provider)


@pytest.fixture
def browser(desk: Desk) -> Iterator[httpx.Client]:
    """A browser without cookies, before a provider in order."""
    desk.provider.secret, desk.provider.seconds, desk.provider.is_down = SECRET, 300, False
    desk.provider.others, desk.provider.algorithm = {}, "RS256"
    with httpx.Client(base_url=desk.address, timeout=60) as client:
        yield client


def _params(address: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


def _where(answer: httpx.Response) -> str:
    assert answer.status_code == 302
    assert answer.content == b""
    return answer.headers["location"]


def test_the_provider_is_asked_with_everything(desk: Desk, browser: httpx.Client) -> None:
    """The browser is sent to the provider with state, nonce and a PKCE challenge, and back to this desk."""
    asked = _params(_where(desk.begin(browser)))
    assert asked["redirect_uri"] == f"{desk.address}/oauth2callback"
    assert (asked["scope"], asked["code_challenge_method"]) == ("openid email profile", "S256")
    assert min(len(asked[name]) for name in ("state", "nonce", "code_challenge")) >= 20


def test_who_signed_in_comes_back_to_the_page(desk: Desk, browser: httpx.Client) -> None:
    """The sign-in leads back to where it began; its cookies are closed to scripts, and last a session."""
    answer = browser.get(desk.back(browser, account="b-2"))
    assert _where(answer) == PAGE
    told = [text for text in answer.headers.get_list("set-cookie") if text.startswith("_streamlit_user")]
    assert len(told) == 2
    for text in told:
        assert "Max-Age=7200" in text
        assert "HttpOnly" in text
        assert "SameSite=lax" in text
        assert SECRET not in text


def test_a_sign_out_reaches_the_provider(desk: Desk, browser: httpx.Client) -> None:
    """The way out deletes every cookie of the sign-in, and ends the provider's session, which leads back."""
    browser.get(desk.back(browser, account="b-2"))
    answer = browser.post("/auth/logout", headers={"Origin": desk.address})
    there = _where(httpx.get(answer.json()["location"]))
    assert desk.provider.sign_outs[-1]["id_token_hint"]
    assert _where(browser.get(there)) == "/"
    deleted = {
        text.partition("=")[0] for text in answer.headers.get_list("set-cookie") if "Max-Age=0" in text
    }
    assert {"_streamlit_user", "_streamlit_user_tokens"} <= deleted


def test_another_site_signs_nobody_out(desk: Desk, browser: httpx.Client) -> None:
    """A link to the way out, or a form of another site, deletes no cookie."""
    browser.get(desk.back(browser, account="b-2"))
    for answer in (
        browser.get("/auth/logout"),
        browser.post("/auth/logout", headers={"Origin": "https://evil.example"}),
        browser.post("/auth/logout"),
    ):
        assert answer.status_code in (403, 405)
        assert "set-cookie" not in answer.headers


def _is_refused(answer: httpx.Response, outcome: str) -> None:
    assert _where(answer) == f"/?sign_in={outcome}"
    set_ones = [text for text in answer.headers.get_list("set-cookie") if "Max-Age=0" not in text]
    assert not [text for text in set_ones if text.startswith("_streamlit_user")]


def test_a_cancelled_sign_in(desk: Desk, browser: httpx.Client) -> None:
    """Who cancels at the provider is told so on the desk."""
    _is_refused(browser.get(desk.back(browser, deny="1")), "denied")


def test_another_error_of_the_provider(desk: Desk, browser: httpx.Client) -> None:
    """So is whoever comes back with another error."""
    _is_refused(browser.get("/oauth2callback?error=invalid_scope&state=x"), "failed")


def test_a_wrong_client_secret(desk: Desk, browser: httpx.Client) -> None:
    """With a client secret that the provider does not know nobody is signed in."""
    desk.provider.secret = "another"
    _is_refused(browser.get(desk.back(browser, account="b-2")), "failed")


def test_a_state_of_another_browser(desk: Desk, browser: httpx.Client) -> None:
    """A code that comes with the state of another browser signs nobody in."""
    stolen = desk.back(browser, account="b-2")
    with httpx.Client(base_url=desk.address) as other:
        desk.begin(other)
        _is_refused(other.get(stolen), "failed")


def test_a_token_that_has_expired(desk: Desk, browser: httpx.Client) -> None:
    """An ID token that expired more than two minutes ago signs nobody in."""
    desk.provider.seconds = -200
    _is_refused(browser.get(desk.back(browser, account="b-2")), "failed")


@pytest.mark.parametrize(
    "others",
    [
        {"aud": "another-client", "azp": "tranche"},
        {"aud": ["another-client", "a-third"], "azp": "tranche"},
        {"azp": "another-client"},
        {"iss": "https://login.example"},
    ],
    ids=str,
)
def test_a_token_for_somebody_else(desk: Desk, browser: httpx.Client, others: dict[str, Any]) -> None:
    """An ID token for another client, whatever its `azp` says, or of another issuer signs nobody in."""
    desk.provider.others = others
    _is_refused(browser.get(desk.back(browser, account="b-2")), "failed")


def test_a_token_without_a_signature(desk: Desk, browser: httpx.Client) -> None:
    """An unsigned ID token signs nobody in, also where the provider's metadata lists `none`."""
    desk.provider.algorithm = "none"
    _is_refused(browser.get(desk.back(browser, account="b-2")), "failed")


def test_a_provider_that_does_not_answer(desk: Desk, browser: httpx.Client) -> None:
    """Without the provider the desk goes on, says so, and works again once the provider does."""
    desk.provider.is_down = True
    _is_refused(desk.begin(browser), "unreachable")
    assert browser.get("/_stcore/health").text == "ok"
    desk.provider.is_down = False
    assert _where(desk.begin(browser)).startswith("http")


def test_localhost_and_its_address(desk: Desk, browser: httpx.Client) -> None:
    """Whoever opened localhost begins at the address that the provider knows, whose cookies come back."""
    asked, local = desk.login(), desk.address.replace("127.0.0.1", "localhost")
    answer = browser.get(asked, headers={"Host": urlsplit(local).netloc})
    assert _where(answer) == f"{desk.address}{asked}"


def _scope(**headers: str) -> dict[str, Any]:
    return {"type": "http", "headers": [(name.encode(), text.encode()) for name, text in headers.items()]}


@pytest.mark.parametrize(
    "page", ["https://evil.example/x", "http://desk//evil.example", "http://[", "", "http://desk/a;b"]
)
def test_pages_that_nobody_is_led_to(page: str) -> None:
    """A sign-in that began elsewhere, or at an address that could lead elsewhere, ends on the first page."""
    assert start_path(_scope(host="desk", referer=page)) == ""


@pytest.mark.parametrize(
    "cookie", ["//evil.example", "https://evil.example", '"\\\\evil"', "/" + "x" * 3000, ""]
)
def test_cookies_that_lead_nowhere(cookie: str) -> None:
    """Nor does a cookie that somebody has put there."""
    assert return_path(_scope(cookie=f"tranche_return={cookie}")) == "/"


@pytest.mark.parametrize("has_company", [False, True])
@pytest.mark.parametrize("path", ["/auth/login", "/oauth2callback", "/auth/logout"])
def test_without_a_provider_there_are_no_routes(path: str, has_company: bool) -> None:
    """The routes are there if the desk has a company sign-in, and otherwise not, whatever Streamlit has."""
    streamlits = Starlette(routes=[Route(path, lambda _: PlainTextResponse("Streamlit's"))])
    with serving(DeskRoutes(streamlits, has_company=has_company)) as address:
        assert httpx.get(f"{address}{path}").status_code == (200 if has_company else 404)
