"""Nothing freezes: while the questions of some people hang, the desk goes on for the others."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import pytest
from conftest import PASSWORD, desk_over
from peopled import people_in, signed_in

from faults import behaviors as do
from faults.conftest import Service, behind, inhabited
from faults.proxy import Exchange, Over, Proxy, WriteRequest, proxying
from faults.visitor import Visitor
from lib.people import Grant, Person
from lib.serving import connect
from lib.settings import Settings

MANY, DOWNLOADS = 30, 12
ANSWER_SECONDS = 60
Come = Callable[..., Visitor]


@dataclass(frozen=True)
class Running:
    """A desk in a process of its own, which waits for its services for a minute, and their proxies."""

    address: str
    settings: Settings
    reports: Proxy


@contextmanager
def running_desk(home: Path, service: Service) -> Iterator[Running]:
    """Such a desk over an empty home."""
    with proxying(service.address, do.through) as reports, proxying(service.address, do.through) as deals:
        settings = inhabited(behind(home, service, reports, deals, ANSWER_SECONDS))
        with desk_over(home) as (address, _):
            yield Running(address, settings, reports)


@pytest.fixture(scope="module")
def shared(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """The desk of the tests that ask different questions."""
    with running_desk(tmp_path_factory.mktemp("freezing") / "desk", service) as running:
        yield running


@pytest.fixture
def running(shared: Running) -> Iterator[Running]:
    """That desk, whose service has not been asked yet."""
    shared.reports.asked.clear()
    yield shared
    shared.reports.behavior = do.through


@pytest.fixture
def new_desk(service: Service, tmp_path: Path) -> Iterator[Running]:
    """A desk that nobody has asked anything yet."""
    with running_desk(tmp_path / "desk", service) as running:
        yield running


@pytest.fixture
def visitors() -> Iterator[list[Visitor]]:
    """Who leaves at the end of the test."""
    everybody: list[Visitor] = []
    yield everybody
    for visitor in everybody:
        visitor.close()


@pytest.fixture
def come(running: Running, visitors: list[Visitor]) -> Come:
    """Visitors of the desk, signed in as manager, on a page; its overview asks in the name of `who`."""
    return partial(visit, running, visitors)


def visit(
    running: Running,
    visitors: list[Visitor],
    page: str = "",
    query: str = "",
    name: str | None = "Manager",
    who: str = "manager",
) -> Visitor:
    """A visitor of this desk; see `come`."""
    installation = connect.installation(running.settings)
    cookie = signed_in(installation, who)["Cookie"] if page == "audience" else ""
    visitors.append(Visitor(running.address, page, query, cookie))
    if name is not None:
        visitors[-1].press(name)
    if page == "audience":
        assert visitors[-1].asks_for_figures()
    return visitors[-1]


@pytest.fixture
def let_go() -> Iterator[threading.Event]:
    """Lets go what is held; at the latest at the end of the test."""
    event = threading.Event()
    yield event
    event.set()


def asks_for_campaigns(asked: WriteRequest) -> bool:
    """Whether this is the one person's question."""
    return b"campaign_id" in asked.body


def asks_for_more_than_germany(asked: WriteRequest) -> bool:
    """Whether this is a question of one of the many."""
    return asked.path.endswith("/audience") and b'"DE"' not in asked.body


def test_another_person(come: Come, running: Running, let_go: threading.Event) -> None:
    """While one person's query hangs another asks the same service, lists deals and sees their tokens."""
    running.reports.behavior = do.where(asks_for_campaigns, do.held(let_go))
    waiting = come("audience", "project=demo&slicer=delivery&split=campaign_id&is.campaign_id=1")
    running.reports.wait_for(2, "/audience")
    assert come("audience", "project=demo&slicer=delivery&split=geo.country").sees("Impressions")
    assert come("deals").sees("deals: ")
    assert come("access").sees("Your tokens")
    assert not any("Impressions" in text for text in waiting.said)
    let_go.set()
    assert waiting.sees("Impressions")


def test_the_same_person(new_desk: Running, visitors: list[Visitor], let_go: threading.Event) -> None:
    """While the reporting service hangs altogether, who comes to it opens the other screens."""
    new_desk.reports.behavior, come = do.held(let_go), partial(visit, new_desk, visitors)
    assert come("deals").sees("deals: ", "The report is still loading")
    assert come("access").sees("Your tokens")
    assert come("new_package").sees("Name and dates", "What will be created")


def test_a_closed_tab(come: Come, running: Running, let_go: threading.Event) -> None:
    """The questions of a tab that is closed end, though their deadline is a minute away."""
    left = threading.Event()

    def behave(exchange: Exchange) -> None:
        try:
            do.held(let_go)(exchange)
        except Over:
            left.set()
            raise

    running.reports.behavior = do.where(asks_for_campaigns, behave)
    visitor = come("audience", "project=demo&slicer=delivery&split=campaign_id&is.campaign_id=2")
    running.reports.wait_for(2, "/audience")
    assert not left.is_set()
    visitor.close()
    assert left.wait(30)


def test_many(come: Come, running: Running, let_go: threading.Event) -> None:
    """Thirty people whose queries hang keep nobody from signing in, from deals, or from other figures."""
    running.reports.behavior = do.where(asks_for_more_than_germany, do.held(let_go))
    waiting = []
    for days in range(1, MANY + 1):
        person = Person(f"person-{days}", f"Person {days}", None, "manager", (Grant("demo"),))
        people_in(running.settings.home).add(person, PASSWORD)
        question = f"project=demo&slicer=delivery&start=-{days}d"
        waiting.append(come("audience", question, who=person.username))
    running.reports.wait_for(MANY, "/audience")
    page = httpx.get(running.address)
    assert (page.status_code, "<title>" in page.text) == (200, True)
    assert come(name=None).sees("Slice your report data, and set up deals.")
    assert come("deals").sees("deals: ")
    assert come("audience", "project=demo&slicer=delivery&is.geo.country=DE").sees("Impressions")
    let_go.set()
    assert all(visitor.sees("Impressions") for visitor in waiting)


def test_downloads(new_desk: Running, visitors: list[Visitor], let_go: threading.Event) -> None:
    """Nor do files that are waited for keep the next one from being made."""
    come = partial(visit, new_desk, visitors)
    new_desk.reports.behavior = do.where(lambda asked: asked.path.endswith("/export"), do.held(let_go))
    for _ in range(DOWNLOADS):
        come("export", "project=demo&slicer=delivery").download()
    new_desk.reports.wait_for(DOWNLOADS, "/export")
    assert come("export", "project=demo&slicer=delivery").sees("every record is read")
