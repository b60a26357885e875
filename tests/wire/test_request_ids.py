"""The id of a request: in the answer, in the log, and in the details of an error on screen."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from serving import serving
from streamlit.testing.v1 import AppTest

from lib.reporting.models import AudienceQuery
from lib.reporting.service import ReportingService
from lib.serving import connect
from lib.serving.front.logs import JsonLines
from lib.settings import Settings
from lib.wire import request_ids
from lib.wire.errors import InternalError, Unreachable

QUESTION = {"project_name": "demo", "slicer_name": "delivery", "start_date": "-7d", "end_date": "yesterday"}


@pytest.fixture
def context(own_home: Path) -> connect.Installation:
    """A desk of one's own."""
    return connect.installation(Settings(home=own_home, demo=True))


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    """What is logged meanwhile, as JSON."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(JsonLines())
    logging.root.addHandler(handler)
    yield written
    logging.root.removeHandler(handler)


def logged(lines: io.StringIO) -> list[dict[str, str]]:
    """Each line, which is one object."""
    return [json.loads(line) for line in lines.getvalue().splitlines()]


@pytest.mark.parametrize("path", ["/API/v2/info", "/api/seats/", "/oauth2/token/", "/healthz", "/api/none"])
def test_every_answer_has_an_id(context: connect.Installation, path: str) -> None:
    """The one that the caller brought, or a new one; errors of the framework have it too."""
    with serving(context.api) as address:
        brought = httpx.post(f"{address}{path}", headers={"X-Request-Id": "Root=1-67891233-abc/x"})
        assert brought.headers.get_list("x-request-id") == ["Root=1-67891233-abc/x"]
        ids = {httpx.post(f"{address}{path}").headers["x-request-id"] for _ in range(3)}
    assert len(ids) == 3
    assert all(len(identity) == 16 and int(identity, 16) >= 0 for identity in ids)


@pytest.mark.parametrize("brought", ["", " ", "a b", 'a"b', "a,b", "<b>", "{}", "x" * 129, "é"])
def test_an_id_that_is_not_well_formed_is_replaced(brought: str) -> None:
    """Nothing that could end a line, a header or a value is taken."""
    assert request_ids.PATTERN.fullmatch(request_ids.id_of_caller(brought))
    assert request_ids.id_of_caller(brought) != brought


def test_an_unforeseen_failure_has_one_id_everywhere(
    context: connect.Installation, monkeypatch: pytest.MonkeyPatch, lines: io.StringIO
) -> None:
    """The answer's header, its reason, the log of the failure, and the error of our own client."""
    person, token = (
        context.people.require("viewer"),
        context.access.issue("viewer", "reporting", "test", None),
    )

    def fail(*_: object) -> None:
        logging.getLogger("lib.test").warning("on another thread")
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(ReportingService, "audience", fail)
    with serving(context.api, log_config=None) as address:
        headers = {"X-Request-Id": "mine"}
        answer = httpx.post(f"{address}/API/v2/audience", json=QUESTION | {"token": token}, headers=headers)
    assert answer.headers["x-request-id"] == "mine"
    assert answer.json().keys() == {"status", "reason"}
    assert answer.json()["reason"].endswith("its log has the details (request ID mine)")
    assert ("on another thread", "mine") in {
        (entry["message"], entry.get("request_id")) for entry in logged(lines)
    }
    with pytest.raises(InternalError) as caught:
        connect.connect(person, context.settings).reporting.audience(AudienceQuery(**QUESTION))
    request_id = caught.value.request_id
    assert len(request_id) == 16
    failures = [
        entry for entry in logged(lines) if entry.get("request_id") == request_id and "traceback" in entry
    ]
    assert "RuntimeError: two\nlines" in failures[0]["traceback"]
    assert token not in lines.getvalue()


def test_retries_of_one_question_have_one_id(own_home: Path) -> None:
    """A remote service that fails sees the same id each time, and the error carries it."""
    seen: list[str] = []

    async def app(scope: dict, receive: object, send: object) -> None:
        seen.extend(value.decode() for name, value in scope["headers"] if name == b"x-request-id")
        await gateway(send)

    with serving(app, lifespan="off") as address:
        remote = Settings(home=own_home, base_url=address, slicers=("demo/delivery",), reporting_token="x")
        person = connect.installation(remote).people.require("admin")
        with pytest.raises(Exception) as caught:
            connect.connect(person, remote).reporting.audience(AudienceQuery(**QUESTION))
    assert len(seen) > 1
    assert set(seen) == {caught.value.request_id}


async def gateway(send: object) -> None:
    """The answer of a gateway whose service is down."""
    await send({"type": "http.response.start", "status": 502, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def failing() -> None:
    """A screen whose figures could not be loaded."""
    from lib.ui.kit import problems
    from lib.wire.errors import Unreachable

    error = Unreachable("The service could not be reached: no route")
    error.request_id = "0123456789abcdef"
    problems.show(error, "The figures", "Your question is kept.")


def test_the_details_on_screen_name_the_request() -> None:
    """Whoever tells the operator finds the id under Details."""
    screen = AppTest.from_function(failing, default_timeout=60).run()
    assert not screen.exception
    shown = screen.expander[0].code[0].value
    assert shown == "The service could not be reached: no route\nRequest ID: 0123456789abcdef"
    assert Unreachable("x").request_id == ""


def test_a_log_line_is_one_object(lines: io.StringIO) -> None:
    """Whatever a message holds: line breaks, quotes, other scripts."""
    with request_ids.under("abc"):
        logging.getLogger("lib.test").error('two\nlines, "%s"', "日本")
    (line,) = logged(lines)
    assert line.pop("time").endswith("+00:00")
    assert line == {
        "level": "error",
        "logger": "lib.test",
        "message": 'two\nlines, "日本"',
        "request_id": "abc",
    }
