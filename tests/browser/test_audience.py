"""Audience in a browser: filter, drill, zoom, share; the figures are those of the rows."""

import datetime as dt
import re
from collections.abc import Callable

import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from playwright.sync_api import Page, expect

from browser.conftest import Service, Visitor, enter, new_context, place, settled
from browser.distance import far_away
from lib.figures import numbers
from lib.ui.query import dates_picker

ROW = 35
Country = Callable[[str], str]


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the slicer delivery in the last seven complete days."""
    rows = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    return rows[rows["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]


@pytest.fixture
def audience(address: str, page: Page) -> Page:
    """The Audience page with its usual question about the slicer delivery."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery")
    return page


def expect_impressions(page: Page, rows: pd.DataFrame) -> None:
    """The headline's impressions and clicks are those of these rows."""
    for name in ("imps", "clicks"):
        expect(page.locator(f".fig[data-name={name}] .fig-value")).to_have_text(f"{rows[name].sum():,.0f}")


def expect_asked(page: Page, *parts: str) -> None:
    """The URL has these parts, and once the page stands still."""
    for part in parts:
        page.wait_for_url(lambda url, part=part: part in url)
    settled(page)


def chart(page: Page, key: str) -> dict[str, float]:
    """Where a chart stands on the screen, brought into view."""
    settled(page)
    return place(page, f"[class*='st-key-{key}'] .js-plotly-plot")


def time_chart(page: Page) -> dict[str, float]:
    """Where the chart over time stands on the screen, brought into view."""
    settled(page)
    locator = page.locator(".tranche-overview .chart")
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    assert box is not None
    return {name: box[name] for name in ("x", "y", "width", "height")}


def include(page: Page, row: int) -> None:
    """Click a value of the split's table; row 1 is the first below the total."""
    show_split(page)
    page.locator(".st-key-split_rows").get_by_role("grid").get_by_role("row").nth(row + 1).get_by_role(
        "button"
    ).first.click()


def show_split(page: Page) -> None:
    """Bring the tab Split in sight."""
    page.get_by_role("button", name="Split", exact=True).click()
    page.wait_for_url(lambda url: "lower=split" in url)
    settled(page)


def test_everything_important_without_scrolling(audience: Page) -> None:
    """On a screen of 1440 by 900, headline, time chart and the first leaderboards are in view."""
    for what, y in ((".fig", 300), (".chart", 900 - 3 * ROW), (".card", 900 - 3 * ROW)):
        box = audience.locator(what).first.bounding_box()
        assert box is not None
        assert box["y"] < y


def test_the_editor_of_a_filter(
    audience: Page, week: pd.DataFrame, service: Service, country: Country
) -> None:
    """Four clicks from the bar to a filter; it stays open to exclude, to keep one alone, to paste a list.

    Enter takes the only value that is found, typed at any pace; the arrow goes down to those found.
    """
    audience.get_by_role("button", name="Filter", exact=True).click()
    editor = audience.get_by_test_id("stPopoverBody")
    editor.get_by_role("combobox", name="Field").click()
    audience.get_by_role("option", name="Country").click()
    editor.get_by_role("button", name=country("DE"), exact=True).click()
    expect_asked(audience, "is.geo.country=DE")
    expect_impressions(audience, week[week["geo.country"] == "DE"])
    expect(editor.get_by_role("row").filter(has_text=country("US"))).to_contain_text(
        f"{week[week['geo.country'] == 'US']['imps'].sum():,.0f}"
    )
    editor.get_by_role("button", name=f"Leave out {country('US')}").click(force=True)
    expect_asked(audience, "not.geo.country=US")
    editor.get_by_role("searchbox").fill("fra" if service == "embedded" else "FR")
    editor.get_by_role("searchbox").press("Enter")
    expect_asked(audience, "is.geo.country=DE~FR")
    editor.get_by_role("searchbox").press("ArrowDown")
    expect(editor.get_by_role("button", name=country("FR"), exact=True)).to_be_focused()
    editor.get_by_role("button", name=f"Only {country('FR')}").click(force=True)
    expect_asked(audience, "is.geo.country=FR")
    editor.get_by_text("Paste", exact=True).click()
    editor.get_by_label("Values, one per line").fill("jp\nAtlantis")
    editor.get_by_role("button", name="Check values").click()
    expect(editor.get_by_text("1 not found: Atlantis")).to_be_visible()
    editor.get_by_role("button", name="Include 1").click()
    expect_asked(audience, "is.geo.country=FR~JP")
    expect_impressions(audience, week[week["geo.country"].isin(["FR", "JP"])])
    audience.keyboard.press("Escape")
    audience.locator(".st-key-filters_clear button").first.click()
    expect_impressions(audience, week)


