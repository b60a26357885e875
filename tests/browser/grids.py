"""Clicking into Streamlit's tables, which are drawn on a canvas."""

import re

from playwright.sync_api import Locator, Page

from browser.conftest import settled

ROW = 33


def grid(page: Page, name: str) -> Locator:
    """The table of that accessible name."""
    return page.get_by_role("region", name=name, exact=True)


def cells(table: Locator, text: str | None = None) -> Locator:
    """The cells of a table's accessible twin, as far as it shows them; those with just this text."""
    locator = table.locator("[role=gridcell]")
    return locator if text is None else locator.filter(has_text=re.compile(f"^{re.escape(text)}$"))


def click(page: Page, table: Locator, row: int, x: float) -> None:
    """Click into a row (0 is the first below the header), at so many pixels from the left."""
    table.scroll_into_view_if_needed()
    box = table.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + x, box["y"] + ROW * (row + 1) + ROW / 2)
    settled(page)
