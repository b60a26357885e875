"""A client that a generator makes from an API's document sends nothing that the service refuses."""

import copy
import datetime as dt
import importlib.util
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import jsonschema
import pytest
from conftest import copied
from dealing import stock
from pydantic import BaseModel, ValidationError
from serving import serving

from lib.serving import connect

OPTIONS = (
    "--input-file-type", "openapi", "--openapi-scopes", "paths",
    "--output-model-type", "pydantic_v2.BaseModel",
    "--use-title-as-name", "--formatters", "builtin", "--disable-warnings",
)  # fmt: skip
VALUES = (
    None, True, -1, 1.5, 10**17, "", " ", "x", "x" * 600, "a\x00b", "\u202e", "2026-02-30", "-1d", "-1x",
    "13", [], ["x", "x"], [None], [[]], {}, {"x": 1}, [{}],
)  # fmt: skip
FILTER = {"name": "geo.country", "match": "equals", "value": ["US"]}
QUESTION = {
    "project_name": "demo", "slicer_name": "delivery", "start_date": "-7d", "end_date": "yesterday",
    "split_by": ["geo.country"], "filters": [FILTER], "order_by": [{"name": "imps"}], "limit": 5,
    "timezone": 0, "offset": 0, "data_fields": ["imps"], "audience_key": "users",
}  # fmt: skip
FIGURES = QUESTION | {"audience_rows_limit": 10_000, "precision": 0, "include_mappings": 0}
FILE = QUESTION | {
    "include_mappings": 1,
    "include_total": 1,
    "export_format": "csv",
    "data_filters": [{"name": "imps", "match": ">", "value": 1}],
}
PACKAGE = {
    "name": "Spring", "media_type": "banner", "start_date": "2026-03-01 00:00:00+0100", "end_date": None,
    "geo_targetings": [{"type": "country", "value": "US"}],
    "size_targetings": [{"width": 300, "height": 250}],
}  # fmt: skip
DEAL = {"name": "A deal", "seat": {"id": 1}, "price": 2.5, "contact_email": "ada@example.org"}
BODIES = {
    "/API/v2/audience": FIGURES,
    "/API/v2/export": FILE,
    "/api/supply_deals/": PACKAGE,
    "/api/demand_deals/": DEAL,
    "/api/domain_lists/": {"name": "News", "domains": ["example.org"]},
}
BY_DATA = ("Unknown", "There is no", "exists already", "after", "There is already", "deal_sync")


class Served:
    """A service with both APIs, over a socket, and its documents."""

    def __init__(self, installation: connect.Installation, address: str) -> None:
        services, access = installation.settings.services, installation.access
        hour = dt.timedelta(hours=1)
        self.tokens = {api: access.issue("manager", services[api], "test", hour) for api in services}
        self.http = httpx.Client(base_url=address, timeout=60)
        self.documents = {api: self.http.get(f"/openapi/{api}.json").json() for api in services}

    def schema(self, path: str) -> dict[str, Any]:
        """That of the body of a POST."""
        api = "reporting" if path.startswith("/API/") else "deals"
        operation = self.documents[api]["paths"][path]["post"]
        found: dict[str, Any] = operation["requestBody"]["content"]["application/json"]["schema"]
        return found

    def post(self, path: str, body: Any) -> httpx.Response:
        """The answer to a body with a token."""
        if path.startswith("/API/"):
            return self.http.post(path, json=body | {"token": self.tokens["reporting"]})
        return self.http.post(path, json=body, headers={"Authorization": f"Bearer {self.tokens['deals']}"})


