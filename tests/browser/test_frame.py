"""The frame of every screen, and the API documentation."""

import re

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from browser.conftest import at, enter, pick, settled

COVERED = """() => {
    const isInSight = (element, x, y) => {
        for (let one = element; one; one = one.parentElement) {
            const box = one.getBoundingClientRect()
            const isInside = x >= box.left && x <= box.right && y >= box.top && y <= box.bottom
            if ((one === element || getComputedStyle(one).overflowX !== 'visible') && !isInside) return false
        }
        return x < innerWidth && y < innerHeight
    }
    const all = document.querySelectorAll(
        'header a, header button, .st-key-frame :is(a, button, input, [data-testid=stCaptionContainer] p)')
    return [...all].filter((one) => {
        const box = one.getBoundingClientRect()
        const [x, y] = [box.left + box.width / 2, box.top + box.height / 2]
        if (box.width < 2 || !isInSight(one, x, y)) return false
        const hit = document.elementFromPoint(x, y)
        return hit && !one.contains(hit) && !hit.contains(one)
    }).map((one) => one.innerText || one.getAttribute('aria-label') || one.outerHTML)
}"""


def test_picked_once(address: str, page: Page) -> None:
    """Project and slicer stand in the URL from the first screen on, where Back leaves the desk. A slicer that
    was picked stays picked on the other screens, through a reload and for a visit without a link; Back brings
    the screen and the slicer that was looked at there."""
    slicer = page.get_by_role("combobox", name="Slicer")
    enter(page, address)
    page.wait_for_url(at("audience", project="demo", slicer="curation"))
    page.go_back()
    assert page.url == "about:blank"
    page.go_forward()
    expect(slicer).to_have_value("curation")
    settled(page)
    pick(page, "Slicer", "delivery")
    for screen in ("Deals", "Slicers", "Export"):
        page.get_by_role("link", name=screen).click()
        page.wait_for_url(at(screen.lower(), project="demo", slicer="delivery"))
        settled(page)
        expect(slicer).to_have_value("delivery")
    pick(page, "Slicer", "curation")
    page.go_back()
    page.wait_for_url(at("slicers", project="demo", slicer="delivery"))
    expect(slicer).to_have_value("delivery")
    page.reload()
    expect(slicer).to_have_value("delivery")
    page.get_by_role("link", name="Audience").click()
    page.wait_for_function("document.cookie.includes('last_slicer=demo~delivery')")
    page.goto(address)
    page.wait_for_url(at("audience", project="demo", slicer="delivery"))


def test_link_to_what_is_not_there(address: str, page: Page) -> None:
    """A link to a slicer that the person may not see shows none, also after a reload, until one is chosen."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery", "Viewer")
    page.goto(f"{address}/audience?project=demo&slicer=curation&split=campaign_id")
    warning = page.get_by_text(
        "The slicer “curation” of the project “demo” does not exist or is not visible to"
    )
    for _ in range(2):
        expect(warning).to_be_visible()
        expect(page.get_by_role("combobox", name="Slicer")).to_have_value("curation")
        expect(page.locator(".fig")).to_have_count(0)
        assert at("audience", project="demo", slicer="curation", split="campaign_id")(page.url)
        page.reload()
    expect(warning).to_be_visible()
    pick(page, "Slicer", "delivery")
    expect(warning).to_be_hidden()
    expect(page.locator(".fig").first).to_be_visible()


@pytest.mark.parametrize("screen", ["audience", "deals"])
def test_nothing_in_the_frame_is_covered(address: str, page: Page, screen: str) -> None:
    """From a phone to a wide window no link, button or text of the frame lies under another, and figures have
    the same width each."""
    enter(page, f"{address}/{screen}", "Admin")
    assert (
        page.get_by_text("Data to").evaluate("one => getComputedStyle(one).fontVariantNumeric")
        == "tabular-nums"
    )
    for width in (1600, 1440, 1280, 1279, 1200, 1024, 900, 800, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        try:
            page.wait_for_function(f"() => !({COVERED})().length")
        except TimeoutError:
            pytest.fail(f"{width} pixels: {page.evaluate(COVERED)}")


def test_documentation(address: str, page: Page) -> None:
    """/docs opens without signing in and shows the endpoints, with nothing from outside."""
    page.goto(f"{address}/docs")
    expect(page.get_by_text("/API/v2/audience", exact=True)).to_be_visible()


def test_the_colors_that_a_person_chooses_stay(page: Page, address: str) -> None:
    """Colors chosen in the menu hold on all screens and after a reload, until others are chosen."""

    def colors(choice: str) -> str:
        page.get_by_role("button", name="Max Manager").click()
        with page.expect_navigation():
            page.get_by_text(choice, exact=True).click()
        expect(page.get_by_text("Data to")).to_be_visible()
        page.goto(f"{address}/slicers")
        expect(page.get_by_text("Data to")).to_be_visible()
        color: str = page.locator("[data-testid=stApp]").evaluate(
            "app => getComputedStyle(app).backgroundColor"
        )
        return color

    page.emulate_media(color_scheme="light")
    enter(page, f"{address}/audience")
    assert colors("Dark colors") == "rgb(20, 24, 31)"
    assert colors("Light colors") == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    assert colors("Colors of the system") == "rgb(20, 24, 31)"


def test_the_numbers_and_the_zone_that_a_person_chooses_stay(page: Page, address: str) -> None:
    """Figures of overview and Streamlit are written as chosen, and new questions ask in the zone chosen."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery")
    first = page.locator(".fig-value").first
    english = first.inner_text()
    page.get_by_role("button", name="Max Manager").click()
    page.get_by_text("Numbers and time zone", exact=True).click()
    dialog = page.get_by_role("dialog", name="Numbers and time zone")
    dialog.get_by_role("combobox", name="Numbers").click()
    page.get_by_role("option", name="1.234,5").click()
    dialog.get_by_role("combobox", name="Time zone").fill("toky")
    page.get_by_role("option", name="Tokyo, Asia · UTC+9").click()
    with page.expect_navigation():
        dialog.get_by_role("button", name="Save").click()
    expect(page.locator(".st-key-dates").get_by_role("button")).to_contain_text("Asia/Tokyo")
    expect(first).not_to_have_text(english)
    expect(first).to_have_text(re.compile(r"^\d+\.\d{3}$"))
    page.goto(f"{address}/slicers?project=demo&slicer=delivery")
    expect(page.get_by_test_id("stMetricValue").first).to_have_text(english.replace(",", "."))


def test_a_link_to_a_slicer_out_of_sight_says_so_once(address: str, page: Page) -> None:
    """What was drawn ahead for the link goes, and another slicer is drawn once it is picked."""
    enter(page, f"{address}/slicers")
    page.goto(f"{address}/audience?project=demo&slicer=nothing")
    expect(page.get_by_text("does not exist or is not visible to you")).to_be_visible()
    settled(page)
    expect(page.locator(".tranche-overview")).to_have_count(0)
    expect(page.get_by_text("No access")).to_have_count(0)
    pick(page, "Slicer", "delivery")
    expect(page.locator(".fig-value").first).to_be_visible()
