"""Who may ask what over `/mcp`: tokens, their scopes, hosts, origins and throttles."""

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from conftest import ROOT
from mcp.client.client import Client
from serving import serving

from agents.conftest import over_http, within
from lib.agents.route import AgentRoute, security_options
from lib.people import DealsGrant, Grant, Person
from lib.people.tokens.access import Access
from lib.serving import connect
from lib.settings import Settings
from lib.wire.apis import Compression

PING = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
HEADERS = {"Accept": "application/json, text/event-stream"}
ASK = {"slicer": "demo/curation", "fields": ["imps"]}
OF_ANOTHER_SEAT = 2
CHANGES: dict[str, Callable[[Access], object]] = {
    "grants": lambda access: access.change("nina", "admin", grants=[Grant("demo", "delivery")]),
    "seats": lambda access: access.change("nina", "admin", deals=DealsGrant("propose", frozenset({1}))),
    "deals": lambda access: access.change("nina", "admin", deals=DealsGrant("none")),
    "role": lambda access: access.change("nina", "admin", role="viewer", deals=DealsGrant("read")),
    "password": lambda access: access.set_password("nina", "another password", "admin"),
    "person": lambda access: access.remove("nina", "admin"),
}
LOST = {
    "grants": {"ask", "past_delivery"},
    "seats": {"past_delivery"},
    "deals": {"find_deals", "past_delivery", "propose_change"},
    "role": {"propose_change"},
    "password": {"ask", "find_deals", "past_delivery", "propose_change"},
    "person": {"ask", "find_deals", "past_delivery", "propose_change"},
}


def post(address: str, token: str = "", **headers: str) -> httpx.Response:
    """A message as it is sent, with a token, and further headers."""
    bearer = {"Authorization": f"Bearer {token}"} if token else {}
    return httpx.post(f"{address}/mcp", json=PING, headers={**HEADERS, **bearer, **headers})


def call(address: str, tokens: tuple[str, ...], verb: str, arguments: dict[str, Any]) -> Any:
    """The outcome of one call."""

    async def session(client: Client) -> Any:
        return await client.call_tool(verb, arguments)

    return within(over_http(address, *tokens), session)


@pytest.mark.parametrize("authorization", ["", "Bearer", "Bearer wrong", "Basic YTpi", "bearer x y"])
def test_nothing_is_answered_without_a_token(served: str, authorization: str) -> None:
    """Without a token, and with one that is wrong, a message is refused with a challenge and no more."""
    headers = {"Authorization": authorization} if authorization else {}
    response = httpx.post(f"{served}/mcp", json=PING, headers=HEADERS | headers)
    assert response.status_code == 401
    assert response.headers["www-authenticate"] == "Bearer"
    assert response.json() == {"detail": "Missing or invalid token"}


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "OPTIONS", "HEAD"])
def test_there_is_no_stream_to_hold_open(served: str, issue: Callable[..., str], method: str) -> None:
    """Whatever is no POST is refused, with a token too."""
    headers = HEADERS | {"Authorization": f"Bearer {issue('manager', 'reporting')}"}
    response = httpx.request(method, f"{served}/mcp", headers=headers)
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"


def test_other_sites_are_refused(served: str, issue: Callable[..., str]) -> None:
    """A page of another site, and a name that was pointed here, are refused; a page of the desk is not."""
    token = issue("manager", "reporting")
    assert post(served, token, Origin="https://evil.example").status_code == 403
    assert post(served, token, Host="evil.example").status_code == 421
    assert post(served, token, Origin=served).status_code == 200


def test_the_protection_of_the_sdk_knows_the_hosts_of_the_desk() -> None:
    """Its hosts are loopback names, the host and the origins; IP addresses beyond this machine alone."""
    near = security_options(Settings(host="127.0.0.1", origins=("https://desk.example",)), "192.0.2.7:8501")
    everywhere = "0.0.0.0"  # noqa: S104
    far = security_options(Settings(host=everywhere), "192.0.2.7:8501")
    assert {"desk.example", "localhost:*", "[::1]:*"} <= {*near["allowed_hosts"]}
    assert "https://desk.example" in near["allowed_origins"]
    assert "192.0.2.7:8501" not in near["allowed_hosts"]
    assert "192.0.2.7:8501" in far["allowed_hosts"]
    assert "evil.example" not in security_options(Settings(host=everywhere), "evil.example")["allowed_hosts"]


@pytest.mark.parametrize(
    ("module", "heavy"),
    [("app", ("mcp", "httpx2", "lib.agents.verbs")), ("tranche", ("mcp", "starlette", "lib.agents.verbs"))],
)
def test_the_sdk_is_loaded_by_the_first_agent(module: str, heavy: tuple[str, ...]) -> None:
    """A desk starts without the protocol's SDK and without the verbs; a script without their route too."""
    code = f"import {module}, sys; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


