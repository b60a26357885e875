"""An administrator renames and removes a slicer on the screen Slicers."""

from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from browser.conftest import Serve, Visitor, at, enter, settled
from lib.reporting.warehouse import Warehouse

BUTTON = "Rename or remove slicer"


def test_rename_then_remove(own_home: Path, serve: Serve, visitor: Visitor) -> None:
    """The page goes on under the new name, and with another slicer once this one is removed."""
    with serve(own_home) as address:
        page = visitor().new_page()
        enter(page, f"{address}/slicers?project=demo&slicer=delivery", "Admin")
        dialog = _opened(page)
        expect(dialog).to_contain_text("demo/delivery")
        dialog.get_by_label("Slicer", exact=True).fill("sold")
        dialog.get_by_label("Slicer", exact=True).press("Tab")
        dialog.get_by_role("button", name="Rename", exact=True).click()
        page.wait_for_url(at("slicers", slicer="sold"))
        assert _names(own_home) == {"curation", "sold"}
        settled(page)
        dialog = _opened(page)
        expect(dialog.get_by_role("button", name="Remove", exact=True)).to_be_disabled()
        dialog.get_by_text("Remove demo/sold, its imported rows").click()
        dialog.get_by_role("button", name="Remove", exact=True).click()
        page.wait_for_url(at("slicers", slicer="curation"))
        assert _names(own_home) == {"curation"}


def test_nobody_else_is_offered_it(address: str, page: Page) -> None:
    """A manager has no such button."""
    enter(page, f"{address}/slicers?project=demo&slicer=delivery")
    expect(page.get_by_role("heading", name="Country by Impressions")).to_be_visible()
    settled(page)
    expect(page.get_by_role("button", name=BUTTON)).to_have_count(0)


def _opened(page: Page) -> Locator:
    page.get_by_role("button", name=BUTTON).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    settled(page)
    return dialog


def _names(home: Path) -> set[str]:
    return {slicer for _, slicer in Warehouse(home / "warehouse").slicers()}
