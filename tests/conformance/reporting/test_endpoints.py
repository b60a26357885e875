"""Specification, "Endpoints", "Versioning" and the headers of the examples."""

import datetime as dt
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pyarrow as pa
import pytest

from conformance.reporting.caller import PERIOD, VERBS, Caller, figures, refused
from conformance.reporting.others import DAILY
from lib.slicers.warehouse import Warehouse

pytestmark = pytest.mark.service

JSON = "application/json"


@pytest.mark.parametrize("verb", VERBS)
def test_post_with_a_json_body(hourly: Caller, verb: str) -> None:
    """POST {base_url}/API/v2/<operation> with a JSON body is how each operation is asked."""
    assert hourly.post(verb).status_code == 200


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "PATCH"])
def test_other_methods(http: httpx.Client, verb: str, method: str) -> None:
    """Another method is refused with 405, in the words of this API, and with the method that works."""
    response = http.request(method, f"/API/v2/{verb}")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    refused(response, "bad_request")


@pytest.mark.parametrize("path", ["/API/v2/infos", "/API/v2/", "/API/v1/info", "/API/v3/info", "/API/info"])
def test_the_version_is_part_of_the_path(http: httpx.Client, path: str) -> None:
    """Every operation lies under /API/v2/; any other path is refused with 404, in the words of this API."""
    response = http.post(path, json={})
    assert response.status_code == 404
    refused(response, "bad_request")


@pytest.mark.parametrize("field", [*PERIOD, "split_by", "filters", "timezone"])
def test_info_takes_the_required_fields_alone(hourly: Caller, field: str) -> None:
    """Info takes only the always required fields."""
    assert hourly.reason("info", **{field: []}).startswith(f"Unknown request field '{field}'")


@pytest.mark.parametrize("verb", ["info", "audience"])
def test_answers_are_json(hourly: Caller, verb: str) -> None:
    """Info and audience answer with JSON."""
    response = hourly.post(verb)
    assert response.headers["content-type"] == JSON
    assert json.loads(response.content)["status"] == "success"


@pytest.mark.parametrize("accept", ["*/*", "text/html", "text/csv", "application/xml", ""])
@pytest.mark.parametrize("verb", ["info", "audience"])
def test_json_whatever_is_accepted(hourly: Caller, verb: str, accept: str) -> None:
    """The answer is JSON whatever `Accept` says."""
    response = hourly.post(verb, headers={"Accept": accept})
    assert response.headers["content-type"] == JSON


@pytest.mark.parametrize("accept", ["*/*", JSON, "text/html", ""])
def test_export_answers_with_the_file(hourly: Caller, accept: str) -> None:
    """Export answers with the file whatever `Accept` says."""
    response = hourly.post("export", headers={"Accept": accept})
    assert response.headers["content-type"].startswith("text/csv")


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded"])
@pytest.mark.parametrize("verb", VERBS)
def test_json_is_read_whatever_it_is_called(hourly: Caller, verb: str, content_type: str | None) -> None:
    """A JSON body without a content type, or with another one, is still read."""
    body = {"slicer_name": hourly.slicer, "project_name": hourly.project, "token": hourly.token}
    body |= {} if verb == "info" else PERIOD
    body |= {"export_format": "csv"} if verb == "export" else {}
    headers = {"Content-Type": content_type} if content_type else {}
    response = hourly.http.post(f"/API/v2/{verb}", content=json.dumps(body).encode(), headers=headers)
    assert response.status_code == 200


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'"text"', b"\xff\xfe", b"a=b", b"NaN"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_body_that_is_no_json_object(http: httpx.Client, verb: str, body: bytes) -> None:
    """A body that is not a JSON object is refused, and the reason says what it must be."""
    reason = refused(http.post(f"/API/v2/{verb}", content=body), "bad_request")
    assert "JSON" in reason


def test_many_requests_at_once(hourly: Caller) -> None:
    """Requests at the same time get the answers that they get one after the other."""
    splits = [
        ["domain"],
        ["site_id", "segments"],
        ["granularity_day"],
        [],
        ["categories", "granularity_week"],
    ]
    process_lock = [hourly.audience(split_by=split_by) for split_by in splits]
    with ThreadPoolExecutor(8) as callers:
        together = list(callers.map(lambda split_by: hourly.audience(split_by=split_by), splits * 6))
    assert together == process_lock * 6


def test_new_rows_count_at_once(hourly: Caller, house: Path) -> None:
    """As soon as an import is done, info and figures are those of all rows."""
    growing, dates = hourly.about("growing"), {"start_date": "2026-01-01", "end_date": "2099-12-31"}
    before = growing.audience(**dates)["total"]
    day = dt.date.fromisoformat(growing.info()["last_date"]) + dt.timedelta(days=1)
    row = {"time": [dt.datetime.combine(day, dt.time(), dt.UTC)], "site": ["new"], "imps": [100.0]}
    with Warehouse(house / "warehouse").writer("shop", "growing", DAILY, mode="append") as writer:
        writer.write(pa.table(row, schema=DAILY.schema()))
        writer.commit("one more row", str(day))
    after = growing.audience(**dates)["total"]
    assert figures(after)["imps"] == figures(before)["imps"] + 100
    assert (after["dates"], growing.info()["last_date"]) == ([*before["dates"], str(day)], str(day))
