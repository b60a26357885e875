"""The screen Slicers in a browser: choosing fields, and carrying them to Audience."""

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from browser.conftest import enter, settled

LINK = "slicers?project=demo&slicer=delivery"
Country = Callable[[str], str]


def row(page: Page, fields: str, name: str) -> Locator:
    """The row of a field in the list of `Key` or `Data` fields."""
    return page.get_by_role("grid", name=f"{fields} fields of the slicer").get_by_role("rowheader", name=name)


def test_sparklines_are_small(address: str, page: Page) -> None:
    """A sparkline is as wide as its figure and as tall as two lines of text."""
    enter(page, f"{address}/{LINK}")
    picture = page.locator("[class*=st-key-sparkline] img").first
    expect(picture).to_have_css("height", "33.75px")
    assert page.locator("[class*=st-key-sparkline] img").count() == 5


def test_a_field_under_the_cursor(address: str, page: Page) -> None:
    """Clicking a key field shows its top values; arrow keys go on from there."""
    enter(page, f"{address}/{LINK}")
    row(page, "Key", "Campaign").click()
    expect(page.get_by_role("heading", name="Campaign by Impressions")).to_be_visible()
    page.keyboard.press("ArrowDown")
    settled(page)
    expect(page.get_by_role("heading", name="Content category by Impressions")).to_be_visible()
    expect(page.get_by_text("can add up to more than 100 %")).to_be_visible()
    row(page, "Data", "CTR").click()
    expect(page.get_by_role("heading", name="Content category by CTR")).to_be_visible()
    expect(page.get_by_text("= 100 * clicks / imps")).to_be_visible()


def test_search_without_a_mouse(address: str, page: Page) -> None:
    """Typing, key by key, finds fields of both kinds and shows the first key field; the data field that is
    measured stays, and a key carries what is shown to Audience."""
    enter(page, f"{address}/{LINK}")
    search = page.get_by_placeholder("Search key fields and data fields")
    search.press_sequentially("click", delay=150)
    expect(page.get_by_text("Data field (2 of 5)").first).to_be_attached()
    settled(page)
    expect(page.get_by_role("heading", name="Country by Impressions")).to_be_visible()
    search.press("ControlOrMeta+a")
    search.press_sequentially("campaign")
    button = page.get_by_role("button", name="Split by Campaign in Audience")
    expect(button).to_be_visible()
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/audience?**split=campaign_id**")
    settled(page)
    expect(page.get_by_text("Campaign").first).to_be_visible()


def test_a_value_as_a_filter(address: str, page: Page, country: Country) -> None:
    """One click on a value carries it to Audience as a filter, with the data field that was looked at."""
    enter(page, f"{address}/{LINK}")
    row(page, "Data", "Clicks").click()
    expect(page.get_by_role("heading", name="Country by Clicks")).to_be_visible()
    page.get_by_role("button", name=country("DE"), exact=True).click()
    page.wait_for_url("**/audience?**is.geo.country=DE**")
    settled(page)
    assert "field=clicks" in page.url
    assert "slicer=delivery" in page.url
    expect(page.get_by_role("button", name=f"Country is {country('DE')}")).to_be_visible()