@pytest.fixture(scope="module")
def served(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service of the small demo, with a seat."""
    there = copied(home, tmp_path_factory.mktemp("generated") / "home")
    settings = stock(there).model_copy(update={"throttle_writes": 10**6, "throttle_questions": 10**6})
    installation = connect.installation(settings)
    with serving(installation.api) as address:
        yield Served(installation, address)


@pytest.fixture(scope="module")
def generated(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], ModuleType]:
    """The client's classes for one API, made by datamodel-code-generator."""
    folder = tmp_path_factory.mktemp("clients")

    def make(api: str) -> ModuleType:
        document, module = folder / f"{api}.json", folder / f"{api}_client.py"
        document.write_bytes(served.http.get(f"/openapi/{api}.json").content)
        command = [sys.executable, "-m", "datamodel_code_generator", "--input", str(document)]
        subprocess.run([*command, "--output", str(module), *OPTIONS], check=True, capture_output=True)
        spec = importlib.util.spec_from_file_location(module.stem, module)
        assert spec
        assert spec.loader
        found = importlib.util.module_from_spec(spec)
        sys.modules[module.stem] = found
        spec.loader.exec_module(found)
        return found

    return make


def variants(body: Any) -> Iterator[Any]:
    """The body with another value in one place, without one, and with a field too many."""
    for place in _places(body):
        *way, last = place
        for value in VALUES:
            changed = copy.deepcopy(body)
            _at(changed, way)[last] = value
            yield changed
        if isinstance(last, str):
            changed = copy.deepcopy(body)
            del _at(changed, way)[last]
            yield changed
            _at(changed, way)[f"{last}s"] = 1
            yield changed


def _places(body: Any) -> Iterator[tuple[Any, ...]]:
    parts = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, part in parts:
        yield (key,)
        yield from ((key, *deeper) for deeper in _places(part))


def _at(body: Any, way: list[Any]) -> Any:
    for key in way:
        body = body[key]
    return body


def test_the_documents_are_parts_of_the_whole(served: Served) -> None:
    """Each API's document has its paths and those of tokens, as the whole has them; both together are it."""
    whole = served.http.get("/openapi.json").json()["paths"]
    both = [served.documents[api]["paths"] for api in ("reporting", "deals")]
    assert both[0] | both[1] == whole
    assert both[0].keys() & both[1].keys() == {"/oauth2/token/"}
    assert {path.split("/")[1] for path in both[0]} == {"API", "oauth2"}


@pytest.mark.parametrize("path", BODIES)
def test_documents_are_as_strict_as_the_service(served: Served, path: str) -> None:
    """What the document allows is not refused, but for names, dates and data that no document can know."""
    schema, tried = served.schema(path), 0
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    assert served.post(path, BODIES[path]).is_success
    for body in variants(BODIES[path]):
        if validator.is_valid(body | ({"token": ""} if path.startswith("/API/") else {})):
            answer = served.post(path, body)
            tried += 1
            assert answer.status_code != 400 or any(word in answer.text for word in BY_DATA), (
                body,
                answer.text,
            )
    assert tried > 5


def test_a_client_of_the_reporting_api(served: Served, generated: Callable[[str], ModuleType]) -> None:
    """Its classes ask, and read the answer; a wrong question can't be made with them."""
    client = generated("reporting")
    question = client.AudienceQuery(token=served.tokens["reporting"], **QUESTION)
    answer = served.http.post("/API/v2/audience", content=_sent(question))
    figures = client.Audience.model_validate_json(answer.content)
    assert [row.name for row in figures.rows] == [["US"]]
    assert figures.total.data[0].name == "imps"
    for wrong in (
        {"limit": -2}, {"timezone": 13}, {"start_date": "2026-02-30"}, {"splitby": []},
        {"audience_rows_limit": 1},
        {"filters": [FILTER | {"match": "is"}]}, {"order_by": [{"name": "imps", "direction": "up"}]},
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            client.AudienceQuery(**{"token": "x", **QUESTION} | wrong)


def test_a_client_of_the_deals_api(served: Served, generated: Callable[[str], ModuleType]) -> None:
    """Its classes create a package with its deals; a wrong one can't be made with them."""
    client = generated("deals")
    options = [{"seat": {"id": 1}, "price": 2.5}]
    package = client.SupplyPackage(**PACKAGE, create_demand_deals={"demand_deals_options": options})
    headers = {"Authorization": f"Bearer {served.tokens['deals']}"}
    answer = served.http.post("/api/supply_deals/", content=_sent(package), headers=headers)
    assert answer.status_code == 201, answer.text
    assert len(answer.json()["demand_deals"]) == 1
    for wrong in (
        {"name": " "}, {"name": "a\x00b"}, {"media_type": "print"},
        {"start_date": "2026-02-30 00:00:00+0100"}, {"start_date": "tomorrow"},
        {"geo_targetings": [{"type": "moon", "value": "x"}]}, {"id": 1},
    ):  # fmt: skip
        with pytest.raises(ValidationError):
            client.SupplyPackage(**PACKAGE | wrong)


def _sent(body: BaseModel) -> str:
    return body.model_dump_json(exclude_unset=True)
