"""What the screens say can be read: no name, title or figure is cut, on a phone neither, and a change says of
which days it is."""

import re
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from conftest import LAST_DAY
from dealing import own_copy
from playwright.sync_api import Browser, Page, expect

from browser.conftest import PHONE, SCREEN, Serve, enter, new_context, settled, sideways
from lib.slicers.definition import Definition
from lib.slicers.warehouse import Warehouse

CLIPPED = (Path(__file__).parent / "clipped.js").read_text()
DEFINITION = Definition.model_validate(
    {
        "time": {"column": "day"},
        "key_fields": [
            {"name": "country", "description": "Country", "mapping": "country"},
            {"name": "site", "description": "Site"},
        ],
        "data_fields": [
            {"name": "imps", "description": "Impressions, all sides of the auction"},
            {"name": "wins", "description": "Wins"},
        ],
    }
)
COUNTRIES = {"US": "United States", "GB": "United Kingdom"}
WITH_DATA = {0: 7, 1: 2, 2: 5, 3: 7, 4: 7}
"""The days with data of each week, counted back from the last."""
PER_DAY = {("US", 3): 200, ("GB", 3): 101, ("US", 4): 100, ("GB", 4): 200}
TITLE = "Impressions, all sides of the auction"
SCREENS = {
    "leaderboards": "audience?project=demo&slicer=uneven&cards=country~site&columns=wins",
    "split": "audience?project=demo&slicer=uneven&lower=split&split=country~site",
    "rows": "audience?project=demo&slicer=uneven&lower=records",
    "export": "export?project=demo&slicer=uneven&split=country",
    "slicers": "slicers?project=demo&slicer=uneven",
    "deals": "deals",
    "drawer": "deals?open=demand_deals-1",
    "history": "deals?open=demand_deals-1#History",
    "new package": "new_package",
    "access": "access",
    "boards": "boards",
}


