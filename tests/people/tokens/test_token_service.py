"""The token service: the deals specification's Temporary token, and RFC 6749's errors."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx
import openapi_schemas
import pytest
from peopled import people_in

from lib import database
from lib.people import DealsGrant, Grant, Person
from lib.people.tokens.access import Access
from lib.people.tokens.service import TokenApi, router
from lib.people.tokens.store import TokenStore
from lib.wire.apis import api
from lib.wire.transport import InProcess

ASKED = {"grant_type": "password", "username": "ada", "password": "right", "scope": "service_id=reporting"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}

SEES_DEALS = DealsGrant("read")


@dataclass
class Desk:
    """A desk with the token service, and a client of it."""

    access: Access
    http: httpx.Client

    def ask(self, **changes: str | None) -> httpx.Response:
        """The answer to a whole form with these changes; None leaves a field out."""
        form = {name: value for name, value in (ASKED | changes).items() if value is not None}
        return self.http.post("/oauth2/token/", data=form)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Ada, and the services reporting and deals."""
    engine = database.engine(f"sqlite:///{tmp_path}/tranche.db")
    database.migrate(engine)
    people = people_in(tmp_path)
    people.add(Person("ada", "Ada Example", None, "viewer", (Grant("demo"),), deals=SEES_DEALS), "right")
    access = Access(TokenStore(engine), people)
    app = api([router], 100_000, tokens=TokenApi(access, ("reporting", "deals"), timedelta(hours=1)))
    with httpx.Client(transport=InProcess(app), base_url="http://desk") as http:
        yield Desk(access, http)


def test_a_name_and_password_give_a_token(desk: Desk) -> None:
    """The answer has the specification's four fields, and its token opens the service that was asked for."""
    answer = desk.ask()
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    token = answer.json().pop("access_token")
    assert answer.json() == {
        "token_type": "Bearer",
        "scope": "service_id=reporting",
        "access_token": token,
        "expires_in": 3600,
    }
    caller = desk.access.caller(token, "reporting")
    assert (caller.person.username, caller.token.kind) == ("ada", "temporary")
    assert caller.token.expires == caller.token.created + timedelta(hours=1)


def test_nothing_keeps_the_answer(desk: Desk) -> None:
    """Neither the token nor a refusal may be kept by a cache."""
    for answer in (desk.ask(), desk.ask(password="wrong")):
        assert answer.headers["cache-control"] == "no-store"


def test_scope_is_echoed_and_kept_to(desk: Desk) -> None:
    """A token for deals says so, and does not open reports."""
    answer = desk.ask(scope="service_id=deals").json()
    assert answer["scope"] == "service_id=deals"
    assert desk.access.store.verify(answer["access_token"], "deals").service == "deals"


@pytest.mark.parametrize("client", [{}, {"auth": ("script", "")}, {"data": {"client_id": "script"}}])
def test_a_client_id_is_neither_needed_nor_refused(desk: Desk, client: dict[str, Any]) -> None:
    """OAuth libraries send a client id in the body or as Basic auth; both get their token."""
    data = ASKED | client.pop("data", {})
    assert desk.http.post("/oauth2/token/", data=data, **client).status_code == 200


def test_the_slash_at_the_end_may_be_left_out(desk: Desk) -> None:
    """Without its last slash the path answers too; a redirect would make clients drop the form."""
    assert desk.http.post("/oauth2/token", data=ASKED).status_code == 200


