"""Every kind of entity alike: create, read, change, delete, and read what happened."""

from typing import Any

import httpx
import pytest

from deals.caller import Caller, World, option, package, unique
from lib.deals.models import ENTITIES


def bodies(there: World) -> dict[str, dict[str, Any]]:
    """A request for one of each kind."""
    return {
        "supply_deals": package(),
        "demand_deals": {"name": unique("Deal"), **option(there.ada)},
        "packages": {"name": unique("Old")},
        "seats": {"name": unique("Seat"), "dsp": {"id": there.plain}, "external_id": unique("x")},
        "dsps": {"name": unique("DSP"), "supports_deal_sync": True},
        "domain_lists": {"name": unique("Domains"), "domains": ["a.example", "b.example"]},
        "app_lists": {"name": unique("Apps"), "apps": ["com.example.one", "1234567890"]},
    }


@pytest.mark.parametrize("entity", ENTITIES)
def test_the_life_of_an_entity(manager: Caller, there: World, entity: str) -> None:
    """POST 201, GET 200, PUT 204, DELETE 204, then 404; its history remains."""
    sent = bodies(there)[entity]
    answer = manager.ask("POST", f"{entity}/", sent)
    assert answer.status_code == 201
    body = answer.json()
    assert answer.headers["location"] == f"/api/{entity}/{body['id']}/"
    assert body["name"] == sent["name"]
    assert {"id", "created_at", "updated_at"} <= body.keys()
    path = f"{entity}/{body['id']}/"
    assert manager.ask("GET", path).json() == body
    assert body in manager.ask("GET", f"{entity}/", ordering="-id", limit=3).json()["results"]
    name = unique("Renamed")
    manager.change(entity, body["id"], name=name)
    assert manager.get(path)["name"] == name
    manager.remove(entity, body["id"])
    for method in ("GET", "PUT", "DELETE"):
        detail = manager.detail(method, path, 404, {"name": name} if method == "PUT" else {})
        assert str(body["id"]) in detail
    history = manager.history(entity, body["id"])
    assert [edit["action"] for edit in history] == ["removed", "changed", "created"]


@pytest.mark.parametrize("entity", ENTITIES)
def test_no_such_entity(manager: Caller, entity: str) -> None:
    """An id that nobody has, and what is no id, are 404."""
    for number in (2**53 - 1, 2**70, 0, "-1", "abc", "1.0", "٣", "%00"):
        for path in (f"{entity}/{number}/", f"{entity}/{number}/history/"):
            assert set(manager.refused("GET", path, 404)) == {"detail"}


@pytest.mark.parametrize("entity", ENTITIES)
def test_methods(manager: Caller, entity: str) -> None:
    """A method that a path does not support is 405, and says which ones it does."""
    answers = [
        *((manager.ask(method, f"{entity}/"), "GET, HEAD, POST, PUT") for method in ("DELETE", "PATCH")),
        *(
            (manager.ask(method, f"{entity}/1/"), "DELETE, GET, HEAD, PUT")
            for method in ("POST", "PATCH", "OPTIONS")
        ),
        *((manager.ask(method, f"{entity}/1/history/"), "GET, HEAD") for method in ("POST", "PUT", "DELETE")),
    ]
    for answer, allowed in answers:
        assert (answer.status_code, answer.headers["allow"]) == (405, allowed)
        assert set(answer.json()) == {"detail"}


@pytest.mark.parametrize("entity", ENTITIES)
@pytest.mark.parametrize("path", ["", "1/", "1/history/", "999999/", "?limit=x"])
def test_head_is_get_without_the_body(manager: Caller, http: httpx.Client, entity: str, path: str) -> None:
    """The same code and headers, for who has a token alone; with the ETag of what was read both are 304."""
    read, head = (manager.ask(method, f"{entity}/{path}") for method in ("GET", "HEAD"))
    varying = {"date", "x-request-id"}
    assert (head.status_code, head.content) == (read.status_code, b"")
    assert {name: text for name, text in head.headers.items() if name not in varying} == {
        name: text for name, text in read.headers.items() if name not in varying
    }
    assert http.request("HEAD", f"/api/{entity}/{path}").status_code == 401
    tag = {"If-None-Match": read.headers.get("etag", '"x"')}
    for method in ("GET", "HEAD"):
        again = manager.ask(method, f"{entity}/{path}", headers=tag)
        assert again.status_code == (304 if "etag" in read.headers else read.status_code)


def test_the_last_slash_may_be_left_out(manager: Caller) -> None:
    """A redirect would make clients drop their body."""
    answer = manager.ask("POST", "dsps", {"name": unique("DSP")})
    assert answer.status_code == 201
    assert manager.ask("GET", f"dsps/{answer.json()['id']}").json() == answer.json()


def test_seats_are_shown_with_their_dsp(manager: Caller, there: World) -> None:
    """A seat is id, name, external_id and dsp; a DSP is id, name and supports_deal_sync."""
    seat = manager.get(f"seats/{there.ada}/")
    dsp = manager.get(f"dsps/{there.syncing}/")
    assert seat["dsp"] == {name: dsp[name] for name in ("id", "name", "supports_deal_sync")}
    assert seat.keys() == {"id", "name", "external_id", "dsp", "created_at", "updated_at"}
    assert manager.wrong("seats", name="x", dsp={"id": 2**50}) == {
        "dsp": {"id": [f"There is no DSP {2**50}."]}
    }


def test_lists_hold_domains_and_apps(manager: Caller) -> None:
    """Domains are lower-case host names; what is none is named by its place."""
    domain_list = manager.make(
        "domain_lists", {"name": unique("D"), "domains": ["News.Example", " a.b.example "]}
    )
    assert domain_list["domains"] == ["news.example", "a.b.example"]
    wrong = manager.wrong(
        "domain_lists", name=unique("D"), domains=["ok.example", "http://no.example/", "", 3]
    )
    assert wrong == {
        "domains": [
            "Element 2: This must be a domain like example.org.",
            "Element 3: This must be a domain like example.org.",
            "Element 4: This must be text.",
        ]
    }
    assert manager.make("app_lists", {"name": unique("A"), "apps": ["1234567890"]})["apps"] == ["1234567890"]
