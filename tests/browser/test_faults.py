"""Failures in a browser: the page says what happened, and recovers without its reader."""

import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager

import pytest
from conftest import desk_over
from faults import behaviors as do
from faults.conftest import Desk, deals, desk, patience, reports, service, told
from faults.proxy import Proxy, WriteRequest
from playwright.sync_api import Page, expect

from browser.conftest import enter

__all__ = ["deals", "desk", "patience", "reports", "service", "told"]
AUDIENCE = "audience?project=demo&slicer=delivery"


@pytest.fixture
def elsewhere(desk: Desk) -> Iterator[str]:
    """The address of a desk whose services stand behind the proxies."""
    desk.configure(answer_seconds=2)
    with served(desk) as (address, _):
        yield address


@pytest.fixture
def patient(desk: Desk) -> Iterator[str]:
    """The same of one that waits for them for a minute."""
    desk.configure(answer_seconds=60)
    with served(desk) as (address, _):
        yield address


def served(desk: Desk) -> AbstractContextManager[tuple[str, int]]:
    """The desk, in a process of its own."""
    return desk_over(desk.settings.home)


def is_of_figures(asked: WriteRequest) -> bool:
    """Whether this asks for figures, not for what a slicer is."""
    return asked.path.endswith("/audience")


def expect_failures(page: Page, sentence: str, count: int = 1) -> None:
    """The page says this so often, and offers to try again as often."""
    expect(page.get_by_test_id("stAlert").filter(has_text=sentence)).to_have_count(count)
    expect(page.get_by_role("button", name="Try again")).to_have_count(count)


def test_the_figures_come_back(page: Page, elsewhere: str, reports: Proxy) -> None:
    """Figures that fail are asked for again by themselves, and the question stays as it was."""
    reports.behavior = do.where(is_of_figures, do.instead(504, do.HTML, do.PAGE))
    enter(page, f"{elsewhere}/{AUDIENCE}&split=campaign_id")
    failed = page.locator(".tranche-overview").get_by_role("alert")
    expect(failed.filter(has_text="The service did not answer in time.").first).to_be_visible()
    asked = page.url
    reports.behavior = do.through
    expect(page.locator(".fig-value").first).to_be_visible()
    expect(page.get_by_text("The service did not answer in time.")).to_have_count(0)
    assert page.url == asked


def test_the_slicer_comes_back(page: Page, elsewhere: str, reports: Proxy) -> None:
    """Who comes while nobody listens there has the figures once somebody does, without a click."""
    reports.close()
    page.goto(f"{elsewhere}/{AUDIENCE}")
    page.get_by_role("button", name="Manager", exact=True).click()
    expect_failures(page, "Your question is kept in the address of this page.")
    reports.listen()
    expect(page.locator(".fig-value").first).to_be_visible()


def test_a_click_is_quicker(page: Page, elsewhere: str, deals: Proxy) -> None:
    """A click on “Try again” asks at once."""
    deals.behavior = do.instead(200, do.HTML, do.PAGE)
    enter(page, f"{elsewhere}/deals?deals_kind=Packages")
    expect_failures(page, "The service returned a response that can't be read.")
    deals.behavior = do.through
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("2 packages: 2 active")).to_be_visible()


def test_what_is_late_is_there_in_the_end(page: Page, patient: str, reports: Proxy) -> None:
    """Deals opens without the report; how far its data go is said as soon as it is there, without a click."""
    let_go = threading.Event()
    reports.behavior = do.held(let_go)
    page.goto(f"{patient}/deals")
    page.get_by_role("button", name="Manager", exact=True).click()
    expect(page.get_by_text("4 deals: ")).to_be_visible()
    expect(page.get_by_text("The report is still loading")).to_be_visible()
    let_go.set()
    expect(page.get_by_text("Data to")).to_be_visible()
