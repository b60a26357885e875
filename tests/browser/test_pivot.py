"""The pivot in a browser: rows open and close by mouse and keyboard, with the API's figures."""

from collections.abc import Callable

import httpx
from playwright.sync_api import Page, expect

from browser.conftest import enter, settled

COUNTRY, CAMPAIGN = "geo.country", "campaign_id"
LINK = f"project=demo&slicer=delivery&split={COUNTRY}~{CAMPAIGN}&chart=pivot&compare=none&is.{COUNTRY}=JP"


def asked(address: str, token: str, *split: str) -> list[list[str]]:
    """Name, impressions and unique users of each row that the API returns, as the pivot writes them."""
    japan = {"name": COUNTRY, "value": ["JP"], "match": "equals"}
    question = {
        "token": token, "project_name": "demo", "slicer_name": "delivery", "start_date": "-7d",
        "end_date": "yesterday", "filters": [japan], "split_by": split, "order_by": [{"name": "imps"}],
    }  # fmt: skip
    answer = httpx.post(f"{address}/API/v2/audience", json=question).raise_for_status().json()
    rows = []
    for row in answer["rows"]:
        data = {figure["name"]: figure["value"] for figure in row["data"]}
        rows.append([row["name"][-1], f"{data['imps']:,.0f}", f"{data['unique_users']:,.0f}"])
    return rows


def test_rows_open_and_close(address: str, page: Page, token: Callable[[str], str]) -> None:
    """A closed country is one row; opened, its campaigns have the figures that the API returns."""
    enter(page, f"{address}/audience?{LINK}")
    pivot = page.locator(".st-key-split_rows").get_by_role("treegrid")
    japan, campaigns = (pivot.locator(f"tr.row[aria-level='{level}']") for level in (1, 2))
    expect(japan).to_have_attribute("aria-expanded", "true")
    pivot.get_by_role("button", name="Collapse Japan").click()
    expect(campaigns).to_have_count(0)
    page.wait_for_url(lambda url: "folds=" in url)
    expect(japan).to_have_attribute("aria-expanded", "false")
    settled(page)
    pivot.get_by_role("button", name="Expand Japan").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: "folds=" not in url)
    expect(campaigns.first).to_be_visible()
    settled(page)
    heads = pivot.locator("thead .title").all_inner_texts()
    columns = [heads.index("Impressions"), heads.index("Unique users")]
    for rows, split in ((japan, (COUNTRY,)), (campaigns, (COUNTRY, CAMPAIGN))):
        cells = [row.locator("th, td").all_inner_texts() for row in rows.all()]
        shown = [[row[column] for column in columns] for row in cells]
        assert shown == [figures for _, *figures in asked(address, token("manager"), *split)]
    page.keyboard.press("ArrowDown")
    expect(campaigns.first.locator(".include")).to_be_focused()
