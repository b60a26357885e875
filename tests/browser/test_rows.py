"""The split's table in a browser: every click counts, by mouse, finger or keyboard, near and far away."""

from collections.abc import Iterator
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import PHONE, Visitor, enter, settled, sideways
from browser.distance import far_away

LINK = "audience?project=demo&slicer=delivery&lower=split&split=campaign_id"


@pytest.fixture(scope="module")
def clicks() -> pd.Series:
    """Clicks by campaign in the last seven complete days, the most first."""
    frame = small_rows(seed=0).to_pandas()
    week = frame[frame["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]
    return week.groupby("campaign_id")["clicks"].sum().sort_values(ascending=False)


@pytest.fixture
def table(address: str, page: Page) -> Locator:
    """The split's table, by campaign."""
    enter(page, f"{address}/{LINK}")
    return page.locator(".st-key-split_rows").get_by_role("grid")


def values(table: Locator) -> list[str]:
    """The values of the rows, from top to bottom, once there are some."""
    expect(table.locator("tr.row").first).to_be_visible()
    return table.locator("tr.row .include").all_inner_texts()


def param(page: Page, name: str) -> list[str]:
    """The values of a parameter of the URL."""
    text = dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True)).get(name)
    return [] if text is None else text.split("~")


def expect_drawn(page: Page, table: Locator) -> None:
    """All clicks have been answered."""
    expect(table).to_have_attribute("aria-busy", "false")
    settled(page)


def test_a_header_orders_and_filters_nothing(page: Page, table: Locator, clicks: pd.Series) -> None:
    """Clicking headers orders by the service, to and fro, with the total on top; no filter appears."""
    head = table.get_by_role("columnheader", name="Clicks")
    for expected, order in (("descending", clicks), ("ascending", clicks.sort_values())):
        head.get_by_role("button").click()
        expect(head).to_have_attribute("aria-sort", expected)
        expect_drawn(page, table)
        assert values(table)[:2] == list(order.index[:2])
        expect(table.get_by_role("row").nth(1)).to_contain_text("Total")
    for name in ("Impressions", "CTR", "Campaign", "Share"):
        table.get_by_role("columnheader", name=name).click()
    expect_drawn(page, table)
    assert not any(text.startswith(("is.", "not.")) for text in dict(parse_qsl(urlsplit(page.url).query)))


def test_values_have_room_beside_their_controls(address: str, page: Page) -> None:
    """A table with room to spare cuts none of its values, however wide their letters."""
    enter(page, f"{address}/{LINK.replace('campaign_id', 'granularity_weekday')}")
    table = page.locator(".st-key-split_rows").get_by_role("grid")
    assert "3 Wednesday" in values(table)
    cut = "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth).map(node => node.textContent)"
    assert table.locator("tr.row .include").evaluate_all(cut) == []


def test_the_first_click_after_any_control_counts(page: Page, table: Locator) -> None:
    """Whatever was used before, one click on a row filters, and one click releases it again."""
    for grain in ("hour", "day"):
        page.get_by_role("combobox", name="Granularity").select_option(grain)
        first = values(table)[0]
        table.get_by_role("button", name=first, exact=True).click()
        page.wait_for_url(lambda url, first=first: f"is.campaign_id={first}" in url)
        expect(table.locator("tr.row")).to_have_count(1)
        table.get_by_role("button", name=first, exact=True).click()
        page.wait_for_url(lambda url: "is.campaign_id" not in url)
        expect_drawn(page, table)


@pytest.fixture(params=["near", "far"])
def anywhere(address: str, request: pytest.FixtureRequest) -> Iterator[str]:
    """The desk on this machine, and the same behind 150 ms of network."""
    if request.param == "near":
        yield address
    else:
        with far_away(address) as distant:
            yield distant


def test_no_click_is_lost(anywhere: str, page: Page) -> None:
    """Of 24 clicks, in bursts of six within half a second, most during a rerun, every one counts; so do a row
    and other controls, used before the first is answered."""
    enter(page, f"{anywhere}/audience?project=demo&slicer=delivery&lower=split&split=granularity_hour")
    table = page.locator(".st-key-split_rows").get_by_role("grid")
    left_out = values(table)[3:75:3]
    for place, value in enumerate(left_out):
        row = table.get_by_role("row").filter(has=page.get_by_role("button", name=value, exact=True))
        row.get_by_role("button", name=f"Leave out {value}").dispatch_event("click")
        page.wait_for_timeout(80 if place % 6 < 5 else 300)
    page.wait_for_function("count => document.title && location.search.split('~').length >= count", arg=24)
    expect_drawn(page, table)
    hours = pd.to_datetime(left_out, format="%a %d %b %Y %H:%M").strftime("%Y-%m-%d %H:%M")
    assert sorted(param(page, "not.granularity_hour")) == hours.tolist()
    assert not set(values(table)) & set(left_out)
    value = values(table)[2]
    table.get_by_role("button", name=f"Leave out {value}").click()
    page.get_by_role("combobox", name="Granularity").select_option("hour")
    page.get_by_role("radio", name="Bars", exact=False).click(force=True)
    page.wait_for_url(lambda url: "grain=hour" in url and "chart=bars" in url and url.count("~") == 24)
    settled(page)
    assert len(param(page, "not.granularity_hour")) == len(left_out) + 1


