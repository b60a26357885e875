"""A script that calls the reporting API, and what it reads in the answers."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx
import pytest

from conformance.reporting import hourly
from conformance.reporting.oracle import Figures, Key

PATH = "/API/v2"
JSON = {"Content-Type": "application/json", "Accept": "application/json"}
ABSENT: Final = object()
VERBS = ("info", "audience", "export", "records")
PERIOD = {"start_date": hourly.FIRST.isoformat(), "end_date": hourly.LAST.isoformat()}
Answer = dict[str, Any]


@dataclass(frozen=True)
class Caller:
    """Somebody with a token who asks about one slicer, and about all of its days unless told otherwise.

    What names a field that is `left_out`, since the database has no lists, is not asked.
    """

    http: httpx.Client
    token: str
    slicer: str
    project: str = "shop"
    left_out: frozenset[str] = frozenset()

    def about(self, slicer: str) -> "Caller":
        """The same, asking about another slicer of the project."""
        return replace(self, slicer=slicer)

    def post(self, verb: str, headers: Mapping[str, str] = JSON, **fields: object) -> httpx.Response:
        """The answer to a request with the usual fields and these; a field that is ABSENT is left out."""
        usual = {"slicer_name": self.slicer, "project_name": self.project, "token": self.token}
        usual |= {} if verb == "info" else PERIOD
        usual |= {"export_format": "csv"} if verb == "export" else {}
        body = {name: value for name, value in (usual | fields).items() if value is not ABSENT}
        skip_for(self.left_out, body)
        return self.http.post(f"{PATH}/{verb}", json=body, headers=headers)

    def info(self, **fields: object) -> Answer:
        """The slicer's description."""
        return success(self.post("info", **fields))

    def audience(self, **fields: object) -> Answer:
        """The figures."""
        return success(self.post("audience", **fields))

    def export(self, **fields: object) -> httpx.Response:
        """The file's answer."""
        response = self.post("export", **fields)
        assert response.status_code == 200, response.text
        return response

    def reason(self, verb: str, status: str = "bad_request", **fields: object) -> str:
        """The reason for which the request is refused with that status."""
        return refused(self.post(verb, **fields), status)


def skip_for(left_out: Iterable[str], body: object) -> None:
    """Skip the test whose request, or whose grants' filters, name one of these fields."""
    if names := [name for name in sorted(left_out) if f'"{name}"' in json.dumps(body)]:
        pytest.skip(f"{', '.join(names)} needs lists, which this database doesn't have")


def success(response: httpx.Response) -> Answer:
    """The body of a successful answer."""
    body: Answer = response.json()
    assert (response.status_code, body["status"]) == (200, "success"), response.text[:500]
    return body


def refused(response: httpx.Response, status: str) -> str:
    """The reason in an answer that has that status, and nothing else in it."""
    body = response.json()
    assert body.keys() == {"status", "reason"}
    assert body["status"] == status
    assert isinstance(body["reason"], str)
    assert body["reason"]
    return str(body["reason"])


def without_cost(answer: Answer) -> Answer:
    """The answer without what an exact one is expected to take, which is learned from every answer."""
    precision = {name: value for name, value in answer["precision"].items() if name != "exact_milliseconds"}
    return {**answer, "precision": precision}


def rows(answer: Answer) -> dict[Key, Figures]:
    """The rows by their names: data field → value."""
    by_key = {tuple(row["name"]): figures(row) for row in answer["rows"]}
    assert len(by_key) == len(answer["rows"])
    return by_key


def figures(part: Mapping[str, Any]) -> Figures:
    """Data field → value of a row, or of the total."""
    return {cell["name"]: cell["value"] for cell in part["data"]}


def same(actual: Mapping[Key, Figures], expected: Mapping[Key, Figures]) -> None:
    """Fail unless both have the same rows, and every figure found is as expected."""
    assert actual.keys() == expected.keys()
    for key, row in actual.items():
        agree(row, expected[key], key)


def agree(actual: Figures, expected: Figures, where: Key = ()) -> None:
    """Fail unless every figure found is as expected: null, or equal to nine digits."""
    names = list(actual)
    assert [expected[name] is None for name in names] == [actual[name] is None for name in names], where
    numbers = {name: value for name, value in actual.items() if value is not None}
    assert numbers == pytest.approx({name: expected[name] for name in numbers}, rel=1e-9, abs=1e-9), where
