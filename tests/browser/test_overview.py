"""The overview in a browser: clicks in any order and at any speed are shown and kept, and nothing moves."""

import math
import random
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pandas as pd
import pytest
from conftest import LAST_DAY, small_rows
from needs import NIGHTLY
from playwright.sync_api import Locator, Page, Route, expect

from browser.conftest import at, enter, settled, sideways
from browser.distance import far_away

QUIET = """() => globalThis.trancheOverview?.root.getAttribute('aria-busy') === 'false'
    && !trancheOverview.outbox.length"""
CONTROLS = ".show, thead button, .include, .exclude, .line, .lines:not([hidden])"
CLICKS, QUIET_EVERY, PRESSES, DOUBLE_PIXELS = 100 if NIGHTLY else 40, 10, (0, 0, 40, 40, 400), 10


@pytest.fixture
def overview(address: str, page: Page) -> Page:
    """The Audience page with its usual question about the slicer delivery, once it stands still."""
    enter(page, f"{address}/audience?project=demo&slicer=delivery")
    quiet(page)
    return page


@pytest.fixture(scope="module")
def week() -> pd.DataFrame:
    """The rows of the slicer delivery in the last seven complete days."""
    rows = small_rows(seed=0).to_pandas().fillna({"geo.country": ""})
    return rows[rows["time"].dt.date > LAST_DAY - pd.Timedelta(days=7).to_pytimedelta()]


def quiet(page: Page) -> None:
    """Wait until the overview awaits nothing and Streamlit has taken all acts."""
    page.wait_for_function(QUIET)
    settled(page)
    page.wait_for_function(QUIET)


def value(page: Page, name: str) -> Locator:
    """The button of a value in its leaderboard."""
    return page.locator(".tranche-overview").get_by_role("button", name=name, exact=True)


def figure(page: Page, name: str = "imps") -> str:
    """The text of a figure of the headline."""
    return page.locator(f".fig[data-name={name}] .fig-value").inner_text()


def asked(page: Page) -> dict[str, str]:
    """The URL's parameters."""
    return dict(parse_qsl(urlsplit(page.url).query, keep_blank_values=True))


def answer(page: Page) -> dict[str, Any]:
    """The figures that the route gives for the question of the URL."""
    parts: dict[str, Any] = page.evaluate(
        """async ({project, slicer, ...params}) => {
            const body = JSON.stringify({project, slicer, params, locale: navigator.language})
            const answer = await fetch(new URL("overview/answer", trancheServer), {method: "POST", body})
            return Object.assign({}, ...(await answer.text()).trim().split("\\n").map(JSON.parse))
        }""",
        asked(page),
    )
    return parts


def expect_answer(page: Page) -> None:
    """The figures and tables on the screen are those of the URL's question."""
    parts = answer(page)
    assert page.locator(".fig-value").all_inner_texts() == [
        headline["text"] for headline in parts["head"]["figures"]
    ]
    shown = page.locator(".panel.cards tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('.value')].map(value => value.textContent))"
    )
    assert shown == [
        [cell["text"] for cell in row["cells"]] for table in parts["cards"] for row in table["rows"]
    ]


def rows_of(rows: pd.DataFrame, params: dict[str, str]) -> pd.DataFrame:
    """The rows that the filters of a URL keep."""
    for name, text in params.items():
        kind, _, field = name.partition(".")
        if kind in ("is", "not"):
            is_there = rows[field].astype(str).isin(text.split("~"))
            rows = rows[is_there if kind == "is" else ~is_there]
    return rows


AIM = """([chance, controls]) => {
    const isInert = (one) => !one.getClientRects().length || one.matches("[data-act][aria-pressed=true]")
    const there = [...trancheOverview.root.querySelectorAll(controls)].filter(one => !isInert(one))
    const chosen = there[Math.floor(chance * there.length)]
    chosen.scrollIntoView({block: "center"})
    const {x, y, width, height} = chosen.getBoundingClientRect()
    const [left, top] = [x + width / 2, y + height / 2]
    window.pressed = trancheOverview.host.shadowRoot.elementFromPoint(left, top)
    return [trancheOverview.cards.number, left, top]
}"""
HOLDS_STILL = """([number, left, top]) => {
    const under = trancheOverview.host.shadowRoot.elementFromPoint(left, top)
    return pressed === under && trancheOverview.cards.number === number
}"""


