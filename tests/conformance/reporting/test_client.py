"""The client's promises: it branches on `status` whatever the HTTP code, and knows what is no answer."""

import json
from collections.abc import AsyncIterator

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from conformance.conftest import Reach
from conformance.reporting.caller import PERIOD, Caller
from lib.reporting.client import Reporting
from lib.reporting.models import AudienceQuery, ExportQuery, InfoQuery
from lib.slicers.models import Slicer
from lib.wire.errors import (
    AccessError,
    BadRequest,
    DeadlineExceeded,
    InternalError,
    MalformedResponse,
    Refused,
    TrancheError,
    Unreachable,
    Unreadable,
)

pytestmark = pytest.mark.service

WHERE = {"slicer_name": "hourly", "project_name": "shop"}
AUDIENCE = AudienceQuery(**WHERE, **PERIOD, split_by=("geo.country",))
EXPORT = ExportQuery(**WHERE, **PERIOD, split_by=("geo.country",), export_format="csv")
STATUSES = {
    "bad_request": BadRequest,
    "access_error": AccessError,
    "timeout": DeadlineExceeded,
    "internal_error": InternalError,
}
SUCCESS = {"status": "success", "total": {"data": [], "records_found": 0, "dates": []}, "rows": []}


def answering(response: Response) -> Starlette:
    """A service that gives one and the same answer to everything."""

    async def answer(request: Request) -> Response:
        await request.body()
        return response

    return Starlette(routes=[Route("/API/v2/{verb}", answer, methods=["POST"])])


def problem(reach: Reach, response: Response) -> list[TrancheError]:
    """What info, audience and export raise when that is the answer."""
    problems: list[TrancheError] = []
    with reach(answering(response)) as http:
        reporting = Reporting(http, "token")
        for ask in (
            lambda: reporting.info(InfoQuery(**WHERE)),
            lambda: reporting.audience(AUDIENCE, Slicer()),
            lambda: reporting.export(EXPORT),
        ):
            with pytest.raises(TrancheError) as caught:
                ask()
            problems.append(caught.value)
    return problems


@pytest.mark.parametrize("code", [200, 400, 401, 403, 500, 504])
@pytest.mark.parametrize("status", STATUSES)
def test_the_status_decides(reach: Reach, status: str, code: int) -> None:
    """Each error status raises its own error with the service's reason, under any HTTP code."""
    for error in problem(reach, JSONResponse({"status": status, "reason": "Because"}, code)):
        assert (type(error), error.reason) == (STATUSES[status], "Because")


@pytest.mark.parametrize(
    "response",
    [
        HTMLResponse("<h1>500 Sorry</h1>", 500),
        HTMLResponse("\n<!doctype html><h1>Sign in</h1>"),
        JSONResponse({"detail": "Not found"}, 404),
        JSONResponse(["success"]),
        Response(json.dumps(SUCCESS)[:40], media_type="application/json"),
        Response(b"", media_type="application/json"),
    ],
    ids=range(6),
)
def test_what_is_no_answer_of_this_api(reach: Reach, response: Response) -> None:
    """A proxy's page or a cut-off body is a problem of its own kind."""
    assert {type(error) for error in problem(reach, response)} == {MalformedResponse}


def test_an_unknown_status(reach: Reach) -> None:
    """A status that the specification does not know can't be read, but what the service says of it can."""
    for error in problem(reach, JSONResponse({"status": "teapot", "reason": "Short and stout"}, 418)):
        assert (type(error), error.reason) == (Unreadable, "Short and stout")


@pytest.mark.parametrize("code", [502, 503])
def test_a_gateway_in_its_place(reach: Reach, code: int) -> None:
    """A gateway that can't reach the service means that the service can't be reached."""
    page = HTMLResponse("<h1>Bad Gateway</h1>", code)
    assert {type(error) for error in problem(reach, page)} == {Unreachable}


def test_a_bare_401(reach: Reach) -> None:
    """401 with a body of somebody else's is a refused token."""
    assert {type(error) for error in problem(reach, HTMLResponse("<h1>No</h1>", 401))} == {Refused}


def test_an_answer_that_breaks_off(reach: Reach) -> None:
    """An answer that ends before its end is told from one that is whole."""

    async def pieces() -> AsyncIterator[bytes]:
        yield b'"Country"\r\n'
        raise ConnectionError("lost")

    async def answer(request: Request) -> Response:
        await request.body()
        return StreamingResponse(pieces(), media_type="text/csv")

    app = Starlette(routes=[Route("/API/v2/export", answer, methods=["POST"])])
    with reach(app) as http, pytest.raises(Unreachable):
        Reporting(http, "token").export(EXPORT)


def test_the_client_gets_what_a_script_gets(hourly: Caller) -> None:
    """The client's three verbs return what the plain requests return."""
    reporting = Reporting(hourly.http, hourly.token)
    assert reporting.info(InfoQuery(**WHERE)).model_dump(exclude_none=True).items() >= {
        "first_date": hourly.info()["first_date"], "timezone": hourly.info()["timezone"],
    }.items()  # fmt: skip
    audience = reporting.audience(AUDIENCE)
    plain = hourly.audience(split_by=["geo.country"])
    assert audience.names["geo.country"].tolist() == [row["name"][0] for row in plain["rows"]]
    assert audience.values["imps"].tolist() == [row["data"][0]["value"] for row in plain["rows"]]
    download = reporting.export(EXPORT)
    assert download.content.read() == hourly.export(split_by=["geo.country"]).content
    assert download.filename == f"hourly_{PERIOD['start_date']}_{PERIOD['end_date']}.csv"
    assert download.media_type == "text/csv"