@pytest.mark.parametrize(
    ("changes", "code", "error", "description"),
    [
        ({"password": "wrong"}, 401, "invalid_grant", "Wrong name or password"),
        ({"username": "nobody"}, 401, "invalid_grant", "Wrong name or password"),
        ({"password": "x" * 100}, 401, "invalid_grant", "Wrong name or password"),
        ({"grant_type": "client_credentials"}, 400, "unsupported_grant_type", "'password'"),
        ({"grant_type": None}, 400, "invalid_request", "Missing: grant_type"),
        ({"username": None, "password": ""}, 400, "invalid_request", "Missing: username, password"),
        ({"scope": None}, 400, "invalid_request", "Missing: scope"),
        ({"scope": "service_id=other"}, 400, "invalid_scope", "service_id= and the identifier"),
        ({"scope": "reporting"}, 400, "invalid_scope", "service_id= and the identifier"),
    ],
)
def test_refusals(desk: Desk, changes: dict[str, str], code: int, error: str, description: str) -> None:
    """Each refusal has RFC 6749's word and a sentence."""
    answer = desk.ask(**changes)
    assert answer.status_code == code
    assert answer.json().keys() == {"error", "error_description"}
    assert answer.json()["error"] == error
    assert description in answer.json()["error_description"]
    assert ("www-authenticate" in answer.headers) == (code == 401)


@pytest.mark.parametrize("service", ["reporting", "deals"])
def test_the_right_password_of_somebody_without_access(desk: Desk, service: str) -> None:
    """401 for a service that the person has no access to: a grant for either opens that one alone."""
    desk.access.people.add(Person("new", "Nobody Yet", None, "viewer"), "right")
    answer = desk.ask(username="new", scope=f"service_id={service}")
    assert (answer.status_code, answer.json()["error"]) == (401, "access_denied")
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "access_token" not in answer.json()
    wrong = desk.ask(username="new", password="wrong", scope=f"service_id={service}")
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_grant")
    rights = {"grants": (Grant("demo"),)} if service == "reporting" else {"deals": SEES_DEALS}
    desk.access.people.change("new", **rights)
    assert desk.ask(username="new", scope=f"service_id={service}").status_code == 200
    other = {"reporting": "deals", "deals": "reporting"}[service]
    assert desk.ask(username="new", scope=f"service_id={other}").status_code == 401


@pytest.mark.parametrize(
    ("body", "headers", "description"),
    [
        (
            urlencode(ASKED),
            {"Content-Type": "application/json"},
            "content type must be application/x-www-form",
        ),
        (urlencode(ASKED), {}, "content type must be application/x-www-form"),
        (urlencode(ASKED) + "&scope=service_id%3Ddeals", FORM, "Sent more than once: scope"),
        ("username=%ff", FORM, "not a form in UTF-8"),
        ("username=ä".encode("latin-1"), FORM, "not a form in UTF-8"),
        ("&".join(f"f{number}=1" for number in range(60)), FORM, "not a form in UTF-8"),
    ],
)
def test_no_form(desk: Desk, body: str | bytes, headers: dict[str, str], description: str) -> None:
    """What is no form of single fields is an invalid request."""
    answer = desk.http.post("/oauth2/token/", content=body, headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")
    assert description in answer.json()["error_description"]


def test_passwords_in_any_script(desk: Desk) -> None:
    """Names and passwords are UTF-8."""
    desk.access.people.set_password("ada", "пароль ✓ +&=")
    assert desk.ask(password="пароль ✓ +&=").status_code == 200


def test_guessing_is_slowed_down(desk: Desk) -> None:
    """After five wrong passwords the answer says how long to wait, even to the right one."""
    assert {desk.ask(password="wrong").status_code for _ in range(5)} == {401}
    answer = desk.ask()
    assert (answer.status_code, answer.json()["error"]) == (429, "slow_down")
    assert 0 < int(answer.headers["retry-after"]) <= 300


def test_credentials_in_the_address_are_not_read(desk: Desk) -> None:
    """A password in the query string is not accepted: addresses end up in logs."""
    answer = desk.http.post("/oauth2/token/", params=ASKED, headers=FORM)
    assert answer.json()["error"] == "invalid_request"


def test_documentation(desk: Desk) -> None:
    """The endpoint's form and answers are in the service's documentation."""
    document = desk.http.get("/openapi.json").json()
    described = document["paths"]["/oauth2/token/"]["post"]
    schema = described["requestBody"]["content"]["application/x-www-form-urlencoded"]["schema"]
    assert openapi_schemas.named(document, schema)["required"] == list(ASKED)
    assert desk.access.people.check("ada", "right")
    assert {"200", "400", "401", "429"} <= described["responses"].keys()