@pytest.fixture
def far_overview(address: str, page: Page) -> Iterator[Page]:
    """The same page, 150 ms away."""
    with far_away(address) as distant:
        enter(page, f"{distant}/audience?project=demo&slicer=delivery")
        quiet(page)
        yield page


def test_random_clicks(far_overview: Page, week: pd.DataFrame) -> None:
    """Of many clicks from afar, short and long, none is lost, and nothing moves under the pointer while it is
    down; the figures are those of the rows, and the tables the API's."""
    chance = random.Random(5)  # noqa: S311
    last = (0.0, 0.0)
    for place in range(CLICKS):
        number, *point = far_overview.evaluate(AIM, [chance.random(), CONTROLS])
        while math.dist(point, last) < DOUBLE_PIXELS:  # a double click counts once
            number, *point = far_overview.evaluate(AIM, [chance.random(), CONTROLS])
        last = tuple(point)
        far_overview.mouse.move(*point)
        far_overview.mouse.down()
        far_overview.wait_for_timeout(chance.choice(PRESSES))
        assert far_overview.evaluate(HOLDS_STILL, [number, *point])
        far_overview.mouse.up()
        assert far_overview.evaluate("trancheOverview.cards.number") == number + 1
        if place % QUIET_EVERY == QUIET_EVERY - 1:
            quiet(far_overview)
            expect_answer(far_overview)
            assert figure(far_overview) == f"{rows_of(week, asked(far_overview))['imps'].sum():,.0f}"


def test_a_press_is_a_click(overview: Page) -> None:
    """What is pressed counts once, though its row goes before the release; a press that leaves doesn't."""
    number = overview.evaluate("trancheOverview.cards.number")
    for leave, expected in ((40, number), (2, number + 1)):
        row = value(overview, "Germany")
        box = row.bounding_box()
        assert box is not None
        overview.mouse.move(box["x"] + 20, box["y"] + 8)
        overview.mouse.down()
        row.evaluate("row => row.closest('tr').remove()")
        overview.mouse.move(box["x"] + 20, box["y"] + 8 + leave)
        overview.mouse.up()
        assert overview.evaluate("trancheOverview.cards.number") == expected
        overview.reload()
        quiet(overview)


def test_two_clicks_at_once(overview: Page, week: pd.DataFrame) -> None:
    """Clicks within 50 ms are all kept, in their order: each is a step to undo, also back and forth."""
    for name in ("Germany", "France"):
        value(overview, name).dispatch_event("click")
    quiet(overview)
    assert asked(overview)["is.geo.country"] in ("DE~FR", "FR~DE")
    both = week[week["geo.country"].isin(["DE", "FR"])]
    assert figure(overview) == f"{both['imps'].sum():,.0f}"
    overview.locator(".st-key-question_undo button").first.click()
    quiet(overview)
    assert asked(overview)["is.geo.country"] == "DE"
    assert figure(overview) == f"{week[week['geo.country'] == 'DE']['imps'].sum():,.0f}"
    overview.evaluate(
        """() => ["redo", "undo", "undo", "redo", "redo", "undo"]
            .forEach(name => document.querySelector(`.st-key-question_${name} button`).click())"""
    )
    quiet(overview)
    assert asked(overview)["is.geo.country"] == "DE"
    assert figure(overview) == f"{week[week['geo.country'] == 'DE']['imps'].sum():,.0f}"


def test_a_click_while_streamlit_runs(overview: Page) -> None:
    """A click during a run of the page that another click began is shown and kept as well."""
    value(overview, "Germany").click()
    overview.wait_for_function("() => document.querySelector('[data-test-script-state=running]') !== null")
    overview.get_by_role("button", name="Show Clicks").click()
    quiet(overview)
    assert (asked(overview)["is.geo.country"], asked(overview)["field"]) == ("DE", "clicks")
    expect_answer(overview)


def test_undo_then_a_click(overview: Page) -> None:
    """Undo shows the question before at once, and a click right after it goes on from there."""
    usual = figure(overview)
    value(overview, "Germany").click()
    quiet(overview)
    overview.locator(".st-key-question_undo button").first.click()
    expect(overview.locator(".fig[data-name=imps] .fig-value")).to_have_text(usual)
    value(overview, "France").click()
    quiet(overview)
    assert asked(overview)["is.geo.country"] == "FR"
    expect_answer(overview)


