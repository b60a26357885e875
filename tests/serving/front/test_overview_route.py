"""The route of the Audience page's overview: who gets figures, which, and how long for."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from peopled import ENDS, signed_in
from starlette.responses import PlainTextResponse

from lib.figures.overview.overview_answers import OverviewAnswers
from lib.serving import connect
from lib.serving.front.overview_route import (
    A_MINUTE,
    LONGEST_BODY,
    PATH,
    OverviewRequest,
    OverviewRoute,
    RouteLimits,
)
from lib.settings import Settings
from lib.wire.deadline import Deadline
from lib.wire.errors import Abandoned
from lib.wire.transport import InProcess

ORIGIN = "http://desk"
ASKED = {"project": "demo", "slicer": "delivery"}
US = ["add", [["geo.country", "US"]]]
Ask = Callable[..., httpx.Response]


def route(
    installation: connect.Installation, answers: Any, limits: RouteLimits | None = None
) -> httpx.Client:
    """A client of the route in front of an application that answers everything else."""
    beyond = PlainTextResponse("The desk")
    app = OverviewRoute(beyond, installation.cookies.person, answers, limits or RouteLimits(4, 2, 30), ())
    return httpx.Client(transport=InProcess(app), base_url=ORIGIN, headers={"Origin": ORIGIN}, timeout=30)


@pytest.fixture(scope="module")
def desk(installation: connect.Installation, settings: Settings) -> httpx.Client:
    """The route over the small demo."""
    return route(installation, OverviewAnswers(settings))


@pytest.fixture
def ask(desk: httpx.Client, installation: connect.Installation) -> Ask:
    """A request in the name of a person of the demo."""

    def sent(person: str = "viewer", headers: dict[str, str] | None = None, **fields: Any) -> httpx.Response:
        both = signed_in(installation, person) | (headers or {})
        return desk.post(PATH, json=ASKED | fields, headers=both)

    return sent


def lines(response: httpx.Response) -> list[dict[str, Any]]:
    """The lines of an answer."""
    assert response.status_code == 200, response.text
    return [json.loads(line) for line in response.text.splitlines()]


def test_an_answer_comes_in_lines(ask: Ask) -> None:
    """The figures come first, then the leaderboards, then the end, each with the question it answers."""
    head, cards, end = lines(ask())
    assert [head["part"], cards["part"], end] == ["head", "cards", {"part": "end"}]
    assert head["params"] == cards["params"]
    assert {figure["name"] for figure in head["head"]["figures"]} >= {"imps", "clicks"}
    assert [table["id"] for table in cards["cards"]][:1] == ["geo.country"]


def test_an_answer_has_the_parts_that_are_asked_for(ask: Ask) -> None:
    """An order of a leaderboard needs no headline, and a granularity no leaderboards."""
    assert [line["part"] for line in lines(ask(parts=["cards"]))] == ["cards", "end"]
    assert [line["part"] for line in lines(ask(parts=["head"]))] == ["head", "end"]


def test_an_answer_is_about_the_question_after_the_clicks(ask: Ask) -> None:
    """The parameters of the answer are those of the link, and what the clicks make of them."""
    params = {"start": "-14d", "end": "yesterday"}
    head = lines(ask(params=params, acts=[US, ["field", "clicks"], ["grain", "week"]]))[0]
    assert head["params"] == params | {"is.geo.country": "US", "field": "clicks", "grain": "week"}
    assert (head["head"]["field"], head["head"]["grain"]) == ("clicks", "week")


def test_clicks_that_can_not_be_read_change_nothing(ask: Ask) -> None:
    """What no component of ours sends is passed over, as on the page."""
    acts = [
        [],
        ["toggle", "US"],
        ["add", "US"],
        ["field", "nothing"],
        ["zoom", "soon", "later"],
        ["grain", 3],
    ]
    assert lines(ask(acts=acts))[0]["params"] == lines(ask())[0]["params"]


def test_nobody_gets_an_answer_without_a_session(desk: httpx.Client) -> None:
    """Without a session cookie, or with one that is over, the answer is 401 and says so."""
    for headers in ({}, {"Cookie": "tranche=1"}):
        response = desk.post(PATH, json=ASKED, headers=headers)
        assert response.status_code == 401
        assert response.json() == {"detail": "You are signed out. Sign in again."}
        assert response.headers["cache-control"] == "no-store"


def test_a_session_that_has_ended_gets_nothing(
    desk: httpx.Client, installation: connect.Installation
) -> None:
    """Whether somebody is signed in is looked at for each request."""
    headers = signed_in(installation, "manager")
    assert desk.post(PATH, json=ASKED, headers=headers).status_code == 200
    installation.sessions.end("manager", ENDS)
    assert desk.post(PATH, json=ASKED, headers=headers).status_code == 401


def test_nobody_gets_a_slicer_that_is_not_theirs(ask: Ask) -> None:
    """A slicer without a grant and one that does not exist are refused in the same words."""
    refusals = [ask(slicer=name) for name in ("unknown", "../delivery", "")] + [ask(project="other")]
    assert {response.status_code for response in refusals} == {403}
    assert len({response.text for response in refusals}) == 1


def test_only_pages_of_the_desk_ask(ask: Ask, desk: httpx.Client) -> None:
    """A page of another site, and a request that does not say where it comes from, get nothing."""
    for headers in (
        {"Origin": "http://elsewhere"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": ""},
        {"Origin": "x://desk"},
    ):
        assert ask(headers=headers).status_code == 403
    assert ask(headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    response = desk.get(PATH)
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_other_paths_are_not_the_routes(desk: httpx.Client) -> None:
    """Everything else goes on to the desk."""
    assert desk.get("/overview").text == "The desk"


def test_a_large_body_is_refused(ask: Ask, desk: httpx.Client, installation: connect.Installation) -> None:
    """More than 64 KiB are not read, whether or not the request says how many there are."""
    assert ask(params={"start": "x" * LONGEST_BODY}).status_code == 413

    def pieces() -> Iterator[bytes]:
        yield from (b"x" * 1000 for _ in range(100))

    response = desk.post(PATH, content=pieces(), headers=signed_in(installation, "viewer"))
    assert response.status_code == 413


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'{"project": "demo"}',
        b'{"project": 1, "slicer": "delivery"}',
        b'{"project": "demo", "slicer": "delivery", "person": "admin"}',
        b'{"project": "demo", "slicer": "delivery", "acts": {}}',
        b'{"project": "demo", "slicer": "delivery", "parts": ["everything"]}',
        b'{"project": "demo", "slicer": "delivery", "params": {"start": 1}}',
        b"[" * 5000,
    ],
)
def test_a_malformed_request_is_refused(
    desk: httpx.Client, installation: connect.Installation, body: bytes
) -> None:
    """What is not a request is answered 400, in a sentence."""
    response = desk.post(PATH, content=body, headers=signed_in(installation, "viewer"))
    assert response.status_code == 400
    assert response.json()["detail"].startswith("The request can't be read")


def test_a_person_asks_so_often_a_minute(installation: connect.Installation) -> None:
    """Beyond the limit the answer says how long to wait; other people are not affected."""
    desk, headers = route(installation, Lines([{"part": "end"}])), signed_in(installation, "viewer")
    responses = [desk.post(PATH, json=ASKED, headers=headers) for _ in range(A_MINUTE + 1)]
    assert {response.status_code for response in responses[:-1]} == {200}
    assert responses[-1].status_code == 429
    assert int(responses[-1].headers["retry-after"]) > 0
    assert desk.post(PATH, json=ASKED, headers=signed_in(installation, "admin")).status_code == 200


@dataclass
class Lines:
    """Answers of these lines; `may` says whether one may be made ahead."""

    found: list[dict[str, Any]]
    may: bool = True

    def may_ask_ahead(self, _: OverviewRequest, person: Any) -> bool:
        """As the test says."""
        return self.may

    def lines(self, request: OverviewRequest, person: Any, deadline: Deadline) -> Iterator[dict[str, Any]]:
        """The lines."""
        yield from self.found


@dataclass
class Held(Lines):
    """Answers whose second line waits until the deadline is over, or the caller has gone."""

    has_begun: threading.Event = field(default_factory=threading.Event)
    ended: list[type[BaseException]] = field(default_factory=list)
    has_ended: threading.Event = field(default_factory=threading.Event)

    def lines(self, request: OverviewRequest, person: Any, deadline: Deadline) -> Iterator[dict[str, Any]]:
        """The first line, then none."""
        yield {"part": "head"}
        self.has_begun.set()
        try:
            while True:
                deadline.check()
                deadline._abandoned_event.wait(0.01)
        except BaseException as error:
            self.ended.append(type(error))
            raise
        finally:
            self.has_ended.set()


def test_an_answer_stops_when_its_caller_leaves(installation: connect.Installation) -> None:
    """A browser that goes elsewhere ends the work for it."""
    held = Held([])
    desk = route(installation, held)
    with desk.stream("POST", PATH, json=ASKED, headers=signed_in(installation, "viewer")) as response:
        assert json.loads(next(response.iter_lines())) == {"part": "head"}
        assert held.has_begun.wait(30)
    assert held.has_ended.wait(30)
    assert held.ended == [Abandoned]


def test_an_answer_ends_with_its_deadline(installation: connect.Installation) -> None:
    """What takes longer than allowed ends with a line that says so."""
    held = Held([])
    desk = route(installation, held, RouteLimits(4, 2, 0.2))
    answer_lines = lines(desk.post(PATH, json=ASKED, headers=signed_in(installation, "viewer")))
    assert [line["part"] for line in answer_lines] == ["head", "end"]
    assert "0.2 seconds" in answer_lines[1]["error"]["sentence"]


def test_one_person_does_not_take_all_threads(installation: connect.Installation) -> None:
    """While requests of one person fill their share, another person is answered."""
    held, quick = Held([]), Lines([{"part": "end"}])

    class Both(Lines):
        def lines(
            self, request: OverviewRequest, person: Any, deadline: Deadline
        ) -> Iterator[dict[str, Any]]:
            yield from (held if person.username == "viewer" else quick).lines(request, person, deadline)

    desk = route(installation, Both([]), RouteLimits(2, 1, 20))
    viewer, admin = signed_in(installation, "viewer"), signed_in(installation, "admin")
    with desk.stream("POST", PATH, json=ASKED, headers=viewer) as response:
        next(response.iter_lines())
        assert lines(desk.post(PATH, json=ASKED, headers=admin)) == [{"part": "end"}]


def test_what_is_not_worth_its_price_is_not_asked_ahead(installation: connect.Installation) -> None:
    """A request ahead of a click is answered without a body where an answer costs much."""
    headers = signed_in(installation, "viewer")
    dear, cheap = route(installation, Lines([], may=False)), route(installation, Lines([{"part": "end"}]))
    assert dear.post(PATH, json=ASKED | {"ahead": True}, headers=headers).status_code == 204
    assert lines(cheap.post(PATH, json=ASKED | {"ahead": True}, headers=headers)) == [{"part": "end"}]


def test_asking_ahead_tells_no_names(ask: Ask) -> None:
    """A request ahead of a click is refused as any other, whether or not there is such a slicer."""
    assert [ask(slicer=name, ahead=True).status_code for name in ("delivery", "unknown")] == [200, 403]
    assert ask("manager", project="other", ahead=True).status_code == 403


def test_a_failure_inside_is_told_without_details(installation: connect.Installation) -> None:
    """What nobody foresaw is an internal error, whose text is in the log alone."""

    class BrokenEntry(Lines):
        def lines(
            self, request: OverviewRequest, person: Any, deadline: Deadline
        ) -> Iterator[dict[str, Any]]:
            raise ValueError("secret")
            yield {}

    response = route(installation, BrokenEntry([])).post(
        PATH, json=ASKED, headers=signed_in(installation, "viewer")
    )
    assert response.status_code == 500
    assert "secret" not in response.text


def test_an_answer_is_compressed_for_browsers_elsewhere(installation: connect.Installation) -> None:
    """Each line can be read as soon as it has arrived, compressed or not."""
    parts = [{"part": "head", "text": "x" * 1000}, {"part": "end"}]
    desk = route(installation, Lines(parts))
    headers = signed_in(installation, "viewer") | {"Accept-Encoding": "gzip"}
    response = desk.post(PATH, json=ASKED, headers=headers)
    assert response.headers["content-encoding"] == "gzip"
    assert lines(response) == parts
    assert (
        "content-encoding"
        not in desk.post(PATH, json=ASKED, headers=headers | {"Accept-Encoding": "identity"}).headers
    )
