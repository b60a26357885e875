"""A chart as a picture: made in the browser, without any other machine, from the menu Download."""

from playwright.sync_api import Page, expect

from browser.conftest import enter, settled


def test_the_menu_makes_a_picture_of_the_chart(address: str, page: Page) -> None:
    """By keyboard alone the menu saves the split's bars as PNG, in twice their size, under a telling name."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery&split=geo.country&chart=bars")
    drawn = page.locator("[class*='st-key-split_bars'] .js-plotly-plot .main-svg").first
    expect(drawn).to_be_visible()
    width = drawn.bounding_box()["width"]
    page.locator(".st-key-split_download button").focus()
    page.keyboard.press("Enter")
    button = page.get_by_role("button", name="Download the chart as PNG")
    expect(button).to_be_visible()
    settled(page)
    button.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename.startswith("delivery_split_bars_20")
    assert download.value.suggested_filename.endswith(".png")
    head = download.value.path().read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    assert abs(int.from_bytes(head[16:20]) - 2 * width) <= 2
