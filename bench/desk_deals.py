"""Deals at 50,000 deals and 5,000 packages in a browser: from an act to the rows, or to a drawer's last line.

    python bench/desk_deals.py [data directory]

The data directory is filled as by `bench/deals.py --fill` if it isn't there yet; its report is the demo's.
Waits until health is known, then prints the quickest, the median and the slowest of seven in milliseconds,
and the median of the desk's processor time until the page stands still.
"""

import datetime as dt
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import cycle
from pathlib import Path

from deals import fill
from desk_clicks import ARGUMENTS, CHROMIUM, RUNNING, SCREEN, desk
from playwright.sync_api import Locator, Page, expect, sync_playwright

from lib import database, demo
from lib.people.tokens.access import Access
from lib.settings import Settings
from lib.slicers.warehouse import Warehouse

TIMES, HEALTH_SECONDS, STILL_MILLISECONDS = 7, 600, 300
Step = Callable[[], object]


class Deals:
    """The list of deals in a browser; each act is prepared, and ends with what a person waits for."""

    def __init__(self, page: Page, address: str) -> None:
        self.page, self.address = page, address
        self.rows = page.get_by_role("grid").locator("tbody tr")
        self.search = page.get_by_role("searchbox", name="Search")
        self.summary = page.locator(".st-key-deals_summary")
        self.terms = cycle(("Sports Kids", "News Auto", "Video Travel", "Kids Premium", "Auto Video"))
        self.numbers, self.deal_id = cycle(range(1, 9)), ""

    def open(self, path: str = "deals") -> None:
        """A page by its address, as after a reload."""
        self.page.goto(f"{self.address}/{path}")
        if path != "lists":
            expect(self.rows.first).to_be_visible()
        self.still()

    def still(self) -> None:
        """Until no run has been going on for a moment."""
        running, since = self.page.get_by_test_id("stStatusWidget"), time.monotonic()
        while 1000 * (time.monotonic() - since) < STILL_MILLISECONDS:
            self.page.wait_for_timeout(25)
            if running.count() or self.page.locator("[aria-busy=true]").count():
                since = time.monotonic()

    def health(self) -> None:
        """Until the health of all deals is known."""
        expect(self.summary).to_contain_text("Health as of", timeout=1000 * HEALTH_SECONDS)

    def named(self, role: str, name: str) -> Locator:
        """The element of this role and name."""
        return self.page.get_by_role(role, name=name, exact=True)  # type: ignore[arg-type]

    def filter(self, name: str) -> None:
        """The list with the choices of a filter open."""
        self.open()
        self.named("combobox", name).click()

    def an_id(self) -> None:
        """The list, and the deal id of one of its rows."""
        self.open()
        self.deal_id = self.rows.nth(next(self.numbers)).locator(".of-deal_id").inner_text()

    def is_found(self) -> None:
        """Until the summary counts what a search or filter found."""
        expect(self.summary).not_to_contain_text("50,000 deals")
        expect(self.rows.first).to_be_visible()

    def is_ordered(self) -> None:
        """Until the rows are those of the address."""
        self.page.wait_for_url(re.compile("health|attention"))
        expect(self.page.locator("[aria-busy=true]")).to_have_count(0)
        self.still()

    def drawer(self) -> None:
        """Until the drawer's facts stand there to their last line."""
        expect(self.page.get_by_role("dialog").get_by_text("Created", exact=True)).to_be_visible()

    def acts(self) -> dict[str, tuple[Step, Step, Step]]:
        """By name: what comes before, the act, and what ends it."""
        page, row = self.page, lambda: self.rows.nth(next(self.numbers)).click()
        packages = "deals?deals_kind=Packages"
        return {
            "Open the list": (
                lambda: self.open("lists"),
                self.named("link", "Deals").click,
                lambda: expect(self.rows.first).to_be_visible(),
            ),
            "Search by two words": (self.open, lambda: self.search.fill(next(self.terms)), self.is_found),
            "Search by a part of a deal id": (
                self.an_id,
                lambda: self.search.fill(self.deal_id[3:]),
                lambda: expect(self.rows).to_have_count(1),
            ),
            "Filter by DSP": (
                lambda: self.filter("DSP"),
                lambda: self.named("option", f"DSP {next(self.numbers)}").click(),
                self.is_found,
            ),
            "Filter by status": (
                lambda: self.filter("Status"),
                self.named("option", "Paused").click,
                self.is_found,
            ),
            "Packages instead of deals": (
                self.open,
                page.get_by_text("Packages", exact=True).click,
                lambda: expect(self.named("grid", "Packages")).to_be_visible(),
            ),
            "Drawer of a deal": (self.open, row, self.drawer),
            "Drawer of a package": (lambda: self.open(packages), row, self.drawer),
            "Needs attention": (self.open, page.get_by_text("Needs attention").click, self.is_ordered),
            "Order by health": (self.open, self.named("button", "Health").click, self.is_ordered),
        }


def processor(pid: int) -> float:
    """Milliseconds of processor time of a process until now (proc(5))."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return 1000 * (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure(deals: Deals, pid: int, before: Step, act: Step, end: Step) -> tuple[float, float]:
    """Milliseconds of one act: until its end, and of the desk's processor."""
    before()
    used, start = processor(pid), time.perf_counter()
    act()
    end()
    wall = 1000 * (time.perf_counter() - start)
    deals.still()
    return wall, processor(pid) - used


def filled(home: Path) -> Path:
    """The data directory with the demo's report, and 50,000 deals."""
    home.mkdir(parents=True)
    (home / "tranche.toml").write_text("demo = true\n")
    settings = Settings(home=home, demo=True)
    access = Access.of(settings)
    demo.build(Warehouse(settings.warehouse), access.people, dt.datetime.now(dt.UTC).date())
    engine = access.store.engine
    with database.writing(engine).begin() as connection:
        fill(connection)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("ANALYZE")
    engine.dispose()
    return home


def main() -> None:
    """Measure, and print a table."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(folder) / "home"
        with desk(home if home.exists() else filled(home)) as address:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
            page, pid = browser.new_page(viewport=SCREEN), max(RUNNING)
            page.set_default_timeout(60_000)
            page.goto(f"{address}/deals")
            page.get_by_role("button", name="Manager", exact=True).click()
            deals = Deals(page, address)
            deals.health()
            print(f"{'ms':32}{'least':>8}{'median':>8}{'most':>8}{'processor':>11}", flush=True)
            for name, steps in deals.acts().items():
                wall, used = zip(*(measure(deals, pid, *steps) for _ in range(TIMES)), strict=True)
                times = "".join(f"{one:8,.0f}" for one in (min(wall), statistics.median(wall), max(wall)))
                print(f"{name:32}{times}{statistics.median(used):11,.0f}", flush=True)


if __name__ == "__main__":
    main()