def test_drill_in_the_table(audience: Page, week: pd.DataFrame) -> None:
    """A click on a value of the table keeps its records; Back asks the question before."""
    top = week.groupby("geo.country")["imps"].sum().idxmax()
    include(audience, row=1)
    expect_asked(audience, f"is.geo.country={top}")
    expect_impressions(audience, week[week["geo.country"] == top])
    audience.go_back()
    expect_impressions(audience, week)


def test_exclude_in_the_bars(audience: Page, week: pd.DataFrame) -> None:
    """Where a click excludes, a click on a bar leaves its records out, and the next one another's."""
    show_split(audience)
    audience.get_by_text("Bars", exact=True).click()
    expect_asked(audience, "chart=bars")
    audience.get_by_text("Click excludes").click()
    settled(audience)
    order = week.groupby("geo.country")["imps"].sum().sort_values(ascending=False).index
    for count in (1, 2):
        box = chart(audience, "split_bars")
        audience.mouse.click(box["x"] + 260, box["y"] + 20)
        expect_asked(audience, f"not.geo.country={'~'.join(order[:count])}")
        expect_impressions(audience, week[~week["geo.country"].isin(order[:count])])


def test_drill_in_the_heatmap(audience: Page, address: str, week: pd.DataFrame) -> None:
    """A click on a cell of the heatmap keeps the records of both its values."""
    audience.goto(
        f"{address}/audience?project=demo&slicer=delivery&split=geo.country~campaign_id&chart=heatmap"
    )
    settled(audience)
    box = chart(audience, "split_heatmap")
    audience.mouse.click(box["x"] + box["width"] * 0.55, box["y"] + box["height"] - 20)
    expect_asked(audience, "is.geo.country=", "is.campaign_id=")
    country = re.search(r"is\.geo\.country=(\w*)", audience.url)[1]
    campaign = re.search(r"is\.campaign_id=(\w*)", audience.url)[1]
    kept = (week["geo.country"] == country) & (week["campaign_id"] == campaign)
    expect_impressions(audience, week[kept])


def test_a_zoom_stays_until_it_is_left(audience: Page) -> None:
    """Of days picked in the popover one is brushed, and shown by the hour; no other control brings the days
    of before back."""
    audience.locator(".st-key-dates button").click()
    audience.get_by_role("radio", name="Last 14 days").click()
    expect_asked(audience, "start=-14d")
    audience.keyboard.press("Escape")
    box = time_chart(audience)
    audience.mouse.move(box["x"] + box["width"] * 0.47, box["y"] + 80)
    audience.mouse.down()
    audience.mouse.move(box["x"] + box["width"] * 0.49, box["y"] + 80, steps=4)
    audience.mouse.move(box["x"] + box["width"] * 0.5, box["y"] + 80, steps=4)
    audience.mouse.up()
    expect_asked(audience, "zoom=-14d~yesterday")
    expect(audience.get_by_role("combobox", name="Granularity")).to_have_value("hour")
    days = re.search(r"start=[\d-]+&end=[\d-]+", audience.url)[0]
    audience.get_by_role("button", name="Show Clicks").click()
    expect_asked(audience, "field=clicks", days)
    audience.locator(".st-key-comparison button").click()
    audience.get_by_role("radio", name="Same weekdays").first.click()
    expect_asked(audience, "compare=weekdays", days)
    audience.keyboard.press("Escape")
    audience.reload()
    audience.get_by_role("button", name="Zoom out").click()
    expect_asked(audience, "start=-14d", "end=yesterday")
    assert "zoom=" not in audience.url


def test_cards_open_where_they_have_room(audience: Page) -> None:
    """The popover of the cards, drawn once it is open, has its last choice in sight each time: it opens above
    its button, as there is no room below."""
    settled(audience)
    for _ in range(3):
        audience.locator(".st-key-leaderboard_picker button").click()
        choice = audience.get_by_role("radio", name="Amount")
        expect(choice).to_be_in_viewport(ratio=1)
        button = audience.locator(".st-key-leaderboard_picker button").bounding_box()
        assert choice.bounding_box()["y"] < button["y"]
        audience.keyboard.press("Escape")
        expect(choice).to_have_count(0)


def test_any_number_of_days_can_be_typed(audience: Page) -> None:
    """What is typed as a number of days is asked in relative dates; what is none is kept, and said."""
    settled(audience)
    audience.locator(".st-key-dates button").click()
    field = audience.get_by_role("combobox", name="Last days, weeks or months")
    field.fill("45 days")
    field.press("Enter")
    expect_asked(audience, "start=-45d", "end=yesterday")
    expect(audience.locator(".st-key-dates button").first).to_contain_text("Last 45 days")
    field.fill("a fortnight")
    field.press("Enter")
    expect(audience.get_by_text("like 45 days, 6 weeks or 3 months")).to_be_visible()
    expect_asked(audience, "start=-45d", "end=yesterday")
    expect(field).to_have_value("a fortnight")


