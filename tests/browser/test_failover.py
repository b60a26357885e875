"""A tab outlives its desk: another takes over, no click is lost or applied twice, and the page says so."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest
from conftest import copied, desk_over
from databases import new_database_of
from playwright.sync_api import Locator, Page, expect
from serving import free_port

from browser.conftest import Visitor, enter, settled
from browser.round_robin import RoundRobin, round_robin
from browser.test_overview import asked, expect_answer, quiet, value

AUDIENCE = "audience?project=demo&slicer=delivery"
COUNTRIES = ["Germany", "France", "Japan", "United States"]
Signal = signal.Signals


class Desks:
    """Desks over one database behind a proxy, each at its port, that can be stopped and started."""

    def __init__(self, proxy: RoundRobin, home: Path, url: str, count: int) -> None:
        self.proxy, self._stacks, self.numbers = proxy, [ExitStack() for _ in range(count)], [0] * count
        self._ports = [free_port() for _ in range(count)]
        proxy.desks.extend(f"http://127.0.0.1:{port}" for port in self._ports)
        self._start = lambda port: desk_over(
            home,
            TRANCHE_DATABASE_URL=url,
            TRANCHE_ORIGINS=proxy.address,
            TRANCHE_TRUSTED_PROXIES="127.0.0.1",
            TRANCHE_PORT=str(port),
        )

    def start_all(self) -> None:
        """Start those that do not run."""
        for number, process in enumerate(self.numbers):
            if not process:
                self.start(number)

    def start(self, number: int) -> None:
        """Start that desk, and wait until it answers."""
        _, self.numbers[number] = self._stacks[number].enter_context(self._start(self._ports[number]))

    def stop(self, number: int, how: Signal = signal.SIGTERM) -> None:
        """Send the signal, and wait until the process has ended."""
        os.kill(self.numbers[number], how)
        self.numbers[number] = 0
        self._stacks[number].close()

    def stop_all(self) -> None:
        """Stop those that run."""
        for stack in self._stacks:
            stack.close()


@pytest.fixture(scope="module")
def desks(home: Path, postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desks]:
    """Two desks."""
    url = new_database_of(postgres_server)
    shared = copied(home, tmp_path_factory.mktemp("failover") / "home", url)
    with round_robin() as proxy:
        desks = Desks(proxy, shared, url, 2)
        try:
            yield desks
        finally:
            desks.stop_all()


@pytest.fixture
def tab(desks: Desks, visitor: Visitor) -> Page:
    """The Audience page at one of the desks, once it stands still; both run."""
    desks.start_all()
    page = visitor().new_page()
    enter(page, f"{desks.proxy.address}/{AUDIENCE}")
    quiet(page)
    return page


def notice(page: Page) -> Locator:
    """The sentence over the page."""
    return page.locator(".tranche-notice")


def again(page: Page) -> None:
    """Wait until the page was loaded again and says so."""
    expect(notice(page)).to_contain_text("was loaded again")
    quiet(page)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_the_other_desk_draws_the_page_again(desks: Desks, tab: Page, how: Signal) -> None:
    """A tab whose desk ends is at the other one, with its question; the page says so, and clicks work."""
    value(tab, COUNTRIES[0]).click()
    quiet(tab)
    before = asked(tab)
    number = desks.proxy.tabs[-1]
    desks.stop(number, how)
    again(tab)
    desks.start(number)
    assert (asked(tab), desks.proxy.tabs[-1]) == (before, 1 - number)
    expect(notice(tab)).not_to_contain_text("may not have been carried out")
    expect_answer(tab)
    value(tab, COUNTRIES[1]).click()
    quiet(tab)
    assert asked(tab) != before
    expect_answer(tab)


def test_a_click_while_no_desk_answers_is_kept(desks: Desks, tab: Page) -> None:
    """Clicks on the overview around the end of its desk count once each."""
    number = desks.proxy.tabs[-1]
    value(tab, COUNTRIES[0]).click()
    desks.stop(number, signal.SIGKILL)
    value(tab, COUNTRIES[1]).click()
    again(tab)
    desks.start(number)
    expect_answer(tab)
    for name in COUNTRIES[:2]:
        expect(value(tab, name)).to_have_attribute("aria-pressed", "true")


def test_other_clicks_wait_and_say_so(desks: Desks, tab: Page) -> None:
    """While no desk answers, a button has no effect and a sentence says why; afterwards the page is back."""
    tab.goto(f"{desks.proxy.address}/deals")
    settled(tab)
    for number in (0, 1):
        desks.stop(number)
    tab.get_by_role("link", name="Export").click(force=True)
    expect(notice(tab)).to_contain_text("Clicks have no effect")
    desks.start(0)
    expect(notice(tab)).to_contain_text("was loaded again")
    desks.start(1)
    expect(tab.get_by_role("heading", name="Deals")).to_be_attached()
    assert tab.url.startswith(f"{desks.proxy.address}/deals")


def test_a_draft_is_there_again(desks: Desks, tab: Page) -> None:
    """What was typed into a new package comes back with the page."""
    tab.goto(f"{desks.proxy.address}/new_package")
    settled(tab)
    name = tab.get_by_role("textbox", name="Name", exact=True)
    name.fill("A draft")
    name.press("Tab")
    settled(tab)
    number = desks.proxy.tabs[-1]
    desks.stop(number, signal.SIGKILL)
    expect(notice(tab)).to_contain_text("was loaded again")
    desks.start(number)
    expect(name).to_have_value("A draft")


def test_upgrade_one_desk_after_the_other(desks: Desks, tab: Page) -> None:
    """Who clicks every second through a rolling upgrade loses no click, and reads one sentence a move."""
    chosen, loads, clicks = set[str](), list[object](), 0
    tab.on("load", lambda page: loads.append(page))
    with ThreadPoolExecutor(1) as threads:
        upgrade = threads.submit(_upgrade, desks)
        while not upgrade.done() or clicks % len(COUNTRIES):
            name = COUNTRIES[clicks % len(COUNTRIES)]
            value(tab, name).click()
            chosen, clicks = chosen ^ {name}, clicks + 1
            tab.wait_for_timeout(1000)
            assert notice(tab).count() <= 1
        upgrade.result()
    quiet(tab)
    expect_answer(tab)
    for name in COUNTRIES:
        expect(value(tab, name)).to_have_attribute("aria-pressed", str(name in chosen).lower())
    assert 1 <= len(loads) <= len(desks.numbers)


def _upgrade(desks: Desks) -> None:
    """As docs/deployment.md says: one desk is stopped and started, then the next."""
    for number in range(len(desks.numbers)):
        desks.stop(number)
        desks.start(number)
