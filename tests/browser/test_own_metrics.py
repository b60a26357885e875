"""Own metrics in a browser: a formula is checked while it is typed, and shown once it is saved."""

from playwright.sync_api import Page, expect

from browser.conftest import enter, settled


def test_a_formula_is_checked_while_it_is_typed(address: str, page: Page) -> None:
    """What is wrong is said without leaving the field; what is saved is in the headline at once."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery")
    settled(page)
    page.locator(".st-key-question_menu button").click()
    page.get_by_role("button", name="New metric").click()
    dialog = page.get_by_role("dialog", name="Own metric")
    dialog.get_by_role("textbox", name="Name").fill("Per click")
    formula = dialog.get_by_role("textbox", name="Formula")
    formula.press_sequentially("revenue / click")
    expect(dialog.get_by_text("did you mean 'clicks'?")).to_be_visible()
    expect(dialog.get_by_role("button", name="Save metric")).to_be_disabled()
    formula.press_sequentially("s")
    expect(dialog.get_by_text("for the question that is shown")).to_be_visible()
    dialog.get_by_role("button", name="Save metric").click()
    expect(dialog).to_be_hidden()
    expect(page.get_by_role("button", name="Show Per click")).to_be_visible()
    assert "field=own." in page.url
    settled(page)
    page.locator(".st-key-question_menu button").click()
    page.locator(".st-key-own_metrics").get_by_role("button", name="Per click").click()
    dialog.get_by_role("button", name="Delete").click()
    page.get_by_role("button", name="Delete metric").click()
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="left out").click()
    expect(page.get_by_text("Left out the data field of an own metric")).to_be_visible()
