"""The frame of every screen, and the API documentation."""

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


def test_first_visit_names_what_it_shows(address: str, page: Page) -> None:
    """Project and slicer stand in the URL from the first screen on, picked or not; Back leaves the desk."""
    enter(page, address)
    page.wait_for_url(at("audience", project="demo", slicer="curation"))
    page.go_back()
    assert page.url == "about:blank"


def test_comes_back_to_the_slicer_used_last(address: str, page: Page) -> None:
    """Whoever opens the desk without a link sees Audience of the slicer that this browser showed last."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery")
    page.wait_for_function("document.cookie.includes('last_slicer')")
    page.goto(address)
    page.wait_for_url(at("audience", project="demo", slicer="delivery"))


def test_picked_once(address: str, page: Page) -> None:
    """A slicer that was picked stays picked on the other screens, and through a reload."""
    enter(page, address)
    pick(page, "Slicer", "delivery")
    for screen in ("Audience", "Export", "Slicers"):
        page.get_by_role("link", name=screen).click()
        page.wait_for_url(at(project="demo", slicer="delivery"))
        settled(page)
        expect(page.get_by_role("combobox", name="Slicer")).to_have_value("delivery")
    page.reload()
    expect(page.get_by_role("combobox", name="Slicer")).to_have_value("delivery")


def test_back(address: str, page: Page) -> None:
    """The browser's back button brings back the screen and the slicer that was looked at there."""
    enter(page, address)
    pick(page, "Slicer", "delivery")
    page.get_by_role("link", name="Access").click()
    page.wait_for_url(at("access"))
    settled(page)
    pick(page, "Slicer", "curation")
    page.go_back()
    page.wait_for_url(at("audience", project="demo", slicer="delivery"))
    expect(page.get_by_role("combobox", name="Slicer")).to_have_value("delivery")


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
    """From a phone to a wide window no link, button or text of the frame lies under another."""
    enter(page, f"{address}/{screen}", "Admin")
    for width in (1600, 1440, 1280, 1279, 1200, 1024, 900, 800, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        try:
            page.wait_for_function(f"() => !({COVERED})().length")
        except TimeoutError:
            pytest.fail(f"{width} pixels: {page.evaluate(COVERED)}")


def test_figures_are_tabular(address: str, page: Page) -> None:
    """Figures have the same width each, so that columns of them can be compared."""
    enter(page, address)
    style = "getComputedStyle(document.querySelector('[data-testid=stCaptionContainer]')).fontVariantNumeric"
    assert page.evaluate(style) == "tabular-nums"


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