def test_the_week_to_date_is_compared_with_the_same_part_of_the_last(audience: Page) -> None:
    """The picker names the days that are compared, the overview has them: Monday to now a week earlier."""
    settled(audience)
    audience.locator(".st-key-dates button").click()
    audience.get_by_role("radio", name="Week to date").click()
    expect_asked(audience, "start=-0w_first", "end=yesterday")
    today = dt.datetime.now(dt.UTC).date()
    yesterday = today - dt.timedelta(days=1)
    monday = yesterday - dt.timedelta(days=yesterday.weekday())
    before = (monday - dt.timedelta(days=7), yesterday - dt.timedelta(days=7))
    audience.keyboard.press("Escape")
    compared = audience.locator(".st-key-comparison button").first
    expect(compared).to_contain_text(f"vs {numbers.days(*before)}")
    compared.click()
    name = "Same part of last week" if yesterday.weekday() < 6 else "The week before"
    expect(audience.get_by_role("radio", name=name).first).to_be_checked()


def test_stale_figures_are_dimmed_at_once(audience: Page) -> None:
    """A few frames after the days' label is new, a figure that is still the old one is dimmed."""
    settled(audience)
    audience.locator(".st-key-dates button").click()
    audience.get_by_role("radio", name="Last 14 days").wait_for()
    audience.evaluate(
        """() => {
            window.seen = []
            const label = document.querySelector('.st-key-question_days')
            const look = () => {
                const metric = trancheOverview.root.querySelector('.fig-value')
                const faded = at => Number(getComputedStyle(at).opacity)
                const opacity = Math.min(faded(metric), faded(trancheOverview.host))
                const isNew = label.innerText.includes('Last 14 days')
                if (isNew) window.seen.push([metric.innerText, opacity])
            }
            const soon = (frames = 4) => (frames ? requestAnimationFrame(() => soon(frames - 1)) : look())
            const changes = {subtree: true, characterData: true, childList: true}
            new MutationObserver(() => soon()).observe(label, changes)
        }"""
    )
    old = audience.locator(".fig-value").first.inner_text()
    audience.get_by_role("radio", name="Last 14 days").click()
    expect_asked(audience, "start=-14d")
    seen = audience.evaluate("window.seen")
    assert seen
    assert all(opacity < 0.5 for figure, opacity in seen if figure == old)
    expect(audience.locator(".fig-value").first).not_to_have_text(old)


def test_nothing_moves_the_table(audience: Page) -> None:
    """Notes that come and go, a comparison or none, other days: the table stays where it is."""
    show_split(audience)
    expect(audience.locator(".st-key-split_rows").get_by_role("grid")).to_be_visible()
    top = "document.querySelector('.st-key-split_rows').getBoundingClientRect().top"
    before = audience.evaluate(top)
    for kind, said in (("Same weekdays", "compare=weekdays"), ("Nothing", "compare=none")):
        audience.locator(".st-key-comparison button").click()
        audience.get_by_role("radio", name=kind).first.click()
        expect_asked(audience, said)
        audience.keyboard.press("Escape")
        assert audience.evaluate(top) == before
    audience.get_by_role("combobox", name="Granularity").select_option("hour")
    expect_asked(audience, "grain=hour")
    assert audience.evaluate(top) == before


def test_link_asks_the_same_elsewhere(audience: Page, visitor: Visitor, week: pd.DataFrame) -> None:
    """A link opened in a fresh browser, through the sign-in, shows the same question and figures."""
    include(audience, row=2)
    expect_asked(audience, "is.geo.country=")
    shown = audience.locator(".fig-value").all_inner_texts()
    elsewhere = visitor().new_page()
    enter(elsewhere, audience.url, "Admin")
    assert elsewhere.url == audience.url
    assert elsewhere.locator(".fig-value").all_inner_texts() == shown


def test_reader_elsewhere(visitor: Visitor, address: str, chromium: object, week: pd.DataFrame) -> None:
    """Figures have the marks of the reader's own locale."""
    context = visitor()
    german = new_context(context.browser, locale="de-DE")
    try:
        page = german.new_page()
        enter(page, f"{address}/audience?project=demo&slicer=delivery")
        text = f"{week['imps'].sum():,.0f}".replace(",", ".")
        expect(page.locator(".fig-value").first).to_have_text(text)
    finally:
        german.close()


