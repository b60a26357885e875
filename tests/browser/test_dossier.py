"""A deal's page in a buyer's browser: counts are entered with script and without, and nothing is lost."""

from pathlib import Path

import pytest
from conftest import LAST_DAY
from dealing import clients, deal_link
from playwright.sync_api import Browser, expect

from browser.conftest import Serve
from lib.serving import connect
from lib.settings import Settings

DEAL = 2


@pytest.mark.parametrize("has_script", [True, False], ids=["script", "no script"])
def test_a_buyer_enters_counts(
    own_deals_home: Path, serve: Serve, chromium: Browser, has_script: bool
) -> None:
    """Fits a phone in the dark; a file with a wrong line is refused and kept, and saved once it is right."""
    settings = Settings(home=own_deals_home, demo=True)
    connect.installation(settings).access.change("manager", "test", shares=True)
    key = deal_link(clients(settings), DEAL, "For Beta")
    context = chromium.new_context(
        java_script_enabled=has_script, viewport={"width": 390, "height": 844}, color_scheme="dark"
    )
    with serve(own_deals_home) as address:
        page = context.new_page()
        page.goto(f"{address}/shared/{key}")
        expect(page.get_by_role("heading", name="For Beta")).to_be_visible()
        expect(page.locator(".drawing.narrow svg")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        file = f"day,bids\n{LAST_DAY},many\n".encode()
        page.get_by_label("Or choose a file").set_input_files(
            {"name": "counts.csv", "mimeType": "text/csv", "buffer": file}
        )
        page.get_by_role("button", name="Save the CSV").click()
        expect(page.get_by_role("alert")).to_contain_text("Line 2: Bids: Not a number")
        text = page.get_by_label("Paste rows")
        expect(text).to_have_value(file.decode())
        text.fill(f"day,bids\n{LAST_DAY},4321")
        page.get_by_role("button", name="Save the CSV").click()
        expect(page.get_by_text("Stored: 1 day")).to_be_visible()
        day = f"{LAST_DAY.day} {LAST_DAY:%b %Y}"
        expect(page.get_by_label(f"Bids, {day}")).to_have_value("4321")
        page.get_by_role("button", name="Remove all of these counts").click()
        expect(page.get_by_text("Stored:")).to_have_count(0)
        assert context.cookies() == []
    context.close()
