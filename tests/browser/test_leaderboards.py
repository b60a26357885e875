"""The leaderboards in a browser: by mouse and keyboard, on a wide screen and on a phone."""

import json
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
from conftest import COUNTRIES, LAST_DAY, small_rows
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import PHONE, enter, settled, sideways

LINK = "audience?project=demo&slicer=delivery&split=campaign_id"


@pytest.fixture
def country(address: str, page: Page) -> Locator:
    """The card of the key field Country."""
    enter(page, f"{address}/{LINK}")
    card = page.get_by_role("region", name="Country by ")
    expect(card.locator("tr.row")).to_have_count(len(COUNTRIES) + 1)
    return card


def asked(page: Page) -> dict[str, str]:
    """The parameters of the URL."""
    return dict(parse_qsl(urlsplit(page.url).query))


def test_cards_are_on_the_first_screen(page: Page, country: Locator) -> None:
    """At 1440 by 900 and 1920 by 1080 cards end above the fold; on a phone they are one column."""
    figures = country.locator("td.figure")
    assert figures.count() > 0
    assert figures.evaluate_all("cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth)") == []
    box = country.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 900
    page.set_viewport_size({"width": 1920, "height": 1080})
    expect(page.locator(".chart svg")).to_have_attribute("height", "365")
    box = country.bounding_box()
    assert box is not None
    assert 0.75 * 1080 < box["y"] + box["height"] <= 1080
    page.set_viewport_size(PHONE)
    settled(page)
    campaign = page.get_by_role("region", name="Campaign by ").bounding_box()
    box = country.bounding_box()
    assert campaign is not None
    assert box is not None
    assert (box["x"], box["width"]) == (campaign["x"], campaign["width"])
    assert sideways(page) == 0


@pytest.mark.parametrize(
    ("head", "first"), [("user-", "user-118080"), ("a name without room-" * 5, "…118080")]
)
def test_a_narrow_card_of_long_names(address: str, page: Page, head: str, first: str) -> None:
    """Titles are whole, columns are as wide in all cards; only names without room lose what they share."""

    def rename(route: Route) -> None:
        response = route.fetch()
        lines = [json.loads(line) for line in response.text().splitlines()]
        for card in (card for line in lines for card in line.get("cards", ())):
            for number, row in enumerate(card["rows"]):
                row["cells"][0]["text"] = f"{head}{118080 + number}"
        route.fulfill(response=response, body="\n".join(map(json.dumps, lines)))

    page.set_viewport_size({"width": 760, "height": 900})
    page.route("**/overview/answer", rename)
    enter(page, f"{address}/{LINK}")
    card = page.get_by_role("region", name="Country by ")
    expect(card.locator("tr.row .value").first).to_have_text(first)
    whole = card.locator("tr.row .include").first.get_attribute("aria-label")
    assert whole == f"{head}118080"
    titles = ["Name", "Impressions", "Share %", "Change %"]  # in two lines, without a comma at a line's end
    expect(card.locator("thead .title")).to_have_text(titles)
    cut = "nodes => nodes.filter(node => node.scrollWidth > node.clientWidth).map(node => node.textContent)"
    assert page.locator(".card thead .title").evaluate_all(cut) == []
    for column in ("value", "share", "change"):
        heads = page.locator(f".card th[data-column={column}]")
        assert heads.count() == 2
        assert len(set(heads.evaluate_all("nodes => nodes.map(node => node.offsetWidth)"))) == 1


def test_by_mouse(page: Page, country: Locator) -> None:
    """Two clicks keep two values beside their siblings, the chart has their lines, a third leaves one out."""
    for name in ("Germany", "France"):
        country.get_by_role("button", name=name, exact=True).click()
    page.wait_for_url(lambda url: "is.geo.country=DE%7EFR" in url or "is.geo.country=DE~FR" in url)
    settled(page)
    expect(country.locator("tr.row")).to_have_count(len(COUNTRIES) + 1)
    expect(country.locator("tr.row[aria-selected=true]")).to_have_count(2)
    for name in ("Germany", "France"):
        expect(page.locator(".chart text", has_text=name)).to_be_visible()
        line = country.get_by_role("button", name=f"Draw {name} as a line")
        expect(line).to_have_attribute("aria-pressed", "true")
    country.get_by_role("button", name="Leave out Japan").dispatch_event("click")
    page.wait_for_url(lambda url: "not.geo.country=JP" in url)
    expect(country.locator("tr.row.excluded")).to_have_count(1)


