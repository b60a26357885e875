"""A script that calls the deals API, and the seats, lists and packages that it finds there."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

import httpx

from lib.wire import exact
from lib.wire.errors import Invalid

START, END = "2026-03-01 09:00:00+0100", "2026-06-30 23:59:59+0200"
NUMBERS = count(1)
INVALID = Invalid.http
NO_BODY: Final = object()
Body = dict[str, Any]


def unique(what: str) -> str:
    """A name that nothing had before, and no search for another finds."""
    return f"{what} {next(NUMBERS):06}"


@dataclass(frozen=True)
class Caller:
    """A client of the deals API, with a token or without one."""

    http: httpx.Client
    token: str | None

    def ask(
        self,
        method: str,
        path: str,
        body: Any = NO_BODY,
        headers: Mapping[str, str] | None = None,
        **params: Any,
    ) -> httpx.Response:
        """The answer; `path` is below /api/."""
        sent = dict(headers or {}) | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        content = None if body is NO_BODY else exact.dumps(body)
        return self.http.request(method, f"/api/{path}", content=content, headers=sent, params=params or None)

    def get(self, path: str, **params: Any) -> Body:
        """The body of a successful GET."""
        return read(self.ask("GET", path, **params), 200)

    def make(self, entity: str, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> Body:
        """The body of a successful POST, without its warnings: the entity as GET returns it."""
        new_entity = read(self.ask("POST", f"{entity}/", body, headers), 201)
        return {name: value for name, value in new_entity.items() if name != "warnings"}

    def change(
        self, entity: str, entity_id: int, headers: Mapping[str, str] | None = None, **fields: Any
    ) -> None:
        """A successful PUT: 204, and nothing in it."""
        answer = self.ask("PUT", f"{entity}/{entity_id}/", fields, headers)
        assert (answer.status_code, answer.content) == (204, b""), answer.text

    def remove(self, entity: str, entity_id: int) -> None:
        """A successful DELETE: 204, and nothing in it."""
        answer = self.ask("DELETE", f"{entity}/{entity_id}/")
        assert (answer.status_code, answer.content) == (204, b""), answer.text

    def refused(self, method: str, path: str, code: int, body: Any = NO_BODY, **params: Any) -> Body:
        """The body of an answer with that code."""
        return read(self.ask(method, path, body, **params), code)

    def detail(self, method: str, path: str, code: int, body: Any = NO_BODY, **params: Any) -> str:
        """The `detail` of an error response, its only field."""
        error = self.refused(method, path, code, body, **params)
        assert error.keys() == {"detail"}
        return str(error["detail"])

    def wrong(self, entity: str, **fields: Any) -> Body:
        """The validation errors of a POST of these fields."""
        return self.invalid("POST", f"{entity}/", fields)

    def invalid(self, method: str, path: str, body: Any = NO_BODY, **params: Any) -> Body:
        """The validation errors of a request; which code says so, test_client.py states."""
        return self.refused(method, path, INVALID, body, **params)

    def history(self, entity: str, entity_id: int) -> list[Body]:
        """The history of an entity, latest first."""
        return list(self.get(f"{entity}/{entity_id}/history/")["results"])


def read(answer: httpx.Response, code: int) -> Body:
    """The body, with decimals, of an answer that must have this code."""
    assert answer.status_code == code, f"{answer.status_code}: {answer.text[:500]}"
    assert answer.headers["content-type"] == "application/json"
    body = exact.loads(answer.content)
    assert isinstance(body, dict)
    return body


@dataclass(frozen=True)
class World:
    """What every test may refer to: ids. Only the seats `ada` and `bob` are at a DSP with deal sync."""

    syncing: int
    plain: int
    ada: int
    bob: int
    cleo: int
    domains: int
    apps: int


def world(caller: Caller) -> World:
    """Make it."""
    syncing = caller.make("dsps", {"name": unique("Alder"), "supports_deal_sync": True})["id"]
    plain = caller.make("dsps", {"name": unique("Cedar")})["id"]
    seats = [
        caller.make("seats", {"name": unique(name), "dsp": {"id": dsp}, "external_id": unique("x")})["id"]
        for name, dsp in (("Ada", syncing), ("Bob", syncing), ("Cleo", plain))
    ]
    domains = caller.make("domain_lists", {"name": unique("Quiet"), "domains": ["news.example"]})["id"]
    apps = caller.make("app_lists", {"name": unique("Games"), "apps": ["com.example.chess"]})["id"]
    return World(syncing, plain, *seats, domains, apps)


def package(**fields: Any) -> Body:
    """A request for a supply package with what is required, and these fields."""
    return {"name": unique("Package"), "media_type": "banner", "start_date": START} | fields


def deals(*options: Mapping[str, Any], **terms: Any) -> Body:
    """`create_demand_deals` with these options."""
    return {"demand_deals_options": [*options], **terms}


def option(seat: int, price: Any = 2, **fields: Any) -> Body:
    """One demand deal to create."""
    return {"seat": {"id": seat}, "price": price, **fields}
