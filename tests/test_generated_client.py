"""A client that a generator makes from an API's document sends nothing that the service refuses."""

import copy
import datetime as dt
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import jsonschema
import openapi_schemas
import pytest
from conftest import PASSWORD, copied
from dealing import stock
from pydantic import BaseModel, ValidationError
from serving import serving

from lib.serving import connect

OPTIONS = (
    "--input-file-type", "openapi", "--openapi-scopes", "paths",
    "--output-model-type", "pydantic_v2.BaseModel",
    "--formatters", "builtin", "--disable-warnings",
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
        document = self.documents["reporting" if path.startswith("/API/") else "deals"]
        operation = document["paths"][path]["post"]
        return openapi_schemas.whole(
            document, operation["requestBody"]["content"]["application/json"]["schema"]
        )

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
        package = importlib.util.module_from_spec(spec)
        sys.modules[module.stem] = package
        spec.loader.exec_module(package)
        return package

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
    figures = client.AudienceAnswer.model_validate_json(answer.content)
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
    package = client.SupplyPackageRequest(**PACKAGE, create_demand_deals={"demand_deals_options": options})
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
            client.SupplyPackageRequest(**PACKAGE | wrong)


def _sent(body: BaseModel) -> str:
    return body.model_dump_json(exclude_unset=True)


@pytest.fixture(scope="module")
def clients(served: Served, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages, one for each API, made by openapi-python-client; it leaves nothing out."""
    folder = tmp_path_factory.mktemp("packages")
    config = folder / "config.yaml"
    config.write_text("post_hooks: []")  # which format and lint
    for api, document in served.documents.items():
        path = folder / f"{api}.json"
        path.write_text(json.dumps(document))
        command = [sys.executable, "-m", "openapi_python_client", "generate", "--fail-on-warning"]
        command += [
            "--meta",
            "none",
            "--path",
            path,
            "--config",
            config,
            "--output-path",
            folder / f"{api}_api",
        ]
        process = subprocess.run(command, capture_output=True, text=True)
        assert process.returncode == 0, process.stdout + process.stderr
    return folder


DAY = """
import sys
from deals_api import AuthenticatedClient, Client, models
from deals_api.api import deals, tokens
from importlib import import_module

address, password = sys.argv[1:]

def call(name, *ids, tag="deals", **options):
    return import_module(f"deals_api.api.{tag}.{name}").sync_detailed(*ids, client=client, **options)

def done(name, *ids, **options):
    answer = call(name, *ids, **options)
    assert answer.status_code < 300, (name, answer)
    return answer.parsed

def signed_in(name):
    global client
    client = Client(base_url=address)
    form = models.TokenForm("password", name, password, "service_id=deals")
    return AuthenticatedClient(base_url=address, token=done("token", tag="tokens", body=form).access_token)

colleague, client = signed_in("admin"), signed_in("manager")

seats = done("list_seats", limit=2).results
assert all(seat.dsp.name for seat in seats)
option = models.DemandDealOptionRequest(seat=models.ById(seats[0].id), price=2.5)
terms = models.CreateDemandDealsRequest([option], agency_curation_fee=10.0, agency_curation_fee_type=1)
package = done("create_supply_deals", body=models.SupplyPackageRequest(
    name="Mornings", media_type=models.SupplyPackageRequestMediaType.BANNER,
    start_date="2026-03-01 00:00:00+0100", end_date=None, create_demand_deals=terms,
    geo_targetings=[models.GeoTarget(type_=models.GeoTargetType.COUNTRY, value="US")],
))
assert [target.value for target in package.geo_targetings] == ["US"]
[link] = package.demand_deals
deal = done("get_demand_deals", link.id)
assert (deal.price, deal.seat.id, deal.supply_deals[0].name) == (2.5, seats[0].id, "Mornings")

done("change_supply_deals", package.id, body=models.SupplyPackageChange(name="Late mornings"))
changed = done("get_supply_deals", package.id)
assert (changed.name, changed.media_type.value, len(changed.geo_targetings)) == ("Late mornings", "banner", 1)

def new_deal(name, seat, price):
    return models.DemandDealRequest(name=name, seat=models.ById(seat), price=price)

new = [new_deal(f"Batch {n}", seats[0].id, 1.5 + n) for n in range(2)]
batch = done("create_many_demand_deals", body=new).results
changes = [models.DemandDealChangeById(id=row.id, price=4.0) for row in batch]
results = done("change_many_demand_deals", body=changes, atomic=True).results
assert [result.status for result in results] == [204, 204]
found = done("list_demand_deals", search="Batch", ordering="name").results
assert [(row.name, row.price) for row in found] == [("Batch 0", 4.0), ("Batch 1", 4.0)]

fields = models.ProposalRequestFields.from_dict({"price": 2.75})
proposal = done("create_proposals", body=models.ProposalRequest(
    entity=models.ProposalRequestEntity.DEMAND_DEALS, entity_id=deal.id, fields=fields, reason="It wins less",
))
assert [(part.field, part.before, part.after) for part in proposal.changes] == [("price", 2.5, 2.75)]
own = call("approve_proposals", proposal.id, body=models.ApprovalRequest())
assert own.status_code == 403, own
manager, client = client, colleague
assert done("approve_proposals", proposal.id, body=models.ApprovalRequest()).state.value == "approved"
client = manager
assert done("get_demand_deals", deal.id).price == 2.75
history = done("history_demand_deals", deal.id).results
assert [change.action.value for change in history] == ["changed", "created"]

done("remove_demand_deals", batch[0].id)
gone = call("get_demand_deals", batch[0].id)
assert (gone.status_code, gone.parsed.detail) == (404, f"There is no demand deal {batch[0].id}")
wrong = call("create_demand_deals", body=new_deal(" ", 10**6, -1.0))
assert wrong.status_code == 400
assert wrong.parsed.to_dict().keys() == {"name", "price", "seat"}, wrong.parsed
client = AuthenticatedClient(base_url=address, token="x")
assert call("create_demand_deals", body=new_deal(" ", 1, -1.0)).status_code == 401
"""


def test_a_day_with_a_generated_client(served: Served, clients: Path) -> None:
    """Signs in, lists, creates a package with its deal, changes, proposes, deletes, is refused; somebody else
    approves."""
    command = [sys.executable, "-c", DAY, str(served.http.base_url), PASSWORD]
    day = subprocess.run(command, cwd=clients, capture_output=True, text=True)
    assert day.returncode == 0, day.stderr


QUERY = """
import sys
from reporting_api import Client, models
from reporting_api.api.reporting import audience, slicers

address, token = sys.argv[1:]
client = Client(base_url=address)
names = slicers.sync(client=client, body=models.SlicersRequest(token)).slicers
[name] = [name for name in names if name.slicer_name == "delivery"]
question = models.AudienceQuery(
    token, name.slicer_name, name.project_name, start_date="-7d", end_date="yesterday",
    split_by=["geo.country"],
    filters=[models.Filter(name="geo.country", value=["US"], match=models.FilterMatch.EQUALS)],
)
print([row.name for row in audience.sync(client=client, body=question).rows])
question.split_by = ["geo.county"]
print(audience.sync(client=client, body=question).reason)
"""


def test_a_report_with_a_generated_client(served: Served, clients: Path) -> None:
    """Finds the slicer, asks about it, and reads what was wrong with a question."""
    command = [sys.executable, "-c", QUERY, str(served.http.base_url), served.tokens["reporting"]]
    report = subprocess.run(command, cwd=clients, capture_output=True, text=True)
    rows, reason = report.stdout.splitlines() if report.returncode == 0 else [report.stderr] * 2
    assert rows == "[['US']]"
    assert "did you mean 'geo.country'?" in reason