def test_by_keyboard(page: Page, country: Locator) -> None:
    """One Tab stop; arrows go to a row's controls, Enter keeps, a slash leads to the search, which finds."""
    country.get_by_role("button", name="United States", exact=True).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "is.geo.country=DE" in url)
    settled(page)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "lines=geo.country" in url)
    settled(page)
    page.keyboard.press("/")
    page.keyboard.type("fra")
    expect(country.locator("tr.row .include")).to_have_text(["France", "Germany"])
    expect(country.get_by_role("searchbox", name="Find in Country")).to_be_focused()
    page.wait_for_url(lambda url: "cards=" in url)
    assert asked(page)["cards"].split("~") == ["geo.country!!fra", "campaign_id"]


def test_the_first_stop_leads_to_the_leaderboards(page: Page, country: Locator) -> None:
    """From the top of the page two keys lead to the first value of the first card."""
    expect(country.get_by_role("button", name="United States", exact=True)).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("Tab")
    skip = page.get_by_role("button", name="Skip to leaderboards")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator(".card").first.locator(".include").first).to_be_focused()


def test_a_figure_is_a_button(page: Page, country: Locator) -> None:
    """One click on a figure chooses the page's field; it is marked, and keeps the focus."""
    page.get_by_role("button", name="Show Clicks").click()
    page.wait_for_url(lambda url: "field=clicks" in url)
    expect(country.get_by_role("columnheader", name="Clicks")).to_be_visible()
    chosen = page.get_by_role("button", name="Show Clicks", pressed=True)
    expect(page.get_by_role("button", name="Show Impressions", pressed=False)).to_be_visible()
    expect(chosen).to_be_focused()
    frame = small_rows(seed=0).to_pandas()
    week = frame[frame["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]
    first = f"{week[week['geo.country'] == 'US']['clicks'].sum():,.0f}"
    expect(country.locator("tr.row").first).to_contain_text(first)


def test_columns_without_room_are_hidden_and_said(address: str, page: Page) -> None:
    """In wide cards three more columns; on a phone fewer, which the card says, and names have 45 %."""
    enter(page, f"{address}/{LINK}&across=2&columns=clicks~ctr~unique_users&cards=geo.country")
    card = page.get_by_role("region", name="Country by ")
    titles = ["Name", "Impressions", "Share, %", "Change, %", "Clicks", "CTR", "Unique users"]
    expect(card.locator("thead .title")).to_have_text(titles)
    expect(card.locator(".about")).not_to_contain_text("hidden")
    page.set_viewport_size(PHONE)
    expect(card.locator(".about")).to_contain_text("columns hidden")
    expect(card.locator("thead .title")).not_to_have_text(titles)
    shares = card.locator("tr.row th").evaluate_all(
        "cells => cells.map(cell => cell.offsetWidth / cell.closest('.box').clientWidth)"
    )
    assert min(shares) >= 0.45
    figures = card.locator("td.figure")
    assert figures.evaluate_all("cells => cells.filter(cell => cell.scrollWidth > cell.clientWidth)") == []


def test_a_search_opens_the_card_of_a_key_field(page: Page, country: Locator) -> None:
    """Typing a part of a key field's name and Enter shows its card in front, without leaving the search."""
    search = page.get_by_role("combobox", name="Open the card of a key field")
    search.fill("categ")
    search.press("Enter")
    expect(page.locator(".card").first).to_have_attribute("data-card", "categories")
    expect(search).to_be_focused()
    expect(search).to_have_value("")
    page.wait_for_url(lambda url: "cards=categories" in url)
