"""The reporting API behaves as documented in /openapi.json."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import openapi_schemas
import pyarrow as pa
import pytest

from conformance.conftest import Reach
from conformance.reporting.caller import VERBS, Answer, Caller
from lib import demo
from lib.people import Person
from lib.serving import connect
from lib.settings import Settings
from lib.slicers.definition.file import read_definition
from lib.slicers.warehouse import Warehouse

pytestmark = pytest.mark.service


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> connect.Installation:
    """An installation with the demo's slicer `delivery`, and a single row in it."""
    home = tmp_path_factory.mktemp("documented")
    definition = read_definition(Path(demo.__file__).parent / "delivery.yaml")
    row: dict[str, Any] = dict.fromkeys(definition.schema().names) | {"time": 1_767_225_600, "imps": 5.0}
    mappings: dict[str, dict[str, str]] = {name: {} for name in definition.mappings}
    with Warehouse(home / "warehouse").writer("demo", "delivery", definition, mappings) as writer:
        writer.write(pa.Table.from_pylist([row], schema=definition.schema()))
        writer.commit("one row", "0")
    context = connect.installation(Settings(home=home))
    context.people.add(Person("ada", "Ada", None, "admin"), "a password")
    return context


@pytest.fixture(scope="module")
def caller(reach: Reach, installed: connect.Installation) -> Iterator[Caller]:
    """A caller of the documented examples."""
    with reach(installed.api) as http:
        token = installed.access.issue("ada", "reporting", "test", None)
        yield Caller(http, token, "delivery", "demo")


def operation(http: httpx.Client, verb: str) -> Answer:
    """The documentation of an operation."""
    document = http.get("/openapi.json").json()
    written: Answer = document["paths"][f"/API/v2/{verb}"]["post"]
    for part in (written["requestBody"], *written["responses"].values()):
        for media in part["content"].values():
            media["schema"] = openapi_schemas.whole(document, media["schema"])
    return written


def content(part: Answer, media_type: str = "application/json") -> Answer:
    """The documentation of a body."""
    schema: Answer = part["content"][media_type]
    return schema


@pytest.mark.parametrize("verb", VERBS)
def test_every_example_works(caller: Caller, verb: str) -> None:
    """Each worked example is valid by its own schema, and succeeds on the demo's slicer."""
    body = content(operation(caller.http, verb)["requestBody"])
    assert body["examples"]
    for name, example in body["examples"].items():
        jsonschema.validate(example["value"], body["schema"])
        response = caller.http.post(f"/API/v2/{verb}", json=example["value"] | {"token": caller.token})
        assert response.status_code == 200, name


@pytest.mark.parametrize("verb", ["info", "audience", "records"])
def test_answers_are_as_written(caller: Caller, verb: str) -> None:
    """A successful answer, and the example of one, are valid by the schema of the answer."""
    written = content(operation(caller.http, verb)["responses"]["200"])
    fields = {"split_by": ["is_app"], "precision": 1, "include_mappings": 1} if verb == "audience" else {}
    for answer in [
        caller.post(verb, **fields).json(),
        *([written["example"]] if "example" in written else []),
    ]:
        jsonschema.validate(answer, written["schema"])


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_null_and_booleans_are_as_written(caller: Caller, verb: str) -> None:
    """null for any optional field, and true for a flag, are valid by the schema, and answered."""
    schema = content(operation(caller.http, verb)["requestBody"])["schema"]
    optional = {name: None for name in schema["properties"] if name not in schema["required"]}
    assert {"filters", "split_by"} < set(optional)
    flags = {"precision": True} if verb == "audience" else {"include_total": True, "escape_formulas": False}
    for fields in (optional, flags):
        answer = caller.post(verb, **fields)
        assert answer.status_code == 200, answer.text
        partial = schema | {"required": []}
        jsonschema.validate(fields, partial)


@pytest.mark.parametrize("code", ["400", "403", "413", "500", "503", "504"])
@pytest.mark.parametrize("verb", VERBS)
def test_failures_are_as_written(caller: Caller, verb: str, code: str) -> None:
    """Each failure is written down with status and reason alone."""
    written = content(operation(caller.http, verb)["responses"][code])
    jsonschema.validate(written["example"], written["schema"])
    assert written["schema"]["required"] == ["status", "reason"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_field_is_written(caller: Caller, verb: str) -> None:
    """The schema of a request names the fields that the service reads, and those that it requires."""
    schema = content(operation(caller.http, verb)["requestBody"])["schema"]
    assert {"slicer_name", "project_name", "token"} <= set(schema["required"]) <= set(schema["properties"])
    reason = caller.reason(verb, **{f"{name}_": 1 for name in list(schema["properties"])[-1:]})
    assert f"did you mean '{list(schema['properties'])[-1]}'" in reason


def test_the_page_has_no_assets_from_outside(caller: Caller) -> None:
    """/docs and what it loads come from this service."""
    page = caller.http.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    for asset in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert asset in page
        assert caller.http.get(f"/docs/assets/{asset}").status_code == 200