def test_a_click_survives_a_reload(overview: Page) -> None:
    """A click is in the address as it is made: a page that is loaded again in that instant shows it."""
    code = """code => {
        const { shadowRoot } = trancheOverview.host
        const card = shadowRoot.querySelector("[data-card='geo.country']")
        for (const name of card.querySelectorAll(".row .include")) if (name.ariaLabel === code) name.click()
        location.reload()
    }"""
    with overview.expect_event("load"):
        overview.evaluate(code, "Germany")
    quiet(overview)
    expect(value(overview, "Germany")).to_have_attribute("aria-pressed", "true")
    assert "acts" not in asked(overview)
    with overview.expect_event("load"):
        overview.evaluate(
            "() => (document.querySelector('.st-key-question_undo button').click(), location.reload())"
        )
    quiet(overview)
    expect(value(overview, "Germany")).to_have_attribute("aria-pressed", "false")
    assert "acts" not in asked(overview)
    overview.go_back()
    quiet(overview)
    expect(value(overview, "Germany")).to_have_attribute("aria-pressed", "true")


def test_back_shows_the_question_before(overview: Page) -> None:
    """The browser's Back leads Streamlit to another question, and the overview follows."""
    usual = figure(overview)
    value(overview, "Germany").click()
    quiet(overview)
    overview.go_back()
    expect(overview.locator(".fig[data-name=imps] .fig-value")).to_have_text(usual)
    quiet(overview)
    expect_answer(overview)


PLACES = """() => {
    const outside = ['frame', 'dates', 'comparison', 'filter_add', 'question_undo', 'saved_views', 'share']
    const inside = ['.heads', '.tools', '.chart', '.foot', '.tabs']
    const nodes = [...outside.map(name => document.querySelector(`.st-key-${name}`)),
        ...inside.map(part => trancheOverview.root.querySelector(part))]
    const places = nodes.map(node => node.getBoundingClientRect())
    return places.map(({x, y, height}) => [x, y, height].map(Math.round))
}"""


MANY = (
    "is.geo.country=US~FR~DE&not.campaign_id=2&has.geo.country=e&not.categories=sport&has.campaign_id=1"
    "&any.is.geo.country=US&any.is.campaign_id=1&having=imps~ge~10"
)
UNREADABLE = """() => [...document.querySelectorAll(".st-key-filter_pills .stPopover p")].filter(label => {
    label.scrollIntoView({block: "center"})
    const {left, right, top, bottom} = label.getBoundingClientRect()
    const isCut = label.scrollWidth > label.clientWidth + 1 || left < 0 || right > innerWidth
    const atTop = document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
    return isCut || !label.closest("button").contains(atTop)
}).map(label => label.textContent)"""


def test_filters_come_and_go(overview: Page) -> None:
    """The first filters stand on a line that is there without them: they move nothing."""
    before = overview.evaluate(PLACES)
    for name in ("Germany", "France", "1"):
        value(overview, name).click()
        quiet(overview)
        assert overview.evaluate(PLACES) == before
    overview.locator(".st-key-filters_clear button").first.click()
    quiet(overview)
    assert overview.evaluate(PLACES) == before


@pytest.mark.parametrize("width", [1440, 390])
def test_every_filter_can_be_read(overview: Page, width: int, week: pd.DataFrame) -> None:
    """However many they are, filters take the lines that they need: none is cut, folded away or covered, and
    the last can be removed by the keyboard, after which the figures are those of the others."""
    overview.set_viewport_size({"width": width, "height": 900})
    overview.goto(f"{overview.url}&{MANY}")
    quiet(overview)
    pills = overview.locator(".st-key-filter_pills .stPopover button p")
    expect(pills).to_have_count(7)
    overview.wait_for_function(
        f"() => !({UNREADABLE})().length"
    )  # once the overview of the link has its place
    assert sideways(overview) == 0
    overview.goto(
        f"{overview.url.partition('?')[0]}?project=demo&slicer=delivery&is.geo.country=US~DE&not.campaign_id=2"
    )
    quiet(overview)
    overview.locator(".st-key-filter_pills").get_by_role("button", name="Campaign is not 2").press("Enter")
    overview.get_by_test_id("stPopoverBody").get_by_role("button", name="Remove", exact=True).press("Enter")
    rows = week[week["geo.country"].isin(["US", "DE"])]
    expect(overview.locator(".fig[data-name=imps] .fig-value")).to_have_text(f"{rows['imps'].sum():,.0f}")