def test_shift_and_a_figure(page: Page, table: Locator) -> None:
    """Shift and a click leave a value out; a click on a figure keeps its row; a double click counts once."""
    first, second = values(table)[:2]
    table.get_by_role("button", name=first, exact=True).click(modifiers=["Shift"])
    page.wait_for_url(lambda url: f"not.campaign_id={first}" in url)
    expect_drawn(page, table)
    row = table.get_by_role("row").filter(has=page.get_by_role("button", name=second, exact=True))
    row.get_by_role("gridcell").nth(2).dblclick()
    page.wait_for_url(lambda url: f"is.campaign_id={second}" in url)
    expect_drawn(page, table)
    expect(row).to_have_attribute("aria-selected", "true")


def test_with_a_keyboard_alone(page: Page, table: Locator) -> None:
    """The table is one stop; arrows walk it; Enter keeps or orders, Shift and Enter leave out."""
    first, second = values(table)[:2]
    stops = table.locator("[tabindex='0']")
    expect(stops).to_have_count(1)
    stops.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Shift+Enter")
    page.wait_for_url(lambda url: f"not.campaign_id={second}" in url)
    expect_drawn(page, table)
    for key in ("Control+Home", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(lambda url: "order=imps" in url)
    expect(table.get_by_role("columnheader", name="Impressions")).to_have_attribute("aria-sort", "ascending")
    expect_drawn(page, table)
    for key in ("Control+End", "Home", "Enter"):
        page.keyboard.press(key)
    page.wait_for_url(lambda url: f"is.campaign_id={first}" in url)
    expect(stops).to_have_count(1)


def test_on_a_phone(address: str, visitor: Visitor) -> None:
    """At 390 pixels the page does not scroll sideways, and the control that leaves out is in reach."""
    page = visitor().new_page()
    page.set_viewport_size(PHONE)
    enter(page, f"{address}/{LINK}")
    table = page.locator(".st-key-split_rows").get_by_role("grid")
    expect(table).to_be_visible()
    assert sideways(page) == 0
    value = values(table)[0]
    box = table.get_by_role("button", name=f"Leave out {value}").bounding_box()
    assert box is not None and box["x"] + box["width"] <= PHONE["width"]


def test_key_columns_are_widened(page: Page, address: str) -> None:
    """A key column is as wide as its edge is dragged, the arrow keys say, or its values need; it stays so."""
    enter(page, f"{address}/{LINK}~geo.country")
    table = page.locator(".st-key-split_rows").get_by_role("grid")
    head = table.get_by_role("columnheader", name="Campaign", exact=True)
    usual, (x, y) = width(head), middle(head.get_by_role("separator"))
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y)
    page.mouse.up()
    assert width(head) == pytest.approx(usual + 90, abs=1)
    page.reload()
    expect(head).to_be_visible()
    assert width(head) == pytest.approx(usual + 90, abs=1)
    head.get_by_role("button").press("Shift+ArrowLeft")
    assert width(head) < usual + 89
    head.get_by_role("separator").dblclick()
    assert 0 < width(head) < usual
    assert "order" not in dict(parse_qsl(urlsplit(page.url).query))


def test_key_columns_stay_in_sight(page: Page, address: str) -> None:
    """While figures scroll to the side, the key columns stay."""
    page.set_viewport_size({"width": 800, "height": 700})
    enter(page, f"{address}/{LINK}~geo.country&columns=clicks~unique_users")
    table = page.locator(".st-key-split_rows").get_by_role("grid")
    heads = [table.get_by_role("columnheader", name=name, exact=True) for name in ("Campaign", "Country")]
    expect(heads[1]).to_be_visible()
    before = [middle(head) for head in heads]
    table.evaluate("table => table.parentNode.scrollLeft = 200")
    assert table.evaluate("table => table.parentNode.scrollLeft") > 0
    assert [middle(head) for head in heads] == before


def middle(node: Locator) -> tuple[float, float]:
    """Its place on the screen."""
    box = node.bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def width(node: Locator) -> float:
    """Its width in pixels."""
    box = node.bounding_box()
    assert box is not None
    return box["width"]


def test_a_table_that_cannot_be_read_says_so(address: str, page: Page) -> None:
    """Where the route of the split's table fails, that is said in its place, and it can be asked again."""

    def fail_split(route: Route) -> None:
        if '"parts":["split"]' in (route.request.post_data or ""):
            route.abort()
        else:
            route.continue_()

    page.route("**/overview/answer", fail_split)
    enter(page, f"{address}/{LINK}")
    split = page.locator(".st-key-split_rows")
    expect(split.get_by_role("alert")).to_contain_text("The desk can't be reached", timeout=30_000)
    page.unroute("**/overview/answer")
    split.get_by_role("button", name="Try again").click()
    expect(split.get_by_role("grid")).to_be_visible()
    expect(split.get_by_role("alert")).to_have_count(0)