def test_by_keyboard(audience: Page, country: Country, week: pd.DataFrame) -> None:
    """A filter is added without a mouse, and the figures are those of its rows."""
    audience.get_by_role("button", name="Filter", exact=True).focus()
    audience.keyboard.press("Enter")
    audience.get_by_test_id("stPopoverBody").get_by_role("combobox", name="Field").focus()
    audience.keyboard.type("country")
    audience.keyboard.press("Enter")
    audience.get_by_test_id("stPopoverBody").get_by_role("searchbox").focus()
    audience.keyboard.type(country("JP").lower())
    value = audience.get_by_test_id("stPopoverBody").get_by_role("button", name=country("JP"), exact=True)
    expect(value).to_have_attribute("tabindex", "0")
    value.focus()
    audience.keyboard.press("Enter")
    expect_asked(audience, "is.geo.country=JP")
    expect_impressions(audience, week[week["geo.country"] == "JP"])


def choose(page: Page, field: str, typed: str, name: str) -> None:
    """Choose a field and a value of it in the open editor, without a mouse."""
    popover = page.get_by_test_id("stPopoverBody")
    popover.get_by_role("combobox", name="Field").last.focus()
    page.keyboard.type(field, delay=40)
    page.keyboard.press("Enter")
    popover.get_by_role("searchbox").focus()
    page.keyboard.type(typed, delay=40)
    value = popover.get_by_role("button", name=name, exact=True)
    expect(value).to_have_attribute("tabindex", "0")
    value.focus()
    page.keyboard.press("Enter")
    settled(page)


def test_alternatives_with_the_keyboard(audience: Page, week: pd.DataFrame, country: Country) -> None:
    """A group of filters of which any holds has the same editor, and needs no mouse: the figures are those of
    rows for which one of them holds."""
    audience.get_by_role("button", name="Filter", exact=True).press("Enter")
    audience.get_by_test_id("stPopoverBody").get_by_role("combobox", name="Field").focus()
    audience.keyboard.type("any of", delay=40)
    audience.keyboard.press("Enter")
    expect(audience.get_by_test_id("stPopoverBody").get_by_role("combobox", name="Field")).to_have_count(2)
    choose(audience, "country", country("JP").lower(), country("JP"))
    expect_impressions(audience, week[week["geo.country"] == "JP"])
    choose(audience, "campaign", "2", "2")
    expect_impressions(audience, week[(week["geo.country"] == "JP") | (week["campaign_id"] == "2")])
    expect(audience.locator(".st-key-filter_pills")).to_contain_text(country("JP"))


@pytest.mark.parametrize("delay", [40, 400])
def test_a_typed_question_has_its_figures(audience: Page, week: pd.DataFrame, delay: int) -> None:
    """However slowly it is typed: alternatives, a typo, and a word that is not understood, which is named."""
    audience.keyboard.press("/")
    audience.keyboard.type("Flurb or germny or campaign 2", delay=delay)
    expect(audience.locator(".st-key-wording_readings")).to_contain_text("Not understood: Flurb")
    audience.keyboard.press("Enter")
    expect_impressions(audience, week[(week["geo.country"] == "DE") | (week["campaign_id"] == "2")])
    expect(audience.get_by_label("A question in words")).to_have_value("")


def test_a_question_in_words_is_read_while_typed_and_asked_by_enter(
    audience: Page, week: pd.DataFrame
) -> None:
    """Its readings come without Enter; Enter asks what stands in the field, however fast it was typed: the
    figures are those of the day that it names."""
    audience.locator(".tranche-overview").get_by_role("button", name="Clicks").first.focus()
    audience.keyboard.press("/")
    field = audience.get_by_label("A question in words")
    expect(field).to_be_focused()
    audience.keyboard.type("clicks by country", delay=40)
    reading = audience.locator("[class*='st-key-wording_reading_0']")
    expect(reading).to_contain_text("Clicks · by Country")
    assert "field=clicks" not in audience.url
    field.press_sequentially(" yesterday")
    field.press("Enter")
    expect_asked(audience, "field=clicks", "start=yesterday", "split=geo.country")
    expect_impressions(audience, week[week["time"].dt.date == LAST_DAY])


def test_tab_waits_for_what_a_popover_opens_far_away(address: str, page: Page) -> None:
    """150 ms away, Tab pressed 40 ms after Enter leads into the picker that is on its way, not past it."""
    with far_away(address) as distant:
        enter(page, f"{distant}/audience?project=demo&slicer=delivery")
        for key in (dates_picker.DATES, dates_picker.COMPARISON):
            button, body = page.locator(f".st-key-{key} button"), page.get_by_test_id("stPopoverBody")
            button.focus()
            page.keyboard.press("Enter")
            page.wait_for_timeout(40)
            page.keyboard.press("Tab")
            expect(body.locator(":focus")).to_have_count(1)
            page.keyboard.press("Escape")
            expect(button).to_be_focused()
            settled(page)