def test_a_viewer_sees_what_they_may_see(served: str, issue: Callable[..., str]) -> None:
    """A person who is granted one slicer has one, and the other is not there."""
    token = issue("viewer", "reporting", grants=(Grant("demo", "delivery"),))
    slicers = call(served, (token,), "list_slicers", {}).structured_content
    assert [slicer["slicer"] for slicer in slicers["slicers"]] == ["demo/delivery"]
    refused = call(served, (token,), "ask", ASK)
    assert refused.is_error
    assert refused.structured_content["error"].startswith("Unknown slicer 'demo/curation'")


def test_a_token_opens_its_own_api(served: str, issue: Callable[..., str]) -> None:
    """A token for reports opens no deals, one for deals no reports; the sentence names the missing one."""
    reporting, deals = issue("manager", "reporting"), issue("manager", "deals")
    no_deals = call(served, (reporting,), "find_deals", {})
    no_reports = call(served, (deals,), "ask", ASK)
    assert "a token for the deals API" in no_deals.structured_content["error"]
    assert "a token for the reporting API" in no_reports.structured_content["error"]
    assert not call(served, (deals,), "find_deals", {}).is_error
    assert not call(served, (reporting, deals), "past_delivery", {"deals": [1]}).is_error


def test_a_token_for_some_seats_sees_their_deals(served: str, issue: Callable[..., str]) -> None:
    """A token for the deals of one seat finds no others."""
    token = issue("manager", "deals", deals=DealsGrant("read", frozenset({1})))
    deals = call(served, (token,), "find_deals", {"limit": 100}).structured_content
    assert deals["rows"]
    assert {row["seat"]["id"] for row in deals["rows"]} == {1}


def test_both_tokens_are_of_one_person(served: str, issue: Callable[..., str]) -> None:
    """Tokens of two people, and a second one that is wrong, are refused."""
    token = issue("viewer", "reporting")
    assert post(served, token, **{"Tranche-Deals-Token": issue("manager", "deals")}).status_code == 401
    assert post(served, token, **{"Tranche-Deals-Token": "wrong"}).status_code == 401


def test_a_revoked_token_is_refused_at_once(
    served: str, issue: Callable[..., str], demo_settings: Settings
) -> None:
    """A token that was good for a call is not for the next one, once it is revoked."""
    token = issue("manager", "reporting")
    assert post(served, token).status_code == 200
    access = connect.installation(demo_settings).access
    access.revoke(access.store.everything("manager")[-1], "a test")
    assert post(served, token).status_code == 401


def test_requests_are_throttled_per_token(demo_settings: Settings, issue: Callable[..., str]) -> None:
    """Requests beyond the limit are refused with the seconds to wait; another token is not affected."""
    settings = demo_settings.model_copy(update={"throttle_agents": 2})
    app = AgentRoute(Compression(connect.installation(demo_settings).api), settings)
    token, other = issue("manager", "reporting"), issue("manager", "reporting")
    with serving(app) as address:
        codes = [post(address, token).status_code for _ in range(3)]
        assert codes == [200, 200, 429]
        assert int(post(address, token).headers["retry-after"]) > 0
        assert post(address, other).status_code == 200


@pytest.mark.parametrize("change", CHANGES)
def test_rights_that_change_hold_from_the_next_call_on(
    served: str, issue: Callable[..., str], demo_settings: Settings, change: str
) -> None:
    """An agent's next call has the grants, the role and the password of its person now, whatever it had."""
    access = connect.installation(demo_settings).access
    nina = Person("nina", "Nina", None, "manager", (Grant("demo"),), deals=DealsGrant("write"))
    access.people.add(nina, "a password")
    try:
        tokens = issue("nina", "reporting"), issue("nina", "deals")
        assert _refused(served, tokens) == set()
        CHANGES[change](access)
        assert _refused(served, tokens) == LOST[change]
    finally:
        if access.people.get("nina") is not None:
            access.remove("nina", "a test")


def _refused(served: str, tokens: tuple[str, ...]) -> set[str]:
    """The verbs that are refused: with an error, or as nobody's token."""
    change = {"kind": "deals", "id": 1, "fields": {"price": 1.75}, "reason": "A trial"}
    calls: dict[str, dict[str, Any]] = {
        "ask": ASK,
        "find_deals": {},
        "past_delivery": {"deals": [OF_ANOTHER_SEAT]},
        "propose_change": change,
    }
    if post(served, tokens[0], **{"Tranche-Deals-Token": tokens[1]}).status_code == 401:
        return {*calls}
    return {verb for verb, arguments in calls.items() if call(served, tokens, verb, arguments).is_error}