def test_the_tab_in_sight_alone_is_asked(overview: Page) -> None:
    """Below the chart is one tab, kept in the link; each asks for its figures once it is in sight."""
    asked_parts: list[list[str]] = []
    overview.on(
        "request",
        lambda request: (
            "overview/answer" in request.url and asked_parts.append(request.post_data_json.get("parts"))
        ),
    )
    overview.get_by_role("button", name="Split", exact=True).click()
    quiet(overview)
    assert asked(overview)["lower"] == "split"
    assert asked_parts == [["split"]]
    expect(overview.locator(".panel.cards")).to_be_hidden()
    overview.locator(".st-key-split_rows").get_by_role("button", name="Germany", exact=True).click()
    overview.wait_for_url(at("audience", **{"is.geo.country": "DE"}))
    quiet(overview)
    assert asked_parts[1:] == [["split"], ["head"]]
    overview.get_by_role("button", name="Leaderboards").click()
    quiet(overview)
    assert asked_parts[3:] == [["cards"]]
    expect(overview.locator(".st-key-split_rows")).to_have_count(0)
    expect_answer(overview)


@pytest.fixture
def failing(overview: Page) -> Iterator[list[int]]:
    """Requests to the route fail with the first of these status codes, while there is one."""
    codes: list[int] = []

    def respond(route: Route) -> None:
        if not codes:
            return route.continue_()
        return route.fulfill(status=codes[0], json={"detail": "The service is away."})

    overview.route("**/overview/answer", respond)
    yield codes
    overview.unroute("**/overview/answer")


def test_a_failure_says_its_sentence(overview: Page, failing: list[int]) -> None:
    """A failed answer says why, the click is kept, and another try shows its figures."""
    failing.append(403)
    value(overview, "Germany").click()
    expect(overview.get_by_role("alert").filter(has_text="The service is away.")).to_be_visible()
    overview.wait_for_url(re.compile("is.geo.country=DE"))
    quiet(overview)  # once Streamlit has taken the click, the overview asks, and fails, by itself
    failing.clear()
    overview.get_by_role("button", name="Try again").click()
    quiet(overview)
    expect(overview.get_by_role("alert").filter(has_text="The service is away.")).to_be_hidden()
    expect_answer(overview)


def test_what_may_pass_is_tried_again(overview: Page, failing: list[int]) -> None:
    """A service that was away for a moment needs no click."""
    failing.append(503)
    value(overview, "Germany").click()
    expect(overview.get_by_role("alert").filter(has_text="The service is away.")).to_be_visible()
    failing.clear()
    expect(overview.get_by_role("alert").filter(has_text="The service is away.")).to_be_hidden()
    quiet(overview)
    expect_answer(overview)


def test_whoever_is_signed_out_sees_nothing(overview: Page, failing: list[int]) -> None:
    """An answer that nobody is signed in clears figures and tables at once."""
    failing.append(401)
    value(overview, "Germany").click()
    expect(overview.locator(".fig-value")).to_have_count(0)
    expect(overview.locator(".panel.cards tr")).to_have_count(0)


def test_the_chart_by_keyboard(overview: Page) -> None:
    """Arrows say the values of the chart's days; with Shift they choose days, and Enter zooms to them."""
    chart = overview.locator(".chart")
    chart.focus()
    overview.keyboard.press("ArrowRight")
    expect(overview.locator(".tip")).to_be_visible()
    overview.keyboard.press("Shift+ArrowRight")
    overview.keyboard.press("Shift+ArrowRight")
    expect(overview.locator(".days")).to_be_visible()
    overview.keyboard.press("Enter")
    quiet(overview)
    first = LAST_DAY - pd.Timedelta(days=6).to_pytimedelta()
    last = LAST_DAY - pd.Timedelta(days=4).to_pytimedelta()
    assert (asked(overview)["start"], asked(overview)["end"]) == (first.isoformat(), last.isoformat())
    overview.get_by_role("button", name="Zoom out").click()
    quiet(overview)
    assert "zoom" not in asked(overview)


def test_a_brush_zooms(overview: Page) -> None:
    """A drag over the chart says the days under it, and leads to them."""
    box = overview.locator(".chart").bounding_box()
    assert box is not None
    overview.mouse.move(box["x"] + 0.3 * box["width"], box["y"] + 80)
    overview.mouse.down()
    overview.mouse.move(box["x"] + 0.6 * box["width"], box["y"] + 80)
    expect(overview.locator(".days")).to_be_visible()
    overview.mouse.up()
    quiet(overview)
    assert "zoom" in asked(overview)
    expect_answer(overview)
