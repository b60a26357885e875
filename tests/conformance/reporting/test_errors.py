"""Specification, "Errors"; HTTP codes and the framework's own errors are decisions of ours."""

import re
import shutil
from pathlib import Path

import httpx
import pytest
from conftest import without_database

from conformance.conftest import Reach
from conformance.reporting.caller import PERIOD, VERBS, Caller, refused
from conformance.reporting.conftest import add_people
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, ExportQuery
from lib.serving import connect
from lib.settings import Settings
from lib.wire.errors import DeadlineExceeded, InternalError

pytestmark = pytest.mark.service

CODES = {"bad_request": 400, "access_error": 403, "internal_error": 500, "timeout": 504}
WIDE = {"start_date": "2026-01-01", "end_date": "2026-01-01"}
QUESTION = {"slicer_name": "hourly", "project_name": "shop", "split_by": ("domain",), **PERIOD}


def asked(reach: Reach, settings: Settings, verb: str, status: str) -> str:
    """The reason for which an installation with these settings refuses a usual question."""
    context = connect.installation(settings)
    with reach(context.api) as http:
        token = context.access.issue("ana", "reporting", "test", None)
        response = Caller(http, token, "hourly").post(
            verb, **({"split_by": ["domain"]} if verb != "info" else {})
        )
    assert response.status_code == CODES[status]
    return refused(response, status)


@pytest.mark.parametrize("verb", ["info", "audience"])
def test_success(hourly: Caller, verb: str) -> None:
    """success: the request was processed; HTTP 200."""
    response = hourly.post(verb)
    assert (response.status_code, response.json()["status"]) == (200, "success")


@pytest.mark.parametrize("verb", VERBS)
def test_bad_request(hourly: Caller, verb: str) -> None:
    """bad_request: invalid request parameters; reason gives details; HTTP 400."""
    response = hourly.post(verb, slicer_nam="hourly")
    assert response.status_code == 400
    assert refused(response, "bad_request") == (
        "Unknown request field 'slicer_nam'; did you mean 'slicer_name'?"
    )


def test_every_problem_is_named(hourly: Caller) -> None:
    """A request that is wrong in several places learns all of them at once."""
    wrong = [{"name": "site_id", "match": "is", "value": ["1"]}, {"value": ["1"], "match": "equals"}]
    reason = hourly.reason("audience", filters=wrong, timezone=13, audience_rows_limit=1)
    assert all(
        place in reason for place in ("filters[0].match", "filters[1].name", "timezone", "audience_rows")
    )


@pytest.mark.parametrize("verb", VERBS)
def test_access_error(hourly: Caller, verb: str) -> None:
    """access_error: no access to the project or slicer, or wrong token; HTTP 403."""
    response = hourly.post(verb, token="wrong")
    assert response.status_code == 403
    refused(response, "access_error")


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_timeout(reach: Reach, house: Path, verb: str) -> None:
    """timeout: the request took longer than the deadline, wherever it came from; HTTP 504."""
    reason = asked(reach, Settings(home=house, deadline_seconds=1e-9), verb, "timeout")
    assert "longer than the 1e-09 seconds allowed" in reason


def test_timeout_over_arrow(reach: Reach, house: Path) -> None:
    """The client raises the same error for it, whatever form it asked the answer in."""
    context = connect.installation(Settings(home=house, deadline_seconds=1e-9))
    with reach(context.api) as http:
        reporting = Reporting(http, context.access.issue("ana", "reporting", "test", None))
        with pytest.raises(DeadlineExceeded):
            reporting.audience(AudienceQuery(**QUESTION))
        with pytest.raises(DeadlineExceeded):
            reporting.export(ExportQuery(**QUESTION, export_format="xls"))


@pytest.fixture
def broken(house: Path, tmp_path: Path) -> Settings:
    """An installation whose rows got lost."""
    home = without_database(house, tmp_path / "home")
    for folder in ("rows", "layout"):
        shutil.rmtree(home / "warehouse" / "shop" / "hourly" / folder, ignore_errors=True)
    add_people(home)
    return Settings(home=home)


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_internal_error(reach: Reach, broken: Settings, verb: str) -> None:
    """internal_error: a failure of the service, whose inside the caller does not see; HTTP 500."""
    reason = asked(reach, broken, verb, "internal_error")
    assert re.fullmatch(rf"{re.escape(InternalError().reason)} \(request ID [0-9a-f]{{16}}\)", reason)


@pytest.mark.parametrize("status", ["bad_request", "access_error"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_failed_answer_has_status_and_reason_alone(hourly: Caller, verb: str, status: str) -> None:
    """When a request is not successful, the response has only status and reason, as JSON."""
    wrong = {"bad_request": {"surprise": 1}, "access_error": {"token": "wrong"}}[status]
    response = hourly.post(verb, **wrong)
    assert response.json().keys() == {"status", "reason"}
    assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize("path", ["/API/v2/nothing", "/API/", "/API/v2/info/", "/API/v2/ü"])
def test_not_found(http: httpx.Client, path: str) -> None:
    """404 under /API/ has status and reason alone."""
    response = http.post(path, json={})
    assert response.status_code == 404
    refused(response, "bad_request")


def test_method_not_allowed(http: httpx.Client) -> None:
    """405 under /API/ has status and reason alone."""
    response = http.get("/API/v2/info")
    assert response.status_code == 405
    refused(response, "bad_request")


@pytest.mark.parametrize("promised", [True, False])
@pytest.mark.parametrize("verb", VERBS)
def test_too_large(http: httpx.Client, verb: str, promised: bool) -> None:
    """413 has status and reason alone, whether the size was announced or the body came in pieces."""
    pieces = [b" " * 2**16] * 20
    response = http.post(f"/API/v2/{verb}", content=b"".join(pieces) if promised else iter(pieces))
    assert response.status_code == 413
    assert "larger than the 1,048,576 bytes allowed" in refused(response, "bad_request")


@pytest.mark.parametrize("verb", ["audience", "export"])
def test_a_split_of_more_than_a_million_rows(wide: Caller, verb: str) -> None:
    """A split over several key fields that would return more than 1,000,000 rows is rejected."""
    assert "more than 1,000,000" in wide.reason(verb, split_by=["left", "right"], **WIDE)
