"""Nothing freezes: while the questions of some people hang, the desk goes on for the others."""

import threading
from collections.abc import Callable, Iterator

import httpx
import pytest
from conftest import PASSWORD, desk_over
from peopled import people_in, signed_in

from faults import behaviors as do
from faults.conftest import Desk
from faults.proxy import Exchange, Over, Proxy, WriteRequest
from faults.visitor import Visitor
from lib import connect
from lib.people import Grant, Person

MANY, DOWNLOADS = 30, 12
Come = Callable[..., Visitor]


@pytest.fixture
def address(desk: Desk) -> Iterator[str]:
    """A desk in a process of its own, which waits for its services for a minute."""
    desk.configure(answer_seconds=60)
    with desk_over(desk.settings.home) as (address, _):
        yield address


@pytest.fixture
def come(address: str, desk: Desk) -> Iterator[Come]:
    """Visitors of the desk, signed in as manager, on a page; its board asks in the name of `who`."""
    visitors: list[Visitor] = []
    installation = connect.installation(desk.settings)

    def came(page: str = "", query: str = "", name: str | None = "Manager", who: str = "manager") -> Visitor:
        cookie = signed_in(installation, who)["Cookie"] if page == "audience" else ""
        visitors.append(Visitor(address, page, query, cookie))
        if name is not None:
            visitors[-1].press(name)
        if page == "audience":
            assert visitors[-1].asks_for_figures()
        return visitors[-1]

    yield came
    for visitor in visitors:
        visitor.close()


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


def test_another_person(come: Come, reports: Proxy, let_go: threading.Event) -> None:
    """While one person's query hangs another asks the same service, lists deals and sees their tokens."""
    reports.behavior = do.where(asks_for_campaigns, do.held(let_go))
    one = come("audience", "project=demo&slicer=delivery&split=campaign_id&is.campaign_id=1")
    reports.wait_for(2, "/audience")
    assert come("audience", "project=demo&slicer=delivery&split=geo.country").sees("Impressions")
    assert come("deals").sees("deals: ")
    assert come("access").sees("Your tokens")
    assert not any("Impressions" in said for said in one.said)
    let_go.set()
    assert one.sees("Impressions")


def test_the_same_person(come: Come, reports: Proxy, let_go: threading.Event) -> None:
    """While the reporting service hangs altogether, who comes to it opens the other screens."""
    reports.behavior = do.held(let_go)
    assert come("deals").sees("deals: ", "The report is still loading")
    assert come("access").sees("Your tokens")
    assert come("new_package").sees("Name and dates", "What will be created")


def test_a_closed_tab(come: Come, reports: Proxy, let_go: threading.Event) -> None:
    """The questions of a tab that is closed end, though their deadline is a minute away."""
    left = threading.Event()

    def behave(exchange: Exchange) -> None:
        try:
            do.held(let_go)(exchange)
        except Over:
            left.set()
            raise

    reports.behavior = do.where(asks_for_campaigns, behave)
    visitor = come("audience", "project=demo&slicer=delivery&split=campaign_id&is.campaign_id=1")
    reports.wait_for(2, "/audience")
    assert not left.is_set()
    visitor.close()
    assert left.wait(30)


def test_many(come: Come, address: str, desk: Desk, reports: Proxy, let_go: threading.Event) -> None:
    """Thirty people whose queries hang keep nobody from signing in, from deals, or from other figures."""
    reports.behavior = do.where(asks_for_more_than_germany, do.held(let_go))
    waiting = []
    for days in range(1, MANY + 1):
        person = Person(f"person-{days}", f"Person {days}", None, "manager", (Grant("demo"),))
        people_in(desk.settings.home).add(person, PASSWORD)
        question = f"project=demo&slicer=delivery&start=-{days}d"
        waiting.append(come("audience", question, who=person.username))
    reports.wait_for(MANY, "/audience")
    page = httpx.get(address)
    assert (page.status_code, "<title>" in page.text) == (200, True)
    assert come(name=None).sees("Slice your report data, and set up deals.")
    assert come("deals").sees("deals: ")
    assert come("audience", "project=demo&slicer=delivery&is.geo.country=DE").sees("Impressions")
    let_go.set()
    assert all(visitor.sees("Impressions") for visitor in waiting)


def test_downloads(come: Come, reports: Proxy, let_go: threading.Event) -> None:
    """Nor do files that are waited for keep the next one from being made."""
    reports.behavior = do.where(lambda asked: asked.path.endswith("/export"), do.held(let_go))
    for _ in range(DOWNLOADS):
        come("export", "project=demo&slicer=delivery").download()
    reports.wait_for(DOWNLOADS, "/export")
    assert come("export", "project=demo&slicer=delivery").sees("every record is read")