def planted() -> pd.DataFrame:
    """Rows a day, country and site, of five weeks of which two lack days."""
    rows = [
        (LAST_DAY - pd.Timedelta(days=7 * week + day), country, f"{name}.example", imps, imps // 10, week)
        for week, count in WITH_DATA.items()
        for day in range(count)
        for country in COUNTRIES
        for name, part in (("news-for-phones-and-tablets-a", 0.75), ("news-for-phones-and-tablets-b", 0.25))
        if (imps := PER_DAY.get((country, week), 120) * part * 4)
    ]
    return pd.DataFrame(rows, columns=["time", "country", "site", "imps", "wins", "week"])


@pytest.fixture(scope="module")
def desk(untouched_deals_home: Path, tmp_path_factory: pytest.TempPathFactory, serve: Serve) -> Iterator[str]:
    """The address of a desk with deals and the slicer `uneven`."""
    home = own_copy(untouched_deals_home, tmp_path_factory.mktemp("readable") / "home")
    frame = planted().astype({"time": "datetime64[us, UTC]"})
    with Warehouse(home / "warehouse").writer("demo", "uneven", DEFINITION, {"country": COUNTRIES}) as writer:
        writer.write(pa.Table.from_pandas(frame, schema=DEFINITION.schema(), preserve_index=False))
        writer.commit("made by a test", "0")
    with serve(home) as address:
        yield address


def week(number: int, more: str = "") -> str:
    """The link of Audience to a week, counted back from the last, compared with the one before."""
    last = LAST_DAY - pd.Timedelta(days=7 * number)
    days = f"start={last - pd.Timedelta(days=6):%F}&end={last:%F}"
    return f"audience?project=demo&slicer=uneven&{days}&compare=previous{more}"


@pytest.fixture(params=["phone", "screen"], scope="module")
def window(request: pytest.FixtureRequest, chromium: Browser, desk: str) -> Iterator[Page]:
    """A page of a phone, which is touched, and of a screen."""
    is_phone = request.param == "phone"
    size = PHONE if is_phone else SCREEN
    context = new_context(chromium, viewport=size, has_touch=is_phone, is_mobile=is_phone)
    page = context.new_page()
    enter(page, f"{desk}/access", "Admin")
    yield page
    context.close()


UNSEEN = """() => [...document.querySelectorAll("[role=radio]")].filter(radio => {
    const edge = Math.min(innerWidth, radio.parentElement.parentElement.getBoundingClientRect().right)
    return radio.checkVisibility() && radio.getBoundingClientRect().right > edge + 1
}).map(radio => radio.innerText)"""
"""The choices side by side that are out of sight."""


@pytest.mark.parametrize("screen", SCREENS)
def test_nothing_is_cut(desk: str, window: Page, screen: str) -> None:
    """All texts of a screen are whole, but for the middle of long names, and nothing is wider than it."""
    link, _, section = SCREENS[screen].partition("#")
    window.goto(f"{desk}/{link}")
    expect(window.get_by_text("Data to")).to_be_visible()
    settled(window)
    if section:
        window.get_by_role("dialog").get_by_text(section, exact=True).click()
        settled(window)
    window.wait_for_function("() => window.trancheOverview?.root.getAttribute('aria-busy') !== 'true'")
    settled(window)
    assert window.evaluate(CLIPPED) == []
    assert window.evaluate(UNSEEN) == []
    assert sideways(window) == 0


def test_a_table_shows_that_it_goes_on(desk: str, window: Page) -> None:
    """On a phone the right edge of a table has a shadow until its last columns are in sight."""
    window.goto(f"{desk}/access")
    window.get_by_role("radio", name="People").click()
    table = window.get_by_test_id("stDataFrameResizable")
    expect(table).to_be_visible()
    settled(window)
    shadow = "node => getComputedStyle(node, '::after').opacity"
    is_cut = window.viewport_size == PHONE
    assert table.evaluate(shadow) == str(int(is_cut))
    table.locator(".dvn-scroller").evaluate("node => node.scrollTo(node.scrollWidth, 0)")
    window.wait_for_function(
        f"({shadow})(document.querySelector('[data-testid=stDataFrameResizable]')) === '0'"
    )


ABOVE = """() => {
    const {top} = trancheOverview.root.querySelector(".chart").getBoundingClientRect()
    const outside = document.querySelectorAll("[data-testid=stMain] :is(button, input)")
    const inside = trancheOverview.root.querySelectorAll(":is(button, input, select):not(.show)")
    const above = [...outside, ...inside].filter(node => node.checkVisibility({visibilityProperty: true})
        && node.getBoundingClientRect().bottom <= top && !node.closest(".st-key-status"))
    return [...new Set(above.map(node => node.closest("[class*=st-key-]")?.classList[0] ?? node.ariaLabel))]
}"""


def test_few_controls_stand_above_the_chart(desk: str, page: Page) -> None:
    """Picker, days, comparison, words, views, link, menu and filter; those of the chart stand below it."""
    enter(page, f"{desk}/audience?project=demo&slicer=uneven", "Admin")
    expect(page.locator(".tranche-overview [name=grain]")).to_be_visible()
    assert len(page.evaluate(ABOVE)) <= 8, page.evaluate(ABOVE)


def test_a_question_in_words_leaves_a_trace(desk: str, page: Page) -> None:
    """After Enter the field says what was asked, for as long as that is the question."""
    enter(page, f"{desk}/audience?project=demo&slicer=uneven", "Admin")
    field = page.get_by_role("textbox", name="A question in words")
    field.press_sequentially("wins by country", delay=40)
    field.press("Enter")
    expect(field).to_have_value("")
    expect(field).to_have_attribute("placeholder", "Asked: Wins · by Country")
    settled(page)
    page.locator(".st-key-question_undo button").first.click()
    expect(field).to_have_attribute("placeholder", re.compile("^Ask: "))


def change_of(page: Page, country: str) -> str:
    """The change of a country in its card."""
    row = page.locator("[data-card=country] tbody tr", has_text=country)
    return row.locator("[data-column=change]").inner_text()


def test_a_change_from_a_sliver_of_the_days_is_a_dash(desk: str, page: Page) -> None:
    """Against a week with two of its days there is no change, on the tile, which says why, and in cards."""
    enter(page, f"{desk}/{week(0)}", "Admin")
    expect(page.locator(".fig[data-name=imps] .delta")).to_have_text("– (2 of 7 days before)")
    assert {change_of(page, country) for country in COUNTRIES.values()} == {"–"}


def test_a_change_of_some_of_the_days_is_marked(desk: str, page: Page) -> None:
    """Five days are compared with seven per day: figures and cards are marked, and the days are said once."""
    enter(page, f"{desk}/{week(2)}", "Admin")
    expect(page.locator(".foot .notes")).to_have_text("* 5 of 7 days, 7 before.")
    sums = planted().groupby("week")["imps"].sum()
    change = 100 * (sums[2] / WITH_DATA[2] / (sums[3] / WITH_DATA[3]) - 1)
    deltas = page.locator(".fig .delta").all_inner_texts()
    assert deltas[0].endswith(f"{change:+.1f} %*".replace("-", "−"))
    assert all(delta.endswith("%*") for delta in deltas)
    expect(page.locator("[data-card=country] thead")).to_contain_text("Change %*")
    expect(page.locator("[data-card=country] .about")).to_have_attribute(
        "title", "2 · *5 of 7 days, 7 before"
    )
    points = page.locator(".fig[data-name=imps] .fig-line").get_attribute("d")
    assert points is not None
    assert points.count("L") == WITH_DATA[2] - 1


def test_a_share_of_a_total_that_hardly_moved_is_a_dash(desk: str, page: Page) -> None:
    """One country rises by what the other falls, but for a day's unit: neither explains thousands of percent,
    and exact figures have no uncertainty of a sample."""
    enter(page, f"{desk}/{week(3, '&lower=moved')}", "Admin")
    table = page.locator(".st-key-moved").get_by_role("grid")
    row = table.locator("tbody tr", has_text="United States").first
    expect(row).to_contain_text("+2,800")
    titles = table.locator("thead th").all_inner_texts()
    share = next(place for place, title in enumerate(titles) if "Share" in title or "Explains" in title)
    assert row.locator("th, td").nth(share).inner_text().strip() == "–"
    expect(page.locator(".st-key-moved")).to_contain_text("+28")
    expect(page.locator(".st-key-moved")).not_to_contain_text("uncertainty")


def test_a_metric_filter_says_what_it_leaves_whole(desk: str, page: Page) -> None:
    """Beside a filter on figures of values the headline and the total are those of all values, and say so."""
    bound = 3000  # of one of two sites
    enter(page, f"{desk}/{week(3, f'&lower=split&split=site&having=imps~ge~{bound}')}", "Admin")
    rows = planted().query("week == 3")
    whole = f"{rows['imps'].sum():,.0f}"
    figure = page.locator(".fig[data-name=imps]")
    expect(figure.locator(".label")).to_have_text(f"{TITLE}, all values")
    expect(figure.locator(".fig-value")).to_have_text(whole)
    table = page.locator(".st-key-split_rows").get_by_role("grid")
    total, *others = [row.inner_text().split() for row in table.locator("tbody tr").all()]
    assert total[:4] == ["Total", "of", "all", "values"]
    assert whole in total
    by_site = rows.groupby("site")["imps"].sum()
    assert [cells[0] for cells in others if cells[0] != "Others"] == ["news-for-phones-and-tablets-a."]
    assert (by_site >= bound).sum() == 1
